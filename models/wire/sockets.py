"""The sockets of libcurl's connections: which of them it waits for, and which are over though it still keeps them.

Between two transfers a connection stays registered with the selector: to take each socket out and put it in again costs
more than the rest of waiting. So it is known here when a socket is another one than before under the same number: at
its making, and by its local port when a request is about to be sent on it.

libcurl looks only at connections that were idle for a second. A server may close one right after a reply without saying
so: a request that is sent on it counts as one that may have been billed, and bytes that wait there before a request is
sent would be read as the reply to it.
"""

from __future__ import annotations

import select
import selectors
import socket
from collections.abc import Iterator
from typing import NamedTuple

import pycurl

_EVENTS = {
    pycurl.POLL_IN: selectors.EVENT_READ,
    pycurl.POLL_OUT: selectors.EVENT_WRITE,
    pycurl.POLL_INOUT: selectors.EVENT_READ | selectors.EVENT_WRITE,
}


class _Connection(NamedTuple):
    descriptor: int
    poll: select.poll


class Sockets:
    """What libcurl owns and closes. ``descriptor`` is readable when one of those that it waits for is ready."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._new: list[int] = []
        self._by_port: dict[int, _Connection] = {}
        self._registered: dict[int, int] = {}  # the events of descriptors, of idle connections too
        self._awaited: set[int] = set()  # descriptors that a transfer waits for
        self._sure: set[int] = set()  # of these, connections in use that were registered after they were made

    @property
    def descriptor(self) -> int:
        """For an event loop to wait for."""
        return self._selector.fileno()

    def add(self, descriptor: int, _purpose: int) -> int:
        """A socket was made (SOCKOPTFUNCTION); it has no port yet."""
        self._new.append(descriptor)
        self._forget(descriptor)
        return 0

    def is_over(self, port: int) -> bool:
        """Has the server closed the connection at this local port, or sent something nobody asked for?

        One that was not asked about before is new, and never over.
        """
        if self._new and self._is_new(port):
            return False
        found = self._by_port.get(port)
        if found is None:
            return False
        if not found.poll.poll(0):
            self._sure.add(found.descriptor)
            return False
        del self._by_port[port]
        return _port(found.descriptor) == port  # the number may be another file's by now

    def wait_for(self, what: int, descriptor: int, *_: object) -> None:
        """What a transfer waits for (SOCKETFUNCTION)."""
        events = _EVENTS.get(what)
        if events is None:  # libcurl waits for nothing here: the transfer is over, or pauses
            self._awaited.discard(descriptor)
            if descriptor not in self._sure:
                self._forget(descriptor)
            self._sure.discard(descriptor)
            return
        self._awaited.add(descriptor)
        if descriptor not in self._sure:
            self._forget(descriptor)
        registered = self._registered.get(descriptor)
        if registered == events:
            return
        self._registered[descriptor] = events
        (self._selector.register if registered is None else self._selector.modify)(descriptor, events)

    def ready(self) -> Iterator[tuple[int, int]]:
        """The descriptors that are ready, each with what it is ready for (CSELECT_IN, CSELECT_OUT)."""
        for key, events in self._selector.select(0):
            if key.fd in self._awaited:
                yield key.fd, events
            else:
                self._forget(key.fd)  # closed by the server, or not asked for: noticed when it is to be used

    def close(self) -> None:
        """Close what is not libcurl's."""
        self._selector.close()

    def _forget(self, descriptor: int) -> None:
        if self._registered.pop(descriptor, None) is not None:
            self._selector.unregister(descriptor)

    def _is_new(self, port: int) -> bool:
        for descriptor in self._new:
            if _port(descriptor) == port:
                self._new.remove(descriptor)
                self._by_port = {old: one for old, one in self._by_port.items() if one.descriptor != descriptor}
                poll = select.poll()
                poll.register(descriptor, select.POLLIN)
                self._by_port[port] = _Connection(descriptor, poll)
                self._sure.add(descriptor)
                return True
        self._new = [descriptor for descriptor in self._new if _port(descriptor) is not None]
        return False


def _port(descriptor: int) -> int | None:
    """The local port of a socket; None for what is no open internet socket."""
    try:
        borrowed = socket.socket(fileno=descriptor)
    except OSError:
        return None
    try:
        name = borrowed.getsockname()
    except OSError:
        return None
    finally:
        borrowed.detach()
    return int(name[1]) if isinstance(name, tuple) else None
