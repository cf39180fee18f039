"""The choice runs of a chapter: results of one release, what they say of one another, and who the characters are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluators.protocols.bench import Bench
from evaluators.scoring.ranking import Ranked
from evaluators.scoring.results import Result
from schemas.tables import vocabulary

SETTINGS = {
    "vanilla": "nothing is known of the person",
    "recent": "the last memories before the situation",
    "naive_rag": "the memories most similar to the situation",
    "mem0": "what the package mem0 keeps and finds",
    "persona_db": "narratives and statements, by fields of the persona",
    "oracle": "the memories that the release says the situation calls up",
    "full": "all memories up to the situation",
}


@dataclass(frozen=True)
class Report:
    """What the chapter is about; ``names`` are those of ``results``, ``compared`` what ``comparison`` says of them."""

    bench: Bench
    results: Sequence[Result]
    names: Sequence[str]
    compared: Mapping[str, Any]
    ranks: Sequence[Ranked]

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The release's."""
        return self.bench.release.manifest

    @property
    def settings(self) -> list[str]:
        """The settings of the runs, in the order of the paper."""
        present = {result["run"]["setting"] for result in self.results}
        return [name for name in SETTINGS if name in present]

    def of_setting(self, setting: str) -> list[Result]:
        """The runs under a setting."""
        return [result for result in self.results if result["run"]["setting"] == setting]


def people(report: Report) -> dict[str, str]:
    """Character -> id and archetype; empty where the release has no characters."""
    if "characters" not in report.bench.release.tables:
        return {}
    labels = {term["id"]: term["label"] for term in vocabulary("archetypes")}
    rows = report.bench.release.table("characters", ["character_id", "archetype"]).to_pylist()
    return {
        row["character_id"]: f"{row['character_id']}, {labels.get(row['archetype'], row['archetype'])}" for row in rows
    }
