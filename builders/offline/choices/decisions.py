"""Decisions without a model: what a character does follows from its values, its traits and what came up in it.

Which course of action: the one whose values weigh most in the character, that comes naturally to its traits,
and that has most in common with the memory that leads. So a trait shows in what is done and in nothing
else: courses are written for their scene, and the wording is drawn from what all characters share
(``banks/decisions/forms.toml``). What tells one character's decision from another's that takes the same course is the
memory it rests on, which is its own (``builders.offline.choices.quotation``). HEART-BENCH 3.4 and appendix D.4.

The words of ``inner_consciousness``, which no question shows, are of the character's own voice
(``banks/decisions/<trait>_<pole>.toml``).
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from builders.offline.choices.quotation import age_phrase, leading, noun_phrase
from builders.offline.scenes import archetype
from builders.pipeline.streams import Streams
from builders.scenarios.blueprints import Blueprint
from schemas.tables import Row

_BANKS = Path(__file__).parents[1] / "banks" / "decisions"

# How much a trait one unit above the middle counts, and a memory that has all words of a course, beside a value at
# full importance. A trait that weighed more would be known from a character's other questions (docs/notes.md).
_TRAIT_WEIGHT = 0.6
_MEMORY_WEIGHT = 3.0
_WORD = re.compile(r"[a-z]{4,}")


def decide(
    character: Row,
    scenario: Row,
    blueprint: Blueprint,
    memories: Sequence[Row],
    streams: Streams,
    memory: Row | None = None,
) -> Row:
    """Inner consciousness and final decision of a character, from its activated memories in order of rank.

    ``memory`` is the one that is spoken of; None: the first that can be.
    """
    rng = streams.rng("decisions", f"{character['character_id']}/{scenario['id']}")
    bank, shared = _bank(archetype(character)), _file("forms")
    if memory is None:
        memory = leading([(scenario["id"], memories)]).get(scenario["id"])
    course = choose(character, blueprint, memory)
    turn = int(character["character_id"].rpartition("_")[2]) + streams.rng("wording", scenario["id"]).randrange(1000)
    slots = _wording(course, turn)
    forms = shared["plain" if memory is None else "decisions"]
    if memory is not None:
        slots |= {"memory": noun_phrase(memory), "age": age_phrase(memory, scenario["age"])}
    return {
        "summary": _summary(bank, slots, rng),
        "emotional_tone": _tone(bank["tones"], shared["tails"], memory, rng),
        "core_reasoning": _reasoning(rng.choice(bank["logics"]), shared["reasons"], memory, scenario, rng),
        "value_orientation": rng.choice(bank["values"]),
        "final_decision": forms[turn % len(forms)].format(**slots),
    }


def choose(character: Row, blueprint: Blueprint, memory: Row | None) -> Mapping[str, Any]:
    """The course of action that weighs most: by values, traits and what a memory has in common with it."""
    lived = set(_WORD.findall(memory["content_full"].lower())) if memory is not None else set()

    def weight(course: Mapping[str, Any]) -> float:
        values = sum(character["values"][value] for value in course["serves"]) / len(course["serves"])
        traits = max(_lean(character, kind) for kind in course["draws"])
        words = set(_WORD.findall(" ".join((*course["choice"], *course["acts"])).lower()))
        return float(values + _TRAIT_WEIGHT * traits + _MEMORY_WEIGHT * len(words & lived) / len(words))

    return max(blueprint["courses"], key=weight)


def _wording(course: Mapping[str, Any], turn: int) -> dict[str, str]:
    """A choice and an act of a course: characters take turns, so that those who take one course do different things."""
    round_of_acts, act = divmod(turn, len(course["acts"]))
    return {"choice": course["choice"][round_of_acts % len(course["choice"])], "act": course["acts"][act]}


def _lean(character: Row, kind: str) -> float:
    pole, trait = kind.split("_")
    distance = character["big_five"][trait] - 0.5
    return float(distance if pole == "High" else -distance)


def _summary(bank: Mapping[str, Any], slots: Mapping[str, str], rng: Random) -> str:
    first, second = rng.sample(bank["streams"], 2)
    if "memory" not in slots:
        return str(first)
    return f"{first} {rng.choice(bank['memories']).format(**slots)} {second}"


def _tone(tones: Sequence[str], tails: Sequence[str], memory: Row | None, rng: Random) -> str:
    """A tone of the voice and, behind it, the feeling of a memory: another one than the tone has named."""
    feeling = "" if memory is None else memory["emotion_signature"]["primary"]
    tone = rng.choice([one for one in tones if not feeling or feeling not in _WORD.findall(one)] or tones)
    if memory is not None:
        tone += rng.choice(tails).format(feeling=feeling, memory=noun_phrase(memory))
    return f"{tone[0].upper()}{tone[1:]}."


def _reasoning(logic: str, reasons: Sequence[str], memory: Row | None, scenario: Row, rng: Random) -> str:
    stakes = [each["dilemma"] for part in (scenario["assessed_dimensions"] or {}).values() for each in part]
    slots = {"logic": logic}
    if memory is not None:
        slots["conclusion"] = memory["psych_conclusion"]
    if stakes:
        slots["dilemma"] = rng.choice(stakes).replace(" vs ", " against ")
    fitting = [form for form in reasons if all(name in slots for name in re.findall(r"{(\w+)}", form))]
    return rng.choice(fitting).format(**slots) if fitting else logic


def _bank(voice: str) -> Mapping[str, Any]:
    return _file(
        "neutral" if voice == "Neutral" else voice.replace("-", "_").replace("High", "high").replace("Low", "low")
    )


@functools.cache
def _file(name: str) -> Mapping[str, Any]:
    return tomllib.loads((_BANKS / f"{name}.toml").read_text("utf-8"))
