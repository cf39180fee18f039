"""Reviews: who judged in which role, and that every gold decision traces back to judgements (HEART-BENCH D.2)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from validators.frames import ROW, Crossing, Rule
from validators.review.items import TRACE

_D_2 = "HEART-BENCH appendix D.2"
_TRACES = ("thoughts", "trace_edit")
_PAIR = ("character_id", "scenario_id")


def rules() -> tuple[Rule, ...]:
    """The rules of ``reviews``."""
    kind, role, ruling = pl.col("kind"), pl.col("role"), pl.col("ruling")
    suitable, verdict = pl.col("suitable"), pl.col("verdict")
    ours = pl.col("character_id").is_not_null() & pl.col("scenario_id").is_not_null()
    trace = pl.col("trace_verdict")
    both, neither = verdict.is_not_null() & trace.is_not_null(), verdict.is_null() & trace.is_null()
    judged = (suitable & both) | (~suitable & neither & pl.col("reason").is_not_null())
    fits = (
        pl.when(kind == "pairs")
        .then(pl.col("preference").is_not_null())
        .when(kind == "ratings")
        .then(pl.col("rating").is_not_null())
        .when(role == "arbitrator")
        .then(ours & ruling.is_not_null() & suitable.is_null() & verdict.is_null())
        .otherwise(ours & ruling.is_null() & judged)
    )
    worded = verdict.eq_missing("with_modifications") | (ruling.eq_missing("edit") | ruling.eq_missing("rewrite"))
    return (
        Rule(
            "table.judgement",
            "role",
            fits.fill_null(False),
            pl.format("{} of {}", role, kind),
            "has not answered what this role is asked about this kind",
            _D_2,
        ),
        Rule(
            "table.judgement_text",
            "edit",
            ~worded | (pl.col("edit").is_not_null() & pl.col("edit").ne_missing(pl.col("text"))),
            pl.coalesce(ruling, verdict, pl.lit("nothing")),
            "changes the text and gives no other text",
            _D_2,
        ),
        Rule(
            "table.judgement_text",
            "trace_edit",
            ~trace.eq_missing("with_modifications")
            | (pl.col("trace_edit").is_not_null() & pl.col("trace_edit").ne_missing(pl.col("thoughts"))),
            trace.fill_null("nothing"),
            "changes the inner trace and gives no other one",
            _D_2,
        ),
    )


def decision_crossing() -> Crossing:
    """Every reviewed decision is one that people judged, and reads as they settled it."""
    return Crossing(
        "table.review_untraced",
        "decisions",
        "review",
        {
            "decisions": (*_PAIR, "review", "final_decision", "inner_consciousness"),
            "reviews": (*_PAIR, "digest", "text", "edit", "thoughts", "trace_edit"),
        },
        _untraced,
        "is marked as reviewed, but reviews has no judgement of this text",
        _D_2,
    )


def _untraced(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    decided = frames["decisions"].with_columns(
        digest=pl.col("review").struct.field("digest"), status=pl.col("review").struct.field("status")
    )
    claimed = decided.filter(pl.col("status").is_in(["unanimous", "arbitrated"]))
    concluded = pl.concat(
        [frames["reviews"].select(*_PAIR, "digest", final_decision=column).drop_nulls() for column in ("text", "edit")]
    ).unique()
    untraced = claimed.join(concluded, on=[*_PAIR, "digest", "final_decision"], how="anti")
    parts = [pl.col("inner_consciousness").struct.field(part) for part in TRACE]
    thinking = claimed.with_columns(trace=pl.concat_str(_lines(pl.concat_str(parts, separator="\n"))))
    thoughts = pl.concat(
        [frames["reviews"].select(*_PAIR, "digest", trace=_lines(pl.col(column))).drop_nulls() for column in _TRACES]
    ).unique()
    other = thinking.join(thoughts, on=[*_PAIR, "digest", "trace"], how="anti").drop("trace")
    untraced = pl.concat([untraced, other]).unique(maintain_order=True)
    return untraced.select(ROW, shown=pl.col("status"))


def _lines(text: pl.Expr) -> pl.Expr:
    """A trace without spaces around its lines and without empty ones."""
    return text.str.strip_chars().str.replace_all(r"\s*\n\s*", "\n")
