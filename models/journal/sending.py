"""Which requests are being sent at this moment: a small file beside the journal, one place for each in flight.

A request is recorded in the journal before it may be sent, and waits there for its turn; a kill must not count the
ones that waited as sent. Marking each send in the journal would cost a wait for the disk while its place is empty, so
the marks go to a file that is written and not waited for: it outlives the process, not the machine. What the file
says counts only on the start of the machine it was written in; after a power cut every recorded request counts as
sent.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

from schemas.errors import MachineError

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_HEADER = 64  # bytes: which start of the machine this is
_KEY = 32
_NONE = bytes(_KEY)


class Sending:
    """The open file, of one process. Raises MachineError when another one is sending by it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = _locked(path)
        self._free: list[int] = []
        self._places = 0

    def left(self) -> set[bytes] | None:
        """The keys that an earlier run was sending when it ended; None: that is not known."""
        return _left(self._handle)

    def begin(self) -> None:
        """Forget what an earlier run left."""
        os.truncate(self._handle, 0)
        os.pwrite(self._handle, _boot(), 0)
        self._free, self._places = [], 0

    def take_over(self, others: Iterable[Path]) -> None:
        """Take over what the processes of an earlier run were sending, and remove their files.

        Raises MachineError when one of them is still at it.
        """
        paths = list(others)
        if not paths:
            return
        found = [_left_in(path) for path in paths]
        own = self.left() or set()
        self.begin()
        for key in own.union(*(keys or () for keys in found)):
            self.enter(key)
        if None in found:
            os.truncate(self._handle, 0)  # it is not known any more
        for path in paths:
            path.unlink()

    def enter(self, key: bytes) -> int:
        """A request is about to be sent; the place it takes."""
        if not self._free:
            self._free.append(self._places)
            self._places += 1
        place = self._free.pop()
        os.pwrite(self._handle, key, _HEADER + place * _KEY)
        return place

    def leave(self, place: int, pending: bool = True) -> None:
        """What became of it is recorded. The mark of one that is not ``pending`` any more says nothing: it may stay."""
        if pending:
            os.pwrite(self._handle, _NONE, _HEADER + place * _KEY)
        self._free.append(place)

    def close(self) -> None:
        """Close; the file stays only while something is being sent."""
        os.close(self._handle)
        if len(self._free) == self._places:
            self._path.unlink(missing_ok=True)


def _locked(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise MachineError(
            "requests are still in flight",
            path,
            expected="a process of an earlier run waits for their replies",
            fix="Wait for it, or use another --journal",
        ) from None
    return handle


def _left_in(path: Path) -> set[bytes] | None:
    handle = _locked(path)
    try:
        return _left(handle)
    finally:
        os.close(handle)


def _left(handle: int) -> set[bytes] | None:
    size = os.fstat(handle).st_size
    raw = os.pread(handle, size, 0)
    if not size or raw[:_HEADER] != _boot() or not raw[:1].strip(b"\0"):
        return None
    return {raw[place : place + _KEY] for place in range(_HEADER, size, _KEY)} - {_NONE}


def _boot() -> bytes:
    try:
        return _BOOT.read_bytes().strip().ljust(_HEADER, b"\0")[:_HEADER]
    except OSError:
        return bytes(_HEADER)
