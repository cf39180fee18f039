"""Probes: the 50 questionnaire items with their keying, five situations to write about, and a post.

"Spotting Out-of-Character Behavior", 4.2 and Tables 9 to 11; items of the International Personality Item Pool, which is
in the public domain, the rest in our own words (``seeds/fidelity/probes.toml``).

    python -m builders.probes --benchmark fidelity
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from schemas.tables import Row, vocabulary

MAKES = ("probes",)

_SEEDS = Path(__file__).parent / "seeds" / "fidelity" / "probes.toml"


def probes(seed: int) -> list[Row]:
    """All rows, in order of id."""
    text = tomllib.loads(_SEEDS.read_text("utf-8"))
    rows = [_item(item, text["questionnaire"]["question"]) for item in vocabulary("questionnaire_items")]
    for dimension, situation in text["essay"]["situations"].items():
        asked = text["essay"]["question"].format(situation=situation)
        rows.append(_row(f"essay-{dimension}", "essay", dimension, asked))
    rows.append(_row("social_media-1", "social_media", None, text["social_media"]["question"]))
    return [{**row, "provenance": computed(seed)} for row in sorted(rows, key=lambda row: str(row["probe_id"]))]


def build(run: Run) -> Done:
    """Bring the table up to date."""
    digest = inputs_digest(run.space, (), seed=run.seed)
    return Done([write_if_stale(run.space, "probes", digest, lambda: probes(run.seed), run.fresh)])


def _item(item: Mapping[str, Any], question: str) -> Row:
    statement = item["label"]
    asked = question.format(statement=f"I {statement[0].lower()}{statement[1:]}")
    row = _row(f"questionnaire-{item['id']}", "questionnaire", item["dimension"], asked)
    return {**row, "keyed": item["keyed"], "statement": statement}


def _row(name: str, task: str, dimension: str | None, question: str) -> Row:
    return {
        "probe_id": name,
        "task": task,
        "dimension": dimension,
        "keyed": None,
        "statement": None,
        "question": question.strip(),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Write the table; see ``--help``."""
    return StepCommand(
        "probes",
        "Write the questionnaire items, situations and posts that personas are asked about.",
        "python -m builders.probes --benchmark fidelity",
        build,
        asks=False,
    ).main(argv)


if __name__ == "__main__":
    raise SystemExit(main())
