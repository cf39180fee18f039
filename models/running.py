"""The backend with a model: many chains side by side, nothing paid lost or paid twice.

    run(starts, settings)      see ``models.backends``, the only caller

All chains of a run are driven by one event loop in a thread of its own; the caller's thread gets results in
order. Chains depend on nothing but their own replies, so what is asked does not depend on what finishes
first.

An interruption (Ctrl-C, or SIGTERM from a scheduler) or an error of the whole run (wrong key, budget, full disk,
dead server) lets what is in flight finish and be recorded, then ends the run; running the same command again goes on
from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic

from models import journal
from models.asking import Asking
from models.batches.rounds import BatchAsking
from models.budget import Budget, Shares, Used
from models.journal import Journal
from models.pacing import StoppedError
from models.progress import Progress
from models.request import Chain, Request, Result
from models.roles import OFFLINE
from models.servers import server_address, server_of
from models.settings import BackendSettings
from schemas.collector import calm_collector
from schemas.command import say
from schemas.errors import RequestError

_TOGETHER = 256  # results
_AHEAD = 2  # chains for each place in flight: while one waits for the disk, another one's request is ready
_SWITCH = 0.0005  # seconds between the turns of threads; a commit takes many, and requests wait for it


def run(
    starts: Sequence[Callable[[], Chain[Result]]], settings: BackendSettings, rows: int | None = None
) -> Iterator[Result]:
    """Drive the chains on their models; results in the order of ``starts``. Raises as ``backends.run`` says."""
    if not starts:
        return
    check_servers(settings)
    with journal.opened(settings.journal, settings.concurrency) as opened, _interrupted_by_sigterm():
        opened.begin_run(shlex.join(sys.argv))
        run = _Run(starts, settings, opened, Progress(settings.quiet, rows))
        try:
            run.begin()
            yield from run.results()
        finally:
            run.end()


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


class _Run(Generic[Result]):
    """One run, seen from the caller's thread."""

    def __init__(
        self,
        starts: Sequence[Callable[[], Chain[Result]]],
        settings: BackendSettings,
        opened: Journal,
        progress: Progress,
    ) -> None:
        self._starts, self._settings, self._journal, self._progress = starts, settings, opened, progress
        if settings.budget and settings.max_cost is None:
            raise RequestError("--budget without --max-cost", expected="the sum that is shared", fix="Add --max-cost")
        shares = Shares(settings.budget, opened.path) if settings.budget else None
        self._budget = Budget(settings.prices, settings.max_cost, 0.0, opened.path, shares)  # spent: Asking.begin
        self._budget.check_prices({model.name for model in settings.roles.values() if model != OFFLINE})
        self._finished: list[tuple[int, Result]] = []
        self._done: queue.SimpleQueue[list[tuple[int, Result]] | BaseException | None] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._asking: Asking | None = None
        self._driving: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start the event loop's thread."""
        self._thread = threading.Thread(target=self._in_thread, name="models")
        self._thread.start()

    def results(self) -> Iterator[Result]:
        """Results in order, as soon as those before them are there."""
        early: dict[int, Result] = {}
        index = 0
        while (item := self._done.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            early.update(item)
            while index in early:
                yield early.pop(index)
                index += 1

    def end(self) -> None:
        """Let what is in flight finish (a second Ctrl-C drops it), and say what was used."""
        asking = self._asking
        try:
            if asking is not None and self._thread.is_alive():
                self._in_loop(asking.stop)
                if asking.in_flight:
                    say(f"finishing {asking.in_flight} requests in flight; Ctrl-C again drops them")
            self._thread.join()
        except KeyboardInterrupt:
            if self._driving is not None:
                self._in_loop(self._driving.cancel)
            self._thread.join()
            raise
        finally:
            self._progress.close()
            self._budget.close()
            if asking is not None and asking.used != Used():
                say(asking.used.line(), quiet=self._settings.quiet)

    def _in_loop(self, call: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:
            return  # the loop ended meanwhile

    def _in_thread(self) -> None:
        try:
            with calm_collector(), _quick_switches():
                self._loop.run_until_complete(self._drive())
        except BaseException as error:  # raised again where the results are waited for
            self._done.put(error)
            if not isinstance(error, Exception | asyncio.CancelledError):
                raise
        else:
            self._done.put(None)
        finally:
            self._loop.close()

    def _finish(self, index: int, result: Result) -> None:
        """Hand results over together: waking the other thread for each takes longer than reading one."""
        if not self._finished:
            self._loop.call_soon(self._hand_over)
        self._finished.append((index, result))
        if len(self._finished) == _TOGETHER:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._finished:
            self._done.put(self._finished)
            self._finished = []

    async def _drive(self) -> None:
        settings = self._settings
        kind = BatchAsking if settings.batch else Asking
        async with kind(settings, self._journal, self._budget, self._progress) as asking:
            self._asking = asking
            places = len(self._starts) if settings.batch else settings.concurrency * _AHEAD
            self._driving = asyncio.create_task(self._chains(asking, min(places, len(self._starts))))
            try:
                await self._driving
            finally:
                self._hand_over()

    async def _chains(self, asking: Asking, places: int) -> None:
        waiting = iter(enumerate(self._starts))
        turns = [asyncio.Event() for _ in range(places)]

        async def begin() -> None:
            for turn in turns:  # one after another: the first requests leave while the last are being made
                turn.set()
                await asyncio.sleep(0)

        async def worker(turn: asyncio.Event) -> None:
            try:
                await turn.wait()
                for index, start in waiting:
                    result = await _one(start(), asking)
                    await self._journal.written()  # what a result rests on is recorded before anybody has it
                    self._finish(index, result)
            except StoppedError:
                return
            except BaseException:  # of a chain, or one that ends the run
                asking.stop()
                raise
            finally:
                asking.leave()

        await asking.begin(places)
        for outcome in await asyncio.gather(begin(), *map(worker, turns), return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome


@contextlib.contextmanager
def _quick_switches() -> Iterator[None]:
    """The journal's thread gets its turn soon, also while the event loop is busy with other requests."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


async def _one(chain: Chain[Result], asking: Asking) -> Result:
    """Drive one chain to its end."""
    try:
        asked = next(chain)
        while True:
            if isinstance(asked, Request):
                asked = chain.send(await asking.answer(asked))
            else:
                asked = chain.send(await asking.answer_all(asked))
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        chain.close()
