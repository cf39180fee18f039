"""The Messages API, one attempt at a time: the ``anthropic`` client, and what can go wrong in its terms.

No retries here (``pacing`` owns them), no journal, no chains. The body goes out byte for byte as the
journal has it, and the reply comes back as the bytes the server sent, checked to be a message. The key
is given to the client explicitly: its own search would find other credentials and send them to
whatever ``ANTHROPIC_BASE_URL`` names.

Importing this module takes about a second (``anthropic``): import it where a request is about to be sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal, Self, TypeVar

import aiohttp
import anthropic
import httpx2
import orjson

from models.server import PUBLIC_SERVER
from schemas.errors import AnamnesisError, MachineError, RequestError

TIMEOUT = 600.0  # seconds of silence before an attempt is given up
LARGEST_REPLY = 16 * 2**20  # bytes; no max_tokens explains more

_CONNECT = 10.0  # seconds
_SLOWEST = 20  # tokens a second; a slower server counts as hanging
_JSON = {"content-type": "application/json"}

# What one attempt can come to, short of a reply:
#   limited      429: too many requests or tokens a minute
#   overloaded   529, 503
#   broken       5xx, a timeout, a dropped connection, a reply that is no JSON
#   unreachable  nothing answers there, or something else than the Messages API does
#   rejected     400, 413, 422, a reply too large: this request is at fault, not the server
#   schemaless   400 because of output_config, which this server or model does not know
Kind = Literal["limited", "overloaded", "broken", "unreachable", "rejected", "schemaless"]

Answer = TypeVar("Answer")


class UnansweredError(Exception):
    """One attempt without a reply. ``doubt``: the server may have answered, and billed, all the same.

    ``retry_after`` is in seconds, as the server asked for it.
    """

    def __init__(self, kind: Kind, reason: str, retry_after: float | None = None, doubt: bool = False) -> None:
        super().__init__(reason)
        self.kind, self.reason, self.retry_after, self.doubt = kind, reason, retry_after, doubt


@dataclass(frozen=True)
class Received:
    """A reply: the message as the server's bytes and parsed, and the id the server gave the request."""

    raw: bytes
    message: Mapping[str, Any]
    request_id: str | None


class Client:
    """Open connections to one server. An async context manager."""

    def __init__(self, server: str, key: str, concurrency: int, timeout: float = TIMEOUT) -> None:
        self.server, self.timeout = server, timeout
        self._url = f"{server}/v1/messages"
        elsewhere = {} if server == PUBLIC_SERVER else {"x-api-key": key}  # where older servers look for the key
        self.sdk = anthropic.AsyncAnthropic(
            api_key=key,
            default_headers=elsewhere,
            base_url=server,
            max_retries=0,
            timeout=self._patience(0),
            http_client=anthropic.DefaultAioHttpClient(
                timeout=self._patience(0),
                follow_redirects=False,
                event_hooks={"response": [_bounded]},
                headers={"accept-encoding": "identity"},
                verify=not server.startswith("http://"),  # reading all certificates takes a while; here none is used
                limits=httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
            ),
        )

    def _patience(self, max_tokens: int) -> httpx2.Timeout:
        """Time-outs in seconds; a long answer may take longer than the usual one."""
        return httpx2.Timeout(max(self.timeout, max_tokens / _SLOWEST), connect=min(_CONNECT, self.timeout))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.sdk.close()

    async def send(self, body: bytes, max_tokens: int) -> Received:
        """Send one request. Raises UnansweredError for this attempt, AnamnesisError when no attempt can succeed."""
        options: anthropic.RequestOptions = {"headers": _JSON}
        if max_tokens / _SLOWEST > self.timeout:
            options["timeout"] = self._patience(max_tokens)
        response = await self.call(self.sdk.post(self._url, content=body, cast_to=httpx2.Response, options=options))
        return Received(response.content, _message(response), response.headers.get("request-id"))

    async def post_json(self, path: str, body: bytes) -> Any:
        """Post JSON, get JSON. Raises as ``send``."""
        options: anthropic.RequestOptions = {"headers": _JSON}
        return _json(
            await self.call(self.sdk.post(self.server + path, content=body, cast_to=httpx2.Response, options=options))
        )

    async def get_json(self, path: str) -> Any:
        """Get JSON. Raises as ``send``."""
        return _json(await self.call(self.sdk.get(self.server + path, cast_to=httpx2.Response)))

    async def get_lines(self, path: str) -> list[bytes]:
        """Get JSON Lines, however many. Raises as ``send``."""
        response = await self.call(self.sdk.get(self.server + path, cast_to=httpx2.Response))
        return [line for line in response.content.split(b"\n") if line]

    async def call(self, waiting: Awaitable[Answer]) -> Answer:
        """Await a call of the SDK; what it raises comes out in our terms."""
        try:
            return await waiting
        except anthropic.APIConnectionError as error:
            raise self._lost(error) from error
        except anthropic.APIStatusError as error:
            raise _declined(self.server, error) from error
        except httpx2.HTTPError as error:  # while reading a body
            raise self._lost(error) from error

    def _lost(self, error: Exception) -> UnansweredError:
        causes: list[BaseException] = [error]
        while (cause := causes[-1].__cause__) is not None:
            causes.append(cause)
        for cause in causes:
            if isinstance(cause, UnansweredError):
                return cause
            if isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
                return UnansweredError("unreachable", f"{self.server} does not answer: {cause}")
        root = causes[-1]
        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            return UnansweredError("broken", "no reply in time", doubt=True)
        return UnansweredError("broken", f"connection lost ({type(root).__name__}: {root})", doubt=True)


