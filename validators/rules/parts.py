"""Expressions that rules of several tables share: ids belong to the row's character, lists keep an order."""

from __future__ import annotations

import polars as pl

from validators.frames import Rule

LETTERS = ["A", "B", "C", "D"]


def character_number() -> pl.Expr:
    """``CHAR_04`` -> ``04``."""
    return pl.col("character_id").str.strip_prefix("CHAR_")


def id_of_character(column: str, prefix: str) -> Rule:
    """The row's id carries the number of its character."""
    return Rule(
        "table.id_of_character",
        column,
        pl.col(column).str.starts_with(pl.format(prefix + "_{}_", character_number())),
        pl.format("{} of {}", column, "character_id"),
        "carries the number of another character",
        "HEART-BENCH Table 6",
    )


def all_of_character(column: str, ids: pl.Expr, prefix: str) -> Rule:
    """Every id of a list carries the number of the row's character."""
    numbers = ids.list.eval(pl.element().str.extract(rf"^{prefix}_(\d+)_", 1)).list.unique()
    foreign = numbers.list.set_difference(pl.concat_list(character_number()))
    return Rule(
        "table.of_another_character",
        column,
        foreign.list.len() == 0,
        foreign.list.join(", "),
        "is the number of another character",
        "HEART-BENCH 3.2",
    )


def repeated(items: pl.Expr) -> pl.Expr:
    """The items of each list that are there more than once, each once."""
    return items.list.eval(pl.element().filter(pl.element().is_duplicated()).unique(maintain_order=True))


def labels_in_order(column: str) -> Rule:
    """The items of a list are labelled A, B, C, D."""
    labels = pl.col(column).list.eval(pl.element().struct.field("label")).list.join("")
    return Rule(
        "table.labels",
        column,
        labels == "".join(LETTERS),
        labels,
        "is not A to D in order",
        "HEART-BENCH appendix D.3",
    )
