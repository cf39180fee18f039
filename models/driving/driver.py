"""All chains of a process side by side, on one event loop in a thread of its own.

Chains depend on nothing but their own replies, so what is asked does not depend on what finishes first. ``running``
begins and ends a driver; whoever waits gets results in groups, as they come.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic

from models.asking import Asking
from models.batches.rounds import BatchAsking
from models.budget import Budget, Used
from models.journal import Journal
from models.pacing import StoppedError
from models.progress import Progress
from models.request import Chain, Request, Result
from models.settings import BackendSettings
from schemas.collector import calm_collector

_TOGETHER = 256  # results
_AHEAD = 2  # chains for each place in flight: while one waits for the disk, another one's request is ready
_SWITCH = 0.0005  # seconds a thread runs before another may; a commit takes many turns, and requests wait for it


class Driver(Generic[Result]):
    """The chains of a process; to be begun once."""

    def __init__(
        self,
        starts: Sequence[Callable[[], Chain[Result]]],
        settings: BackendSettings,
        opened: Journal,
        budget: Budget,
        progress: Progress,
    ) -> None:
        self._starts, self._settings, self._journal = starts, settings, opened
        self._budget, self._progress = budget, progress
        self._finished: list[tuple[int, Result]] = []
        self._done: queue.SimpleQueue[list[tuple[int, Result]] | BaseException | None] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._asking: Asking | None = None
        self._driving: asyncio.Task[None] | None = None
        self._stopped = False
        self._thread = threading.Thread(target=self._in_thread, name="models")

    @property
    def used(self) -> Used:
        """What was used so far."""
        return self._asking.used if self._asking else Used()

    @property
    def retries(self) -> int:
        """Attempts after the first."""
        return self._asking.retries if self._asking else 0

    @property
    def in_flight(self) -> int:
        """Requests that were sent and have no reply yet."""
        return self._asking.in_flight if self._asking and self._thread.is_alive() else 0

    def begin(self) -> None:
        """Start the event loop's thread."""
        self._thread.start()

    def groups(self) -> Iterator[list[tuple[int, Result]]]:
        """Results with the places of their chains, as they come. Raises what ended the run."""
        while (item := self._done.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item

    def stop(self) -> None:
        """Send nothing more; what is in flight finishes."""
        self._stopped = True
        if self._asking is not None:
            self._in_loop(self._asking.stop)

    def drop(self) -> None:
        """Wait for nothing that is in flight."""
        if self._driving is not None:
            self._in_loop(self._driving.cancel)

    def join(self) -> None:
        """Wait until nothing is in flight any more."""
        if self._thread.ident is not None:
            self._thread.join()

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
            if self._stopped:
                asking.stop()
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
