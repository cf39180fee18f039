"""HTTP transfers to one server: libcurl, driven by the event loop (``pycurl.AsyncCurlMulti``). No API is known here.

A transfer is attempted once. libcurl by itself would send a request again, on a new connection, when a connection it
kept open closes without a byte of reply; the server may have answered, and billed, the first one. It does so only where
it can rewind the body: here it cannot.
"""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Mapping
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import pycurl

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
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, concurrency)
        self._idle: dict[Target, list[_Transfer]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._multi.aclose()
        self._idle.clear()

    async def perform(self, target: Target, body: bytes, patience: Patience, most: int | None) -> Response:
        """Send a request once. ``most`` bytes come back at most; of what is no reply, the beginning.

        Raises TransferError.
        """
        idle = self._idle.setdefault(target, [])
        transfer = idle.pop() if idle else _Transfer(target, self._proxy)
        transfer.begin(body, patience, most)
        try:
            await self._multi.add_handle(transfer.curl)
        except pycurl.error as error:
            code, words = error.args
            if code != pycurl.E_WRITE_ERROR or not transfer.declined:
                raise transfer.error(code, words) from error
        response = transfer.response()
        idle.append(transfer)  # one that failed or was cancelled is not used again
        return response


class _Transfer:
    """A handle of libcurl and what it reads and writes; used for one transfer after another."""

    def __init__(self, target: Target, proxy: str) -> None:
        self.curl = curl = pycurl.Curl()
        self._patience: Patience | None = None
        self._most: int | None = None
        self._body = b""
        self._size = 0
        self._lines: list[bytes] = []
        self._pieces: list[bytes] = []
        curl.setopt(pycurl.URL, target.address)
        curl.setopt(pycurl.HTTPHEADER, [*target.headers, "Expect:"])
        curl.setopt(pycurl.POST if target.method == "POST" else pycurl.HTTPGET, 1)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        curl.setopt(pycurl.ACCEPT_ENCODING, "")  # whatever comes is unfolded; what is asked for is in the headers
        curl.setopt(pycurl.PROXY, proxy)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.MAXAGE_CONN, _OPEN)
        curl.setopt(pycurl.HEADERFUNCTION, self._lines.append)
        curl.setopt(pycurl.WRITEFUNCTION, self._take)
        if target.method == "POST":
            curl.setopt(pycurl.READFUNCTION, self._give)
        certificates = ssl.get_default_verify_paths()
        if certificates.cafile:
            curl.setopt(pycurl.CAINFO, certificates.cafile)
        if certificates.capath:
            curl.setopt(pycurl.CAPATH, certificates.capath)

    def begin(self, body: bytes, patience: Patience, most: int | None) -> None:
        """Prepare the next transfer."""
        self._size, self._most, self._body = 0, most, body
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
        first, *lines = self._head().split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        _, status, *reason = first.split(None, 2)
        return Response(int(status), reason[0] if reason else "", headers, b"".join(self._pieces))

    @property
    def declined(self) -> bool:
        """Has the response another status than that of a reply?"""
        return bool(self._lines) and not self._head().partition(" ")[2].startswith("2")

    def _head(self) -> str:
        """Status line and headers of the response, without what came before it (100, a proxy's) and after it."""
        blocks = b"".join(self._lines).decode("latin-1").split("\r\n\r\n")
        return next(block for block in reversed(blocks) if block.startswith("HTTP/"))

    def error(self, code: int, words: str) -> TransferError:
        """What a transfer that failed comes to."""
        if code in _UNREACHABLE or not self.curl.getinfo(pycurl.REQUEST_SIZE):
            return TransferError(words, connected=False)
        if code == pycurl.E_OPERATION_TIMEDOUT:
            return TransferError("no reply in time", connected=True)
        if code == pycurl.E_WRITE_ERROR:
            return LargeError(f"the reply is larger than {self._most} bytes", connected=True)
        return TransferError(_LOST.get(code, f"connection lost ({words})"), connected=True)

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
