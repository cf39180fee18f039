"""Probes: the 50 questionnaire items with their keying, five situations to write about, and a post.

"Spotting Out-of-Character Behavior", 4.2 and Tables 9 to 11; items of the International Personality Item Pool, which is
in the public domain, the rest in our own words (``seeds/fidelity/probes.toml``).

    python -m builders.fidelity
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from builders.pipeline.edits import write_ours
from builders.pipeline.provenance import computed
from schemas.tables import Row
from schemas.workspace import Workspace

TABLE = "probes"

_SEEDS = Path(__file__).parents[1] / "seeds" / "fidelity" / "probes.toml"


def probes(seed: int) -> list[Row]:
    """All rows, in order of id."""
    text = tomllib.loads(_SEEDS.read_text("utf-8"))
    rows = [_item(item, text["questionnaire"]["question"]) for item in text["item"]]
    for dimension, situation in text["essay"]["situations"].items():
        asked = text["essay"]["question"].format(situation=situation)
        rows.append(_row(f"essay-{dimension}", "essay", dimension, asked))
    rows.append(_row("social_media-1", "social_media", None, text["social_media"]["question"]))
    return [{**row, "provenance": computed(seed)} for row in sorted(rows, key=lambda row: str(row["probe_id"]))]


def write(space: Workspace, seed: int) -> int:
    """Write the table; the workspace must be locked. Returns the number of rows."""
    rows = probes(seed)
    write_ours(space, TABLE, rows)
    return len(rows)


def _item(item: dict[str, Any], question: str) -> Row:
    statement = item["statement"]
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
