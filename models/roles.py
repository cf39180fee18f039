"""Which model plays which role: ``models/roles.toml``, and a user's own file laid over it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from models.request import Role
from schemas.errors import RequestError, unknown

SHIPPED = Path(__file__).parent / "roles.toml"

ROLES: tuple[Role, ...] = get_args(Role)

_BASE_PRESET = "default"
_LARGEST = 10**9


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value < _LARGEST


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < _LARGEST


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


# The settings of a model's entry: what is good, and how that is said.
_SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "sampling": (lambda value: isinstance(value, bool), "true or false"),
    "schema": (lambda value: isinstance(value, bool) or value == "probe", 'true, false or "probe"'),
    "max_output": (_is_count, "a whole number of tokens"),
    "cache_minimum": (_is_count, "a whole number of tokens"),
    "bytes_per_token": (_is_number, "a number such as 3.5"),
    "served_as": (_is_text, "the name its server knows it by"),
    "wire": (lambda value: value in ("messages", "chat"), '"messages" or "chat"'),
    "server": (_is_text, "an address such as http://localhost:8000"),
    "key_env": (_is_text, "the name of the variable that holds the key"),
    "server_identity": (_is_text, "a name for the server that does not depend on its address"),
    "limit_field": (_is_text, '"max_tokens" or "max_completion_tokens"'),
    "requests_per_minute": (_is_number, "a number above 0"),
    "tokens_per_minute": (_is_number, "a number above 0"),
    "extra": (lambda value: isinstance(value, dict), "a table of fields of the body"),
}


@dataclass(frozen=True)
class Model:
    """A model by the name of its entry, what it accepts, and where it is asked (see ``roles.toml``); sizes in tokens.

    ``served_as`` is the name its server knows it by. ``schema``: the server enforces a JSON Schema (True), does not
    (False), or the first replies show it ("probe").
    """

    name: str
    served_as: str
    sampling: bool
    schema: bool | str
    max_output: int
    cache_minimum: int
    bytes_per_token: float
    wire: str = "messages"
    server: str | None = None
    key_env: str | None = None
    server_identity: str | None = None
    limit_field: str = "max_tokens"
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


OFFLINE = Model("offline", "offline", True, True, max_output=1, cache_minimum=1, bytes_per_token=4.0)
"""The model of a role that is played without one: its requests compose their own answers."""


def read_roles(preset: str | None = None, path: Path | None = None, chosen: Iterable[str] = ()) -> dict[Role, Model]:
    """The model of every role.

    ``preset`` names a preset (None: ``default``, which all others are laid over), ``path`` a file laid over
    the shipped one, ``chosen`` holds ``NAME`` (all roles) or ``ROLE=NAME``. Raises RequestError.
    """
    presets, models = _tables(path)
    if preset is not None and preset not in presets:
        raise unknown("preset", preset, presets, path or SHIPPED)
    names = {**presets[_BASE_PRESET], **presets[preset or _BASE_PRESET]}
    for choice in chosen:
        role, equals, name = choice.partition("=")
        if not equals:
            names = dict.fromkeys(names, choice)
        elif role not in ROLES:
            raise unknown("role", role, ROLES, "--model")
        else:
            names[role] = name
    return {role: model_named(names[role], models) for role in ROLES}


def model_named(name: str, models: Mapping[str, Mapping[str, Any]] | None = None) -> Model:
    """A model with what it accepts; one without an entry counts as ``default``."""
    if name == OFFLINE.name:
        return OFFLINE
    known = _tables(None)[1] if models is None else models
    return Model(name, **{"served_as": name, **known["default"], **known.get(name, {})})


def known_models() -> list[str]:
    """The models that have an entry of their own."""
    return [name for name in _tables(None)[1] if name != "default"]


def _tables(path: Path | None) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, Any]]]:
    shipped = tomllib.loads(SHIPPED.read_text("utf-8"))
    own = read_toml(path) if path else {}
    for section in own:
        if section not in ("presets", "models"):
            raise unknown("section", section, ("presets", "models"), path)
    presets = _laid_over(shipped["presets"], own.get("presets", {}))
    models = _laid_over(shipped["models"], own.get("models", {}))
    if path:
        _check(presets, models, path)
    return presets, models


def _laid_over(below: dict[str, dict[str, Any]], above: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: {**below.get(name, {}), **above.get(name, {})} for name in [*below, *above]}


def _check(presets: Mapping[str, Mapping[str, Any]], models: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    for preset, roles in presets.items():
        for role, name in roles.items():
            if role not in ROLES:
                raise unknown("role", role, ROLES, f"{path}, presets.{preset}")
            if not isinstance(name, str) or not name:
                raise RequestError("malformed model name", path, field=f"presets.{preset}.{role}", expected="a text")
    for model, settings in models.items():
        for setting, value in settings.items():
            if setting not in _SETTINGS:
                raise unknown("setting", setting, _SETTINGS, f"{path}, models.{model}")
            good, expected = _SETTINGS[setting]
            if not good(value):
                raise RequestError("malformed setting", path, field=f"models.{model}.{setting}", expected=expected)


def read_toml(path: Path) -> dict[str, Any]:
    """A settings file. Raises RequestError, naming it, when it is missing or malformed."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError("malformed TOML", path, expected=str(error), fix="Correct that line") from None
