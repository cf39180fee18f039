"""What a person of a profile wants of an assistant: register, length, depth, humour, references.

LikeBench 4.2.2 and Tables 10, 11: options of style that depend on circumstances are resolved here, for a session.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evaluators.subjects.wording import Register, register_signs, word_count
from schemas.records import vocabulary

Length = Literal["brief", "moderate", "elaborate"]
LENGTHS: tuple[Length, ...] = ("brief", "moderate", "elaborate")
Depth = Literal["basic", "middle", "expert"]
DEPTHS: tuple[Depth, ...] = ("basic", "middle", "expert")

ACQUAINTED_FROM = 5
"""The session from which on an assistant counts as somebody known well."""

_SERIOUS = ("science", "technology", "society")
_HUMOR = ("affiliative", "self_enhancing", "aggressive", "self_defeating")
_DEPTH: Mapping[str, Depth] = {"novice": "basic", "familiar": "middle", "expert": "expert"}
_REGISTER: Mapping[str, Register] = {
    "always_formal": "formal",
    "always_casual": "casual",
    "neutral_blend": "neutral",
}
_LENGTH: Mapping[str, Length] = {
    "always_brief": "brief",
    "always_elaborate": "elaborate",
    "moderate_always": "moderate",
}


@dataclass(frozen=True)
class Wishes:
    """What suits a person in one session. ``humor``: the kind liked, None where jokes are unwelcome.

    ``jokes``: the person makes jokes; ``alludes``: makes allusions; ``allusions``: likes them from others.
    """

    register: Register
    length: Length
    depth: Depth
    humor: str | None
    jokes: bool
    alludes: bool
    allusions: bool
    direct: bool


def wishes(profile: Mapping[str, Any], prior: Mapping[str, Any], said: Sequence[str] = (), last: str = "") -> Wishes:
    """The wishes in the session of a prior.

    ``said`` are the person's own messages so far in the session, ``last`` what the assistant said last: who
    adapts to the other side goes by them.
    """
    style = {each["dimension"]: each["option"].split(".")[1] for each in profile["styles"]}
    session, serious = prior["session"], _area(profile, prior["set"]) in _SERIOUS
    acquainted = session >= ACQUAINTED_FROM
    values = facet_values(profile)
    kind = max(_HUMOR, key=lambda name: values[name])
    reference = style["reference"]
    known = {each["set"]: each["level"] for each in profile["knowledge"]}
    return Wishes(
        register=_register(style["formality"], serious, acquainted, last),
        length=_length(style["conversation_length"], prior["category"], said),
        depth=_DEPTH[known.get(prior["set"], "familiar")],
        humor=kind if values[kind] >= 3 else None,
        jokes=values[kind] >= 3,
        alludes=reference in ("enjoys_making", "enjoys_mutual")
        or (reference == "close_contacts_only" and acquainted)
        or (reference == "topic_specific" and not serious),
        allusions=reference not in ("never", "adapts_to_partner")
        and (reference != "close_contacts_only" or acquainted)
        and (reference != "topic_specific" or not serious),
        direct=style["directness"] not in ("always_indirect", "direct_when_asked")
        and (style["directness"] != "direct_with_friends" or acquainted),
    )


def facet_values(profile: Mapping[str, Any]) -> dict[str, int]:
    """The levels of a profile's facets as numbers from 1 to 5."""
    return {each["facet"]: _values()[each["level"]] for each in profile["facets"]}


@functools.cache
def _values() -> Mapping[str, int]:
    return {level["id"]: level["value"] for level in vocabulary("facet_levels")}


def _area(profile: Mapping[str, Any], name: str | None) -> str:
    return next((str(each["interest"]).split(".")[0] for each in profile["subjects"] if each["set"] == name), "")


def _register(option: str, serious: bool, acquainted: bool, last: str) -> Register:
    if option == "formal_at_work":
        return "formal" if serious else "casual"
    if option == "casual_with_friends":
        return "casual" if acquainted else "formal"
    if option == "code_switcher":
        signs = register_signs(last)
        return "casual" if signs >= 2 else "formal" if signs <= -2 else "neutral"
    return _REGISTER[option]


def _length(option: str, category: str, said: Sequence[str]) -> Length:
    if option == "brief_casual_elaborate_problem":
        return "elaborate" if category in ("goal", "topic") else "brief"
    if option == "elaborate_storytelling":
        return "elaborate" if category == "scenario" else "brief"
    if option == "adapts_to_partner":
        words = word_count(said[-1]) if said else 0
        return "elaborate" if words > 35 else "moderate" if words > 15 else "brief"
    return _LENGTH[option]
