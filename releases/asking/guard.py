"""A query in a process of its own: what the engine cannot stop, or does not survive, ends that process and no more.

A thread that is refused memory ends its process, with a word of the C library at most; and the engine does not
listen while it is inside one call of a function. So the command forks before it loads the engine: the child asks,
with an alarm set, and the process that the user started waits and says in one line what became of it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from releases.asking.bounded import bounded_memory
from schemas.errors import RequestError

_CODES = (0, 1, 2, 3, 130)
_COMMAND = "releases.__main__"


@dataclass(frozen=True)
class Guard:
    """What stands around a query: nothing, or a process that waits (``is_child``); ``code`` of a child that ended."""

    is_child: bool = False
    code: int | None = None

    @contextlib.contextmanager
    def limits(self, timeout: float, memory: int) -> Iterator[None]:
        """Time, as ``alarm``, and bytes that the process may take beside what it has taken before."""
        with self.alarm(timeout), bounded_memory(memory) if self.is_child else contextlib.nullcontext():
            yield

    @contextlib.contextmanager
    def alarm(self, timeout: float) -> Iterator[None]:
        """The process ends when this takes far longer than that, whatever it is doing, and not while it says so."""
        if self.is_child:
            signal.setitimer(signal.ITIMER_REAL, 2 * timeout + 1)
        try:
            yield
        finally:
            self.disarm()

    def disarm(self) -> None:
        """All rows are there: from now on whoever reads them may take their time."""
        if self.is_child:
            signal.setitimer(signal.ITIMER_REAL, 0)


def guarded(out: Path | None, late: RequestError, greedy: RequestError) -> Guard:
    """The guard to ask under: in a child, where this process is the command. In the command itself it has a ``code``.

    Raises ``late`` for a child that the alarm has ended, ``greedy`` for one that has crashed (the engine does where it
    is refused memory), KeyboardInterrupt for one that was interrupted; nothing of ``out`` is left then.
    """
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is None or spec.name != _COMMAND or not hasattr(os, "fork") or threading.active_count() > 1:
        return Guard()
    child = os.fork()
    if child == 0:
        _be_the_child()
        return Guard(is_child=True)
    # Of its own group, so that Ctrl-C comes once, from here.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(child, number))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in _CODES:
        return Guard(code=code)
    if out is not None:  # as schemas.rows.write_whole names what it has not finished
        out.with_name(f".{out.name}.{child}.part").unlink(missing_ok=True)
    if code == -signal.SIGINT:
        raise KeyboardInterrupt
    if code == -signal.SIGTERM:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    raise late if code == -signal.SIGALRM else greedy


def _be_the_child() -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # it ends at once, wherever it is; the other process says so
    # What the C library says as it ends a process is for nobody; what Python says goes where it went.
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
