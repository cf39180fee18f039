"""Which server a model is asked at, and with which key: its entry in ``roles.toml``, else the environment.

A model without ``server`` is asked at ``ANTHROPIC_BASE_URL`` with ``ANTHROPIC_API_KEY``, on the wire "chat" at
``OPENAI_BASE_URL`` with ``OPENAI_API_KEY``. One with ``server`` gets the key of the variable that ``key_env``
names and no other: no key goes to a server it was not meant for.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from models.roles import Model
from schemas.errors import RequestError

PUBLIC_SERVERS = {"messages": "https://api.anthropic.com", "chat": "https://api.openai.com"}
ADDRESS_VARIABLES = {"messages": "ANTHROPIC_BASE_URL", "chat": "OPENAI_BASE_URL"}
KEY_VARIABLES = {"messages": "ANTHROPIC_API_KEY", "chat": "OPENAI_API_KEY"}


@dataclass(frozen=True)
class Server:
    """A server's address, the key for it (None: it wants none), and the setting that names it, for messages."""

    address: str
    key: str | None = field(default=None, repr=False)
    setting: str = ""

    @property
    def where(self) -> str:
        """The server as errors name it."""
        return f"{self.address} ({self.setting})" if self.setting else self.address


def server_of(model: Model) -> Server:
    """Where a model is asked. Raises RequestError for a malformed address, a missing key, or one no header carries."""
    address, setting = server_address(model)
    variable = model.key_env or (None if model.server else KEY_VARIABLES[model.wire])
    return Server(address, api_key(variable, address) if variable else None, setting)


def server_address(model: Model) -> tuple[str, str]:
    """A server's address without a trailing slash, and the setting that names it. Raises RequestError."""
    variable = ADDRESS_VARIABLES[model.wire]
    setting = f'server of models."{model.name}"' if model.server else variable
    named = model.server or os.environ.get(variable, "")
    address = named.strip().rstrip("/") or PUBLIC_SERVERS[model.wire]
    if model.wire == "messages":
        address = address.removesuffix("/v1")
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and _is_plain(address)
    except ValueError:
        good = False
    if not good or parts.username is not None or parts.query or parts.fragment:
        raise RequestError(
            "malformed address",
            setting,
            expected="http://host:port or https://host, in ASCII, without a name, password or query",
            fix="Set it to the server's address",
        )
    return address, setting


def _is_plain(address: str) -> bool:
    return address.isascii() and address.isprintable() and " " not in address


def api_key(variable: str, address: str) -> str:
    """The key a variable holds. Raises RequestError when there is none, or one that no header can carry."""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise RequestError(
            "no key",
            variable,
            fix=f"Set it to the key for {address} (a local server takes any text), or use --backend offline",
        )
    if not key.isascii() or not key.isprintable():
        raise RequestError("malformed key", variable, fix="Set it to the key alone, on one line")
    return key
