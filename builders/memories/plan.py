"""The plan of a character's memories: how many at which age, how strong, about what.

Pure: settings and random streams in, one MemoryPlan a memory out. HEART-BENCH 3.2 stage 2 and appendix B.2
(quotas), G.2 (tiers), B.3 (domains), Tables 7 and 8. Each memory has a number of its own within its
character, in chronological order, so that whoever writes the text can share out its choices by number
and let the windows of one character be written independently of each other.

    python -m builders.memories --char CHAR_04 --dry-run
"""

from __future__ import annotations

import functools
import math
import random
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.ids import memory_id
from builders.memories.quotas import staged_quotas, tier_table
from builders.memories.stages import memory_stage
from builders.pipeline.streams import Streams
from schemas.errors import RequestError, unknown
from schemas.tables import Row, term_ids, vocabulary

_SETTINGS = Path(__file__).parents[1] / "seeds" / "plan.toml"

PRESETS = ("ecological", "paper-prompt")
AGES = range(6, 51)
PATTERNS = 8

_PATTERN_TIERS = ("A", "B")
_WORK = "workplace"


@dataclass(frozen=True)
class MemoryPlan:
    """One memory before it is written.

    ``number`` is unique within the character and rises with age; ``intensity`` in [0, 1], two decimals;
    ``pattern`` is the index (0-7) of the core pattern the memory turns on, None for tiers C and D (plain
    life). ``season``, ``weekday`` and ``part_of_day`` are where in the calendar it lies. ``turn`` counts the
    memories of one life stage, domain and kind (events of tiers A and B, plain days of C and D), from 0: a
    writer that takes its material in turns repeats none before all has been used.
    """

    id: str
    character_id: str
    number: int
    age: int
    stage: str
    domain: str
    tier: str
    intensity: float
    pattern: int | None
    season: str
    weekday: str
    part_of_day: str
    turn: int


@dataclass(frozen=True)
class Targets:
    """Table 7 for one character: mean characters of ``content_full`` and mean intensity."""

    length: float
    intensity: float


def plan(
    character: Row, streams: Streams, total: int = 1000, existing: Sequence[Row] = (), preset: str = "ecological"
) -> list[MemoryPlan]:
    """The memories a character still needs to have ``total``, in order of age then number.

    ``existing`` are memories it already has: their count is taken off ``total`` before the quotas are
    formed (appendix B.2) and their numbers are not given again. Raises RequestError for a total below
    that count and for an unknown preset.
    """
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    who = character["character_id"]
    deficit = total - len(existing)
    if deficit < 0:
        raise RequestError(
            f"{total} memories asked for",
            row=who,
            expected=f"at least the {len(existing)} it already has",
            fix="Raise --count, or remove memories from its file",
        )
    rng = streams.rng("plan", who)
    stages = [range(term["from_age"], term["to_age"] + 1) for term in vocabulary("memory_stages")]
    ages = [age for age, count in staged_quotas(deficit, weights(), stages).items() for _ in range(count)]
    tiers = _tiers(ages, rng)
    domains = _even_within(term_ids("scenario_domains"), tiers, rng)
    patterns = _patterns(tiers, rng)
    intensities = _intensities(character, tiers, preset, rng)
    numbers = _free_numbers(existing)
    turns = _turns(ages, tiers, domains)
    return [
        MemoryPlan(
            id=memory_id(who, number),
            character_id=who,
            number=number,
            age=age,
            stage=memory_stage(age)["id"],
            domain=domain,
            tier=tier,
            intensity=intensity,
            pattern=pattern,
            turn=turn,
            **_slots(age, domain, rng),
        )
        for number, age, tier, domain, pattern, intensity, turn in zip(
            numbers, ages, tiers, domains, patterns, intensities, turns, strict=False
        )
    ]


def weights() -> dict[int, int]:
    """Salience of each year of age, 6 to 50 (facts recovered from the published data)."""
    return {
        age: span["weight"] for span in _settings()["weights"] for age in range(span["from_age"], span["to_age"] + 1)
    }


def targets(character: Row) -> Targets:
    """What Table 7 asks of a character.

    Of an archetype of the user's own: the mean length of the eleven, and the strength of feeling that lies on
    the line through calm and nervous ones.
    """
    printed = {term["id"]: Targets(term["published_length"], term["published_intensity"]) for term in _archetypes()}
    if character["archetype"] in printed:
        return printed[character["archetype"]]
    calm, nervous = (_settings()["custom"][name] for name in ("calm", "nervous"))
    low, high = (printed[name].intensity for name in ("N-Low", "N-High"))
    intensity = low + (high - low) * (character["big_five"]["N"] - calm) / (nervous - calm)
    length = sum(each.length for each in printed.values()) / len(printed)
    return Targets(round(length, 1), round(intensity, 3))


