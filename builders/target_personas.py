"""Target personas: each dimension of the Big Five at each of three levels, under six assigning instructions.

"Spotting Out-of-Character Behavior", 4.1 and Table 12, in our own words (``seeds/fidelity/personas.toml``).

    python -m builders.target_personas --benchmark fidelity
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from schemas.tables import Row

MAKES = ("target_personas",)
LEVELS = ("high", "neutral", "low")

_SEEDS = Path(__file__).parent / "seeds" / "fidelity" / "personas.toml"


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


def build(run: Run) -> Done:
    """Bring the table up to date."""
    digest = inputs_digest(run.space, (), seed=run.seed)
    return Done([write_if_stale(run.space, "target_personas", digest, lambda: target_personas(run.seed), run.fresh)])


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


def main(argv: Sequence[str] | None = None) -> int:
    """Write the table; see ``--help``."""
    return StepCommand(
        "target_personas",
        "Write the personas that are assigned to a model, under six instructions each.",
        "python -m builders.target_personas --benchmark fidelity",
        build,
        asks=False,
    ).main(argv)


if __name__ == "__main__":
    raise SystemExit(main())
