"""A process that drives a share of a run's chains, and the messages between it and the process that started it.

It ignores signals, and stops when that process asks it to or ends: what is in flight finishes and is recorded.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import traceback
from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from models.budget import Sums, Used, budget_of
from models.driving.driver import Driver
from models.journal import joined
from models.progress import Progress
from models.request import Chain
from models.settings import BackendSettings
from schemas.errors import AnamnesisError
from schemas.locks import Turns

_COMMIT, _RESERVE = 0, 1  # what processes take turns at


@dataclass(frozen=True)
class Share:
    """What a process is to know: it is ``number`` (from 0) of ``count``, in the journal's ``run``.

    ``values`` are those of ``Sums`` that all have in common, ``turns`` is the file of ``Turns``.
    """

    number: int
    count: int
    run: int
    settings: BackendSettings
    turns: Path
    values: MutableSequence[float]


@dataclass(frozen=True)
class Message:
    """What a process reports: results by place, what it used so far, how it ended.

    ``in_flight`` is None until it was asked to stop: so many requests finish then.
    """

    found: Sequence[tuple[int, Any]] = ()
    used: Used = field(default_factory=Used)
    retries: int = 0
    in_flight: int | None = None
    over: bool = False
    error: Exception | None = None


def work(share: Share, connection: Connection) -> None:
    """What a process does, from its chains to its last message."""
    with contextlib.suppress(EOFError), connection:
        starts: Sequence[Callable[[], Chain[Any]]] = connection.recv()
        worker = _Worker(share, connection)
        try:
            worker.drive(starts)
        except Exception as error:  # noqa: BLE001  # raised again where the results are waited for
            worker.report(over=True, error=_portable(error))
        else:
            worker.report(over=True)


class _Worker:
    def __init__(self, share: Share, connection: Connection) -> None:
        self._share, self._connection = share, connection
        self._sending = threading.Lock()
        self._driver: Driver[Any] | None = None

    def drive(self, starts: Sequence[Callable[[], Chain[Any]]]) -> None:
        """Drive the chains; their results are reported as they come. Raises what ended the run."""
        share, settings = self._share, self._share.settings
        with contextlib.ExitStack() as stack:
            turns = stack.enter_context(Turns(share.turns))
            commit = functools.partial(turns.at, _COMMIT)
            opened = stack.enter_context(
                joined(settings.journal, settings.concurrency, share.number + 1, share.run, commit)
            )
            sums = Sums([0.0] * 4, common=True)
            if settings.max_cost is not None:
                sums = Sums(share.values, functools.partial(turns.at, _RESERVE), common=True)
            budget = budget_of(settings, opened.path, sums)
            driver = self._driver = Driver(starts, settings, opened, budget, Progress(quiet=True, rows=None))
            driver.begin()
            threading.Thread(target=self._wait_for_stop, args=(driver,), name="stop", daemon=True).start()
            try:
                for group in driver.groups():
                    self.report(found=[(share.number + place * share.count, result) for place, result in group])
            finally:
                driver.stop()
                driver.join()

    def report(self, **what: Any) -> None:
        """Send a message; nobody may be there any more."""
        driver = self._driver
        state: dict[str, Any] = {} if driver is None else {"used": driver.used, "retries": driver.retries}
        with self._sending, contextlib.suppress(OSError):
            self._connection.send(Message(**state, **what))

    def _wait_for_stop(self, driver: Driver[Any]) -> None:
        """Stop when the process that started this one asks for it, or is gone."""
        with contextlib.suppress(EOFError, OSError):
            self._connection.recv()
        driver.stop()
        self.report(in_flight=driver.in_flight)


def _portable(error: Exception) -> Exception:
    """An error as another process can raise it, with a note of where it came from."""
    where = "".join(traceback.format_exception(error))
    if not isinstance(error, AnamnesisError | OSError):
        return RuntimeError(where)
    error.add_note(f"in a process of the run:\n{where}")
    return error
