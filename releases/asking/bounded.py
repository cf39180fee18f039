"""One SELECT, bounded: it ends after so many seconds, takes so much memory at most, and comes in batches.

The engine's own limit of memory leaves out single values and the results it hands over; ``bounded_memory`` is the
limit of the operating system, for a command that asks one question and ends.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from schemas.errors import RequestError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

TIMEOUT = 30.0
"""Seconds a SELECT may take."""

MOST_MEMORY = 900 << 20
"""Bytes that asking may take beside what the process has taken before."""

BATCH = 10_000
"""Rows that are in memory at a time."""

_AGAIN = 0.02  # seconds between two interrupts

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Patience:
    """Seconds that SELECTs may take together, from when this is made."""

    seconds: float
    since: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Seconds that are left; never none, as a timer has to start."""
        return max(0.001, self.since + self.seconds - time.monotonic())


class Batches:
    """The rows of a SELECT, a batch at a time; ``schema`` are its columns.

    Raises RequestError, in one line, for SQL that fails, takes longer than there is ``patience``, or needs more
    memory than there is. Use it in a ``with``: leaving it stops the engine.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, sql: str, patience: Patience, where: str) -> None:
        self._connection, self._patience, self._where = connection, patience, where
        self._late, self._left, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._watch = threading.Thread(target=self._stop_in_time, daemon=True)
        self._watch.start()
        try:
            self._reader: pa.RecordBatchReader = self._wait(lambda: connection.sql(sql).to_arrow_reader(BATCH))
        except BaseException:
            self._close()
            raise
        self.schema: pa.Schema = self._reader.schema

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, *about: object) -> None:
        self._close()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while (batch := self._wait(lambda: next(self._reader, None))) is not None:
            yield batch

    def _stop_in_time(self) -> None:
        """Stops the engine when the time is over or nobody reads on.

        An interrupt that comes before the engine has begun is lost, so it is repeated until the engine has ended.
        """
        if not self._left.wait(self._patience.left()):
            self._late.set()
        while not self._ended.wait(_AGAIN):
            self._connection.interrupt()

    def _close(self) -> None:
        self._left.set()
        self._connection.interrupt()
        self._pool.shutdown()
        self._ended.set()
        self._watch.join()

    def _wait(self, work: Callable[[], Answer]) -> Answer:
        """In a thread: the engine does not listen for Ctrl-C while it computes, the waiting main thread does."""
        import duckdb
        import pyarrow as pa

        try:
            return self._pool.submit(work).result()
        except KeyboardInterrupt:
            self._connection.interrupt()
            raise
        except (duckdb.Error, pa.ArrowException, MemoryError, OSError) as error:
            raise self._refused(error) from None

    def _refused(self, error: BaseException) -> RequestError:
        return late(self._patience.seconds) if self._late.is_set() else refused(error, self._where)


def at_most(batches: Batches, most: int, what: str) -> Iterator[pa.RecordBatch]:
    """The batches. Raises RequestError, naming ``what`` asks, as soon as there are more than so many rows."""
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        if rows > most:
            raise RequestError(f"more than {most:,} rows", what, fix="Correct its sql")
        yield batch


def late(timeout: float) -> RequestError:
    """The refusal of SQL that took too long."""
    return RequestError(f"SQL took longer than {timeout:g} s", fix="Ask for less, or allow more with --timeout")


def refused(error: BaseException, where: str) -> RequestError:
    """The engine's message in one line, without its drawing of the place; ``where`` names the release."""
    words = " ".join(str(error).split("\n\nLINE ")[0].split())
    if isinstance(error, MemoryError) or "Out of Memory" in words or "bad allocation" in words:
        fix = "Ask for fewer or shorter values"
        return RequestError(f"SQL needs more memory than {MOST_MEMORY >> 20:,} MiB", fix=fix)
    return RequestError("SQL refused", expected=words.rstrip("!?"), fix=f"See: python -m releases show {where}")


@contextlib.contextmanager
def bounded_memory(most: int = MOST_MEMORY) -> Iterator[None]:
    """Let this process take so many bytes more at most, where the operating system can see to it (Linux)."""
    status = Path("/proc/self/status")
    if sys.platform != "linux" or not status.is_file():
        yield
        return
    import resource

    taken = re.search(r"^VmData:\s+(\d+) kB$", status.read_text(), re.M)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if taken is None or (hard != resource.RLIM_INFINITY and hard < int(taken[1]) * 1024 + most):
        yield
        return
    resource.setrlimit(resource.RLIMIT_DATA, (int(taken[1]) * 1024 + most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
