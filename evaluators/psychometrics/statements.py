"""The statements of the questionnaire, and everything that a character is asked about them.

Fifty items of the International Personality Item Pool (Goldberg 1992; public domain), ten a trait, each in the original
wording and in two paraphrases of ours. The items call the high pole of N emotional stability, releases call it
neuroticism: ``keyed`` is turned round for N, so that it points to the release's trait.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluators.protocols.bench import Bench, Question, read_bench
from releases import Release
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import vocabulary

NEEDS = ("characters", "memories", "mcqs", "mcq_keys", "scenarios")
WORDINGS = 3

_FILE = Path(__file__).with_name("wordings.toml")
_OLDEST = 200  # of years: nobody's memories are left out


@dataclass(frozen=True)
class Statement:
    """An item in all its wordings, without the "I"; ``keyed`` 1 where agreeing speaks for the release's trait."""

    id: str
    trait: str
    keyed: int
    wordings: tuple[str, ...]

    def said(self, wording: int) -> str:
        """The statement about oneself, for example "I keep in the background."."""
        text = self.wordings[wording]
        return f"I {text[0].lower()}{text[1:]}"


@dataclass(frozen=True)
class Asked:
    """One question to one character; ``truth`` is the release's value of the trait, 0 to 1."""

    character_id: str
    archetype: str
    truth: float
    statement: Statement
    wording: int
    order: int

    @property
    def id(self) -> str:
        """Unique within a run."""
        return f"{self.character_id}/{self.statement.id}/{self.wording}/{self.order}"

    @property
    def memories(self) -> str:
        """The id under which memories are retrieved: the same whatever the wording and order."""
        return f"{self.character_id}/{self.statement.id}"


@functools.cache
def statements() -> tuple[Statement, ...]:
    """All items, in their order."""
    more = _wordings()
    return tuple(
        Statement(
            item["id"],
            item["dimension"],
            -item["keyed"] if item["dimension"] == "N" else item["keyed"],
            (item["label"], *more[item["id"]]),
        )
        for item in vocabulary("questionnaire_items")
    )


def trait_labels() -> dict[str, str]:
    """Trait -> its name."""
    return {term["id"]: term["label"] for term in vocabulary(_wordings()["traits"])}


@functools.cache
def _wordings() -> Mapping[str, Any]:
    return tomllib.loads(_FILE.read_text("utf-8"))


def asked(release: Release, wordings: int, orders: int, limit: int | None, seed: int) -> list[Asked]:
    """Everything that is asked, by character, statement, wording and order; ``limit`` takes a seeded sample of it."""
    vector = str(_wordings()["traits"])
    columns = ["character_id", "archetype", vector]
    people = sorted(release.table("characters", columns).to_pylist(), key=lambda row: str(row["character_id"]))
    found = [
        Asked(row["character_id"], row["archetype"], row[vector][one.trait], one, wording, order)
        for row in people
        for one in statements()
        for wording in range(wordings)
        for order in range(orders)
    ]
    if limit is None or limit >= len(found):
        return found
    chosen = rng_for(seed, release.name.benchmark, "evaluators", "limit").sample(range(len(found)), limit)
    return [found[place] for place in sorted(chosen)]


def bench_of(release: Release, setting: str, seed: int) -> Bench:
    """The release with a statement in place of each situation, so that memories are retrieved for statements.

    Raises RequestError for a setting that only situations have.
    """
    if setting == "oracle":
        raise RequestError(
            "--setting oracle", release.name, expected="a setting that any text has: no statement calls up memories",
            fix="For example --setting naive_rag",
        )  # fmt: skip
    bench = read_bench(release, None, seed)
    people = sorted(row["character_id"] for row in release.table("characters", ["character_id"]).to_pylist())
    questions = tuple(
        Question(f"{who}/{one.id}", who, one.id, "", _OLDEST, (), ()) for who in people for one in statements()
    )
    situations = {
        one.id: {
            "description_for_agent": "",
            "context_text": one.said(0),
            "trigger_event": {"message_content": "", "action_required": None},
        }
        for one in statements()
    }
    return replace(bench, questions=questions, scenarios=situations)
