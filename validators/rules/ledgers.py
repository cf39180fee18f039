"""Life ledgers: facts have an interval, and belong to facts of the same life that hold at some time together."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from validators.frames import ROW, Crossing, Rule
from validators.rules.parts import all_of_character, id_of_character

LAST_AGE = 50  # a fact that goes on holds to here; record schema of ledgers


def rules() -> tuple[Rule, ...]:
    """The rules of ``ledgers``."""
    since, until = pl.col("from_age"), pl.col("to_age")
    itself = pl.col("linked_to").list.contains(pl.col("fact_id"))
    return (
        id_of_character("fact_id", "ledgers"),
        all_of_character("linked_to", pl.col("linked_to"), "ledgers"),
        Rule(
            "table.interval",
            "to_age",
            since <= until,
            pl.format("{}-{}", since, until),
            "ends before it begins",
            "Anamnesis",
        ),
        Rule(
            "table.end_unexplained",
            "ends_by",
            (until == LAST_AGE) | pl.col("ends_by").is_not_null(),
            until,
            f"is before {LAST_AGE}, and ends_by does not say why",
            "Anamnesis",
        ),
        Rule("table.linked_to_itself", "linked_to", ~itself, pl.col("fact_id"), "is linked to itself", "Anamnesis"),
    )


def crossings() -> tuple[Crossing, ...]:
    """The crossings of ``ledgers``."""
    return (
        Crossing(
            "table.links_apart",
            "ledgers",
            "linked_to",
            {"ledgers": ("fact_id", "linked_to", "from_age", "to_age")},
            _links_apart,
            "never holds at the same age as the fact it belongs to",
            "Anamnesis",
        ),
    )


def _links_apart(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    facts = frames["ledgers"]
    linked = facts.explode("linked_to").join(facts, left_on="linked_to", right_on="fact_id", suffix="_linked")
    apart = (pl.col("from_age") > pl.col("to_age_linked")) | (pl.col("to_age") < pl.col("from_age_linked"))
    return linked.filter(apart).select(
        ROW, shown=pl.format("{}-{}, {} {}-{}", "from_age", "to_age", "linked_to", "from_age_linked", "to_age_linked")
    )
