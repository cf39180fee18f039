"""What a release asks: questions, scenarios, occupations and memories, apart from the keys.

A ``Question`` holds labels and texts of its options and nothing that tells which is right or whose
they are, so that no prompt built from it can. Keys are read by ``read_keys``, by whoever scores.
Memories are de-identified: number and age, no archetype. HEART-BENCH 4.1 and 4.2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from releases import Release
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import Row

_MEMORY_COLUMNS = ["id", "character_id", "age", "timeline", "context", "content_summary", "content_full"]


@dataclass(frozen=True)
class Memory:
    """A memory as a model may see it; ``age`` in years, ``text`` the full narrative."""

    id: str
    age: int
    timeline: str
    context: str
    summary: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question as a model may see it; ``age`` is the scenario's, in years."""

    id: str
    character_id: str
    scenario_id: str
    stage: str
    age: int
    labels: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Bench:
    """Everything of a release that an evaluation reads, apart from the keys.

    ``memories`` are in order of age and id; empty where the release has none. ``occupations`` by character;
    ``pseudonyms`` what a model is told in place of a character's id, which a public table maps to its trait.
    """

    release: Release
    questions: tuple[Question, ...]
    scenarios: Mapping[str, Row]
    occupations: Mapping[str, str]
    memories: Mapping[str, tuple[Memory, ...]]
    pseudonyms: Mapping[str, str] = field(default_factory=dict)

    def eligible(self, question: Question) -> Sequence[Memory]:
        """The character's memories up to the scenario's age: by age, never by label, so that no future leaks."""
        return [memory for memory in self.memories.get(question.character_id, ()) if memory.age <= question.age]


def read_bench(release: Release, limit: int | None = None, seed: int = 7) -> Bench:
    """Read a release. ``limit`` takes a seeded sample of so many questions, in their order.

    Raises RequestError for a release without questions or one whose questions name a scenario it lacks.
    """
    for table in ("mcqs", "mcq_keys", "scenarios"):
        if not release.tables.get(table):
            raise RequestError(f"no {table}", release.name, fix="Evaluate a release that has questions")
    scenarios = {row["id"]: row for row in release.rows("scenarios")}
    questions = tuple(_question(row, scenarios) for row in release.rows("mcqs"))
    named = _pseudonyms(release, {question.character_id for question in questions}, seed)
    if limit is not None and limit < len(questions):
        rng = rng_for(seed, release.name.benchmark, "evaluators", "limit")
        questions = tuple(questions[place] for place in sorted(rng.sample(range(len(questions)), limit)))
    has_people = bool(release.tables.get("characters"))
    people = release.table("characters", ["character_id", "occupation"]).to_pylist() if has_people else []
    occupations = {row["character_id"]: row["occupation"] for row in people}
    return Bench(release, questions, scenarios, occupations, _memories(release), named)


def read_keys(release: Release) -> dict[str, str]:
    """Question -> letter of the character's own decision."""
    rows = release.table("mcq_keys", ["question_id", "answer"]).to_pylist()
    return {row["question_id"]: row["answer"] for row in rows}


def demand_memories(bench: Bench, what: str) -> None:
    """Raises RequestError when the release cannot serve what reads memories."""
    if not bench.memories or not bench.occupations:
        lacking = " and ".join(
            name for name, held in (("memories", bench.memories), ("characters", bench.occupations)) if not held
        )
        raise RequestError(
            f"{what} needs {lacking}",
            bench.release.name,
            expected=f"this release has {', '.join(bench.release.tables)}",
            fix="Take another release, or what needs none: --setting vanilla, --model offline:longest",
        )


def poles_of(release: Release) -> dict[str, tuple[str | None, str | None]]:
    """Character -> the trait at an extreme and its pole; for scoring, never for prompts. Empty where not released."""
    if not release.tables.get("characters"):
        return {}
    rows = release.table("characters", ["character_id", "trait", "pole"]).to_pylist()
    return {row["character_id"]: (row["trait"], row["pole"]) for row in rows}


def activated_of(release: Release) -> dict[tuple[str, str], list[str]]:
    """(character, scenario) -> ids of the memories that the situation calls up, as prompts show them (3.4, fine step).

    Empty where the release does not say."""
    if not release.tables.get("activations"):
        return {}
    rows = release.table("activations", ["character_id", "scenario_id", "step", "memories"]).to_pylist()
    return {
        (row["character_id"], row["scenario_id"]): [one["memory_id"] for one in row["memories"]]
        for row in rows
        if row["step"] == "fine"
    }


def diamonds_of(scenario: Mapping[str, Any]) -> str | None:
    """The dominant DIAMONDS dimension of a scenario; None where the release does not say."""
    return scenario.get("diamonds_dimension")


def _question(row: Row, scenarios: Mapping[str, Row]) -> Question:
    scenario = scenarios.get(row["scenario_id"])
    if scenario is None:
        raise RequestError("unknown scenario", "mcqs", row=row["question_id"], field="scenario_id")
    return Question(
        id=row["question_id"],
        character_id=row["character_id"],
        scenario_id=row["scenario_id"],
        stage=row["stage"],
        age=scenario["age"],
        labels=tuple(option["label"] for option in row["options"]),
        texts=tuple(option["content"] for option in row["options"]),
    )


def _pseudonyms(release: Release, characters: Collection[str], seed: int) -> dict[str, str]:
    """Character -> a number drawn by the seed, different for each."""
    drawn = rng_for(seed, release.name.benchmark, "evaluators", "pseudonyms").sample(
        range(1000, 10000), len(characters)
    )
    return {name: f"Person {number}" for name, number in zip(sorted(characters), drawn, strict=True)}


def _memories(release: Release) -> dict[str, tuple[Memory, ...]]:
    if not release.tables.get("memories"):
        return {}
    found: dict[str, list[Memory]] = {}
    for row in release.table("memories", _MEMORY_COLUMNS).to_pylist():
        memory = Memory(
            row["id"],
            row["age"],
            row["timeline"],
            row["context"],
            row["content_summary"],
            row["content_full"],
        )
        found.setdefault(row["character_id"], []).append(memory)
    return {name: tuple(sorted(rows, key=lambda memory: (memory.age, memory.id))) for name, rows in found.items()}
