"""Conversations without a model: words from ``banks/<task>.toml`` that carry the planted levels.

A reply's levels can be read off its text: how many options it names (diversity), how many facts stand beside each
(detail), whether what was asked for is met, named, left out or gone against (requirement), and whether there is a way
to do it (usability). So a judge that reads carefully can tell good replies from bad ones.

    Here is what I would suggest. <requirement>
    - <option>: <detail>; <detail>
    - <option>: <detail>; <detail>
    <usability>
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from builders.conversations.plan import PlannedConversation
from builders.pipeline.streams import Streams
from schemas.tables import Row

_BANKS = Path(__file__).parent / "banks"

Turns = list[dict[str, str]]


@dataclass(frozen=True)
class Setting:
    """What a conversation is about: the background as the rater read it, and the words that its phrases share."""

    context: str
    words: Mapping[str, str]


def setting_of(planned: PlannedConversation, rater: Row, streams: Streams) -> Setting:
    """The background of a conversation, drawn from the bank of its task family and the rater's interests."""
    rng, bank = streams.rng("contexts", planned.conversation_id), _bank(planned.task)
    person = rng.choice(bank.get("people", ["a friend"]))
    words = {
        "span": rng.choice(bank["spans"]),
        "interest": rng.choice(rater["daily_interests"]),
        "person": person,
        "person_upper": person[0].upper() + person[1:],
        "theirs": person.replace("your", "my"),
        "subject": rng.choice(bank.get("subjects", ["it"])),
    }
    return Setting(rng.choice(bank["contexts"]).format(**words), words)


def composed_turns(planned: PlannedConversation, setting: Setting, streams: Streams) -> Turns:
    """User and assistant messages of every planned turn."""
    rng, bank = streams.rng("words", planned.conversation_id), _bank(planned.task)
    follows = rng.sample(bank["follow"], len(bank["follow"]))
    constraints = rng.sample(bank["constraints"], 2)
    turns = []
    for place, turn in enumerate(planned.turns):
        asked = bank["opening"] if place == 0 else [follows[(place - 1) % len(follows)]]
        constraint = constraints[place % 2]
        user = rng.choice(asked).format(need=constraint["need"], **setting.words)
        turns.append({"user": user, "assistant": _reply(bank, turn.levels, constraint, rng)})
    return turns


def closing_words(planned: PlannedConversation, streams: Streams) -> str:
    """What the user says last, where nothing answers."""
    return str(streams.rng("closing", planned.conversation_id).choice(_bank(planned.task)["closing"]))


def _reply(bank: Mapping[str, Any], levels: Mapping[str, int], constraint: Mapping[str, str], rng: Random) -> str:
    opened = rng.choice(bank["intro"])
    requirement = {0: constraint["ignored"], 1: "", 2: constraint["named"], 3: constraint["met"]}[levels["requirement"]]
    options = rng.sample(bank["options"], 1 + levels["diversity"])
    lines = [_option(option, levels["detail"], rng) for option in options]
    steps = bank["steps"]
    way = {0: steps["unusable"], 1: [""], 2: steps["one"], 3: steps["several"]}[levels["usability"]]
    parts = [" ".join(filter(None, (opened, requirement))), "\n".join(lines), rng.choice(way)]
    return "\n\n".join(part for part in parts if part)


def _option(option: Mapping[str, Any], detail: int, rng: Random) -> str:
    name = option["name"][0].upper() + option["name"][1:]
    told = sorted(rng.sample(range(len(option["details"])), detail))
    facts = "; ".join(option["details"][place] for place in told)
    return f"- {name}: {facts}." if facts else f"- {name}."


@functools.cache
def _bank(task: str) -> Mapping[str, Any]:
    return tomllib.loads((_BANKS / f"{task}.toml").read_text("utf-8"))
