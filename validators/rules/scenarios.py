"""Scenarios: age and wording of the range fit the stage, and every assessed dimension has its reference."""

from __future__ import annotations

from typing import Any

import polars as pl

from schemas.records import vocabulary
from validators.frames import Rule

_G_3 = "HEART-BENCH appendix G.3"


def rules() -> tuple[Rule, ...]:
    """The rules of ``scenarios``."""
    since, until = _of_stage("from_age"), _of_stage("to_age")
    conflicts = pl.col("assessed_dimensions").struct.field("value_conflicts")
    opposed = conflicts.list.eval(pl.element().struct.field("value_a") != pl.element().struct.field("value_b"))
    described = pl.struct("assessed_dimensions", "annotation_reference")
    return (
        Rule(
            "table.id_of_stage",
            "id",
            pl.col("id").str.starts_with(pl.format("SCN_{}_", pl.col("stage").str.to_uppercase())),
            pl.col("id"),
            "carries another stage",
            _G_3,
        ),
        Rule(
            "table.age_of_stage",
            "age",
            pl.col("age").is_between(since, until),
            pl.format("{} in {}", "age", "stage"),
            "lies outside the stage's range",
            "HEART-BENCH appendix C.1",
        ),
        Rule(
            "table.range_of_stage",
            "age_range",
            pl.col("age_range") == pl.format("ages {}-{}", since, until),
            pl.col("age_range"),
            "is not the stage's range in words",
            "HEART-BENCH appendix C.1",
        ),
        Rule(
            "table.value_against_itself",
            "assessed_dimensions.value_conflicts",
            opposed.list.all().fill_null(True),
            pl.col("id"),
            "sets a value against itself",
            _G_3,
        ),
        Rule(
            "table.reference",
            "annotation_reference",
            described.map_elements(_referenced, return_dtype=pl.Boolean),
            pl.col("id"),
            "has no reaction of an extreme type for each assessed dimension",
            _G_3,
        ),
    )


def _of_stage(term: str) -> pl.Expr:
    stages = vocabulary("scenario_stages")
    return pl.coalesce([pl.when(pl.col("stage") == stage["id"]).then(pl.lit(stage[term])) for stage in stages])


def _referenced(row: dict[str, Any]) -> bool:
    assessed, reference = row["assessed_dimensions"], row["annotation_reference"]
    if assessed is None or reference is None:
        return assessed is reference
    traits = sorted(pressure["trait"] for pressure in assessed["trait_pressures"])
    types = sorted(archetype["type"].rpartition("_")[2] for archetype in reference["trait_archetypes"])
    conflicts = [{conflict["value_a"], conflict["value_b"]} for conflict in assessed["value_conflicts"]]
    winners = [archetype["dominant"] for archetype in reference["value_archetypes"]]
    return traits == types and len(winners) == len(conflicts) and all(map(_in, winners, conflicts))


def _in(winner: str, conflict: set[str]) -> bool:
    return winner in conflict
