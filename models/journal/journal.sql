-- The journal of requests and replies. Stamped with application_id and user_version (models/journal/files.py).
-- Times are UTC and only for people: nothing is decided by them.
-- All tables keep their rows by rowid: what can still be read of a damaged file is found by that (recovery.py).

-- Parts of prompts: system texts and turns, each stored once however many requests begin with it. A part's digest
-- covers all parts before it, so a conversation is stored as it grows, one part a turn.
CREATE TABLE parts (
  digest BLOB PRIMARY KEY,               -- SHA-256 of the digest before it, the role and the text
  previous BLOB NOT NULL,                -- the part before it; empty: it is the first
  role TEXT NOT NULL,                    -- system, user or assistant
  text TEXT NOT NULL
) STRICT;

-- What else determines an answer: model, sampling, schema, further fields.
CREATE TABLE settings (
  digest BLOB PRIMARY KEY,               -- SHA-256 of the text
  text TEXT NOT NULL                     -- canonical JSON
) STRICT;

CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  began_at TEXT NOT NULL,
  command TEXT NOT NULL
) STRICT;

CREATE TABLE requests (
  key BLOB PRIMARY KEY,                  -- SHA-256 of all that determines the answer
  id TEXT NOT NULL,                      -- the request's name in its run
  role TEXT NOT NULL,
  model TEXT NOT NULL,                   -- its entry in roles.toml
  server TEXT NOT NULL,                  -- who is asked: an address, or the name the settings give it
  wire TEXT NOT NULL,
  sample INTEGER NOT NULL,
  attempt INTEGER NOT NULL,              -- the how manieth try of a chain whose earlier replies could not be used
  prompt_id TEXT NOT NULL,
  prompt_digest TEXT NOT NULL,
  last_part BLOB NOT NULL,               -- of parts
  settings BLOB NOT NULL,                -- of settings
  manner TEXT NOT NULL,                  -- how the schema was conveyed: none, enforced, words, both
  run INTEGER NOT NULL,                  -- the last run that asked it
  asked_at TEXT NOT NULL,
  sent INTEGER NOT NULL,                 -- times it was sent and came back, with a reply or without
  pending INTEGER NOT NULL,              -- 1: it is about to be sent, being sent, or waits in a batch
  doubts INTEGER NOT NULL,               -- times it was sent and no reply was seen: may have been billed
  billed INTEGER NOT NULL,               -- doubts that somebody looked into and that were billed
  most_tokens INTEGER NOT NULL,          -- upper bound on what one such time was billed: input …
  max_tokens INTEGER NOT NULL,           -- … and output
  problem TEXT                           -- why it has no reply
) STRICT;

CREATE TABLE replies (
  key BLOB PRIMARY KEY,
  received_at TEXT NOT NULL,
  message TEXT NOT NULL,                 -- canonical JSON of what the server sent
  digest BLOB NOT NULL,                  -- SHA-256 of key and message
  status TEXT NOT NULL,                  -- what it came to when it was read
  reason TEXT NOT NULL,
  request_id TEXT,                       -- the server's name for it
  batch INTEGER NOT NULL,                -- 1: through the Message Batches API
  metered INTEGER NOT NULL,              -- 0: the server did not say what it used
  input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL
) STRICT;

CREATE TABLE batches (
  number INTEGER PRIMARY KEY,            -- written before the batch is submitted
  batch_id TEXT UNIQUE,                  -- written as soon as the server gave it one
  server TEXT NOT NULL,
  submitted_at TEXT NOT NULL,
  done INTEGER NOT NULL DEFAULT 0        -- 1: all results are in the journal
) STRICT;

CREATE TABLE batch_items (
  number INTEGER NOT NULL,
  key BLOB NOT NULL,
  UNIQUE (number, key)
) STRICT;
