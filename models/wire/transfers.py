"""HTTP transfers to one server: libcurl, driven by the event loop (``driver``). No API is known here.

A transfer is attempted once. libcurl by itself would send a request again, on a new connection, when a connection it
kept open closes without a byte of reply; the server may have answered, and billed, the first one. It does so only where
it can rewind the body: here it cannot. A connection that is over before a request is sent on it gives way to a new
one (``sockets``).
"""

from __future__ import annotations

import asyncio
import ssl
import urllib.request
from collections.abc import Mapping
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import pycurl

from models.wire.driver import Driver, Failed
from models.wire.sockets import Sockets

_OPEN = 2  # seconds that a connection without a transfer is used again: less than servers keep one open
_LARGEST_ERROR = 2**16  # bytes of a response that is no reply
_UNREACHABLE = frozenset(
    {
        pycurl.E_URL_MALFORMAT,
        pycurl.E_COULDNT_RESOLVE_PROXY,
        pycurl.E_COULDNT_RESOLVE_HOST,
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CACERT_BADFILE,
    }
)

_LOST = {
    pycurl.E_PARTIAL_FILE: "connection lost in the middle of the reply",
    pycurl.E_SEND_FAIL_REWIND: "connection lost (closed without a reply)",
    pycurl.E_GOT_NOTHING: "connection lost (closed without a reply)",
}


class Target(NamedTuple):
    """What is asked for: method, address and headers, the same for many transfers."""

    method: str
    address: str
    headers: tuple[str, ...]


class Patience(NamedTuple):
    """Limits in seconds: for the connection, for silence (None: none of its own), for the whole (None: no limit)."""

    connect: float
    silence: float | None
    whole: float | None


