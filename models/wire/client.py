"""One attempt at a request over HTTP: the reply, or what it came to instead, in terms of ``problems``.

No retries here (``pacing`` owns them), no journal, no chains. One client a server, whichever wires its models
speak. Answers that may be long come in pieces (server-sent events), so that no proxy between here and there
cuts a reply that is paid for because nothing moves; they are put together before anybody sees them.

The key goes to its server and nowhere else: should the server echo it, it is taken out of what came before
that is recorded or shown.
"""

from __future__ import annotations

import functools
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import aiohttp
import orjson

from models.servers import Server
from models.wire import messages
from models.wire.problems import UnansweredError, declined, error_words
from models.wire.questions import Wire
from models.wire.stream import StreamError, events

TIMEOUT = 600.0  # seconds of silence before an attempt is given up
LARGEST_REPLY = 16 * 2**20  # bytes; no max_tokens explains more
SLOWEST = 20  # tokens a second; a slower server counts as hanging
STREAMED_FROM = 8192  # tokens: longer answers may take minutes, in which a proxy sees nothing

_CONNECT = 10.0  # seconds
_SECRET = 16  # characters; a shorter key is a word that local servers are given, not a secret
_TAKEN_OUT = "[key]"
_LARGEST_ERROR = 2**16


class Received(NamedTuple):
    """A reply: as canonical JSON, parsed, and the id the server gave the request."""

    raw: bytes
    message: Mapping[str, Any]
    request_id: str | None


