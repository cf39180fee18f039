"""Users: one entry a domain in mask and history, and every preference of the catalogue once.

PersonaLens 2.1. The mask switches domains off for tasks only; preferences are kept in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from schemas.records import term_ids
from validators.frames import ROW, Crossing, Rule
from validators.rules.parts import repeated

_SOURCE = "PersonaLens 2.1"


def rules() -> tuple[Rule, ...]:
    """The rules of ``users``."""
    per_entry = pl.element().struct.field
    name = pl.concat_str([per_entry("domain"), per_entry("preference")], separator="/")
    types = pl.col("affinities").list.eval(name)
    one_value = ~per_entry("multiple") & (per_entry("values").list.len() != 1)
    single = pl.col("affinities").list.eval(name.filter(one_value))
    return (
        _each_domain("interests"),
        _each_domain("interactions"),
        Rule(
            "table.no_active_domain",
            "interests",
            pl.col("interests").list.eval(per_entry("active")).list.any().fill_null(False),
            pl.format("{} domains", pl.col("interests").list.len()),
            "are all off: the user has no task",
            _SOURCE,
        ),
        Rule(
            "table.preference_twice",
            "affinities",
            repeated(types).list.len() == 0,
            repeated(types).list.join(", "),
            "is there twice",
            _SOURCE,
        ),
        Rule(
            "table.single_value",
            "affinities",
            single.list.len() == 0,
            single.list.join(", "),
            "takes one value and has none or several",
            _SOURCE,
        ),
    )


def _each_domain(column: str) -> Rule:
    domains = pl.col(column).list.eval(pl.element().struct.field("domain"))
    all_once = domains.list.sort().list.join("/") == "/".join(sorted(term_ids("personalens_domains")))
    return Rule(
        "table.each_domain",
        column,
        all_once.fill_null(False),
        pl.format("{} entries, {} domains", domains.list.len(), domains.list.n_unique()),
        "do not name each domain once",
        _SOURCE,
    )


def crossings() -> tuple[Crossing, ...]:
    """The crossings of ``users``."""
    return (
        Crossing(
            "table.preferences_of_catalogue",
            "users",
            "affinities",
            {"users": ("user_id", "affinities"), "preferences": ("domain", "preference", "multiple")},
            _other_preferences,
            "differs from the preference types of the catalogue",
            "PersonaLens Tables 8 and 9",
            within={"users": "user_id"},
        ),
    )


def _other_preferences(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    key = ["domain", "preference", "multiple"]
    catalogue = frames["preferences"].select(key)
    own = frames["users"].select(ROW, "affinities").explode("affinities").unnest("affinities").select(ROW, *key)
    needed = frames["users"].select(ROW).join(catalogue, how="cross")
    foreign = own.join(catalogue, on=key, how="anti")
    absent = needed.join(own, on=[ROW, *key], how="anti")
    name = pl.format("{}/{}", pl.col("domain").fill_null("no domain"), pl.col("preference").fill_null("no preference"))
    listed = pl.concat([foreign, absent]).with_columns(name=name)
    shown = pl.format("{} ({} in all)", pl.col("name").min(), pl.len())
    return listed.group_by(ROW, maintain_order=True).agg(shown=shown)
