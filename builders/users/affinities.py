"""What a user prefers and has done before: one value or several a preference type, one summary a domain.

Values are drawn among those that suit the user's traits, so that preferences agree with demographics and with each
other: who is thrifty flies economy and stays in hostels, who gets up early has the early alarm. Every suitable value
is as likely as any other, so that menus are used evenly. PersonaLens 2.1, Tables 8 and 9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

from builders.users.catalogue import Domain, PreferenceType, catalogue, types
from builders.users.people import Person, strata, suits
from schemas.tables import Row

_SLOT = re.compile(r"\{([^}]*)\}")

Chosen = Mapping[tuple[str, str], Sequence[str]]
"""Values by domain and preference type."""


def draw_affinities(person: Person, rng: Random) -> Chosen:
    """The values of every preference type, also in domains that will be switched off."""
    return {(each.domain, each.name): _values(each, person, rng) for each in types()}


def _values(of: PreferenceType, person: Person, rng: Random) -> list[str]:
    if of.by is not None:
        return [person.diet if of.by == "diet" else person.time_zone]
    suitable = [value for value, traits in of.values.items() if suits(traits, person.traits)]
    drawn = rng.sample(suitable, min(rng.randint(1, of.many), len(suitable)))
    exclusive = [value for value in drawn if value in of.alone]
    return exclusive[:1] or drawn


def affinity_rows(chosen: Chosen) -> list[Row]:
    """The column ``affinities``."""
    several = {(each.domain, each.name): each.many > 1 for each in types()}
    return [
        {"domain": domain, "preference": name, "multiple": several[domain, name], "values": list(values)}
        for (domain, name), values in chosen.items()
    ]


def interaction_rows(chosen: Chosen, rng: Random) -> list[Row]:
    """The column ``interactions``: in each domain a summary that names the user's own values."""
    return [{"domain": domain.name, "summary": _summary(domain, chosen, rng)} for domain in catalogue().values()]


def _summary(domain: Domain, chosen: Chosen, rng: Random) -> str:
    sentence = rng.choice(domain.summaries)
    return _SLOT.sub(lambda slot: listed(chosen[domain.name, slot[1]]), sentence)


def listed(values: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"


def draw_interests(person: Person, rng: Random) -> list[Row]:
    """The column ``interests``: which domains are on, by share and traits; at least one is."""
    chances = {
        name: settings["share"] + sum(points for trait, points in settings.items() if trait in person.traits)
        for name, settings in strata()["domains"].items()
    }
    active = {name for name, chance in chances.items() if rng.random() * 100 < chance}
    if not active:
        active = {max(chances, key=lambda name: chances[name])}
    return [{"domain": name, "active": name in active} for name in catalogue()]
