"""Calls to the rehearsal server and its responses, without HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Call:
    """An HTTP request: header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def key(self) -> str:
        """The key it carries, in either header; "" for none."""
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass
class Response:
    """An HTTP response; ``key``, ``model`` and ``usage`` of a reply, for counting, ``fault`` the one it suffered.

    ``seconds`` until it begins; ``pieces`` in which its body goes out (1: at once), so many seconds apart
    (``pause``); ``cut``: the connection drops half-way.
    """

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cut: bool = False
    key: bytes | None = None
    model: str = ""
    usage: Mapping[str, int] | None = None
    fault: str = ""
    pieces: int = 1
    pause: float = 0.0


def failed(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """An error as the Messages API words it."""
    error = {"type": "error", "error": {"type": _KINDS[status], "message": message}, "request_id": "req_rehearsal"}
    return Response(status, orjson.dumps(error), headers or {})