class _Counted(httpx2.AsyncByteStream):
    """A reply's bytes, until there are too many of them."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST_REPLY:
                raise _too_large()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bounded(response: httpx2.Response) -> None:
    length = response.headers.get("content-length")
    if response.request.url.path.endswith("/results"):  # of a batch: as many as were asked for
        return
    if length is None and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Counted(response.stream)
    elif length is not None and int(length) > LARGEST_REPLY:
        raise _too_large()


def _too_large() -> UnansweredError:
    return UnansweredError("rejected", f"the reply is larger than {LARGEST_REPLY // 2**20} MiB", doubt=True)


def _json(response: httpx2.Response) -> Any:
    raw = response.content
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        kind = response.headers.get("content-type", "")
        if "html" in kind or raw[:64].lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml")):
            raise UnansweredError("unreachable", "an HTML page came instead of a message: a proxy or portal?") from None
        raise UnansweredError("broken", f"the reply is no JSON ({error})", doubt=True) from None


def _message(response: httpx2.Response) -> Mapping[str, Any]:
    message = _json(response)
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        raise UnansweredError("unreachable", "what came is no message of the Messages API")
    if not all(isinstance(block, dict) for block in message["content"]):
        raise UnansweredError("unreachable", "what came is no message of the Messages API")
    return message


def _declined(server: str, error: anthropic.APIStatusError) -> UnansweredError | AnamnesisError:
    status, said = error.status_code, _said(error)
    wait = _retry_after(error.response.headers)
    if status == 429:
        return UnansweredError("limited", said, wait)
    if status in (503, 529):
        return UnansweredError("overloaded", said, wait)
    if status >= 500 or status in (408, 409):
        return UnansweredError("broken", said, wait)
    if status in (401, 403):
        return RequestError(
            f"key refused ({said})", server, mend="Set ANTHROPIC_API_KEY to a key that this server accepts"
        )
    if status == 402:
        return MachineError(f"payment required ({said})", server, mend="Settle it, and run the same command again")
    path = error.request.url.path
    if status == 404 and path.endswith("/batches"):
        return RequestError("no Message Batches", server, mend="Run without --batch: this server does not have them")
    if status == 404 and "/batches/" in path:
        return UnansweredError("rejected", said)
    if status == 404 or 300 <= status < 400:
        return RequestError(
            f"unknown model or address ({said})",
            server,
            mend="Name a model this server has with --model or --roles, and check ANTHROPIC_BASE_URL",
        )
    if status == 400 and any(word in said for word in ("output_config", "output_format", "json_schema")):
        return UnansweredError("schemaless", said)
    return UnansweredError("rejected", said)


def _said(error: anthropic.APIStatusError) -> str:
    inner = error.body.get("error") if isinstance(error.body, dict) else None
    text = inner.get("message") if isinstance(inner, dict) else None
    return f"{error.status_code} {' '.join(str(text or error.message).split())[:300]}"


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds to wait. A date counts from the server's own clock: ours may be wrong."""
    said = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        if said.replace(".", "", 1).isdigit():
            return float(said)
        wait = parsedate_to_datetime(said) - parsedate_to_datetime(headers["date"])
        return max(0.0, wait.total_seconds())
    except (KeyError, TypeError, ValueError):
        return None
