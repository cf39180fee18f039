"""The journal: every request before it is sent, every reply before it is used, so that nothing is paid twice.

One SQLite file (WAL, synchronous FULL; tables in ``journal.sql``). A request is known by the digest of
all that determines its answer, so running a command again replays what was answered, for free, and
asks the rest. A thread writes in groups: while one commit reaches the disk, the next group gathers.
When the disk is full, replies under way go to the reserve beside the file (``reserve``), and the next
run takes them over. One process writes at a time; any number may read (``python -m models journal``).

Keys and headers are never stored: bodies and replies only.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from models.request import Usage
from models.reserve import EACH, SMALLEST, Reserve
from schemas.errors import MachineError, RequestError
from schemas.locks import held

VERSION = 1

_APPLICATION = 0x414E414D  # "ANAM"
_MAGIC = b"SQLite format 3\0"
_TABLES = Path(__file__).parent / "journal.sql"
_PATIENCE = 60.0  # seconds for a reader to let go

Work = Callable[[sqlite3.Connection], object]


@dataclass(frozen=True)
class Asked:
    """A request as the journal keeps it; ``most_tokens`` is an upper bound on its input."""

    key: bytes
    body: bytes
    id: str
    role: str
    model: str
    server: str
    sample: int
    prompt_id: str
    prompt_digest: str
    most_tokens: int
    max_tokens: int


@dataclass(frozen=True)
class Answered:
    """A reply as the journal keeps it."""

    key: bytes
    message: bytes
    usage: Usage
    metered: bool
    request_id: str | None = None
    batch: bool = False


@contextlib.contextmanager
def opened(path: Path, concurrency: int) -> Iterator[Journal]:
    """The journal for writing. Raises MachineError when another process writes it or there is no room.

    Raises RequestError for a file that is no journal or comes from a newer version.
    """
    lock = path.with_name(f".{path.name}.lock")
    with held(lock, "journal", path, "Wait for it, or use another --journal"):
        connection = _connect(path)
        try:
            reserve = Reserve(path.with_name(f".{path.name}.reserve"), max(SMALLEST, EACH * concurrency))
            try:
                journal = Journal(path, connection, reserve)
                try:
                    yield journal
                finally:
                    journal.close()
            finally:
                reserve.close()
        finally:
            connection.close()


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[Callable[..., list[Any]]]:
    """A function that runs a query, also while another process writes the journal. Raises RequestError."""
    if not path.is_file():
        raise RequestError("missing journal", path, mend="Check --journal or --workspace: nothing was asked there yet")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE)) as connection:
        _check(connection, path)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only = 1")
        yield lambda sql, *values: connection.execute(sql, values).fetchall()


class Journal:
    """An open journal; see ``opened``."""

    def __init__(self, path: Path, connection: sqlite3.Connection, reserve: Reserve) -> None:
        self.path = path
        self._connection, self._reserve = connection, reserve
        self._failed: MachineError | None = None
        self._aside: dict[bytes, bytes] = {}  # replies that only the reserve holds
        self._take_over()
        self.known = {key for (key,) in connection.execute("SELECT key FROM replies")}
        self._reader = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE, check_same_thread=False)
        self._queue: queue.SimpleQueue[tuple[Work, Answered | None, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="journal", daemon=True)
        self._writer.start()

    def replay(self, key: bytes) -> bytes | None:
        """The message that answered a request; None when nothing did yet."""
        if key not in self.known:
            return None
        row = self._reader.execute("SELECT message FROM replies WHERE key = ?", (key,)).fetchone()
        return row[0].encode() if row else self._aside[key]

    async def ask(self, asked: Sequence[Asked]) -> None:
        """Note requests as about to be sent. On disk when this returns."""
        await self._do(lambda connection: _insert_asked(connection, asked))

    async def answer(self, answered: Answered) -> None:
        """Note a reply. On disk when this returns, in the reserve if need be."""
        await self._do(lambda connection: _insert_answered(connection, [answered]), answered)
        self.known.add(answered.key)
        if self._failed is not None:
            self._aside[answered.key] = answered.message

    async def doubt(self, key: bytes) -> None:
        """Note that a request was sent and no reply was seen: it may have been billed."""
        await self._do(lambda c: c.execute("UPDATE requests SET doubts = doubts + 1 WHERE key = ?", (key,)))

    async def give_up(self, key: bytes, problem: str | None) -> None:
        """Note that nothing of a request is in flight any more, and why (None: it was not sent)."""
        await self._do(
            lambda c: c.execute("UPDATE requests SET in_flight = 0, problem = ? WHERE key = ?", (problem, key))
        )

    async def write(self, work: Work) -> None:
        """Do other work on the connection, in its turn and committed when this returns."""
        await self._do(work)

    def prune(self, where: str, values: Sequence[str]) -> None:
        """Forget the requests that an SQL condition over requests and replies chooses."""
        chosen = f"SELECT requests.key FROM requests LEFT JOIN replies USING (key) WHERE {where}"
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"CREATE TEMP TABLE gone AS {chosen}", tuple(values))
            for table in ("batch_items", "replies", "requests"):
                connection.execute(f"DELETE FROM {table} WHERE key IN (SELECT key FROM gone)")
            connection.execute("DELETE FROM fixed WHERE digest NOT IN (SELECT fixed FROM requests WHERE fixed NOTNULL)")
            connection.execute("COMMIT")
            connection.execute("VACUUM")
        except sqlite3.Error as error:
            raise _unwritable(self.path, error) from None

    def read(self, sql: str, *values: Any) -> list[Any]:
        """Rows of a query."""
        return self._reader.execute(sql, values).fetchall()

    def close(self) -> None:
        """Write what is waiting, and stop."""
        self._queue.put(None)
        self._writer.join()
        self._reader.close()
        if self._failed is None:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    async def _do(self, work: Work, kept: Answered | None = None) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put((work, kept, done))
        await done

    def _write(self) -> None:
        while (first := self._queue.get()) is not None:
            group, last = [first], False
            with contextlib.suppress(queue.Empty):
                while not last:
                    following = self._queue.get_nowait()
                    last = following is None
                    if following is not None:
                        group.append(following)
            waiting = [done for _, _, done in group]
            try:
                self._tell(waiting, self._commit([(work, kept) for work, kept, _ in group]))
            except BaseException as error:  # whoever waits has to hear of it
                self._tell(waiting, [MachineError(f"journal stopped ({error!r})", self.path)] * len(waiting))
                raise
            if last:
                return

    @staticmethod
    def _tell(waiting: Sequence[asyncio.Future[None]], errors: Sequence[Exception | None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
            waiting[0].get_loop().call_soon_threadsafe(_settle, waiting, errors)

    def _commit(self, group: Sequence[tuple[Work, Answered | None]]) -> list[Exception | None]:
        if self._failed is None:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                for work, _ in group:
                    work(self._connection)
                self._connection.execute("COMMIT")
                return [None] * len(group)
            except sqlite3.Error as error:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                self._failed = _unwritable(self.path, error)
        return [self._put_aside(kept) for _, kept in group]

    def _put_aside(self, kept: Answered | None) -> Exception | None:
        if kept is None:
            return self._failed
        try:
            self._reserve.put(_as_row(kept))
        except OSError as error:
            return _unwritable(self.path, error)
        return None

    def _take_over(self) -> None:
        kept = [_as_answered(row) for row in self._reserve.kept()]
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            _insert_answered(self._connection, kept)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise _unwritable(self.path, error) from None
        self._reserve.clear()


def _settle(waiting: Sequence[asyncio.Future[None]], errors: Sequence[Exception | None]) -> None:
    for done, error in zip(waiting, errors, strict=True):
        if done.done():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


def _insert_asked(connection: sqlite3.Connection, asked: Sequence[Asked]) -> None:
    time = now()
    for one in asked:
        body = orjson.loads(one.body)
        system = body.pop("system", None)
        digest = None
        if system is not None:
            text = orjson.dumps(system)
            digest = hashlib.sha256(text).digest()
            connection.execute("INSERT OR IGNORE INTO fixed VALUES (?, ?)", (digest, text.decode()))
        connection.execute(
            "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, ?, ?, NULL)"
            " ON CONFLICT (key) DO UPDATE SET doubts = doubts + in_flight, in_flight = 1, problem = NULL,"
            " asked_at = excluded.asked_at",
            (
                one.key, one.id, one.role, one.model, one.server, one.sample, one.prompt_id, one.prompt_digest,
                digest, orjson.dumps(body).decode(), time, one.most_tokens, one.max_tokens,
            ),
        )  # fmt: skip


def _insert_answered(connection: sqlite3.Connection, answered: Sequence[Answered]) -> None:
    time = now()
    for one in answered:
        usage = one.usage
        connection.execute(
            "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                one.key, time, one.message.decode(), one.request_id, one.batch, one.metered, usage.input_tokens,
                usage.cache_write_tokens, usage.cache_read_tokens, usage.output_tokens,
            ),
        )  # fmt: skip


def _as_row(kept: Answered) -> dict[str, Any]:
    usage = kept.usage
    return {
        "key": kept.key.hex(),
        "message": kept.message.decode(),
        "usage": [usage.input_tokens, usage.cache_write_tokens, usage.cache_read_tokens, usage.output_tokens],
        "metered": kept.metered,
        "request_id": kept.request_id,
        "batch": kept.batch,
    }


def _as_answered(row: dict[str, Any]) -> Answered:
    return Answered(
        bytes.fromhex(row["key"]),
        row["message"].encode(),
        Usage(*row["usage"]),
        row["metered"],
        row["request_id"],
        row["batch"],
    )


def _connect(path: Path) -> sqlite3.Connection:
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:  # SQLite would take a short file for an empty one
                raise _no_journal(path)
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE, check_same_thread=False)
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            _create(connection)
        _check(connection, path)
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.OperationalError as error:
        raise _unwritable(path, error) from None
    except sqlite3.DatabaseError:
        raise _no_journal(path) from None
    return connection


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(
        f"BEGIN IMMEDIATE; {_TABLES.read_text('utf-8')}"
        f" PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
    )


def _check(connection: sqlite3.Connection, path: Path) -> None:
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError:
        application, version = None, 0
    if application != _APPLICATION:
        raise _no_journal(path)
    if version > VERSION:
        raise RequestError(
            "journal from a newer version",
            path,
            expected=f"version {VERSION}, found {version}",
            mend="Update this package, or name another file with --journal; this one is left as it is",
        )


def _no_journal(path: Path) -> RequestError:
    return RequestError("no journal", path, mend="Name another file with --journal; this one is left as it is")


def _unwritable(path: Path, error: Exception) -> MachineError:
    return MachineError(
        f"journal cannot be written ({error})",
        path,
        mend="Free some room or mend the disk, and run the same command again. What was answered is kept",
    )


def now() -> str:
    """The time in UTC, for people to read."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
