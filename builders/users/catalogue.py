"""The catalogue of preference types: the domains of everyday assistance, their types, and the values of each.

``seeds/preferences.toml`` holds it and describes its form. PersonaLens 2.1 and Tables 8 and 9: twenty domains,
about ninety types. A catalogue that contradicts itself is refused when it is read, by file, domain and type.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.users.people import KINDS
from schemas.errors import RequestError, unknown

FILE = Path(__file__).parents[1] / "seeds" / "preferences.toml"

_SETTINGS = ("what", "values", "many", "open", "by")
_BY = ("time_zone", "diet")
_ONLY = "only"
_SLOT = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True)
class PreferenceType:
    """One preference type: ``values`` with the traits each asks for; ``many`` is how many a user may have.

    ``by``: the value follows from the user ("time_zone", "diet"). ``alone`` are values that exclude all others.
    """

    domain: str
    name: str
    what: str
    values: Mapping[str, tuple[str, ...]]
    many: int
    open: bool
    by: str | None
    alone: frozenset[str]


@dataclass(frozen=True)
class Domain:
    """A domain: its preference types by name, and sentences about the past with slots for them."""

    name: str
    types: Mapping[str, PreferenceType]
    summaries: tuple[str, ...]


@functools.cache
def catalogue(path: Path = FILE) -> Mapping[str, Domain]:
    """The domains by name, in the order of the file. Raises RequestError for a catalogue that contradicts itself."""
    text = tomllib.loads(path.read_text("utf-8"))
    domains = [_domain(entry, path) for entry in text["domains"]]
    return {domain.name: domain for domain in domains}


def types(path: Path = FILE) -> Iterator[PreferenceType]:
    """All preference types, domain by domain."""
    for domain in catalogue(path).values():
        yield from domain.types.values()


def _domain(entry: Mapping[str, Any], path: Path) -> Domain:
    name = entry["name"]
    made = {title: _type(name, title, settings, path) for title, settings in entry["types"].items()}
    summaries = tuple(entry["texts"]["summaries"])
    for sentence in summaries:
        for slot in _SLOT.findall(sentence):
            if slot not in made:
                raise unknown("preference type in a summary", slot, made, f"{path}, domain {name}")
    return Domain(name, made, summaries)


def _type(domain: str, name: str, settings: Mapping[str, Any], path: Path) -> PreferenceType:
    where = f"{path}, domain {domain}, type {name}"
    for setting in settings:
        if setting not in _SETTINGS:
            raise unknown("setting", setting, _SETTINGS, where)
    if settings.get("by", _BY[0]) not in _BY:
        raise unknown("source of values", settings["by"], _BY, where)
    if ("by" in settings) == ("values" in settings):
        raise RequestError("preference type without values", where, expected="either values or by")
    known = {trait for kind in KINDS.values() for trait in kind} | {_ONLY}
    values = {value: tuple(words.split()) for value, words in settings.get("values", {}).items()}
    for value, traits in values.items():
        for trait in traits:
            if trait not in known:
                raise unknown("trait", trait, known, f"{where}, value {value}")
    many = settings.get("many", 1)
    alone = frozenset(value for value, traits in values.items() if _ONLY in traits)
    return PreferenceType(
        domain, name, settings["what"], values, many, settings.get("open", False), settings.get("by"), alone
    )
