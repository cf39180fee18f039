"""Which server is asked, and with which key: ``ANTHROPIC_BASE_URL`` and ``ANTHROPIC_API_KEY``."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from schemas.errors import RequestError

PUBLIC_SERVER = "https://api.anthropic.com"


def server_address() -> str:
    """The server's address, Anthropic's by default, without a trailing slash or /v1. Raises RequestError."""
    address = os.environ.get("ANTHROPIC_BASE_URL", "").strip().rstrip("/").removesuffix("/v1") or PUBLIC_SERVER
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.username is not None or parts.query or parts.fragment:
        raise RequestError(
            "malformed address",
            "ANTHROPIC_BASE_URL",
            expected="http://host:port or https://host, without a name, password or query",
            mend="Set it to the server's address, or unset it for Anthropic",
        )
    return address


def api_key(server: str) -> str:
    """The key. Raises RequestError when there is none, or one that no header can carry."""
    key = os.environ.get("ANTHROPIC_API_KEY", "").strip()
    if not key:
        raise RequestError(
            "no key",
            "ANTHROPIC_API_KEY",
            mend=f"Set it to the key for {server} (a local server takes any text), or use --backend offline",
        )
    if not key.isascii() or not key.isprintable():
        raise RequestError("malformed key", "ANTHROPIC_API_KEY", mend="Set it to the key alone, on one line")
    return key
