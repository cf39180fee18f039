"""One writer at a time: a lock file that says who holds it, and turns of processes that work on the same thing.

The locks are the operating system's (``flock``, ``lockf``): they go with the process, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from schemas.errors import MachineError


@contextlib.contextmanager
def held(path: Path, what: str, where: Path, fix: str) -> Iterator[None]:
    """Hold the lock file ``path``. Raises MachineError naming the holder when another process does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 4096, 0).decode(errors="replace").strip() or "another process"
            raise MachineError(f"{what} is held", where, expected=holder, fix=fix) from None
        os.truncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()}, {shlex.join(sys.argv)}\n".encode(), 0)
        yield
        os.truncate(handle, 0)
    finally:
        os.close(handle)


class Turns:
    """Processes that take turns, at one thing or at several: each is a byte of the file. A context manager.

    Between processes, not threads: of one process only one thread may take turns at the same thing.
    """

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    @contextlib.contextmanager
    def at(self, thing: int) -> Iterator[None]:
        """What is done within is done by no other process at the same time. Waits for its turn."""
        fcntl.lockf(self._handle, fcntl.LOCK_EX, 1, thing)
        try:
            yield
        finally:
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, thing)
