"""How many requests are in flight at a server, and what happens after an attempt without a reply.

In flight are at most ``--concurrency`` requests, fewer while the server is overstrained: a limit, an overload, a
server error or a timeout cuts the number, replies raise it again (additive increase, multiplicative decrease, at
most one cut a round trip). An attempt that may succeed later is repeated after the wait the server asks for
(capped), else after an exponential wait with jitter; its place is free meanwhile.

A request that failed to the last attempt fails alone while others are answered. The run ends when nothing was
answered from that request's first attempt to its last: then it is the server.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from models.servers import Server
from models.wire.problems import UnansweredError
from schemas.errors import MachineError

ATTEMPTS = 10  # of one request, after which it or the run is given up
FIRST_WAIT = 0.5  # seconds where the server does not say; doubles with every attempt
LONGEST_WAIT = 120.0  # seconds, whatever Retry-After says

_FIRST_ATTEMPTS = 3  # while nothing ever answered: a wrong address should show at once
_LONGEST_BACKOFF = 60.0
_CUT = 0.7
_RISE = 2.0  # requests in flight gained over one round of successes
_REFUSED = 5  # requests refused in a row, none answered between them: then it is the settings
_REPEATED = frozenset({"limited", "overloaded", "broken", "unreachable"})

Answer = TypeVar("Answer")


class StoppedError(Exception):
    """The run is ending: nothing new is sent."""


class ServerFailedError(Exception):
    """The server, not a request, keeps failing; the message says how."""


class Pace:
    """The gate that all requests to one server pass."""

    def __init__(self, concurrency: int) -> None:
        self.most = concurrency
        self.limit = float(concurrency)
        self.in_flight = 0
        self.retries = 0
        self.stopped = False
        self._last_success: float | None = None
        self._refused_in_a_row = 0
        self._limited_in_a_row = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._paused_until = 0.0
        self._last_cut = 0.0
        self._wake = asyncio.Event()
        self._jitter = random.Random()  # of waits alone: nothing that is written depends on it

    async def attempt(
        self, send: Callable[[], Awaitable[Answer]], failed: Callable[[UnansweredError], Awaitable[None]]
    ) -> Answer:
        """Send until there is a reply. ``failed`` is awaited after each attempt without one.

        Raises UnansweredError when this request is given up, ServerFailedError when the server is,
        StoppedError when the run is ending, and whatever ``send`` raises besides.
        """
        loop = asyncio.get_running_loop()
        first = loop.time()
        number = 0
        while True:
            await self._enter(loop)
            number += 1
            began = loop.time()
            try:
                answer = await send()
                unanswered = None
            except UnansweredError as error:
                self._failed(error, began)
                unanswered = error
            finally:
                self._leave()
            if unanswered is None:
                self._succeeded(loop.time())
                return answer
            await failed(unanswered)
            self._give_up(unanswered, number, first)
            self.retries += 1
            await self.sleep(self._wait(unanswered, number))

    def stop(self) -> None:
        """Let what is in flight finish and nothing else begin."""
        self.stopped = True
        self._wake.set()
        while self._waiting:
            self._release(self._waiting.popleft())

    async def sleep(self, seconds: float) -> None:
        """Sleep, but not past the end of the run: then raises StoppedError."""
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except TimeoutError:
            return
        raise StoppedError

    def _give_up(self, error: UnansweredError, number: int, began: float) -> None:
        """Raise what a request comes to that is not repeated; return for one that is."""
        if error.kind not in _REPEATED:
            self._refused_in_a_row += error.kind == "rejected"
            if self._refused_in_a_row >= _REFUSED:
                raise ServerFailedError(error.reason) from error
            raise error
        if self.stopped:
            raise StoppedError from error
        most = _FIRST_ATTEMPTS if error.kind == "unreachable" and self._last_success is None else ATTEMPTS
        if number >= most:
            if self._last_success is None or self._last_success < began:
                raise ServerFailedError(error.reason) from error
            raise error

    def _wait(self, error: UnansweredError, number: int) -> float:
        if error.retry_after is not None:
            return min(error.retry_after, LONGEST_WAIT)
        return min(FIRST_WAIT * 2.0 ** (number - 1), _LONGEST_BACKOFF) + self._jitter.uniform(0, FIRST_WAIT)

    async def _enter(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self.stopped:
            if self._paused_until and (pause := self._paused_until - self._now()) > 0:
                await self.sleep(pause)
            elif self.in_flight < max(1, int(self.limit)):
                self.in_flight += 1
                return
            else:
                place: asyncio.Future[None] = loop.create_future()
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

    def _succeeded(self, now: float) -> None:
        self._last_success = now
        self._refused_in_a_row = self._limited_in_a_row = 0
        self.limit = min(float(self.most), self.limit + _RISE / self.limit)

    def _failed(self, error: UnansweredError, began: float) -> None:
        if error.kind not in _REPEATED:
            return
        if began >= self._last_cut:
            self._last_cut = self._now()
            self.limit = max(1.0, self.limit * _CUT)
        if error.kind in ("limited", "overloaded"):
            self._limited_in_a_row += 1
        if error.retry_after is not None and self._limited_in_a_row > 1:  # not this request alone: all wait
            until = self._now() + min(error.retry_after, LONGEST_WAIT)
            self._paused_until = max(self._paused_until, until)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


class Allowance:
    """The requests and tokens a minute that a server allows a model: sends are spread evenly over the time."""

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        self.limits = bool(requests_per_minute or tokens_per_minute)
        self._a_request = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._a_token = 60.0 / tokens_per_minute if tokens_per_minute else 0.0
        self._free_at = 0.0

    def wait(self, now: float, tokens: int) -> float:
        """Take the next place for a request of so many tokens; how many seconds there are until it."""
        start = max(now, self._free_at)
        self._free_at = start + max(self._a_request, self._a_token * tokens)
        return start - now

    def used_more(self, tokens: int) -> None:
        """A request used more tokens than were counted for it (fewer when negative)."""
        self._free_at += self._a_token * tokens


def server_failed(server: Server, error: ServerFailedError) -> MachineError:
    """The error of a run whose server does not answer."""
    return MachineError(
        f"no more replies ({error})",
        server.where,
        fix="Finished replies are stored: check the server, and run the same command again",
    )
