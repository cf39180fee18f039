"""HTTP/1.1 on 127.0.0.1 for the rehearsal server: what the Messages API needs, fast enough not to be the limit."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from http import HTTPStatus
from typing import Protocol

from models.rehearsal.api import Api
from models.rehearsal.calls import Call, Response, failed
from models.rehearsal.writing import Rehearsal

_LARGEST_HEAD = 64 * 2**10
_PHRASES = {**{status.value: status.phrase for status in HTTPStatus}, 529: "Overloaded"}


class Answering(Protocol):
    """What answers calls; ``Api`` does."""

    def respond(self, call: Call) -> Response:
        """Answer a call."""

    def sent(self, response: Response, whole: bool) -> None:
        """Count a response whose last byte is out (``whole``), or whose client was gone before."""


class Connection(asyncio.Protocol):
    """One client connection; requests on it are answered one after the other."""

    def __init__(self, api: Answering, loop: asyncio.AbstractEventLoop) -> None:
        self._api, self._loop = api, loop
        self._buffer = bytearray()
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Gather until a request is whole."""
        self._buffer += data
        self._next()

    def _next(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if self._busy or end < 0:
            if end < 0 and len(self._buffer) > _LARGEST_HEAD:
                self._transport.close()
            return
        head = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        method, path, *_ = [*head[0].split(" "), "", ""]
        size = headers.get("content-length", "0")
        if not size.isdigit() or "transfer-encoding" in headers:
            self._write(failed(400, "a body needs a content-length"))
            return
        whole = end + 4 + int(size)
        if len(self._buffer) < whole:
            if headers.get("expect", "").lower() == "100-continue" and len(self._buffer) == end + 4:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        body = bytes(self._buffer[end + 4 : whole])
        del self._buffer[:whole]
        self._busy = True
        response = self._api.respond(Call(method, path, headers, body))
        if response.seconds:
            self._loop.call_later(response.seconds, self._write, response)
        else:
            self._write(response)

    def _write(self, response: Response) -> None:
        self._busy = False
        if self._transport.is_closing():
            self._api.sent(response, whole=False)
            return
        reason = _PHRASES.get(response.status, "Error")
        headers = {
            "content-type": "application/json",
            "request-id": "req_rehearsal",
            **response.headers,
            "content-length": str(len(response.body)),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        start = f"HTTP/1.1 {response.status} {reason}\r\n{head}\r\n".encode("latin-1")
        if response.cut:
            self._transport.write(start + response.body[: len(response.body) // 2])
            self._transport.close()
            self._api.sent(response, whole=False)
            return
        if response.pieces > 1:
            self._transport.write(start)
            self._trickle(response, 0)
            return
        self._transport.write(start + response.body)
        self._api.sent(response, whole=True)
        self._next()

    def _trickle(self, response: Response, done: int) -> None:
        """Send a body piece by piece."""
        if self._transport.is_closing():
            self._api.sent(response, whole=False)
            return
        size = -(-len(response.body) // response.pieces)
        self._transport.write(response.body[done * size : (done + 1) * size])
        if done + 1 < response.pieces:
            self._busy = True
            self._loop.call_later(response.pause, self._trickle, response, done + 1)
            return
        self._busy = False
        self._api.sent(response, whole=True)
        self._next()


async def listen(api: Api, port: int) -> tuple[asyncio.Server, int]:
    """Listen on 127.0.0.1; returns the server and the port it got (``port`` 0: any free one)."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(api, loop), "127.0.0.1", port, backlog=4096)
    return server, server.sockets[0].getsockname()[1]


@contextlib.contextmanager
def running(rehearsal: Rehearsal | None = None) -> Iterator[tuple[str, Api]]:
    """A server in a thread of this process: its address, and its state for looking into. For tests."""
    api = Api(rehearsal or Rehearsal())
    loop = asyncio.new_event_loop()
    server, port = loop.run_until_complete(listen(api, 0))
    thread = threading.Thread(target=loop.run_forever, name="rehearsal", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}", api
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