class Client:
    """Open connections to one server. An async context manager."""

    def __init__(self, server: Server, concurrency: int, timeout: float = TIMEOUT) -> None:
        self.server, self.timeout = server, timeout
        parts = urlsplit(server.address)
        direct = urllib.request.proxy_bypass(parts.hostname or "")
        self._proxy = None if direct else urllib.request.getproxies().get(parts.scheme)
        self._connector = aiohttp.TCPConnector(limit=concurrency, keepalive_timeout=30)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            headers={"accept-encoding": "identity", "user-agent": "anamnesis"},  # some proxies compress all the same
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def send(self, wire: Wire, body: bytes, max_tokens: int) -> Received:
        """Send one request. Raises UnansweredError for this attempt, AnamnesisError when no attempt can succeed."""
        stream = False
        if max_tokens > STREAMED_FROM or b'"stream"' in body:
            made = orjson.loads(body)
            stream = made.get("stream", True)
            body = orjson.dumps({**made, **wire.streamed()} if stream else made, option=orjson.OPT_SORT_KEYS)
        address = wire.url(self.server.address)
        longest = max(self.timeout, max_tokens / SLOWEST)
        silence = self.timeout if stream else longest
        raw, headers = await self._post(wire, address, body, silence, longest)
        kind = headers.get("content-type", "")
        message = self._assembled(wire, raw) if "event-stream" in kind else self._json(raw, kind)
        problem = wire.foreign(message)
        if problem:
            raise self._foreign(message, urlsplit(address).path, problem)
        return self._received(message, headers.get("request-id") or headers.get("x-request-id"))

    async def post_json(self, path: str, body: bytes) -> Any:
        """Post JSON to a path of the Messages API, get JSON. Raises as ``send``."""
        raw, headers = await self._post(messages, self.server.address + path, body, self.timeout, self.timeout)
        return self._json(raw, headers.get("content-type", ""))

    async def get_json(self, path: str) -> Any:
        """Get JSON of the Messages API. Raises as ``send``."""
        raw, headers = await self._call("GET", messages, self.server.address + path, None, self.timeout, self.timeout)
        return self._json(raw, headers.get("content-type", ""))

    async def get_lines(self, path: str) -> list[bytes]:
        """Get JSON Lines, however many, as ``get_json``."""
        address = self.server.address + path
        raw, _ = await self._call("GET", messages, address, None, self.timeout, None, most=None)
        return [self._without_key(line) for line in raw.split(b"\n") if line]

    async def _post(
        self, wire: Wire, address: str, body: bytes, silence: float, longest: float
    ) -> tuple[bytes, Mapping[str, str]]:
        return await self._call("POST", wire, address, body, silence, longest)

    async def _call(
        self,
        method: str,
        wire: Wire,
        address: str,
        body: bytes | None,
        silence: float,
        longest: float | None,
        most: int | None = LARGEST_REPLY,
    ) -> tuple[bytes, Mapping[str, str]]:
        assert self._session is not None
        patience = _patience(longest, min(_CONNECT, self.timeout), silence)
        headers = {**wire.headers(self.server.address, self.server.key), "content-type": "application/json"}
        try:
            async with self._session.request(
                method, address, data=body, headers=headers, timeout=patience, allow_redirects=False, proxy=self._proxy
            ) as response:
                if response.status >= 300:
                    raise self._declined(response, await _read(response, _LARGEST_ERROR, cut=True))
                return await _read(response, most), response.headers
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL) as error:
            raise UnansweredError("unreachable", f"{self.server.address} does not answer: {error}") from error
        except TimeoutError as error:
            raise UnansweredError("broken", "no reply in time", doubt=True) from error
        except aiohttp.ClientPayloadError as error:
            raise UnansweredError("broken", "connection lost in the middle of the reply", doubt=True) from error
        except (aiohttp.ClientError, OSError) as error:
            words = self._clean(f"connection lost ({type(error).__name__}: {error})")
            raise UnansweredError("broken", words, doubt=True) from error

    def _declined(self, response: aiohttp.ClientResponse, raw: bytes) -> Exception:
        try:
            words = error_words(orjson.loads(raw))
        except orjson.JSONDecodeError:
            words = None
        kind = response.headers.get("content-type", "")
        words = words or ("an HTML page" if _is_page(raw, kind) else response.reason or "")
        headers = {name.lower(): value for name, value in response.headers.items()}
        path = urlsplit(str(response.url)).path
        return declined(self.server.where, path, response.status, self._clean(words), headers)

    def _foreign(self, message: Any, path: str, problem: str) -> Exception:
        """Something other than a reply under the status of one; some proxies send errors so."""
        words = error_words(message)
        if words is None:
            return UnansweredError("unreachable", problem)
        code = message["error"].get("code") if isinstance(message.get("error"), Mapping) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        return declined(self.server.where, path, status, self._clean(words), {})

    def _assembled(self, wire: Wire, raw: bytes) -> dict[str, Any]:
        try:
            return wire.assembled(events(raw))
        except StreamError as error:
            words = self._clean(error_words(error.value) or "an error in the stream")
            kind = "overloaded" if "overloaded" in words.lower() else "broken"
            raise UnansweredError(kind, words, doubt=True) from None  # type: ignore[arg-type]  # of the kinds
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise UnansweredError("broken", f"the stream is not a reply ({error})", doubt=True) from None

    def _json(self, raw: bytes, kind: str) -> Any:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            if _is_page(raw, kind):
                words = "an HTML page came instead of a reply: a proxy or portal?"
                raise UnansweredError("unreachable", words) from None
            words = "the reply is empty" if not raw.strip() else f"the reply is not JSON ({error.msg})"
            raise UnansweredError("broken", words, doubt=True) from None

    def _received(self, message: dict[str, Any], request_id: str | None) -> Received:
        raw = orjson.dumps(message)
        clean = self._without_key(raw)
        if clean is not raw:
            message = orjson.loads(clean)
        return Received(clean, message, None if request_id is None else self._clean(request_id))

    def _without_key(self, raw: bytes) -> bytes:
        key = self.server.key
        if key is None or len(key) < _SECRET:
            return raw
        quoted = orjson.dumps(key)[1:-1]
        return raw.replace(quoted, _TAKEN_OUT.encode()) if quoted in raw else raw

    def _clean(self, words: str) -> str:
        key = self.server.key
        return words.replace(key, _TAKEN_OUT) if key is not None and len(key) >= _SECRET else words


@functools.lru_cache(maxsize=64)
def _patience(longest: float | None, connect: float, silence: float) -> aiohttp.ClientTimeout:
    """The limits of an attempt; silence is timed apart only where it ends the attempt before ``longest`` does."""
    apart = longest is None or silence < longest
    return aiohttp.ClientTimeout(longest, sock_connect=connect, sock_read=silence if apart else None)


async def _read(response: aiohttp.ClientResponse, most: int | None, cut: bool = False) -> bytes:
    """The bytes of a reply. Raises UnansweredError when there are more than ``most``, unless they may be ``cut``."""
    compressed = "content-encoding" in response.headers
    if most is None or (not compressed and (response.content_length or most + 1) <= most):
        return await response.read()
    pieces: list[bytes] = []
    size = 0
    async for piece in response.content.iter_any():
        pieces.append(piece)
        size += len(piece)
        if size > most and cut:
            break
        if size > most:
            words = f"the reply is larger than {LARGEST_REPLY // 2**20} MiB"
            raise UnansweredError("rejected", words, doubt=True)
    return b"".join(pieces)


def _is_page(raw: bytes, kind: str) -> bool:
    return "html" in kind or raw[:64].lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml"))
