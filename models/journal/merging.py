"""Several runs' journals as one new journal: no request, reply or doubt is lost, and what was paid twice is named.

The processes of one command share a journal; several commands, on one machine or more, have one each. Merged, they
answer whatever any of them answered. A request that two journals know is one request: its sends and doubts are added
up. Where both have a reply, that of the journal named first is used, and the other counts as billed at its worst
(``Conflict``). A journal beside its own copy adds nothing to what was answered: replies that agree in every byte and
time are one. Doubts are added up always, as two processes may have had the same one: the budget counts them at their
worst.

    python -m models journal merge all.sqlite build/1/heart/journal.sqlite build/2/heart/journal.sqlite
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.journal import files
from models.journal.store import opened
from schemas.errors import MachineError, RequestError
from schemas.rows import sync_folder

_SAME = """
CREATE TEMP TABLE known AS
SELECT mine.key, ours.key IS NOT NULL AND (ours.digest, ours.received_at, ours.request_id, mine.asked_at, mine.sent)
  IS (other.digest, other.received_at, other.request_id, theirs.asked_at, theirs.sent) AS copy,
  ours.key IS NOT NULL AND other.key IS NOT NULL AS twice, ours.digest IS other.digest AS alike
FROM main.requests AS mine JOIN other.requests AS theirs USING (key)
LEFT JOIN main.replies AS ours USING (key) LEFT JOIN other.replies AS other USING (key)
"""

_MERGED = (
    "INSERT OR IGNORE INTO main.parts SELECT * FROM other.parts",
    "INSERT OR IGNORE INTO main.settings SELECT * FROM other.settings",
    "INSERT INTO main.runs SELECT number + :runs, began_at, command FROM other.runs",
    """
    UPDATE main.requests SET sent = main.requests.sent + theirs.sent, doubts = main.requests.doubts + theirs.doubts,
      billed = main.requests.billed + theirs.billed + known.twice,
      pending = max(main.requests.pending, theirs.pending),
      most_tokens = max(main.requests.most_tokens, theirs.most_tokens)
    FROM other.requests AS theirs JOIN known USING (key) WHERE main.requests.key = theirs.key AND NOT known.copy
    """,
    """
    INSERT INTO main.requests SELECT key, id, role, model, server, wire, sample, attempt, prompt_id, prompt_digest,
      last_part, settings, manner, run + :runs, asked_at, sent, pending, doubts, billed, most_tokens, max_tokens,
      problem
    FROM other.requests WHERE key NOT IN (SELECT key FROM known)
    """,
    "INSERT OR IGNORE INTO main.replies SELECT * FROM other.replies",
    "UPDATE main.requests SET pending = 0, problem = NULL WHERE key IN (SELECT key FROM main.replies)",
    """
    INSERT INTO main.batches SELECT number + :batches, batch_id, server, submitted_at, done FROM other.batches
    WHERE batch_id IS NULL OR batch_id NOT IN (SELECT batch_id FROM main.batches WHERE batch_id IS NOT NULL)
    """,
    """
    INSERT INTO main.batch_items SELECT number + :batches, key FROM other.batch_items
    WHERE number + :batches IN (SELECT number FROM main.batches)
    """,
    "DROP TABLE known",
)

_TWICE = (
    "SELECT id, hex(key), alike FROM known JOIN main.requests USING (key) WHERE twice AND NOT copy ORDER BY id, key"
)

_LOST = """
SELECT (SELECT count(*) FROM other.requests WHERE key NOT IN (SELECT key FROM main.requests))
     + (SELECT count(*) FROM other.replies WHERE key NOT IN (SELECT key FROM main.replies))
"""


@dataclass(frozen=True)
class Conflict:
    """A request that two journals have a reply to: its id and key, whose reply is not used, whether the two agree."""

    id: str
    key: str
    journal: str
    alike: bool


@dataclass(frozen=True)
class Merged:
    """What the new journal holds, and the requests that were answered twice."""

    requests: int
    answered: int
    conflicts: tuple[Conflict, ...]


def merge(new: Path, sources: Sequence[Path]) -> Merged:
    """Write the new journal, whole or not at all.

    Raises RequestError where it exists, or a source is missing or named twice; MachineError where a source is being
    written, is damaged, or the disk is full.
    """
    _check(new, sources)
    new.parent.mkdir(parents=True, exist_ok=True)
    part = new.with_name(f".{new.name}.merging")
    _remove(part)
    try:
        merged = _write(part, sources)
        part.rename(new)
        sync_folder(new.parent)
    finally:
        _remove(part)
    return merged


def _check(new: Path, sources: Sequence[Path]) -> None:
    if new.exists():
        raise RequestError("existing file", new, fix="Name a file that does not exist yet")
    seen: set[Path] = set()
    for source in sources:
        if not source.is_file():
            raise RequestError("missing journal", source, fix="Check the path")
        if source.resolve() in seen:
            raise RequestError("journal named twice", source, fix="Name it once")
        seen.add(source.resolve())


def _write(part: Path, sources: Sequence[Path]) -> Merged:
    with contextlib.closing(files.connected(part)) as connection:
        try:
            conflicts = [conflict for source in sources for conflict in _take(connection, source)]
            ((requests, answered),) = connection.execute(
                "SELECT (SELECT count(*) FROM requests), (SELECT count(*) FROM replies)"
            )
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError as error:
            fix = "Free some room and try again: the journals are as they were"
            raise MachineError(f"cannot write ({error})", part, fix=fix) from None
    return Merged(requests, answered, tuple(conflicts))


def _take(connection: sqlite3.Connection, source: Path) -> Iterator[Conflict]:
    """Take over all of a journal; the requests that both had a reply to."""
    with opened(source, 0) as journal:  # holds it, and takes over what an earlier run put aside
        if journal.read("SELECT 1 FROM requests WHERE pending LIMIT 1"):
            journal.begin_run("models journal merge")  # counts as doubts what a killed run was sending
    with files.read_only(source):
        pass  # raises for a damaged one
    connection.execute("ATTACH ? AS other", (str(source),))
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_SAME)
        found = [Conflict(name, key, str(source), bool(alike)) for name, key, alike in connection.execute(_TWICE)]
        ((runs,),) = connection.execute("SELECT coalesce(max(number), 0) FROM main.runs")
        ((batches,),) = connection.execute("SELECT coalesce(max(number), 0) FROM main.batches")
        for statement in _MERGED:
            places = {name: value for name, value in (("runs", runs), ("batches", batches)) if f":{name}" in statement}
            connection.execute(statement, places)
        ((lost,),) = connection.execute(_LOST)
        if lost:
            raise MachineError(f"{lost:,} requests or replies were not taken over", source, fix="Report this")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.execute("DETACH other")
    yield from found


def _remove(part: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        part.with_name(part.name + suffix).unlink(missing_ok=True)
