"""Exclusions: the fact that excludes a pair is one of the character's own."""

from __future__ import annotations

import polars as pl

from validators.frames import Rule
from validators.rules.parts import derived


def rules() -> tuple[Rule, ...]:
    """The rules of ``exclusions``."""
    own = derived("ledgers", "character_id", pl.col("fact_id")) == pl.col("character_id")
    return (
        Rule(
            "table.of_another_character",
            "fact_id",
            own | pl.col("fact_id").is_null(),
            pl.col("fact_id"),
            "is a fact of another character",
            "HEART-BENCH 3.3",
        ),
    )
