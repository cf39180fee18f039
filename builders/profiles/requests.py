"""What a model is asked about a profile: its interests, where they are to be chosen, then its tiers.

LikeBench Tables 12 to 14. Levels, options and their descriptors are never asked for: they are shown, and come
from the vocabulary whatever a model says.
"""

from __future__ import annotations

import functools
import itertools
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from models.prompts import load
from models.request import Request
from schemas.records import record_schema, term_ids, vocabulary
from schemas.tables import Row

PROMPTS = Path(__file__).parents[1] / "prompts"
_SEEDS = Path(__file__).parents[1] / "seeds" / "profiles.toml"
_STRATA = {"culture": "cultures", "economics": "economic_strata", "geography": "geographies"}

WRITTEN = (
    "entities",
    "background",
    "knowledge",
    "behaviors",
    "goals",
    "life_events",
    "relations",
    "details",
    "persona_summary",
)
"""The columns that are written; all others are drawn."""


def interests_request(benchmark: str, drawn: Row, compose: Callable[[], Row]) -> Request:
    """Which interests of the taxonomy a social profile has: ``{"interests": [id, ...]}``."""
    prompt = load(PROMPTS / "profile_interests.md")
    rendered = prompt.render(count="three to five", taxonomy=_taxonomy(), person=person(drawn))
    ids = {"type": "string", "enum": list(term_ids("interests"))}
    properties = {"interests": {"type": "array", "minItems": 3, "maxItems": 5, "uniqueItems": True, "items": ids}}
    return Request(
        id=f"{benchmark}/profiles/{drawn['persona_id']}/interests",
        role="profile",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=compose,
        schema=_object(properties),
        max_tokens=1024,
    )


def tiers_request(benchmark: str, drawn: Row, compose: Callable[[], Row]) -> Request:
    """The written columns of a profile whose ``subjects`` are settled."""
    prompt = load(PROMPTS / "profile.md")
    rendered = prompt.render(
        strategy=strategy("profile", drawn["type"]),
        person=person(drawn),
        interests="\n".join(f"{each['set']}: {' > '.join(each['path'])}" for each in drawn["subjects"]),
        entity_count=drawn["entity_count"],
    )
    return Request(
        id=f"{benchmark}/profiles/{drawn['persona_id']}/tiers",
        role="profile",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=compose,
        schema=_written_schema(),
        max_tokens=4096,
    )


def problem(drawn: Row, answer: Row) -> str | None:
    """What of the written tiers breaks a rule the schema cannot say; None when nothing does."""
    sets = [each["set"] for each in drawn["subjects"]]
    for column in ("entities", "knowledge"):
        found = [each["set"] for each in answer[column]]
        if sorted(found) != sets:
            return f"{column}: sets {', '.join(sets)} expected once each, found {', '.join(found)}"
    for each in answer["entities"]:
        if len(each["items"]) != drawn["entity_count"] or len(set(each["items"])) != len(each["items"]):
            return f"entities of {each['set']}: exactly {drawn['entity_count']} different items expected"
    names = [each["name"] for each in answer["relations"]]
    if len({*names, drawn["name"]}) != len(names) + 1:
        return "relations: each needs a name of its own, other than the person's"
    for each in answer["details"]:
        if each["keyword"].lower() not in each["mention"].lower():
            return f"details: the keyword {each['keyword']!r} is no part of the mention {each['mention']!r}"
    late = [each["age"] for each in answer["life_events"] if each["age"] > drawn["age"]]
    return f"life_events: the person is {drawn['age']}, not {late[0]}" if late else None


def person(row: Row) -> str:
    """A person in words: circumstances, personality and style."""
    labels = {
        column: next(term["label"] for term in vocabulary(name) if term["id"] == row[column])
        for column, name in _STRATA.items()
    }
    archetype = next(term for term in vocabulary("profile_archetypes") if term["id"] == row["archetype"])
    gender = next(term["label"] for term in vocabulary("genders") if term["id"] == row["gender"])
    lines = [
        f"Name: {row['name']}; age {row['age']}; {gender.lower()}",
        f"Background: {labels['culture']}, {labels['economics']}, {labels['geography']}",
        f"Archetype: {archetype['label']}: {archetype['text']}",
        "",
        "Personality:",
        *(f"- {each['descriptor']}" for each in row["facets"]),
        "",
        "Style of conversation:",
        *(f"- {each['descriptor']}" for each in row["styles"]),
    ]
    return "\n".join(lines)


@functools.cache
def strategy(kind: str, type_: str) -> str:
    """What a model is told in addition about a profile or its priors, by type of profile."""
    text: str = tomllib.loads(_SEEDS.read_text("utf-8"))[kind][type_]
    return text


@functools.cache
def _taxonomy() -> str:
    lines = []
    for field, leaves in itertools.groupby(vocabulary("interests"), key=lambda leaf: leaf["path"][:2]):
        ids = ", ".join(str(leaf["id"]) for leaf in leaves)
        lines.append(f"{' > '.join(field)}: {ids}")
    return "\n".join(lines)


@functools.cache
def _written_schema() -> Mapping[str, Any]:
    whole = record_schema("profiles")["properties"]
    return _object({column: whole[column] for column in WRITTEN})


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": dict(properties),
    }
