"""Memories: stage, timeline and id follow from the age and the character."""

from __future__ import annotations

import polars as pl

from schemas.records import vocabulary
from validators.frames import Rule
from validators.rules.parts import all_of_character, id_of_character


def rules() -> tuple[Rule, ...]:
    """The rules of ``memories``."""
    age = pl.col("age")
    number = pl.col("id").str.extract(r"_(\d+)$").cast(pl.Int64)
    before = age.shift(1).over("character_id", order_by=[number, pl.col("id")])
    return (
        id_of_character("id", "MEM"),
        Rule(
            "table.stage_of_age",
            "stage",
            pl.col("stage") == _of_stage("id"),
            pl.format("{} at {}", "stage", age),
            "is not the life stage of that age",
            "HEART-BENCH Table 8",
        ),
        Rule(
            "table.timeline",
            "timeline",
            pl.col("timeline") == pl.format("{} ({})", _of_stage("label"), age),
            pl.col("timeline"),
            "is not the label of the stage and the age",
            "HEART-BENCH Table 6",
        ),
        Rule(
            "table.id_order",
            "id",
            (before <= age).fill_null(True),
            pl.format("{} after {}", age, before),
            "is younger than the memory before it; ids run in order of age",
            "HEART-BENCH Table 6",
        ),
        all_of_character("ledger_refs", pl.col("ledger_refs"), "LED"),
    )


def _of_stage(term: str) -> pl.Expr:
    """What the stage of a row's age says; the bounds of Table 8 are disjoint."""
    age = pl.col("age")
    return pl.coalesce(
        [
            pl.when(age.is_between(stage["from_age"], stage["to_age"])).then(pl.lit(stage[term]))
            for stage in vocabulary("memory_stages")
        ]
    )
