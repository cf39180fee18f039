"""Which model plays which role: ``models/roles.toml``, and a user's own file laid over it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from models.request import Role
from schemas.errors import RequestError, unknown

SHIPPED = Path(__file__).parent / "roles.toml"

ROLES: tuple[Role, ...] = get_args(Role)

_BASE_PRESET = "heart"
_LIMITS = {"sampling": bool, "schema": bool, "max_output": int, "cache_minimum": int, "bytes_per_token": float}


@dataclass(frozen=True)
class Model:
    """A model by the name its server knows, and what it accepts (see ``roles.toml``); sizes in tokens."""

    name: str
    sampling: bool
    schema: bool
    max_output: int
    cache_minimum: int
    bytes_per_token: float


OFFLINE = Model("offline", sampling=True, schema=True, max_output=0, cache_minimum=0, bytes_per_token=4.0)
"""The model of a role that is played without one: its requests compose their own answers."""


def read_roles(preset: str | None = None, path: Path | None = None, chosen: Iterable[str] = ()) -> dict[Role, Model]:
    """The model of every role.

    ``preset`` names a preset (one that does not exist raises; None: ``heart``), ``path`` a file laid
    over the shipped one, ``chosen`` holds ``NAME`` (all roles) or ``ROLE=NAME``. Raises RequestError.
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


def preset_for(benchmark: str, path: Path | None = None) -> str | None:
    """The preset of a benchmark's paper, if there is one."""
    return benchmark if benchmark in _tables(path)[0] else None


def model_named(name: str, models: Mapping[str, Mapping[str, Any]] | None = None) -> Model:
    """A model with what it accepts; one without an entry counts as ``default``."""
    if name == OFFLINE.name:
        return OFFLINE
    known = _tables(None)[1] if models is None else models
    return Model(name, **{**known["default"], **known.get(name, {})})


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
    for model, limits in models.items():
        for limit, value in limits.items():
            if limit not in _LIMITS:
                raise unknown("setting", limit, _LIMITS, f"{path}, models.{model}")
            if type(value) is not _LIMITS[limit]:
                kind = {bool: "true or false", int: "a whole number of tokens", float: "a number such as 3.5"}
                raise RequestError(
                    "malformed setting", path, field=f"models.{model}.{limit}", expected=kind[_LIMITS[limit]]
                )


def read_toml(path: Path) -> dict[str, Any]:
    """A settings file. Raises RequestError, naming it, when it is missing or malformed."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise RequestError("missing file", path, mend="Check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError("malformed TOML", path, expected=str(error), mend="Mend that line") from None
