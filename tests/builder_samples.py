"""Memories for tests of what is built from memories: many, different, cheap, and of one person each."""

from pathlib import Path
from typing import Any

from builders import compatibility, personas
from builders.ids import memory_id
from builders.life import ledgers
from builders.memories.stages import memory_stage
from builders.pipeline.run import Run
from builders.pipeline.streams import Streams
from builders.scenarios import step as scenarios
from models.backends import BackendSettings
from models.prices import read_prices
from models.roles import read_roles
from schemas.randomness import rng_for
from schemas.tables import Row, term_ids
from schemas.workspace import Workspace

PLACES = ("kitchen", "bus stop", "library", "school yard", "office corridor", "market hall", "hospital ward", "beach")
THINGS = ("a letter", "the spare key", "a broken cup", "the loud radio", "a promise", "the last ticket", "an old map")
DEEDS = ("waited", "argued", "left early", "said nothing", "counted twice", "laughed aloud", "asked again", "gave in")
PEOPLE = ("my sister", "the teacher", "a stranger", "the manager", "an old friend", "the neighbour", "the doctor")
FEELINGS = ("shame", "pride", "anger", "relief", "worry", "joy", "grief", "envy")


def streams(seed: int) -> Streams:
    """The random streams of HEART-BENCH for a seed."""
    return Streams(seed, "heart")


HEART = streams(7)


def memories_of(character: Row, count: int, seed: int = 7) -> list[Row]:
    """``count`` memories from 6 to 50, spread evenly, whose rules speak of the character's own patterns."""
    return [_memory(character, number, count, seed) for number in range(1, count + 1)]


def _memory(character: Row, number: int, count: int, seed: int) -> Row:
    who = character["character_id"]
    rng = rng_for(seed, "tests", "memories", who, number)
    age = 6 + 44 * (number - 1) // max(count - 1, 1)
    stage = memory_stage(age)
    place, thing, deed, person = (rng.choice(words) for words in (PLACES, THINGS, DEEDS, PEOPLE))
    pattern = rng.choice(character["core_patterns"])
    return {
        "id": memory_id(who, number),
        "timeline": f"{stage['label']} ({age})",
        "context": f"The {place}, morning {number}",
        "content_summary": f"{person} had {thing} and I {deed}.",
        "content_full": f"At the {place} {person} held {thing}. I {deed}. {pattern}. " + " ".join(rng.sample(DEEDS, 4)),
        "triggers": [place, thing, person, deed],
        "relevance_tags": [thing, deed, rng.choice(FEELINGS), place],
        "psych_conclusion": f"With {person}, {pattern.lower()}.",
        "behavior_policy": f"When there is {thing}, this holds: {pattern.lower()}.",
        "emotion_signature": {
            "primary": rng.choice(FEELINGS),
            "secondary": rng.choice(FEELINGS),
            "intensity": round(rng.uniform(0.1, 0.95), 2),
        },
        "character_id": who,
        "age": age,
        "stage": stage["id"],
        "domain": rng.choice(term_ids("scenario_domains")),
        "tier": rng.choice(term_ids("intensity_tiers")),
        "ledger_refs": [],
        "provenance": None,
    }


def offline_settings(root: Path) -> BackendSettings:
    """The offline backend."""
    return BackendSettings(
        "offline", read_roles("heart", None, []), read_prices(None), root / "journal.sqlite", quiet=True
    )


def run_in(space: Workspace, **given: Any) -> Run:
    """A run of steps in a workspace, offline."""
    return Run(space, offline_settings(space.folder), quiet=True, **given)


def workspace(root: Path, characters: list[Row], count: int) -> Workspace:
    """A workspace with characters, ledgers, ``count`` memories each, scenarios and exclusions."""
    space = Workspace(root, "heart")
    personas.write_characters(space, characters)
    for character in characters:
        ledgers.write_ledger(space, character, HEART)
        space.write("memories", memories_of(character, count), character["character_id"])
    scenarios.build(run_in(space))
    compatibility.build(run_in(space))
    return space
