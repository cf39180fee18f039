"""Room for the replies in flight when the disk is full.

A file beside the journal whose blocks are allocated before anything is sent. When SQLite can no longer
write, the replies that are still under way (and paid for) are written into it; the next run takes them
over into the journal. On file systems that copy on write the room is not guaranteed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from schemas.errors import MachineError
from schemas.tables import Row

SMALLEST = 16 * 2**20  # bytes
EACH = 128 * 2**10  # bytes for every request in flight
_CHUNK = 2**16


class Reserve:
    """An open reserve of ``size`` bytes. Raises MachineError when there is no room for it."""

    def __init__(self, path: Path, size: int) -> None:
        self.path, self.size = path, size
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._end = 0
        try:
            os.posix_fallocate(self._handle, 0, size)
        except OSError as error:
            os.close(self._handle)
            raise MachineError(
                "no room for replies",
                path,
                expected=f"{size // 2**20} MiB free ({(error.strerror or str(error)).lower()})",
                fix="Free some room and run the same command again. Nothing was sent",
            ) from None
        self._end = sum(len(line) + 1 for line in self._lines())

    def rows(self) -> Iterator[Row]:
        """What an earlier run put aside. A line that was cut by a power loss was never acknowledged: it is left out."""
        for line in self._lines():
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError:
                return

    def _lines(self) -> list[bytes]:
        read = b""
        while b"\0" not in read[-_CHUNK:] and (more := os.pread(self._handle, _CHUNK, len(read))):
            read += more
        return [line for line in read.partition(b"\0")[0].split(b"\n") if line]

    def put(self, row: Row) -> None:
        """Put a reply aside, on disk when this returns. Raises OSError when even this has no room."""
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        if os.pwrite(self._handle, line, self._end) != len(line):
            raise OSError(f"no room in {self.path}")
        os.fsync(self._handle)
        self._end += len(line)

    def take_over(self, others: Iterable[Path]) -> None:
        """Take over what the processes of an earlier run put aside, and remove their files. Raises OSError."""
        for path in others:
            other = Reserve(path, 1)
            for row in other.rows():
                self.put(row)
            other.clear()
            other.close()

    def clear(self) -> None:
        """Forget what was put aside: it is in the journal now."""
        if self._end:
            os.pwrite(self._handle, b"\0" * self._end, 0)
            os.fsync(self._handle)
            self._end = 0

    def close(self) -> None:
        """Close, and give the room back when nothing was put aside."""
        os.close(self._handle)
        if not self._end:
            self.path.unlink(missing_ok=True)
