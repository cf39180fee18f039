"""Those at home for whom a memory has room: partner, children, animals, a thing one keeps, what the body has.

A scene is cast by its own queries (``builders.offline.scenes``); this draws on the rest of the life ledger, so that
a parent's day has a child in it and somebody with hay fever sneezes. Lines: ``banks/home.toml``, by who is needed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from builders.offline.banks import pieces
from builders.offline.cast import Cast, Member
from builders.offline.moments import SEASONS, Moment

# How often a memory tells of somebody at home: of one that happens there, of any other.
_AT_HOME, _ELSEWHERE = 0.4, 0.15
# How often of an animal or a thing where people are not told of, and of an ailment.
_ANIMAL, _THING, _AILING = 0.2, 0.1, 0.12
_CAGED = ("rabbit", "guinea pig", "budgerigar", "hamster")


@dataclass(frozen=True)
class Household:
    """Which lines of the bank are told, by their path in it, and when: ``before`` the scene or in the ``evening``."""

    path: tuple[str, ...]
    when: str


def household(
    cast: Cast, members: Mapping[str, Member], at_home: bool, when: Moment, rng: random.Random
) -> tuple[Household | None, dict[str, Member]]:
    """Whom a memory tells of besides its scene, and the members its lines name."""
    taken = {member.fact for member in members.values()}
    told = "before" if when.part in ("evening", "night") else "evening"
    drawn = _ailment(cast, when.season, rng)
    options = _options(cast, taken, rng.random() < (_AT_HOME if at_home else _ELSEWHERE), rng)
    for path, people in options:
        if pieces("home", *path, told):
            return Household(path, told), drawn | people
    return None, drawn


def _options(
    cast: Cast, taken: set[str | None], people: bool, rng: random.Random
) -> list[tuple[tuple[str, ...], dict[str, Member]]]:
    """What could be told, the first that has lines is."""
    found: list[tuple[tuple[str, ...], dict[str, Member]]] = []
    partner, child = cast.free("partner", taken, rng), cast.free("child", taken, rng)
    if partner is not None and partner["role"] != "partner":
        partner = None  # a first love lives elsewhere
    if people and child is not None:
        age = cast.years(child)
        kind = "baby" if age < 4 else "child" if age < 13 else "teenager"
        found.append(((kind,), {"child": cast.known(child)}))
        if partner is not None and kind == "child":
            found.insert(0, (("family",), {"child": cast.known(child), "partner": cast.known(partner)}))
    if people and partner is not None:
        found.append((("partner",), {"partner": cast.known(partner)}))
        if rng.random() < 0.5:
            found.reverse()
    pet, keepsake = cast.free("pet", taken, rng), cast.free("possession", taken, rng)
    if pet is not None and rng.random() < _ANIMAL:
        kind = pet["role"] if pet["role"] not in _CAGED else "caged"
        found.append((("pet", kind), {"pet": cast.known(pet)}))
    if keepsake is not None and cast.grown and rng.random() < _THING:
        found.append((("keepsake",), {"keepsake": cast.known(keepsake)}))
    return found


def _ailment(cast: Cast, season: str, rng: random.Random) -> dict[str, Member]:
    """What the body has, where the bank has words for it."""
    state = cast.free("health", set(), rng)
    if state is None or rng.random() > _AILING or not pieces("home", "ailment", state["role"]):
        return {}
    if season not in (pieces("home", "seasons", state["role"]) or SEASONS):
        return {}
    return {"ailment": cast.known(state)}
