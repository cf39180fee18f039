"""Target personas: each dimension of the Big Five at each of three levels, under six assigning instructions.

"Spotting Out-of-Character Behavior", 4.1 and Table 12, in our own words (``seeds/fidelity/personas.toml``).

    python -m builders.fidelity
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from builders.pipeline.edits import write_ours
from builders.pipeline.provenance import computed
from schemas.tables import Row
from schemas.workspace import Workspace

TABLE = "target_personas"
LEVELS = ("high", "neutral", "low")

_SEEDS = Path(__file__).parents[1] / "seeds" / "fidelity" / "personas.toml"


def target_personas(seed: int) -> list[Row]:
    """All rows, in order of id."""
    text = tomllib.loads(_SEEDS.read_text("utf-8"))
    rows = [
        _row(seed, dimension, about, level, number, instruction)
        for dimension, about in text["dimensions"].items()
        for level in LEVELS
        for number, instruction in enumerate(text["instructions"], 1)
    ]
    return sorted(rows, key=lambda row: str(row["target_id"]))


def write(space: Workspace, seed: int) -> int:
    """Write the table; the workspace must be locked. Returns the number of rows."""
    rows = target_personas(seed)
    write_ours(space, TABLE, rows)
    return len(rows)


def _row(seed: int, dimension: str, about: Row, level: str, number: int, instruction: str) -> Row:
    persona, entity = f"{dimension}-{level}", about["entities"][level]
    return {
        "target_id": f"{persona}-{number}",
        "persona": persona,
        "dimension": dimension,
        "level": level,
        "prompt": number,
        "entity": entity,
        "instruction": instruction.format(persona=entity),
        **{name: about[name] for name in ("trait", "about", "low", "high")},
        "provenance": computed(seed),
    }
