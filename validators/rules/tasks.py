"""Preference types, tasks and situations: what a task involves, and which users face it.

PersonaLens 2.2: a user has a task when all its domains are on, and never otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from validators.frames import ROW, Crossing, Rule

_TASKS, _TYPES = "PersonaLens 2.2", "PersonaLens Tables 8 and 9"


def preference_rules() -> tuple[Rule, ...]:
    """The rules of ``preferences``."""
    values = pl.col("possible_values").list
    return (
        Rule(
            "table.possible_values",
            "possible_values",
            (~pl.col("categorical") | (values.len() > 0)) & (values.n_unique() == values.len()),
            pl.format("{} values, {} different", values.len(), values.n_unique()),
            "has a value twice, or is categorical and has none",
            _TYPES,
        ),
    )


def task_rules() -> tuple[Rule, ...]:
    """The rules of ``tasks``."""
    domains = pl.col("domains").list
    single = pl.col("kind") == "single"
    prefix = pl.when(single).then(pl.format("SD-{}", domains.first())).otherwise(pl.lit("MD"))
    listed = pl.col("preferences").list.eval(pl.element().struct.field("resolved").list.explode(keep_nulls=False))
    foreign = listed.list.eval(pl.element().struct.field("domain")).list.set_difference("domains")
    return (
        Rule(
            "table.domains_of_kind",
            "domains",
            single == (domains.len() == 1),
            pl.format("{} in {} domains", "kind", domains.len()),
            "is single and has several domains, or multi and has one",
            _TASKS,
        ),
        Rule(
            "table.task_id",
            "task_id",
            pl.col("task_id") == pl.format("{}-task-{}", prefix, "number"),
            pl.col("task_id"),
            "is not the kind, the domain and the number",
            "PersonaLens released data",
        ),
        Rule(
            "table.preference_outside",
            "preferences",
            foreign.list.len() == 0,
            foreign.list.join(", "),
            "draws on a domain the task does not involve",
            _TASKS,
        ),
    )


def task_crossings() -> tuple[Crossing, ...]:
    """The crossings of ``tasks``."""
    return (
        Crossing(
            "table.preference_unknown",
            "tasks",
            "preferences",
            {"tasks": ("task_id", "preferences"), "preferences": ("domain", "preference")},
            _unknown_preferences,
            "draws on a preference type that its domain does not have",
            _TYPES,
        ),
    )


def situation_crossings() -> tuple[Crossing, ...]:
    """The crossings of ``situations``."""
    reads = {
        "situations": ("user_id", "task_id"),
        "tasks": ("task_id", "domains"),
        "users": ("user_id", "interests"),
    }
    within = {"situations": "user_id", "users": "user_id"}
    return (
        Crossing(
            "table.domain_off",
            "situations",
            "task_id",
            reads,
            _domain_off,
            "involves a domain that is off for the user",
            _TASKS,
            within=within,
        ),
        Crossing(
            "table.task_not_faced",
            "users",
            "interests",
            reads,
            _not_faced,
            "has all domains of a task on and no situation for it",
            _TASKS,
            within=within,
        ),
    )


def _unknown_preferences(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    named = frames["tasks"].select(ROW, pl.col("preferences")).explode("preferences").unnest("preferences")
    meant = named.explode("resolved").drop_nulls("resolved").select(ROW, pl.col("resolved").struct.unnest())
    unknown = meant.join(frames["preferences"], on=["domain", "preference"], how="anti")
    return unknown.select(ROW, shown=pl.format("{}/{}", "domain", "preference"))


def _faced(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """All pairs of a user and a task whose domains are all on for the user."""
    on = frames["users"].select("user_id", "interests").explode("interests").unnest("interests").filter("active")
    tasks = frames["tasks"].select("task_id", "domains", count=pl.col("domains").list.len())
    pairs = tasks.explode("domains").join(on, left_on="domains", right_on="domain")
    met = pairs.group_by("user_id", "task_id", "count").len()
    return met.filter(pl.col("len") == pl.col("count")).select("user_id", "task_id")


def _domain_off(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    known = frames["situations"].join(frames["users"].select("user_id"), on="user_id", how="semi")
    known = known.join(frames["tasks"].select("task_id"), on="task_id", how="semi")
    return known.join(_faced(frames), on=["user_id", "task_id"], how="anti").select(ROW, shown="task_id")


def _not_faced(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    absent = _faced(frames).join(frames["situations"], on=["user_id", "task_id"], how="anti")
    shown = pl.format("{} ({} in all)", pl.col("task_id").min(), pl.len())
    grouped = absent.group_by("user_id").agg(shown=shown)
    return grouped.join(frames["users"].select("user_id", ROW), on="user_id").select(ROW, "shown")
