"""Memories: stage, timeline and id follow from the age and the character."""

from __future__ import annotations

import polars as pl

from schemas.records import vocabulary
from validators.frames import Rule
from validators.rules.parts import all_of_character, derived, id_of_character


def rules() -> tuple[Rule, ...]:
    """The rules of ``memories``."""
    age = pl.col("age")
    number = pl.col("id").str.extract(r"_(\d+)$").cast(pl.Int64)
    before = age.shift(1).over("character_id", order_by=[number, pl.col("id")])
    return (
        id_of_character("id", "memories"),
        Rule(
            "table.stage_of_age",
            "stage",
            pl.col("stage") == derived("memories", "stage", age),
            pl.format("{} at {}", "stage", age),
            "is not the life stage of that age",
            "HEART-BENCH Table 8",
        ),
        Rule(
            "table.timeline",
            "timeline",
            pl.col("timeline") == pl.format("{} ({})", _label_of_stage(), age),
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
            within=("character_id",),
        ),
        all_of_character("ledger_refs", pl.col("ledger_refs"), "ledgers"),
    )


def _label_of_stage() -> pl.Expr:
    """The label of the stage of a row's age; the bounds of Table 8 are disjoint."""
    labels = {term["id"]: term["label"] for term in vocabulary("memory_stages")}
    return derived("memories", "stage", pl.col("age")).replace(labels)