class Response(NamedTuple):
    """What came back: the names of headers are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class TransferError(Exception):
    """A transfer without a whole response. ``connected``: the request may have reached the server."""

    def __init__(self, words: str, connected: bool) -> None:
        super().__init__(words)
        self.connected = connected


class LargeError(TransferError):
    """The response is larger than was allowed."""


class Transfers:
    """Open connections to one server. An async context manager."""

    def __init__(self, address: str, concurrency: int) -> None:
        parts = urlsplit(address)
        direct = urllib.request.proxy_bypass(parts.hostname or "")
        self._proxy = "" if direct else urllib.request.getproxies().get(parts.scheme, "")
        self._driver = Driver(concurrency)
        self._idle: dict[Target, list[_Transfer]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._driver.close()
        self._idle.clear()

    async def perform(self, target: Target, body: bytes, patience: Patience, most: int | None) -> Response:
        """Send a request once. ``most`` bytes come back at most; of what is no reply, the beginning.

        Raises TransferError.
        """
        idle = self._idle.setdefault(target, [])
        transfer = idle.pop() if idle else _Transfer(target, self._proxy, self._driver.sockets)
        failed = await self._over(transfer, body, patience, most)
        if failed is not None:
            if not transfer.stale:
                return transfer.failed(*failed)
            transfer.curl.close()
            return await self._perform_anew(target, body, patience, most)
        response = transfer.response()
        idle.append(transfer)  # one that failed or was cancelled is not used again
        return response

    async def _perform_anew(self, target: Target, body: bytes, patience: Patience, most: int | None) -> Response:
        """The same on a new connection, after one that was over before anything was sent on it."""
        transfer = _Transfer(target, self._proxy, self._driver.sockets)
        transfer.curl.setopt(pycurl.FRESH_CONNECT, 1)
        failed = await self._over(transfer, body, patience, most)
        if failed is not None:
            return transfer.failed(*failed)
        response = transfer.response()
        transfer.curl.close()
        return response

    async def _over(self, transfer: _Transfer, body: bytes, patience: Patience, most: int | None) -> Failed | None:
        transfer.begin(body, patience, most)
        try:
            return await self._driver.begin(transfer.curl)
        except asyncio.CancelledError:
            self._driver.drop(transfer.curl)
            raise


class _Transfer:
    """A handle of libcurl and what it reads and writes; used for one transfer after another."""

    def __init__(self, target: Target, proxy: str, sockets: Sockets) -> None:
        self.curl = curl = pycurl.Curl()
        self._patience: Patience | None = None
        self._most: int | None = None
        self._body = b""
        self._size = 0
        self._sockets = sockets
        self.stale = False
        self._lines: list[bytes] = []
        self._head = ""
        self._pieces: list[bytes] = []
        curl.setopt(pycurl.URL, target.address)
        curl.setopt(pycurl.HTTPHEADER, [*target.headers, "Expect:"])
        curl.setopt(pycurl.POST if target.method == "POST" else pycurl.HTTPGET, 1)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        curl.setopt(pycurl.ACCEPT_ENCODING, "")  # whatever comes is unfolded; what is asked for is in the headers
        curl.setopt(pycurl.PROXY, proxy.encode())
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.MAXAGE_CONN, _OPEN)
        curl.setopt(pycurl.SOCKOPTFUNCTION, sockets.add)
        curl.setopt(pycurl.PREREQFUNCTION, self._before_sending)
        curl.setopt(pycurl.HEADERFUNCTION, self._lines.append)
        curl.setopt(pycurl.WRITEFUNCTION, self._take)
        if target.method == "POST":
            curl.setopt(pycurl.READFUNCTION, self._give)
        certificates = ssl.get_default_verify_paths()
        if certificates.cafile:
            curl.setopt(pycurl.CAINFO, certificates.cafile)
            curl.setopt(pycurl.PROXY_CAINFO, certificates.cafile)
        if certificates.capath:
            curl.setopt(pycurl.CAPATH, certificates.capath)
            curl.setopt(pycurl.PROXY_CAPATH, certificates.capath)

    def begin(self, body: bytes, patience: Patience, most: int | None) -> None:
        """Prepare the next transfer."""
        self._size, self._most, self._body, self._head = 0, most, body, ""
        self._lines.clear()
        self._pieces.clear()
        self.curl.setopt(pycurl.POSTFIELDSIZE_LARGE, len(body))
        if patience != self._patience:
            self._patience = patience
            self.curl.setopt(pycurl.CONNECTTIMEOUT_MS, _milliseconds(patience.connect))
            self.curl.setopt(pycurl.TIMEOUT_MS, _milliseconds(patience.whole or 0.0))
            silence = 0 if patience.silence is None else max(1, round(patience.silence))
            self.curl.setopt(pycurl.LOW_SPEED_LIMIT, 1)
            self.curl.setopt(pycurl.LOW_SPEED_TIME, silence)

    def response(self) -> Response:
        """What came back."""
        first, *lines = self._read_head().split("\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        _, status, *reason = first.split(None, 2)
        return Response(int(status), reason[0] if reason else "", headers, b"".join(self._pieces))

    @property
    def declined(self) -> bool:
        """Has the response begun, with another status than that of a reply?"""
        return bool(self._lines) and not self._lines[-1].strip() and self._read_head().partition(" ")[2][:1] > "2"

    def _read_head(self) -> str:
        """Status line and headers of the response, without what came before it (100, a proxy's) and after it.

        Once the body has begun, nothing is added.
        """
        if not self._head:
            blocks = b"".join(self._lines).decode("latin-1").replace("\r\n", "\n").split("\n\n")
            self._head = next(block for block in reversed(blocks) if block.startswith("HTTP/"))
        return self._head

    def failed(self, code: int, words: str) -> Response:
        """What a transfer that failed comes to: an error's status is enough, whatever became of the rest of it.

        Raises TransferError. The handle is closed.
        """
        error = self.error(code, words)
        response = self.response() if error.connected and self.declined else None
        self.curl.close()
        if response is None:
            raise error
        return response

    def error(self, code: int, words: str) -> TransferError:
        """What a transfer that failed comes to."""
        if code in _UNREACHABLE or not self.curl.getinfo(pycurl.REQUEST_SIZE):
            return TransferError(words, connected=False)
        if code == pycurl.E_OPERATION_TIMEDOUT:
            return TransferError("no reply in time", connected=True)
        if code == pycurl.E_WRITE_ERROR:
            return LargeError(f"the reply is larger than {self._most} bytes", connected=True)
        return TransferError(
            _LOST.get(code, f"connection lost ({words or f'error {code} of libcurl'})"), connected=True
        )

    def _before_sending(self, _there: str, _here: str, _port: int, port: int) -> int:
        self.stale = self._sockets.is_over(port)
        answer: int = pycurl.PREREQFUNC_ABORT if self.stale else pycurl.PREREQFUNC_OK
        return answer

    def _give(self, size: int) -> bytes:
        piece, self._body = self._body[:size], self._body[size:]
        return piece

    def _take(self, piece: bytes) -> int:
        if not self._pieces and self.declined:
            self._most = _LARGEST_ERROR
        self._size += len(piece)
        self._pieces.append(piece)
        return len(piece) if self._most is None or self._size <= self._most else 0


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000)) if seconds else 0
