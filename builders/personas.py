"""Characters: the eleven archetypes, and those a user adds.

A character is a Big Five vector with one trait at an extreme, an occupation that fits it, and the
rules every memory and decision follows (HEART-BENCH 3.2 stage 1, appendix B.1, G.1, Tables 4, 5).

    python -m builders.personas --benchmark heart
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from schemas.tables import Row, record_schema, term_ids

SEEDS = Path(__file__).parent / "seeds"

# How many values count as dominant, and how many as suppressed, where the seed does not say.
_EXTREME_VALUES = 4


def load_characters() -> list[Row]:
    """The eleven characters of the benchmark, in order of id, as rows of ``characters``."""
    text = tomllib.loads((SEEDS / "characters.toml").read_text("utf-8"))
    return [completed(seed) for seed in text["characters"]]


def completed(seed: dict[str, Any]) -> Row:
    """A seed as a whole row: nulls where a trait is absent, the dominant and suppressed values derived."""
    row: Row = {"trait": None, "pole": None, "provenance": None, **seed}
    values = row.get("values", {})
    order = [name for name in term_ids("schwartz_values") if name in values]
    row.setdefault("dominant_values", sorted(order, key=lambda name: -values[name])[:_EXTREME_VALUES])
    row.setdefault("suppressed_values", sorted(order, key=lambda name: values[name])[:_EXTREME_VALUES])
    fields = record_schema("characters")["properties"]
    return {name: row[name] for name in [*fields, *sorted(row.keys() - fields.keys())] if name in row}
