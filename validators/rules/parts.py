"""Expressions that rules of several tables share: ids belong to the row's character, lists keep an order."""

from __future__ import annotations

import polars as pl

from schemas.derived import derivations
from validators.frames import Rule

LETTERS = ["A", "B", "C", "D"]


def derived(record: str, column: str, source: pl.Expr) -> pl.Expr:
    """What the record schema says that a text column is, where the column it follows from is ``source``."""
    rule = derivations(record)[column]
    if rule.pattern is None:
        least, most = rule.between
        terms = [pl.when(source.is_between(term[least], term[most])).then(pl.lit(term["id"])) for term in rule.terms]
        return pl.coalesce(terms)
    return pl.format(rule.template.replace("{1}", "{}"), source.str.extract(rule.pattern, 1))


def id_of_character(column: str, record: str) -> Rule:
    """The row's id is one of its character."""
    return Rule(
        "table.id_of_character",
        column,
        derived(record, "character_id", pl.col(column)) == pl.col("character_id"),
        pl.format("{} of {}", column, "character_id"),
        "carries the number of another character",
        "HEART-BENCH Table 6",
    )


def all_of_character(column: str, ids: pl.Expr, record: str) -> Rule:
    """Every id of a list, ids of ``record``, is one of the row's character."""
    whose = ids.list.eval(derived(record, "character_id", pl.element())).list.unique()
    foreign = whose.list.set_difference(pl.concat_list("character_id"))
    return Rule(
        "table.of_another_character",
        column,
        foreign.list.len() == 0,
        foreign.list.join(", "),
        "is another character",
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
