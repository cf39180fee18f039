-- The journal of requests and replies. Stamped with application_id and user_version (models/journal.py).
-- Times are UTC and only for people: nothing is decided by them.

-- Fixed parts of prompts, stored once however many requests share them.
CREATE TABLE fixed (
  digest BLOB PRIMARY KEY,               -- SHA-256 of the text
  text TEXT NOT NULL                     -- JSON: the body's "system"
) STRICT;

CREATE TABLE requests (
  key BLOB PRIMARY KEY,                  -- SHA-256 of all that determines the answer
  id TEXT NOT NULL,                      -- the request's name in its run
  role TEXT NOT NULL,
  model TEXT NOT NULL,                   -- as asked for
  server TEXT NOT NULL,
  sample INTEGER NOT NULL,
  prompt_id TEXT NOT NULL,
  prompt_digest TEXT NOT NULL,
  fixed BLOB REFERENCES fixed,
  body TEXT NOT NULL,                    -- JSON: the body without "system"
  asked_at TEXT NOT NULL,
  in_flight INTEGER NOT NULL,            -- 1: was about to be sent; 0: was given up. Of no account once answered
  doubts INTEGER NOT NULL DEFAULT 0,     -- times it was sent and no reply was seen: may have been billed
  most_tokens INTEGER NOT NULL,          -- upper bound on what one such time was billed: input …
  max_tokens INTEGER NOT NULL,           -- … and output
  problem TEXT                           -- why it was given up last
) STRICT;

CREATE TABLE replies (
  key BLOB PRIMARY KEY REFERENCES requests,
  received_at TEXT NOT NULL,
  message TEXT NOT NULL,                 -- JSON, byte for byte as the server sent it
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
  number INTEGER NOT NULL REFERENCES batches,
  key BLOB NOT NULL REFERENCES requests,
  PRIMARY KEY (number, key)
) STRICT, WITHOUT ROWID;
