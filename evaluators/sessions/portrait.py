"""A profile and a prior in words: what the simulated user is told about itself, and what judges are shown.

LikeBench 4.2: the seven tiers, in order. Labels come from the vocabularies; nothing is added to the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schemas.records import vocabulary
from schemas.tables import Row

_STRATA = {"culture": "cultures", "economics": "economic_strata", "geography": "geographies", "gender": "genders"}


def portrait(profile: Row) -> str:
    """A profile as text, a heading a tier."""
    return "\n\n".join(f"{heading}\n{body}" for heading, body in _tiers(profile) if body)


def agenda(prior: Row) -> str:
    """What the user is after in a session, for judges and readers: agenda and mood."""
    return f"{prior['agenda']} Mood: {label('session_moods', prior['mood']).lower()}."


def label(name: str, term: str) -> str:
    """The words of a term of a vocabulary."""
    return next(str(one["label"]) for one in vocabulary(name) if one["id"] == term)


def _tiers(profile: Row) -> Iterator[tuple[str, str]]:
    yield "Person", _person(profile)
    yield "Personality", _lines(one["descriptor"] for one in profile["facets"])
    yield "Way of talking", _lines(one["descriptor"] for one in profile["styles"])
    yield "Interests and what they know of them", _lines(_interests(profile))
    yield "Behaviour", _lines(text for text in profile["behaviors"].values() if text)
    yield "Goals", _lines(goal["text"] for goal in profile["goals"])
    yield "Life so far", _lines(f"at {one['age']}: {one['text']}" for one in profile["life_events"])
    yield "People and animals", _lines(f"{one['relation']} {one['name']} {one['text']}" for one in profile["relations"])
    yield "Details", _lines(f"{one['mention']} {one['text']}" for one in profile["details"])
    yield "In short", str(profile["persona_summary"])


def _person(profile: Row) -> str:
    strata = ", ".join(label(name, profile[column]).lower() for column, name in _STRATA.items())
    known: Mapping[str, Any] = profile["background"]
    rest = [f"{profile['name']} {known[field]}." for field in ("education", "home") if known[field]]
    return " ".join([f"{profile['name']}, {profile['age']}, {known['occupation']} ({strata}).", *rest])


def _interests(profile: Row) -> Iterator[str]:
    things = {one["set"]: one["items"] for one in profile["entities"]}
    knows = {one["set"]: one for one in profile["knowledge"]}
    for subject in profile["subjects"]:
        name = subject["set"]
        yield (
            f"{' > '.join(subject['path'])}: {', '.join(things.get(name, ()))}."
            f" {knows[name]['level'].capitalize()}: {knows[name]['text']}"
        )


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)
