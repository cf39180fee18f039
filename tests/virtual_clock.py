"""An event loop whose time passes only while nothing happens: waits of hours take no time, in the same order."""

import asyncio
import selectors
from collections.abc import Callable


class VirtualClock(selectors.DefaultSelector):
    """A selector that lets virtual time pass instead of waiting, unless a thread is ``busy`` and will call back."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.busy: Callable[[], bool] = bool

    def select(self, timeout=None):
        """What is ready; when nothing is, the time until the next timer has passed."""
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.busy():
            return super().select(1.0)
        assert timeout is not None, "everything waits and nothing would ever happen"
        self.now += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop of such a clock."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        super().__init__(clock)

    def time(self) -> float:
        """Virtual seconds."""
        return self.clock.now
