"""The open journal of a run.

One SQLite file (WAL, synchronous FULL; tables in ``journal.sql``). A request is known by the digest of
all that determines its answer, so running a command again replays what was answered, for free, and
asks the rest. A thread writes (``writing``). A reply goes to it with the request that its chain asks next, so that
this one does not wait for two commits.
Which of the requests that are recorded as pending are being sent stands in a file beside it (``sending``).
When the disk is full, replies under way go to the reserve beside the file (``reserve``), and the next
run takes them over. One run writes at a time, in one process or several (``joined``): each has files of its own beside
the one journal, which knows what of a request another of them is asking or was answered. Any number may read
(``python -m models journal``).

Keys and headers are never stored: questions and replies only.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from models.journal import files, records
from models.journal.records import Answered, Asked, NotedRequest
from models.journal.reserve import EACH, SMALLEST, Reserve
from models.journal.sending import Sending
from models.journal.writing import Note, Turn, Work, Writer
from schemas.locks import held

_CHUNK, _CHUNKS = 64, 8  # replies read together, and how often they are held
_FIRST_LOOK, _LAST_LOOK = 0.02, 1.0  # seconds between looks whether another process has a reply, doubling
_KILLED = "doubts = doubts + 1, sent = sent + 1, pending = 0, problem = 'no reply seen: the run was killed'"
_OPEN_BATCH_KEYS = "SELECT key FROM batch_items JOIN batches USING (number) WHERE NOT done"
_KEYED = ("batch_items", "replies", "requests")
_NEEDED_PARTS = """
WITH RECURSIVE needed (digest) AS (
  SELECT last_part FROM requests UNION SELECT previous FROM parts JOIN needed USING (digest)
) SELECT digest FROM needed
"""


@contextlib.contextmanager
def opened(path: Path, concurrency: int) -> Iterator[Journal]:
    """The journal for writing. Raises MachineError when another process writes it, it is damaged, or there is no room.

    Raises RequestError for a file that is no journal or comes from another version.
    """
    lock = path.with_name(f".{path.name}.lock")
    with held(lock, "journal", path, "Wait for it, or use another --journal"):
        connection = files.connected(path)
        try:
            reserve = Reserve(path.with_name(f".{path.name}.reserve"), max(SMALLEST, EACH * concurrency))
            try:
                sending = Sending(path.with_name(f".{path.name}.sending"))
                try:
                    sending.take_over(files.left_beside(path, "sending"))
                    reserve.take_over(files.left_beside(path, "reserve"))
                    journal = Journal(path, connection, reserve, sending)
                except BaseException:
                    sending.close()
                    raise
                try:
                    yield journal
                finally:
                    journal.close()
            finally:
                reserve.close()
        finally:
            connection.close()


@contextlib.contextmanager
def joined(path: Path, concurrency: int, process: int, run: int, turn: Turn) -> Iterator[Journal]:
    """The journal for writing, in a process of a run that has it open: commits take turns, ``process`` counts from 1.

    Raises as ``opened``.
    """
    with contextlib.ExitStack() as stack:
        sending = Sending(path.with_name(f".{path.name}.sending.{process}"))
        sending.begin()
        connection = stack.enter_context(contextlib.closing(files.connected(path, deep=False)))
        size = max(SMALLEST, EACH * concurrency)
        reserve = Reserve(path.with_name(f".{path.name}.reserve.{process}"), size)
        stack.callback(reserve.close)
        journal = stack.enter_context(contextlib.closing(Journal(path, connection, reserve, sending, turn)))
        journal.run = run
        yield journal


class Journal:
    """An open journal; see ``opened``."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        reserve: Reserve,
        sending: Sending,
        turn: Turn | None = None,
    ) -> None:
        self.path = path
        self.run = 0
        self.sending = sending
        self._connection, self._reserve = connection, reserve
        self._aside: dict[bytes, bytes] = {}  # replies that are not in the file, or not yet
        self._chunks: dict[int, dict[int, tuple[str, bytes]]] = {}
        self._last: asyncio.Future[None] | None = None
        self._stored: set[bytes] = set()  # digests of parts
        self._settings: dict[bytes, bytes] = {}  # digests of stored settings
        self._take_over()
        self.known: dict[bytes, int | None] = dict(connection.execute("SELECT key, rowid FROM replies"))
        self._reader = files.reader(path)
        self._gathered: list[Note] = []  # of this turn of the event loop
        self._loop: asyncio.AbstractEventLoop
        self._writer = Writer(path, connection, reserve, turn)

    def begin_run(self, command: str) -> None:
        """Number a new run, and count as doubts what an earlier one was sending when it was killed."""
        left = self.sending.left()
        pending = f"pending AND key NOT IN ({_OPEN_BATCH_KEYS})"
        sent = "" if left is None else f"AND hex(key) IN ({', '.join(repr(key.hex().upper()) for key in left)})"
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(f"UPDATE requests SET {_KILLED} WHERE {pending} {sent}")
            self._connection.execute(f"UPDATE requests SET pending = 0 WHERE {pending}")
            insert = "INSERT INTO runs (began_at, command) VALUES (?, ?) RETURNING number"
            ((self.run,),) = self._connection.execute(insert, (records.now(), command)).fetchall()
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise files.unwritable(self.path, error) from None
        self.sending.begin()

    def replay(self, key: bytes) -> bytes | None:
        """The message that answered a request; None when nothing did yet. Raises MachineError for a damaged one."""
        if key not in self.known:
            return None
        if key in self._aside:
            return self._aside[key]
        row = self._row(key)
        if row is None or records.reply_digest(key, row[0].encode()) != row[1]:
            raise files.damaged(self.path, "a reply is not what was recorded")
        message: bytes = row[0].encode()
        return message

    def _row(self, key: bytes) -> tuple[str, bytes] | None:
        """Message and digest of a reply; what was recorded together is read together, and asked for together."""
        rowid = self.known[key]
        if rowid is None:  # recorded in this run
            with files.damage_reported(self.path):
                sql = "SELECT message, digest FROM replies WHERE key = ?"
                found: tuple[str, bytes] | None = self._reader.execute(sql, (key,)).fetchone()
            return found
        chunk = rowid // _CHUNK
        if chunk not in self._chunks:
            while len(self._chunks) >= _CHUNKS:
                del self._chunks[next(iter(self._chunks))]
            with files.damage_reported(self.path):
                sql = "SELECT rowid, message, digest FROM replies WHERE rowid >= ? AND rowid < ?"
                rows = self._reader.execute(sql, (chunk * _CHUNK, (chunk + 1) * _CHUNK)).fetchall()
            self._chunks[chunk] = {row[0]: row[1:] for row in rows}
        return self._chunks[chunk].get(rowid)

    async def ask(self, asked: Sequence[Asked]) -> bool:
        """Note one or more requests as about to be sent. On disk when this returns, with all that was noted before.

        False where another process of the run asks one of them, or has its reply, which is ``known`` then.
        """
        for one in asked:
            settings = records.new_settings(one.question, self._settings)
            noted = NotedRequest(one, settings, records.new_parts(one.question, self._stored), self.run)
            done = self._note(noted)
        await done
        elsewhere = self._writer.elsewhere
        if not elsewhere:
            return True
        left = [(one.key, elsewhere.pop(one.key)) for one in asked if one.key in elsewhere]
        self.known.update((key, None) for key, answered in left if answered)
        return not left

    async def claim(self, asked: Asked, sleep: Callable[[float], Awaitable[None]]) -> bool:
        """``ask``, waiting while another process asks the same; False: that one has the reply, which is known now."""
        wait = _FIRST_LOOK
        while not await self.ask([asked]):
            if asked.key in self.known:
                return False
            await sleep(wait)
            wait = min(2 * wait, _LAST_LOOK)
        return True

    def answer(self, answered: Answered, sending: int | None = None) -> asyncio.Future[None]:
        """Note a reply. On disk, in the reserve if need be, when the future is done; what comes later waits for it.

        ``sending``: the place that the request had while it was being sent; it is free then, as with ``unanswered``.
        """
        key = answered.key
        self.known[key] = None
        self._aside[key] = answered.message

        def on_disk() -> None:
            if self._writer.failed is None:
                self._aside.pop(key, None)
            if sending is not None:
                self.sending.leave(sending, pending=False)

        return self._note(answered, on_disk)

    def unanswered(
        self, key: bytes, problem: str | None, doubt: bool, over: bool, sending: int | None = None
    ) -> asyncio.Future[None]:
        """Note an attempt without a reply, and why; ``doubt``: it may have been billed; ``over``: it was the last."""
        sql = "UPDATE requests SET sent = sent + 1, doubts = doubts + ?, problem = ?, pending = ? WHERE key = ?"
        values = (doubt, problem, not over, key)

        def on_disk() -> None:
            if sending is not None:
                self.sending.leave(sending, pending=not over)

        return self._note(lambda connection: connection.execute(sql, values), on_disk)

    def not_sent(self, key: bytes) -> asyncio.Future[None]:
        """Note that a request is not going to be sent."""
        return self._note(lambda c: c.execute("UPDATE requests SET pending = 0 WHERE key = ?", (key,)))

    def came_to(self, key: bytes, status: str, reason: str) -> asyncio.Future[None]:
        """Note what a reply came to when it was read."""
        sql = "UPDATE replies SET status = ?, reason = ? WHERE key = ?"
        return self._note(lambda connection: connection.execute(sql, (status, reason, key)))

    async def written(self) -> None:
        """All that was noted so far is on disk when this returns. Raises MachineError when it is not."""
        self._hand_over()
        if self._last is not None:
            await self._last

    async def write(self, work: Work) -> None:
        """Do work on the connection, in its turn and committed when this returns."""
        done = self._note(work)
        self._hand_over()
        await done

    def change(self, *statements: tuple[str, Sequence[Any]]) -> None:
        """Run statements at once, in one transaction: for commands, not for a run."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for sql, values in statements:
                self._connection.execute(sql, values)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise files.unwritable(self.path, error) from None

    def forget(self, keys: str, values: Sequence[Any]) -> None:
        """Forget the requests whose keys a query chooses, and the parts of prompts that nothing else needs."""
        self.change(
            ("CREATE TEMP TABLE gone AS " + keys, values),
            *((f"DELETE FROM {table} WHERE key IN (SELECT key FROM gone)", ()) for table in _KEYED),
            ("DELETE FROM settings WHERE digest NOT IN (SELECT settings FROM requests)", ()),
            (f"DELETE FROM parts WHERE digest NOT IN ({_NEEDED_PARTS})", ()),
        )
        self._connection.execute("VACUUM")

    def read(self, sql: str, *values: Any) -> list[Any]:
        """Rows of a query."""
        with files.damage_reported(self.path):
            return self._reader.execute(sql, values).fetchall()

    def close(self) -> None:
        """Write what is waiting, and stop."""
        self._hand_over()
        self._writer.close()
        self._reader.close()
        self.sending.close()
        if self._writer.failed is None:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _note(
        self, what: NotedRequest | Answered | Work, then: Callable[[], object] | None = None
    ) -> asyncio.Future[None]:
        """Note what is to be written. The thread gets it in the event loop's next turn, with all of this one."""
        if not self._gathered:
            self._loop = asyncio.get_running_loop()
            self._loop.call_soon(self._hand_over)
        self._last = done = self._loop.create_future()
        self._gathered.append(Note(what, done, then))
        return done

    def _hand_over(self) -> None:
        if self._gathered:
            self._writer.put(self._gathered)
            self._gathered = []

    def _take_over(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            records.insert_answered(self._connection, [records.from_json(row) for row in self._reserve.rows()])
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise files.unwritable(self.path, error) from None
        self._reserve.clear()
