"""One attempt at a request over HTTP: the reply, or what it came to instead, in terms of ``problems``.

No retries here (``pacing`` owns them), no journal, no chains. One client a server, whichever wires its models
speak. Answers that may be long come in pieces (server-sent events), so that no proxy between here and there
cuts a reply that is paid for because nothing moves; they are put together before anybody sees them.

The key goes to its server and nowhere else: should the server echo it, it is taken out of what came before
that is recorded or shown.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import orjson

from models.servers import Server
from models.wire import messages
from models.wire.problems import UnansweredError, declined, error_words
from models.wire.questions import Wire
from models.wire.stream import StreamError, events
from models.wire.transfers import LargeError, Patience, Response, Target, TransferError, Transfers

TIMEOUT = 600.0  # seconds of silence before an attempt is given up
LARGEST_REPLY = 16 * 2**20  # bytes; no max_tokens explains more
SLOWEST = 20  # tokens a second; a slower server counts as hanging
STREAMED_FROM = 8192  # tokens: longer answers may take minutes, in which a proxy sees nothing

_CONNECT = 10.0  # seconds
_SECRET = 16  # characters; a shorter key is a word that local servers are given, not a secret
_TAKEN_OUT = "[key]"
_LONGEST_WORDS = 300  # characters of what a server says
_HEADERS = ("content-type: application/json", "accept-encoding: identity", "user-agent: anamnesis")


class Received(NamedTuple):
    """A reply: as canonical JSON, parsed, and the id the server gave the request."""

    raw: bytes
    message: Mapping[str, Any]
    request_id: str | None


class Client:
    """Open connections to one server. An async context manager."""

    def __init__(self, server: Server, concurrency: int, timeout: float = TIMEOUT) -> None:
        self.server, self.timeout = server, timeout
        self._transfers = Transfers(server.address, concurrency)
        self._targets: dict[tuple[str, str, str], Target] = {}
        self._secret = server.key if server.key is not None and len(server.key) >= _SECRET else None
        self._quoted = orjson.dumps(self._secret)[1:-1] if self._secret else None

    async def __aenter__(self) -> Self:
        await self._transfers.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._transfers.__aexit__(*error)

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
        raw, headers = await self._call("POST", wire, address, body, silence, longest)
        kind = headers.get("content-type", "")
        message = self._assembled(wire, raw) if "event-stream" in kind else self._json(raw, kind)
        problem = wire.foreign(message)
        if problem:
            raise self._foreign(message, urlsplit(address).path, problem)
        return self._received(message, headers.get("request-id") or headers.get("x-request-id"))

    async def post_json(self, path: str, body: bytes) -> Any:
        """Post JSON to a path of the Messages API, get JSON. Raises as ``send``."""
        address = self.server.address + path
        raw, headers = await self._call("POST", messages, address, body, self.timeout, self.timeout)
        return self._json(raw, headers.get("content-type", ""))

    async def get_json(self, path: str) -> Any:
        """Get JSON of the Messages API. Raises as ``send``."""
        raw, headers = await self._call("GET", messages, self.server.address + path, b"", self.timeout, self.timeout)
        return self._json(raw, headers.get("content-type", ""))

    async def get_lines(self, path: str) -> list[bytes]:
        """Get JSON Lines, however many, as ``get_json``."""
        address = self.server.address + path
        raw, _ = await self._call("GET", messages, address, b"", self.timeout, None, most=None)
        return [self._without_key(line) for line in raw.split(b"\n") if line]

    async def _call(
        self,
        method: str,
        wire: Wire,
        address: str,
        body: bytes,
        silence: float,
        longest: float | None,
        most: int | None = LARGEST_REPLY,
    ) -> tuple[bytes, Mapping[str, str]]:
        patience = _patience(longest, min(_CONNECT, self.timeout), silence)
        try:
            response = await self._transfers.perform(self._target(method, wire, address), body, patience, most)
        except LargeError as error:
            words = f"the reply is larger than {LARGEST_REPLY // 2**20} MiB"
            raise UnansweredError("rejected", words, doubt=True) from error
        except TransferError as error:
            words = self._clean(str(error))
            if not error.connected:
                raise UnansweredError("unreachable", f"{self.server.address} does not answer: {words}") from error
            raise UnansweredError("broken", words, doubt=True) from error
        if response.status >= 300:
            raise self._declined(response, urlsplit(address).path)
        return response.body, response.headers

    def _target(self, method: str, wire: Wire, address: str) -> Target:
        key = method, wire.NAME, address
        if key not in self._targets:
            headers = wire.headers(self.server.address, self.server.key)
            lines = (*(f"{name}: {value}" for name, value in headers.items()), *_HEADERS)
            self._targets[key] = Target(method, address, lines)
        return self._targets[key]

    def _declined(self, response: Response, path: str) -> Exception:
        try:
            words = error_words(orjson.loads(response.body))
        except orjson.JSONDecodeError:
            words = None
        page = _is_page(response.body, response.headers.get("content-type", ""))
        words = words or ("an HTML page" if page else response.reason)
        headers = {name: self._clean(value) for name, value in response.headers.items()}
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
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
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
        try:
            raw = orjson.dumps(message)
        except TypeError:  # less deep than what it reads
            raise UnansweredError("broken", "the reply is nested too deeply", doubt=True) from None
        clean = self._without_key(raw)
        if clean is not raw:
            message = orjson.loads(clean)
        return Received(clean, message, None if request_id is None else self._clean(request_id))

    def _without_key(self, raw: bytes) -> bytes:
        quoted = self._quoted
        return raw.replace(quoted, _TAKEN_OUT.encode()) if quoted and quoted in raw else raw

    def _clean(self, words: str) -> str:
        """What a server says, for one line: without the key, and with nothing that steers a terminal."""
        if self._secret:
            words = words.replace(self._secret, _TAKEN_OUT)
        if not words.isprintable():
            words = "".join(letter if letter.isprintable() else " " for letter in words)
        return " ".join(words.split())[:_LONGEST_WORDS]


@functools.lru_cache(maxsize=64)
def _patience(longest: float | None, connect: float, silence: float) -> Patience:
    """The limits of an attempt; silence is timed apart only where it ends the attempt before ``longest`` does."""
    apart = longest is None or silence < longest
    return Patience(connect, silence if apart else None, longest)


def _is_page(raw: bytes, kind: str) -> bool:
    return "html" in kind or raw[:64].lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml"))
