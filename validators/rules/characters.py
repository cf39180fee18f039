"""Characters: one trait at an extreme or none, and values that agree with their numbers.

HEART-BENCH 3.2, Table 4, appendix G.1. Where the last two disagree Table 4 wins: five shipped values
lie outside 0.30-0.70, which is a warning; a second trait as extreme as the first is an error.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from schemas.records import term_ids
from validators.frames import Crossing, Rule
from validators.rules.separation import crossing as separation_crossing

LOW_END, HIGH_END = 0.10, 0.95  # Table 4: every extreme trait is one of the two
MIDDLE = (0.30, 0.70)  # appendix G.1: where all other traits belong

_TABLE_4, _G_4_3 = "HEART-BENCH Table 4, appendix G.1", "HEART-BENCH appendix G.4.3"


def rules() -> tuple[Rule, ...]:
    """The rules of ``characters``."""
    return (*_identity(), *_traits(), *_values())


def crossings(threshold: float) -> tuple[Crossing, ...]:
    """The crossings of ``characters``; ``threshold`` is the least distance of two."""
    return (separation_crossing(threshold),)


def _identity() -> tuple[Rule, ...]:
    trait, pole, archetype = pl.col("trait"), pl.col("pole"), pl.col("archetype")
    end = pl.when(pole == "high").then(pl.lit("High")).otherwise(pl.lit("Low"))
    expected = pl.when(trait.is_null()).then(pl.lit("Neutral")).otherwise(pl.concat_str([trait, end], separator="-"))
    return (
        Rule(
            "table.trait_and_pole",
            "pole",
            trait.is_null() == pole.is_null(),
            pl.concat_str([trait.fill_null("no trait"), pole.fill_null("no pole")], separator=", "),
            "is neither a trait with its pole nor none of both",
            _TABLE_4,
        ),
        Rule(
            "table.archetype",
            "archetype",
            (archetype == "Custom") | (archetype == expected),
            archetype,
            "does not say what trait and pole say",
            _TABLE_4,
        ),
        Rule(
            "table.duplicate_label",
            "label",
            pl.col("label").is_first_distinct(),
            pl.col("label"),
            "is the label of an earlier character too",
            "HEART-BENCH 3.2, stage 3",
            within=("label",),
        ),
    )


def _traits() -> tuple[Rule, ...]:
    trait, pole = pl.col("trait"), pl.col("pole")
    scores = {name: pl.col("big_five").struct.field(name) for name in term_ids("big_five")}
    own = pl.coalesce([pl.when(trait == name).then(score) for name, score in scores.items()])
    others = [pl.when(trait.is_null() | (trait != name)).then(score) for name, score in scores.items()]
    highest, lowest = pl.max_horizontal(others), pl.min_horizontal(others)
    vector = pl.concat_str([pl.format(name + " {}", score) for name, score in scores.items()], separator=", ")
    at_end = pl.when(pole == "high").then(own >= HIGH_END).otherwise(own <= LOW_END)
    return (
        Rule(
            "table.extreme_missing",
            "big_five",
            trait.is_null() | at_end,
            pl.format("{} {}", trait, own),
            f"is not at its end: {HIGH_END} or more (high), {LOW_END} or less (low)",
            _TABLE_4,
        ),
        Rule(
            "table.second_extreme",
            "big_five",
            (highest < HIGH_END) & (lowest > LOW_END),
            vector,
            f"has another trait at an end: {HIGH_END} or more, {LOW_END} or less",
            _TABLE_4,
        ),
        Rule(
            "table.outside_middle",
            "big_five",
            (highest <= MIDDLE[1]) & (lowest >= MIDDLE[0]),
            vector,
            f"has another trait outside {MIDDLE[0]:.2f}-{MIDDLE[1]:.2f}",
            _TABLE_4,
            "warning",
        ),
    )


def _values() -> tuple[Rule, ...]:
    dominant, suppressed = pl.col("dominant_values"), pl.col("suppressed_values")
    both = dominant.list.set_intersection(suppressed)
    columns = pl.struct("values", "dominant_values", "suppressed_values")
    return (
        Rule(
            "table.values_overlap",
            "suppressed_values",
            both.list.len() == 0,
            both.list.join(", "),
            "is dominant and suppressed at once",
            _G_4_3,
        ),
        Rule(
            "table.dominant_values",
            "dominant_values",
            columns.map_elements(_dominant_lead, return_dtype=pl.Boolean),
            dominant.list.join(", "),
            "are not the most important of the values, strongest first",
            _G_4_3,
        ),
        Rule(
            "table.suppressed_values",
            "suppressed_values",
            columns.map_elements(_suppressed_trail, return_dtype=pl.Boolean),
            suppressed.list.join(", "),
            "are not the least important of the values, weakest first",
            _G_4_3,
        ),
    )


def _dominant_lead(row: dict[str, Any]) -> bool:
    return _leads(row["dominant_values"], {name: -score for name, score in row["values"].items()})


def _suppressed_trail(row: dict[str, Any]) -> bool:
    return _leads(row["suppressed_values"], row["values"])


def _leads(chosen: list[str], scores: dict[str, float]) -> bool:
    """The chosen are the lowest of all, in rising order; ties are free."""
    taken = [scores[name] for name in chosen]
    rest = [score for name, score in scores.items() if name not in chosen]
    return taken == sorted(taken) and max(taken) <= min(rest)
