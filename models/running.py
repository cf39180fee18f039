"""The backend with a model: many chains side by side, nothing paid lost or paid twice.

    run(starts, settings)      see ``models.backends``, the only caller

Chains are driven in this process, or with ``settings.processes`` shared out to others (``driving``); the caller gets
results in order.

An interruption (Ctrl-C, or SIGTERM from a scheduler) or an error of the whole run (wrong key, budget, full disk,
dead server) lets what is in flight finish and be recorded, then ends the run; running the same command again goes on
from there.
"""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from models import journal
from models.budget import Used, budget_of
from models.driving.driver import Driver
from models.driving.processes import Processes, processes_for, sums_in_common
from models.progress import Progress
from models.request import Chain, Result
from models.roles import OFFLINE
from models.servers import server_address, server_of
from models.settings import BackendSettings
from schemas.command import say
from schemas.errors import RequestError


def run(
    starts: Sequence[Callable[[], Chain[Result]]], settings: BackendSettings, rows: int | None = None
) -> Iterator[Result]:
    """Drive the chains on their models; results in the order of ``starts``. Raises as ``backends.run`` says."""
    if not starts:
        return
    check_servers(settings)
    count = processes_for(settings, len(starts))
    with journal.opened(settings.journal, settings.concurrency) as opened, _interrupted_by_sigterm():
        opened.begin_run(shlex.join(sys.argv))
        progress = Progress(settings.quiet, rows)
        budget = budget_of(settings, opened.path, sums_in_common() if count > 1 else None)
        run: Driver[Result] | Processes[Result]
        if count > 1:
            run = Processes(starts, settings, opened, budget, progress, count)
        else:
            run = Driver(starts, settings, opened, budget, progress)
        try:
            run.begin()
            yield from _in_order(run.groups())
        finally:
            progress.close()
            try:
                _end(run)
            finally:
                budget.close()
                if run.used != Used():
                    say(run.used.line(), quiet=settings.quiet)


def _end(run: Driver[Result] | Processes[Result]) -> None:
    """Let what is in flight finish (a second Ctrl-C drops it)."""
    try:
        run.stop()
        if waiting := run.in_flight:
            say(f"finishing {waiting} requests in flight; Ctrl-C again drops them")
        run.join()
    except KeyboardInterrupt:
        run.drop()
        run.join()
        raise


def _in_order(groups: Iterable[Sequence[tuple[int, Result]]]) -> Iterator[Result]:
    """Results in order, as soon as those before them are there."""
    early: dict[int, Result] = {}
    index = 0
    for group in groups:
        early.update(group)
        while index in early:
            yield early.pop(index)
            index += 1


@contextlib.contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """SIGTERM interrupts as Ctrl-C does: what is in flight, and billed, is recorded. A handler of one's own stays."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def check_servers(settings: BackendSettings) -> None:
    """Raises RequestError for a malformed address, and when there is a key for none of the models.

    A key that is missing for some of them is an error when one of these is asked: a run need not ask all roles.
    """
    models = {model.name: model for model in settings.roles.values() if model != OFFLINE}
    missing: list[RequestError] = []
    for model in models.values():
        server_address(model)
        try:
            server_of(model)
        except RequestError as error:
            missing.append(error)
    if models and len(missing) == len(models):
        raise missing[0]
