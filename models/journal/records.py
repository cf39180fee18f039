"""Requests and replies as rows of the journal."""

from __future__ import annotations

import datetime
import functools
import hashlib
import itertools
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from models.request import Usage
from models.wire.questions import ROOT, Question

_TOGETHER = 64  # rows that one statement takes at most
STATEMENTS = 6 * _TOGETHER  # that a connection keeps compiled: those below, for every number of rows

_PART = "INSERT OR IGNORE INTO parts VALUES {rows}", "(?, ?, ?, ?)"

_ASKED = (
    """
INSERT INTO requests VALUES {rows}
ON CONFLICT (key) DO UPDATE SET pending = 1, problem = NULL, manner = excluded.manner,
  id = excluded.id, run = excluded.run, asked_at = excluded.asked_at, most_tokens = excluded.most_tokens
""",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1, 0, 0, ?, ?, NULL)",
)

_ANSWERED = "INSERT OR IGNORE INTO replies VALUES {rows}", "(?, ?, ?, ?, 'answered', '', ?, ?, ?, ?, ?, ?, ?)"

_SENT = "UPDATE requests SET sent = sent + 1, pending = 0 WHERE key IN ({rows})", "?"

_CLAIMED = """
SELECT requests.key, replies.key IS NOT NULL FROM requests LEFT JOIN replies USING (key)
WHERE requests.key IN ({rows}) AND (pending OR replies.key IS NOT NULL)
"""

StoredPart = tuple[bytes, bytes, str, str]
"""Digest, the digest before it, role, text."""


class Asked(NamedTuple):
    """A request as the journal keeps it; ``most_tokens`` is an upper bound on its input. ``body`` is what is sent."""

    question: Question
    id: str
    role: str
    model: str
    server: str
    sample: int
    attempt: int
    prompt_id: str
    prompt_digest: str
    most_tokens: int
    max_tokens: int
    body: bytes

    @property
    def key(self) -> bytes:
        """By which the journal knows it."""
        return self.question.key


class Answered(NamedTuple):
    """A reply as the journal keeps it; ``message`` is canonical JSON."""

    key: bytes
    message: bytes
    usage: Usage
    metered: bool
    request_id: str | None = None
    batch: bool = False


class NotedRequest(NamedTuple):
    """A request that is about to be sent, with what of it the journal does not hold yet.

    ``settings`` are the digest and, where they are new, the text (``new_settings``), ``parts`` those of ``new_parts``.
    """

    asked: Asked
    settings: tuple[bytes, str | None]
    parts: Sequence[StoredPart]
    run: int


def new_settings(question: Question, stored: dict[bytes, bytes]) -> tuple[bytes, str | None]:
    """The digest of a question's settings, and the settings unless they are stored; adds them to ``stored``."""
    digest = stored.get(question.settings)
    if digest is not None:
        return digest, None
    stored[question.settings] = digest = hashlib.sha256(question.settings).digest()
    return digest, question.settings.decode()


def new_parts(question: Question, stored: set[bytes]) -> list[StoredPart]:
    """The parts of a question that are not stored yet; adds them to ``stored``."""
    made: list[StoredPart] = []
    for place in reversed(range(len(question.parts))):
        digest = question.digests[place]
        if digest in stored:  # and so is all before it
            break
        stored.add(digest)
        made.append((digest, question.digests[place - 1] if place else ROOT, *question.parts[place]))
    return made


def insert_asked(connection: sqlite3.Connection, noted: Sequence[NotedRequest]) -> None:
    """Note requests as about to be sent, each once, with their settings and the parts of them that are new."""
    _insert(connection, _PART, [part for one in noted for part in one.parts])
    for one in noted:
        if one.settings[1] is not None:
            connection.execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", one.settings)
    time = now()
    _insert(
        connection,
        _ASKED,
        [
            (
                question.key, asked.id, asked.role, asked.model, asked.server, question.wire, asked.sample,
                asked.attempt, asked.prompt_id, asked.prompt_digest, question.digests[-1], one.settings[0],
                question.manner, one.run, time, asked.most_tokens, asked.max_tokens,
            )
            for one in noted
            for asked in (one.asked,)
            for question in (asked.question,)
        ],
    )  # fmt: skip


def claimed(connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bool]:
    """Of requests that this process has no part in, those that another is asking, or has the reply to (True)."""
    found: dict[bytes, bool] = {}
    for start in range(0, len(keys), _TOGETHER):
        some = keys[start : start + _TOGETHER]
        rows = connection.execute(_for_rows(_CLAIMED, "?", len(some)), tuple(some))
        found.update((key, bool(answered)) for key, answered in rows)
    return found


def insert_answered(connection: sqlite3.Connection, answered: Sequence[Answered]) -> None:
    """Note replies to requests, each once; these are not pending any more."""
    time = now()
    _insert(
        connection,
        _ANSWERED,
        [
            (
                one.key, time, one.message.decode(), reply_digest(one.key, one.message), one.request_id, one.batch,
                one.metered, usage.input_tokens, usage.cache_write_tokens, usage.cache_read_tokens,
                usage.output_tokens,
            )
            for one in answered
            for usage in (one.usage,)
        ],
    )  # fmt: skip
    _insert(connection, _SENT, [(one.key,) for one in answered])


def _insert(connection: sqlite3.Connection, statement: tuple[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Run a statement on rows, many at a time: for each one the thread would wait for its turn among threads."""
    for start in range(0, len(rows), _TOGETHER):
        some = rows[start : start + _TOGETHER]
        connection.execute(_for_rows(*statement, len(some)), tuple(itertools.chain.from_iterable(some)))


@functools.lru_cache(maxsize=STATEMENTS)
def _for_rows(sql: str, places: str, rows: int) -> str:
    return sql.format(rows=", ".join([places] * rows))


def reply_digest(key: bytes, message: bytes) -> bytes:
    """What a reply is checked by whenever it is read."""
    return hashlib.sha256(key + message).digest()


def as_json(answered: Answered) -> dict[str, Any]:
    """A reply for the reserve."""
    usage = answered.usage
    return {
        "key": answered.key.hex(),
        "message": answered.message.decode(),
        "usage": [usage.input_tokens, usage.cache_write_tokens, usage.cache_read_tokens, usage.output_tokens],
        "metered": answered.metered,
        "request_id": answered.request_id,
        "batch": answered.batch,
    }


def from_json(row: dict[str, Any]) -> Answered:
    """A reply from the reserve."""
    return Answered(
        bytes.fromhex(row["key"]),
        row["message"].encode(),
        Usage(*row["usage"]),
        row["metered"],
        row["request_id"],
        row["batch"],
    )


def now() -> str:
    """The time in UTC, for people to read."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
