"""How many requests are in flight, and what happens after an attempt without a reply. The one place for both.

In flight are at most ``--concurrency`` requests, fewer while the server says it is too many (additive
increase, multiplicative decrease, at most one cut a round trip). An attempt that may succeed later is
repeated after the wait the server asks for (capped), else after an exponential wait with jitter; its
place is free meanwhile. What keeps failing is either this request's fault or the server's: see
``Pace.attempt``.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from models.client import UnansweredError

ATTEMPTS = 10  # of one request, after which it or the run is given up
FIRST_WAIT = 0.5  # seconds where the server does not say; doubles with every attempt
LONGEST_WAIT = 120.0  # seconds, whatever Retry-After says

_FIRST_ATTEMPTS = 3  # while nothing ever answered: a wrong address should show at once
_CUT = 0.7
_RISE = 2.0  # requests in flight gained over one round of successes
_HOPELESS = 5  # requests in a row that are given up: then it is the server
_AGAIN = frozenset({"limited", "overloaded", "broken", "unreachable"})
_SERVER_WIDE = frozenset({"limited", "overloaded", "unreachable"})

Answer = TypeVar("Answer")


class StoppedError(Exception):
    """The run is ending: nothing new is sent."""


class HopelessError(Exception):
    """The server, not a request, keeps failing; the message says how."""


class Pace:
    """The gate all requests of a run pass."""

    def __init__(self, concurrency: int) -> None:
        self.most = concurrency
        self.limit = float(concurrency)
        self.in_flight = 0
        self.retries = 0
        self.answered = 0
        self._given_up = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._paused_until = 0.0
        self._last_cut = 0.0
        self._limited_in_a_row = 0
        self.stopped = False
        self._wake = asyncio.Event()
        self._backoff = wait_exponential_jitter(multiplier=FIRST_WAIT, max=60.0, jitter=FIRST_WAIT)
        self._retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, UnansweredError) and error.kind in _AGAIN),
            wait=self._wait,
            stop=self._enough,
            sleep=self.sleep,
            reraise=True,
        )

    async def attempt(self, send: Callable[[], Awaitable[Answer]], doubt: Callable[[], Awaitable[None]]) -> Answer:
        """Send until there is a reply. ``doubt`` is awaited after each attempt that may have been billed.

        Raises UnansweredError when this request is given up, HopelessError when the server is (it is
        limiting, overloaded or unreachable to the last attempt, or several requests in a row failed),
        StoppedError when the run is ending, and whatever ``send`` raises besides.
        """

        async def once() -> Answer:
            await self._enter()
            began = time.monotonic()
            try:
                answer = await send()
            except UnansweredError as error:
                self._failed(error, began)
                if error.doubt:
                    await doubt()
                raise
            finally:
                self._leave()
            self._succeeded()
            return answer

        try:
            return await self._patiently(once)
        except UnansweredError as error:
            self._given_up += error.kind != "schemaless"
            if error.kind in _SERVER_WIDE or self._given_up >= _HOPELESS:
                raise HopelessError(error.reason) from error
            raise

    async def _patiently(self, once: Callable[[], Awaitable[Answer]]) -> Answer:
        try:
            return await once()  # nearly always the last: the machinery of retries is for the others
        except UnansweredError as error:
            first = [error]

        async def again() -> Answer:
            if first:
                raise first.pop()
            return await once()

        return await self._retrying.copy()(again)

    def stop(self) -> None:
        """Let what is in flight finish and nothing else begin."""
        self.stopped = True
        self._wake.set()
        while self._waiting:
            self._release(self._waiting.popleft())

    async def _enter(self) -> None:
        while not self.stopped:
            pause = self._paused_until - time.monotonic()
            if pause > 0:
                await self.sleep(pause)
            elif self.in_flight < max(1, int(self.limit)):
                self.in_flight += 1
                return
            else:
                place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.append(place)
                await place
        raise StoppedError

    def _leave(self) -> None:
        self.in_flight -= 1
        free = max(1, int(self.limit)) - self.in_flight
        while self._waiting and free > 0:
            free -= self._release(self._waiting.popleft())

    @staticmethod
    def _release(place: asyncio.Future[None]) -> bool:
        if place.done():
            return False
        place.set_result(None)
        return True

    def _succeeded(self) -> None:
        self.answered += 1
        self._given_up = 0
        self._limited_in_a_row = 0
        self.limit = min(float(self.most), self.limit + _RISE / self.limit)

    def _failed(self, error: UnansweredError, began: float) -> None:
        if error.kind not in ("limited", "overloaded"):
            return
        if began >= self._last_cut:
            self._last_cut = time.monotonic()
            self.limit = max(1.0, self.limit * _CUT)
        self._limited_in_a_row += 1
        if error.retry_after is not None and self._limited_in_a_row > 1:  # not this request alone: all wait
            until = time.monotonic() + min(error.retry_after, LONGEST_WAIT)
            self._paused_until = max(self._paused_until, until)

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, UnansweredError) else None
        return self._backoff(state) if asked is None else min(asked, LONGEST_WAIT)

    def _enough(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        unreachable = isinstance(error, UnansweredError) and error.kind == "unreachable"
        most = _FIRST_ATTEMPTS if unreachable and not self.answered else ATTEMPTS
        if self.stopped or state.attempt_number >= most:
            return True
        self.retries += 1
        return False

    async def sleep(self, seconds: float) -> None:
        """Sleep, but not past the end of the run."""
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except TimeoutError:
            return
        raise StoppedError
