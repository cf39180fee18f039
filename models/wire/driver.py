"""libcurl driven by the event loop: transfers are begun and awaited here, whatever they are.

``pycurl.AsyncCurlMulti`` does the same at twice the processor time: it takes a socket out of the event loop after each
transfer and puts it in before the next, and makes a handle of the loop for every change of a timer.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import NamedTuple

import pycurl

from models.wire.sockets import Sockets


class Failed(NamedTuple):
    """An error of libcurl."""

    code: int
    words: str


class Driver:
    """Transfers side by side, of one event loop; at most ``most`` connections stay open."""

    def __init__(self, most: int) -> None:
        self.sockets = Sockets()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, most)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self.sockets.wait_for)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._waiting: dict[pycurl.Curl, asyncio.Future[Failed | None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._soon = False  # a timer of libcurl is over: it gets its turn in the loop's next one
        self._due: float | None = None  # when the next one is, by the loop's clock
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, curl: pycurl.Curl) -> asyncio.Future[Failed | None]:
        """Begin a transfer. It is over when the future is done."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self.sockets.descriptor, self._act_on_sockets)
        self._waiting[curl] = over = self._loop.create_future()
        self._multi.add_handle(curl)
        return over

    def drop(self, curl: pycurl.Curl) -> None:
        """Break off a transfer, with its connection."""
        if self._waiting.pop(curl, None) is not None:
            with contextlib.suppress(pycurl.error):
                self._multi.remove_handle(curl)

    def close(self) -> None:
        """Break off all transfers and close all connections."""
        for curl, over in list(self._waiting.items()):
            self.drop(curl)
            over.cancel()
        if self._timer is not None:
            self._timer.cancel()
        if self._loop is not None:
            self._loop.remove_reader(self.sockets.descriptor)
        self._loop = None
        self._multi.close()
        self.sockets.close()

    def _act_on_sockets(self) -> None:
        for descriptor, events in self.sockets.ready():
            self._act(descriptor, events)
        self._finish()

    def _act_on_time(self) -> None:
        self._soon = False
        if self._loop is not None:
            self._act(pycurl.SOCKET_TIMEOUT, 0)
            self._finish()

    def _act(self, descriptor: int, events: int) -> None:
        try:
            self._multi.socket_action(descriptor, events)
        except pycurl.error as error:  # of the whole: no transfer will be reported as over
            for curl, over in list(self._waiting.items()):
                self.drop(curl)
                _report(over, Failed(pycurl.E_OK, str(error)))

    def _finish(self) -> None:
        _, done, failed = self._multi.info_read()
        for curl in done:
            self._multi.remove_handle(curl)
            _report(self._waiting.pop(curl), None)
        for curl, code, words in failed:
            self._multi.remove_handle(curl)
            _report(self._waiting.pop(curl), Failed(code, words))

    def _set_timer(self, milliseconds: int) -> None:
        """When libcurl wants to act next (TIMERFUNCTION). A timer that fires too early is set anew."""
        if self._loop is None:
            return
        self._due = None
        if milliseconds == 0:
            if not self._soon:
                self._soon = True
                self._loop.call_soon(self._act_on_time)
        elif milliseconds > 0:
            self._due = due = self._loop.time() + milliseconds / 1000
            if self._timer is None or self._timer.when() > due:
                self._arm(self._loop, due)

    def _arm(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(due, self._fired)

    def _fired(self) -> None:
        self._timer = None
        if self._due is None or self._loop is None:
            return
        if self._due > self._loop.time():
            self._arm(self._loop, self._due)
        else:
            self._due = None
            self._act_on_time()


def _report(over: asyncio.Future[Failed | None], failed: Failed | None) -> None:
    if not over.done():
        over.set_result(failed)
