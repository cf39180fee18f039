"""What one attempt can come to, short of a reply, and what is done about each kind (``models.pacing``)."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from schemas.errors import AnamnesisError, MachineError, RequestError

# limited      429: too many requests or tokens a minute
# overloaded   529, 503
# broken       5xx, a timeout, a dropped connection, a reply that is no JSON or is empty
# unreachable  nothing answers there, or something else than the API does
# rejected     400, 413, 422, a reply too large: this request is at fault, not the server
# schemaless   400 because of the schema, which this server or model does not enforce
Kind = Literal["limited", "overloaded", "broken", "unreachable", "rejected", "schemaless"]

# A proxy's statuses: what stands behind it may have answered, and billed, all the same.
_PROXYS = frozenset({502, 504, *range(520, 528)})
_SCHEMA_WORDS = ("output_config", "output_format", "json_schema", "response_format")
_CREDIT_WORDS = (
    "credit balance",
    "insufficient_quota",
    "exceeded your current quota",
    "insufficient credit",
    "billing",
)


class UnansweredError(Exception):
    """One attempt without a reply. ``doubt``: the server may have answered, and billed, all the same.

    ``retry_after`` is in seconds, as the server asked for it.
    """

    def __init__(self, kind: Kind, reason: str, retry_after: float | None = None, doubt: bool = False) -> None:
        super().__init__(reason)
        self.kind, self.reason, self.retry_after, self.doubt = kind, reason, retry_after, doubt


def declined(
    where: str, path: str, status: int, reason: str, headers: Mapping[str, str]
) -> UnansweredError | AnamnesisError:
    """What a status other than 2xx comes to; ``where`` names the server and the setting, ``reason`` its words."""
    words = f"{status} {reason}".strip()
    lower = words.lower()
    wait = retry_after(headers)
    if 300 <= status < 400:
        target = headers.get("location", "")
        return RequestError(
            f"redirected ({status}{f' to {target}' if target else ''})",
            where,
            fix="Set the server's address to where it answers itself",
        )
    if status == 402 or (status in (400, 403, 429) and any(word in lower for word in _CREDIT_WORDS)):
        return MachineError(f"payment required ({words})", where, fix="Pay for it, and run the same command again")
    if status == 407:
        return RequestError(f"refused by the proxy ({words})", where, fix="Name a proxy with http://name:password@host")
    if status == 429:
        return UnansweredError("limited", words, wait)
    if status in (503, 529):
        return UnansweredError("overloaded", words, wait)
    if status >= 500 or status in (408, 409):
        return UnansweredError("broken", words, wait, doubt=status in _PROXYS)
    if status in (401, 403):
        return RequestError(f"key refused ({words})", where, fix="Use a key that this server accepts")
    if path.endswith("/batches") and status == 404:
        return RequestError("no Message Batches", where, fix="Run without --batch: this server does not have them")
    if "/batches/" in path and status == 404:
        return UnansweredError("rejected", words)
    if status in (404, 405):
        return _not_found(where, path, words)
    if status == 400 and any(word in lower for word in _SCHEMA_WORDS):
        return UnansweredError("schemaless", words)
    return UnansweredError("rejected", words)


def _not_found(where: str, path: str, words: str) -> RequestError:
    if "model" in words.lower():
        return RequestError(
            f"unknown model ({words})", where, fix="Name a model this server has with --model or --roles"
        )
    other = "chat" if path.endswith("/messages") else "messages"
    return RequestError(
        f"nothing answers at {path} ({words})",
        where,
        fix=f'Check the address; if the server speaks the other wire, set wire = "{other}" for the model in --roles',
    )


def error_words(value: Any) -> str | None:
    """What a server says of an error, in the forms servers use; None for a value that tells of none."""
    if not isinstance(value, Mapping):
        return None
    for inner in (value.get("error"), value.get("detail"), value.get("message")):
        if isinstance(inner, Mapping):
            inner = ": ".join(str(inner[name]) for name in ("code", "message") if inner.get(name))
        if inner:
            return str(inner)
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait. A date counts from the server's own clock: ours may be wrong."""
    words = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        if words.replace(".", "", 1).isdigit():
            return float(words)
        wait = parsedate_to_datetime(words) - parsedate_to_datetime(headers["date"])
        return max(0.0, wait.total_seconds())
    except (KeyError, TypeError, ValueError):
        return None
