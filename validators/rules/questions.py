"""Decisions, questions and keys: who decided, what is asked, and whose each option is.

HEART-BENCH 3.4 and appendix D. Questions and keys are two tables, so that no prompt can carry an
answer by accident; the rules here hold them together.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from validators.frames import ROW, Crossing, Rule
from validators.rules.parts import derived, labels_in_order
from validators.rules.reviews import decision_crossing

_D_2, _D_3, _DATA = "HEART-BENCH appendix D.2", "HEART-BENCH appendix D.3", "HEART-BENCH released data"

_PAIR = ("character_id", "scenario_id")


def decision_rules() -> tuple[Rule, ...]:
    """The rules of ``decisions``."""
    review = pl.col("review").struct
    status, annotators, digest = (review.field(name) for name in ("status", "annotators", "digest"))
    nobody, judged = (annotators == 0) & digest.is_null(), (annotators > 0) & digest.is_not_null()
    fits = pl.when(status == "unreviewed").then(nobody).when(status == "published").then(True).otherwise(judged)
    return (
        Rule(
            "table.review",
            "review",
            fits,
            pl.format("{} by {}", status, annotators),
            "does not fit: reviewed rows have annotators and the digest of what they saw, unreviewed rows neither",
            _D_2,
        ),
    )


def mcq_rules() -> tuple[Rule, ...]:
    """The rules of ``mcqs``."""
    texts = pl.col("options").list.eval(pl.element().struct.field("content"))
    return (
        labels_in_order("options"),
        Rule(
            "table.options_alike",
            "options",
            texts.list.n_unique() == texts.list.len(),
            texts.list.n_unique(),
            "different texts, expected 4",
            _D_3,
        ),
        Rule(
            "table.question_id",
            "question_id",
            pl.col("question_id") == pl.format("Q_{}_{}", *_PAIR),
            pl.col("question_id"),
            "is not Q, the character, the scenario",
            _DATA,
        ),
    )


def key_rules() -> tuple[Rule, ...]:
    """The rules of ``mcq_keys``."""
    sources = pl.col("sources").list.eval(pl.element().struct.field("character_id"))
    place = pl.col("answer").replace_strict({letter: i for i, letter in enumerate("ABCD")}, return_dtype=pl.Int64)
    asked = derived("mcqs", "character_id", pl.col("question_id"))
    return (
        labels_in_order("sources"),
        Rule(
            "table.sources_alike",
            "sources",
            sources.list.n_unique() == sources.list.len(),
            sources.list.join(", "),
            "are not four different characters",
            _D_3,
        ),
        Rule(
            "table.answer_source",
            "answer",
            sources.list.get(place, null_on_oob=True) == asked,
            pl.format("{} is {}", "answer", sources.list.get(place, null_on_oob=True).fill_null("nobody")),
            "is not the option of the character who is asked for",
            _D_3,
        ),
    )


def decision_crossings() -> tuple[Crossing, ...]:
    """The crossings of ``decisions``."""
    return (
        _stage_of_scenario("decisions", _PAIR),
        Crossing(
            "table.excluded_pair",
            "decisions",
            "scenario_id",
            {"decisions": _PAIR, "exclusions": (*_PAIR, "reason")},
            _excluded,
            "is excluded for the character",
            "HEART-BENCH 3.3",
        ),
        decision_crossing(),
    )


def mcq_crossings() -> tuple[Crossing, ...]:
    """The crossings of ``mcqs``."""
    return (
        _stage_of_scenario("mcqs", ("question_id", "scenario_id")),
        Crossing(
            "table.option_text",
            "mcqs",
            "options",
            {
                "mcqs": ("question_id", "scenario_id", "options"),
                "mcq_keys": ("question_id", "sources"),
                "decisions": (*_PAIR, "final_decision"),
            },
            _foreign_text,
            "is not the decision of the character the option is said to be of",
            _D_3,
        ),
    )


def _stage_of_scenario(table: str, columns: tuple[str, ...]) -> Crossing:
    def differing(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        scenarios = frames["scenarios"].select("id", of_scenario="stage")
        both = frames[table].join(scenarios, left_on="scenario_id", right_on="id")
        return both.filter(pl.col("stage") != pl.col("of_scenario")).select(
            ROW, shown=pl.format("{} where the scenario has {}", "stage", "of_scenario")
        )

    return Crossing(
        "table.scenario_stage",
        table,
        "stage",
        {table: (*columns, "stage"), "scenarios": ("id", "stage")},
        differing,
        "is not the stage of the scenario",
        _DATA,
    )


def _excluded(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    reasons = frames["exclusions"].select(*_PAIR, "reason")
    both = frames["decisions"].join(reasons, on=list(_PAIR))
    return both.select(ROW, shown=pl.format("{} ({})", "scenario_id", "reason"))


def _foreign_text(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    options = (
        frames["mcqs"]
        .explode("options")
        .unnest("options")
        .select(ROW, "question_id", "scenario_id", "label", "content")
    )
    sources = frames["mcq_keys"].explode("sources").select("question_id", pl.col("sources").struct.unnest())
    decided = frames["decisions"].select("character_id", "scenario_id", "final_decision")
    whole = options.join(sources, on=["question_id", "label"]).join(decided, on=list(_PAIR), how="left")
    foreign = whole.filter(pl.col("final_decision").ne_missing(pl.col("content")))
    labels = pl.col("label").sort().str.join(", ")
    return foreign.group_by(ROW, maintain_order=True).agg(shown=labels)
