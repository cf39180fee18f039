"""Decisions without a model: what a character does follows from its values, its traits and what came up in it.

Which course of action: the one whose values weigh most in the character and that comes naturally to its
traits, with a small pull from what the activated memories hold. For which reason and in which way: by the
core pattern that the activated memories speak of most. So eleven characters often take the same course and
never take it in the same way (HEART-BENCH appendix D.4), and the way can be traced to what came up.

Words come from ``banks/decisions/<trait>_<pole>.toml`` and the blueprint's courses:

    I choose to <choice><reason>. <a way to act, with the act in it>
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from builders.offline.scenes import archetype
from builders.pipeline.streams import Streams
from builders.scenarios.blueprints import Blueprint
from schemas.tables import Row

_BANKS = Path(__file__).parent / "banks" / "decisions"

# How much a trait one unit above the middle counts beside a value at full importance.
_TRAIT_WEIGHT = 1.2
_MEMORY_WEIGHT = 0.15
# The place, in order of rank, at which a memory counts half as much as the first one.
_FADING = 3
_WORD = re.compile(r"[a-z]{4,}")


def decide(character: Row, scenario: Row, blueprint: Blueprint, memories: Sequence[Row], streams: Streams) -> Row:
    """Inner consciousness and final decision of a character, from its activated memories in order of rank."""
    rng = streams.rng("decisions", f"{character['character_id']}/{scenario['id']}")
    bank = _bank(archetype(character))
    course = choose(character, blueprint, memories)
    pattern = bank["patterns"][leading_pattern(character, memories)]
    choice, act = rng.choice(course["choice"]), rng.choice(course["acts"])
    reason, way = rng.choice(pattern["reasons"]), rng.choice(pattern["ways"])
    return {
        "summary": _summary(bank, memories, rng),
        "emotional_tone": _tone(bank, memories, scenario, rng),
        "core_reasoning": rng.choice(bank["logics"]),
        "value_orientation": rng.choice(bank["values"]),
        "final_decision": f"I choose to {choice}{reason}. {way.format(act=act)}",
    }


def choose(character: Row, blueprint: Blueprint, memories: Sequence[Row]) -> Mapping[str, Any]:
    """The course of action that weighs most; of equals the first."""
    rules = " ".join(memory["behavior_policy"] for memory in memories).lower()
    spoken = set(_WORD.findall(rules))

    def weight(course: Mapping[str, Any]) -> float:
        values = sum(character["values"][value] for value in course["serves"]) / len(course["serves"])
        traits = max(_lean(character, kind) for kind in course["draws"])
        words = set(_WORD.findall(" ".join((*course["choice"], *course["acts"])).lower()))
        echo = len(words & spoken) / len(words)
        return float(values + _TRAIT_WEIGHT * traits + _MEMORY_WEIGHT * echo)

    return max(blueprint["courses"], key=weight)


def leading_pattern(character: Row, memories: Sequence[Row]) -> int:
    """The core pattern that the memories speak of most; the first memories count most, of equals the first pattern.

    Each memory speaks, by its conclusion, its rule and its tags, of the pattern with most of its words in
    them, and as clearly as that is; words that many of the memories have count little.
    """
    patterns = [_stems(pattern) for pattern in character["core_patterns"]]
    spoken = [_stems(_lesson(memory)) for memory in memories]
    having = Counter(stem for stems in spoken for stem in stems)

    def rarity(stems: Iterable[str]) -> float:
        return sum(math.log((1 + len(spoken)) / max(having[stem], 1)) for stem in sorted(stems))

    votes = [0.0] * len(patterns)
    for place, stems in enumerate(spoken):
        clear = [rarity(own & stems) / (rarity(own) or 1.0) for own in patterns]
        best = max(range(len(patterns)), key=clear.__getitem__)
        votes[best] += clear[best] / (1 + place / _FADING)
    return max(range(len(votes)), key=votes.__getitem__)


def _lesson(memory: Row) -> str:
    return " ".join((memory["psych_conclusion"], memory["behavior_policy"], *memory["relevance_tags"]))


def _lean(character: Row, kind: str) -> float:
    pole, trait = kind.split("_")
    distance = character["big_five"][trait] - 0.5
    return float(distance if pole == "High" else -distance)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in _WORD.findall(text.lower()))


def _summary(bank: Mapping[str, Any], memories: Sequence[Row], rng: Random) -> str:
    first = rng.choice(bank["streams"])
    if not memories:
        return str(first)
    leading = memories[min(int(rng.expovariate(0.5)), len(memories) - 1)]
    back = rng.choice(bank["memories"]).format(context=_lowered(leading["context"]))
    second = rng.choice([stream for stream in bank["streams"] if stream != first])
    return f"{first} {back[0].upper()}{back[1:]} {second}"


def _lowered(context: str) -> str:
    """A memory's setting in the middle of a sentence; one that begins with a proper name keeps its capital."""
    first, _, rest = context.partition(" ")
    named = len(first) > 1 and rest[:1].isupper() and not first.endswith(",")
    return (context if named else context[0].lower() + context[1:]).rstrip(".")


def _tone(bank: Mapping[str, Any], memories: Sequence[Row], scenario: Row, rng: Random) -> str:
    tone = rng.choice(bank["tones"])
    if not memories:
        return f"{tone[0].upper()}{tone[1:]}."
    felt = memories[0]["emotion_signature"]
    return f"{tone[0].upper()}{tone[1:]}; under it {felt['primary']}, which I know from before."


@functools.cache
def _bank(voice: str) -> Mapping[str, Any]:
    name = "neutral" if voice == "Neutral" else voice.replace("-", "_").replace("High", "high").replace("Low", "low")
    return tomllib.loads((_BANKS / f"{name}.toml").read_text("utf-8"))