def _archetypes() -> Sequence[Mapping[str, Any]]:
    return [term for term in vocabulary("archetypes") if term.get("published_length")]


@functools.cache
def _settings() -> dict[str, Any]:
    return tomllib.loads(_SETTINGS.read_text("utf-8"))


def _free_numbers(existing: Sequence[Row]) -> Iterator[int]:
    """1, 2, 3, … without the numbers of existing memories."""
    taken = {int(row["id"].rpartition("_")[2]) for row in existing}
    number = 0
    while True:
        number += 1
        if number not in taken:
            yield number


def _tiers(ages: Sequence[int], rng: random.Random) -> list[str]:
    """A tier for each memory: shares exact over the character and, within one, over each life stage."""
    windows = Counter(memory_stage(age)["id"] for age in ages)
    terms = vocabulary("intensity_tiers")
    rows = tier_table([windows[stage] for stage in term_ids("memory_stages")], [term["share"] for term in terms])
    chosen: list[str] = []
    for counts in rows:
        window = [term["id"] for term, count in zip(terms, counts, strict=True) for _ in range(count)]
        rng.shuffle(window)
        chosen += window
    return chosen


def _even_within(options: Sequence[str], groups: Sequence[str], rng: random.Random) -> list[str]:
    """An option for each member, as even as can be over all members and over those of each group."""
    deck: list[str] = []
    chosen = [""] * len(groups)
    for group in sorted(set(groups)):
        for index, member in enumerate(groups):
            if member == group:
                deck = deck or rng.sample(options, len(options))
                chosen[index] = deck.pop()
    return chosen


def _patterns(tiers: Sequence[str], rng: random.Random) -> list[int | None]:
    """The core pattern each memory of the first two tiers turns on, all eight equally often."""
    deck: list[int] = []
    chosen: list[int | None] = []
    for tier in tiers:
        if tier not in _PATTERN_TIERS:
            chosen.append(None)
            continue
        deck = deck or rng.sample(range(PATTERNS), PATTERNS)
        chosen.append(deck.pop())
    return chosen


def _turns(ages: Sequence[int], tiers: Sequence[str], domains: Sequence[str]) -> list[int]:
    """The place of each memory among those of its life stage, domain and kind, from 0."""
    seen: Counter[tuple[str, str, bool]] = Counter()
    turns = []
    for age, tier, domain in zip(ages, tiers, domains, strict=True):
        key = (memory_stage(age)["id"], domain, tier in _PATTERN_TIERS)
        turns.append(seen[key])
        seen[key] += 1
    return turns


def _intensities(character: Row, tiers: Sequence[str], preset: str, rng: random.Random) -> list[float]:
    """Values spread evenly over each tier's range, moved by the character's shift on the log-odds scale."""
    shift = _shift(targets(character).intensity, preset)
    values = [0.0] * len(tiers)
    for term in vocabulary("intensity_tiers"):
        members = [index for index, tier in enumerate(tiers) if tier == term["id"]]
        spread = _spread(term[preset], len(members))
        rng.shuffle(spread)
        for index, value in zip(members, spread, strict=True):
            values[index] = round(_shifted(value, shift), 2)
    return values


def _spread(bounds: Sequence[float], count: int) -> list[float]:
    low, high = bounds
    return [low + (high - low) * (index + 0.5) / count for index in range(count)]


def _shifted(value: float, shift: float) -> float:
    """A shift in log-odds keeps the order of values and never leaves (0, 1), so nothing piles up at an end."""
    return 1 / (1 + (1 - value) / value * math.exp(-shift))


@functools.cache
def _shift(mean: float, preset: str) -> float:
    """What moves the mean of all tiers, in their shares, to ``mean``: found by bisection."""
    reference = [
        value for term in vocabulary("intensity_tiers") for value in _spread(term[preset], round(1000 * term["share"]))
    ]
    low, high = -4.0, 4.0
    for _ in range(50):
        middle = (low + high) / 2
        if sum(_shifted(value, middle) for value in reference) < mean * len(reference):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _slots(age: int, domain: str, rng: random.Random) -> dict[str, str]:
    slots = _settings()["slots"]
    working = domain == _WORK
    hours = "working_hours" if working else "child_hours" if age <= slots["child_until"] else "all_hours"
    return {
        "season": rng.choice(slots["season"]),
        "weekday": rng.choice(slots["working_days" if working else "all_days"]),
        "part_of_day": rng.choice(slots[hours]),
    }
