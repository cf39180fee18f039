"""What is drawn about a profile before anything is written: strata, archetype, facets, style, anti-social interests.

LikeBench 4.2: facet levels and style options are drawn uniformly; then an archetype of the profile's type biases
both. Each facet and dimension the archetype names is drawn again with probability ``strength`` from the
archetype's weights, so 0 leaves the uniform draw and 1 replaces it. Strata and archetypes are dealt evenly.

    python -m builders.profiles
"""

from __future__ import annotations

import itertools
import math
import tomllib
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.records import term_ids, vocabulary
from schemas.tables import Row

_NAMES = Path(__file__).parents[1] / "seeds" / "names.toml"
_TYPES = ("social", "antisocial")
_MIDDLE = 3  # value of the middle level

Item = TypeVar("Item")


def draw_profiles(benchmark: str, count: int, seed: int, strength: float | None = None) -> list[Row]:
    """The drawn part of ``count`` profiles, half of them social: all columns but those that are written.

    ``strength`` replaces the bias strength of every archetype. Anti-social profiles come with their
    ``subjects``; social ones with ``None`` there, as theirs are chosen by affinity. Raises RequestError for
    more profiles than there are names.
    """
    rng = rng_for(seed, benchmark, "profiles", "strata")
    bands = _dealt(rng, vocabulary("age_bands"), count)
    strata = {
        "culture": _dealt(rng, term_ids("cultures"), count),
        "economics": _dealt(rng, term_ids("economic_strata"), count),
        "geography": _dealt(rng, term_ids("geographies"), count),
        "priority_metric": _dealt(rng, term_ids("likability_metrics"), count),
    }
    genders = _dealt(rng, [term["id"] for term in vocabulary("genders") for _ in range(term["share"])], count)
    names = _names(rng, genders)
    archetypes = {kind: iter(_dealt(rng, _archetypes(kind), -(-count // 2))) for kind in _TYPES}
    ids = _ids(rng, count)
    rows = []
    for place, kind in enumerate(itertools.islice(itertools.cycle(_TYPES), count)):
        own = rng_for(seed, benchmark, "profiles", "draw", place)
        archetype = next(archetypes[kind])
        bias = archetype["strength"] if strength is None else strength
        row = {
            "persona_id": ids[place],
            "name": names[place],
            "type": kind,
            "archetype": archetype["id"],
            "bias_strength": bias,
            "age": own.randint(bands[place]["from_age"], bands[place]["to_age"]),
            "age_band": bands[place]["id"],
            "gender": genders[place],
            **{column: dealt[place] for column, dealt in strata.items()},
            "facets": draw_facets(own, archetype, bias),
            "styles": draw_styles(own, archetype, bias),
            "entity_count": own.randint(2, 5),
        }
        row["subjects"] = subjects(own.sample(vocabulary("interests"), own.randint(3, 5)))
        if kind == "social":
            row["subjects"] = None
        rows.append(row)
    return rows


def draw_facets(rng: Random, archetype: Mapping[str, Any], strength: float) -> list[Row]:
    """Each facet with a level: uniform, then with probability ``strength`` again from the archetype's weights."""
    tilts = {each["facet"]: each["tilt"] for each in archetype["facets"]}
    levels = vocabulary("facet_levels")
    drawn = []
    for facet in vocabulary("personality_facets"):
        level = rng.choice(levels)
        if facet["id"] in tilts and rng.random() < strength:
            (level,) = rng.choices(levels, level_weights(tilts[facet["id"]]))
        drawn.append({"facet": facet["id"], "level": level["id"], "descriptor": facet["levels"][level["id"]]})
    return drawn


def level_weights(tilt: int) -> list[float]:
    """The weights of the five levels, lowest first: they rise or fall in a line, more steeply the larger the tilt."""
    values = [level["value"] for level in vocabulary("facet_levels")]
    return [max(0.0, 1 + tilt * (value - _MIDDLE) / 2) for value in values]


def draw_styles(rng: Random, archetype: Mapping[str, Any], strength: float) -> list[Row]:
    """Each dimension with an option: uniform, then with probability ``strength`` again from the archetype's weights.

    An option weighs 1, one that the archetype favours its weight on top of that.
    """
    favoured = {each["option"]: each["weight"] for each in archetype["options"]}
    drawn = []
    for dimension in term_ids("style_dimensions"):
        options = [term for term in vocabulary("style_options") if term["dimension"] == dimension]
        option = rng.choice(options)
        if any(each["id"] in favoured for each in options) and rng.random() < strength:
            (option,) = rng.choices(options, [1 + favoured.get(each["id"], 0) for each in options])
        drawn.append({"dimension": dimension, "option": option["id"], "descriptor": option["text"]})
    return drawn


def draw_by_affinity(rng: Random, facets: Sequence[Row]) -> list[Mapping[str, Any]]:
    """Three to five interests from fields that suit the facets, each from another area where that can be."""
    values = facet_values(facets)
    fields = list(vocabulary("interest_fields"))
    chosen: list[Mapping[str, Any]] = []
    for _ in range(rng.randint(3, 5)):
        (field,) = rng.choices(fields, [math.exp(affinity(each, values)) for each in fields])
        fields = [each for each in fields if each["area"] != field["area"]]
        chosen.append(rng.choice([leaf for leaf in vocabulary("interests") if leaf["field"] == field["id"]]))
    return chosen


def affinity(field: Mapping[str, Any], values: Mapping[str, int]) -> float:
    """How much the facets draw to a field of interests: mean of distance from the middle times direction, -2 to 2."""
    draws = [int(each["direction"]) * (values[each["facet"]] - _MIDDLE) for each in field["affinities"]]
    return sum(draws) / len(draws)


def facet_values(facets: Sequence[Row]) -> dict[str, int]:
    """The levels as numbers from 1 to 5, by facet."""
    values = {level["id"]: level["value"] for level in vocabulary("facet_levels")}
    return {each["facet"]: values[each["level"]] for each in facets}


def subjects(leaves: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Leaves of the taxonomy as the sets of a profile."""
    return [
        {"set": f"set_{number}", "interest": leaf["id"], "path": list(leaf["path"])}
        for number, leaf in enumerate(leaves, 1)
    ]


def names() -> Mapping[str, list[str]]:
    """First names by gender, and those of either."""
    return tomllib.loads(_NAMES.read_text("utf-8"))


def _dealt(rng: Random, items: Sequence[Item], count: int) -> list[Item]:
    """``count`` items in random order, each as often as any other or once more."""
    dealt: list[Item] = []
    while len(dealt) < count:
        dealt += rng.sample(items, min(len(items), count - len(dealt)))
    rng.shuffle(dealt)
    return dealt


def _archetypes(kind: str) -> list[Mapping[str, Any]]:
    return [each for each in vocabulary("profile_archetypes") if each["type"] == kind]


def _names(rng: Random, genders: Sequence[str]) -> list[str]:
    pools = {gender: rng.sample(known, len(known)) for gender, known in names().items()}
    pools["nonbinary"] = pools["either"]
    taken = []
    for gender in genders:
        if not pools[gender]:
            expected = f"at most {sum(map(len, names().values()))} profiles, no two of one name"
            raise RequestError("too few names", _NAMES, field=gender, expected=expected, fix="Add names to that file")
        taken.append(pools[gender].pop())
    return taken


def _ids(rng: Random, count: int) -> list[str]:
    ids: dict[str, None] = {}
    while len(ids) < count:
        ids[f"CSP_STRAT_{uuid.UUID(int=rng.getrandbits(128), version=4).hex[:8]}"] = None
    return list(ids)
