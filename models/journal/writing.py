"""The thread that writes a journal, in groups: while one commit reaches the disk, the next group gathers.

Of a group, the requests and the replies are written many a statement. Whoever noted something hears when it is on
disk, or that it is not: in the event loop, all of a group together. When the file takes nothing more, replies go to the
reserve.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple

from models.journal import files, records
from models.journal.records import Answered, NotedRequest
from models.journal.reserve import Reserve
from schemas.errors import MachineError

Work = Callable[[sqlite3.Connection], object]

Turn = Callable[[], AbstractContextManager[object]]
"""Within it no other process commits."""


class Note(NamedTuple):
    """What is to be written, the future that tells when it was, and what is called in the loop before that."""

    what: NotedRequest | Answered | Work
    written: asyncio.Future[None]
    then: Callable[[], object] | None = None


class Writer:
    """The thread. ``failed`` is set, for good, when the file takes nothing more.

    With ``turn`` other processes write the same file. ``elsewhere`` are requests that were not noted since another
    process is asking them (False), or has the reply (True).
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, reserve: Reserve, turn: Turn | None = None) -> None:
        self.failed: MachineError | None = None
        self.elsewhere: dict[bytes, bool] = {}
        self._shared, self._turn = turn is not None, turn or nullcontext
        self._path, self._connection, self._reserve = path, connection, reserve
        self._queue: queue.SimpleQueue[list[Note] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def put(self, group: list[Note]) -> None:
        """Write these together, and with them what else is waiting by then."""
        self._queue.put(group)

    def close(self) -> None:
        """Write what is waiting, and stop."""
        self._queue.put(None)
        self._thread.join()

    def _write(self) -> None:
        while (group := self._queue.get()) is not None:
            last = False
            with contextlib.suppress(queue.Empty):
                while not last:
                    following = self._queue.get_nowait()
                    last = following is None
                    if following is not None:
                        group += following
            try:
                _report(group, self._commit(group))
            except BaseException as error:  # whoever waits has to hear of it
                _report(group, [MachineError(f"journal stopped ({error!r})", self._path)] * len(group))
                raise
            if last:
                return

    def _commit(self, group: Sequence[Note]) -> Sequence[Exception | None]:
        if self.failed is None:
            try:
                with self._turn():
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._insert(group)
                    self._connection.execute("COMMIT")
                return [None] * len(group)
            except sqlite3.Error as error:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                self.failed = files.unwritable(self._path, error)
        return [self._put_aside(note.what) for note in group]

    def _insert(self, group: Sequence[Note]) -> None:
        """Requests and replies together, as long as they are of different keys; anything else in its turn."""
        asked: dict[bytes, NotedRequest] = {}
        answered: dict[bytes, Answered] = {}

        def insert() -> None:
            if self._shared and asked:
                elsewhere = records.claimed(self._connection, list(asked))
                self.elsewhere |= elsewhere
                for key in elsewhere:
                    del asked[key]
            records.insert_asked(self._connection, list(asked.values()))
            records.insert_answered(self._connection, list(answered.values()))
            asked.clear()
            answered.clear()

        for note in group:
            what = note.what
            if isinstance(what, Answered):
                if what.key in asked or what.key in answered:
                    insert()
                answered[what.key] = what
            elif isinstance(what, NotedRequest):
                if what.asked.key in asked or what.asked.key in answered:
                    insert()
                asked[what.asked.key] = what
            else:
                insert()
                what(self._connection)
        insert()

    def _put_aside(self, what: object) -> Exception | None:
        if not isinstance(what, Answered):
            return self.failed
        try:
            self._reserve.put(records.as_json(what))
        except OSError as error:
            return files.unwritable(self._path, error)
        return None


def _report(group: Sequence[Note], errors: Sequence[Exception | None]) -> None:
    """Report to the loop how a group went."""

    def finish() -> None:
        for (_, written, then), error in zip(group, errors, strict=True):
            if then is not None:
                then()
            if written.done():
                continue
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)
                written.exception()  # whoever waits for the disk later hears of it, too: not waiting is no oversight

    with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
        group[0].written.get_loop().call_soon_threadsafe(finish)
