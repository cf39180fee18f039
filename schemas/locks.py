"""One writer at a time: a lock file that says who holds it.

The lock is the operating system's (``flock``): it goes with the process, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

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
