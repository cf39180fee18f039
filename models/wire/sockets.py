"""Which connections are over though libcurl still keeps them: it looks only at those that were idle for a second.

A server may close a connection right after a reply without saying so. A request that is sent on it counts as one
that may have been billed; bytes that wait there before a request is sent would be read as the reply to it.
"""

from __future__ import annotations

import select
import socket


class Sockets:
    """The sockets of open connections, by local port; libcurl owns and closes them."""

    def __init__(self) -> None:
        self._new: list[int] = []
        self._by_port: dict[int, int] = {}

    def add(self, descriptor: int, _purpose: int) -> int:
        """A socket was made (SOCKOPTFUNCTION); it has no port yet."""
        self._new.append(descriptor)
        return 0

    def is_over(self, port: int) -> bool:
        """Has the server closed the connection at this local port, or sent something nobody asked for?

        One that was not asked about before is new, and never over.
        """
        if self._new and self._registered(port):
            return False
        descriptor = self._by_port.get(port)
        if descriptor is None:
            return False
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(0):
            return False
        del self._by_port[port]
        return _port(descriptor) == port  # the number may be another file's by now

    def _registered(self, port: int) -> bool:
        for descriptor in self._new:
            if _port(descriptor) == port:
                self._new.remove(descriptor)
                self._by_port = {old: other for old, other in self._by_port.items() if other != descriptor}
                self._by_port[port] = descriptor
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
