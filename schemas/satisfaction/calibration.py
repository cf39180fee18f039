"""Calibration: from a judge's raw scores to the scale of the rater it judges for.

PersTurnBench 3.4, 5.1 and D.1. Whatever the method, gold comes from ``SourceTurns`` (other tasks than the one
judged) and ``TargetTurns`` has none, so no method can use target gold. All arithmetic is in whole numbers: two
machines agree on every score, halves included.

    mean_shift            eq. (7): the block's mean becomes the rater's historical mean
    block_cdf             eq. (8): rank in the block -> the same quantile of the rater's historical scores
    reference_cdf         the official benchmark score: as block_cdf, ranked among the judge's scores of the
                          original replies of the block; candidates of a block are ranked together
    reference_mean_shift  as mean_shift, the shift measured on the original replies
    reference_transfer    what the calibrated original replies with the same raw score came to on average

What the paper leaves open is fixed, and recorded in ``parameters``: halves round up; equal raw scores are ranked by
sample id as text (``ties="id"``, compatible with the published code) or share their average rank (``"average"``);
the quantile of q is the smallest score whose share of scores at or below it reaches q; the score distribution is
the rater's *source* history (the wording of D.1, "of that block", would be target gold). A block without reference,
without history, or with fewer than ``MIN_HISTORY`` source turns keeps its raw scores, counted by reason.

    python -m evaluators.satisfaction.curves persturn@1.0.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from schemas.errors import RequestError
from schemas.satisfaction.turns import SCORES, SourceTurns, TargetTurns

MIN_HISTORY = 5
"""Source turns below which a rater's distribution is not used (the published default)."""

Ties = Literal["id", "average"]

_ROUNDED = {"rounding": "half up", "history": "source turns", "min_history": str(MIN_HISTORY)}


@dataclass(frozen=True)
class Calibrated:
    """Calibrated scores in the order of the target turns: ``sample_id``, ``rater``, ``raw``, ``score``, ``fallback``.

    ``fallback`` says why a turn kept its raw score: ``no_reference``, ``no_history`` (no source turns, so no memory
    either), ``short_history``; null where it was calibrated. ``parameters`` are the choices the paper leaves open.
    """

    method: str
    frame: pl.DataFrame
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def fallbacks(self) -> dict[str, int]:
        """Turns that kept their raw score, by reason."""
        counted = self.frame.drop_nulls("fallback").group_by("fallback").len().sort("fallback")
        return dict(counted.iter_rows())


def identity(target: TargetTurns) -> Calibrated:
    """The raw scores, for comparison with calibrated ones under one form."""
    frame = target.frame.rename({"prediction": "raw"}).with_columns(
        score=pl.col("raw"), fallback=pl.lit(None, pl.String)
    )
    return Calibrated("raw", frame)


def mean_shift(source: SourceTurns, target: TargetTurns) -> Calibrated:
    """Equation (7): raw + historical mean - mean of the block's raw scores, rounded and clipped to 1 to 5."""
    _same_task(source, target.task)
    means = _block_sums(target.frame)
    joined = _with_history(source, target.frame).join(means, on="rater", how="left", maintain_order="left")
    return _calibrated("mean_shift", joined, _shifted(), _ROUNDED)


def reference_mean_shift(source: SourceTurns, target: TargetTurns, reference: TargetTurns) -> Calibrated:
    """Mean shift with the mean of the judge's scores of the original replies in place of the block's own."""
    _same_task(source, target.task, reference.task)
    means = _block_sums(reference.frame)
    joined = _with_history(source, target.frame).join(means, on="rater", how="left", maintain_order="left")
    return _calibrated("reference_mean_shift", _without_reference(joined, "block_turns"), _shifted(), _ROUNDED)


def block_cdf(source: SourceTurns, target: TargetTurns, ties: Ties = "id") -> Calibrated:
    """Equation (8): the quantile of the rank in the block, taken from the rater's historical scores."""
    _same_task(source, target.task)
    placed = _placed(target.frame.with_columns(candidate=pl.lit(1)), ties)
    history, places = _with_history(source, target.frame), _target_places(placed)
    joined = history.join(places, on="sample_id", how="left", maintain_order="left")
    return _calibrated("block_cdf", joined, _quantile(), {**_ROUNDED, "ties": ties})


def reference_cdf(source: SourceTurns, target: TargetTurns, reference: TargetTurns, ties: Ties = "id") -> Calibrated:
    """The official score: rank among original replies and candidates of the block together.

    A candidate and the original of the same turn share their sample id; on a tie the original comes first.
    """
    _same_task(source, target.task, reference.task)
    combined = pl.concat(
        [reference.frame.with_columns(candidate=pl.lit(0)), target.frame.with_columns(candidate=pl.lit(1))]
    )
    placed = _target_places(_placed(combined, ties))
    sizes = reference.frame.group_by("rater").agg(pl.len().cast(pl.Int64).alias("reference_turns"))
    joined = _with_history(source, target.frame).join(placed, on="sample_id", how="left", maintain_order="left")
    joined = joined.join(sizes, on="rater", how="left", maintain_order="left")
    known = _without_reference(joined, "reference_turns")
    return _calibrated("reference_cdf", known, _quantile(), {**_ROUNDED, "ties": ties})


def reference_transfer(target: TargetTurns, reference: TargetTurns, calibrated: Calibrated) -> Calibrated:
    """The mean calibrated score of the block's original replies with the same raw score, rounded.

    The nearest raw score that the originals have stands in for one they lack, the lower of two equally near.
    """
    levels = (
        reference.frame.join(calibrated.frame.select("sample_id", "score"), on="sample_id", how="inner")
        .group_by("rater", "prediction")
        .agg(pl.col("score").sum().alias("level_total"), pl.len().cast(pl.Int64).alias("level_turns"))
        .rename({"prediction": "level"})
    )
    wanted = target.frame.select("rater", "prediction").unique().join(levels, on="rater", how="inner")
    nearest = (
        wanted.with_columns(apart=(pl.col("level") - pl.col("prediction")).abs())
        .sort("rater", "prediction", "apart", "level")
        .unique(["rater", "prediction"], keep="first", maintain_order=True)
    )
    joined = target.frame.join(nearest, on=["rater", "prediction"], how="left", maintain_order="left")
    known = _without_reference(joined.with_columns(fallback=pl.lit(None, pl.String)), "level_turns")
    total, turns = pl.col("level_total"), pl.col("level_turns")
    return _calibrated("reference_transfer", known, (2 * total + turns).floordiv(2 * turns), {"rounding": "half up"})


def _with_history(source: SourceTurns, target: pl.DataFrame) -> pl.DataFrame:
    """Target turns, in their order, with their rater's history and why it cannot be used, where it cannot."""
    joined = target.join(source.history(), on="rater", how="left", maintain_order="left")
    short = pl.when(pl.col("turns") < MIN_HISTORY).then(pl.lit("short_history"))
    return joined.with_columns(fallback=pl.when(pl.col("turns").is_null()).then(pl.lit("no_history")).otherwise(short))


def _without_reference(joined: pl.DataFrame, column: str) -> pl.DataFrame:
    missing = pl.when(pl.col(column).is_null()).then(pl.lit("no_reference"))
    return joined.with_columns(fallback=missing.otherwise(pl.col("fallback")))


def _block_sums(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.group_by("rater").agg(
        pl.col("prediction").sum().alias("block_total"), pl.len().cast(pl.Int64).alias("block_turns")
    )


def _shifted() -> pl.Expr:
    """floor(raw + total/turns - block_total/block_turns + 1/2) over the common denominator."""
    turns, block = pl.col("turns"), pl.col("block_turns")
    above = 2 * (pl.col("prediction") * turns * block + pl.col("total") * block - pl.col("block_total") * turns)
    return (above + turns * block).floordiv(2 * turns * block)


def _placed(frame: pl.DataFrame, ties: Ties) -> pl.DataFrame:
    """Twice the zero-based rank within the rater's block (so that average ranks stay whole), and the block's size."""
    size = pl.len().over("rater").cast(pl.Int64).alias("ranked_turns")
    if ties == "average":
        rank = (2 * pl.col("prediction").rank("average").over("rater") - 2).cast(pl.Int64)
        return frame.with_columns(rank.alias("twice_rank"), size)
    ordered = frame.sort("rater", "prediction", "sample_id", "candidate")
    return ordered.with_columns((2 * (pl.int_range(pl.len()).over("rater"))).cast(pl.Int64).alias("twice_rank"), size)


def _target_places(placed: pl.DataFrame) -> pl.DataFrame:
    return placed.filter(pl.col("candidate") == 1).select("sample_id", "twice_rank", "ranked_turns")


def _quantile() -> pl.Expr:
    """The smallest score with upto/turns >= (rank + 1/2)/n, that is upto * 2n >= (2 rank + 1) * turns."""
    needed = (pl.col("twice_rank") + 1) * pl.col("turns")
    below = [(pl.col(f"upto_{score}") * 2 * pl.col("ranked_turns") < needed).cast(pl.Int64) for score in SCORES[:-1]]
    return SCORES[0] + pl.sum_horizontal(below)


def _calibrated(method: str, joined: pl.DataFrame, score: pl.Expr, parameters: Mapping[str, str]) -> Calibrated:
    kept = pl.when(pl.col("fallback").is_null()).then(score.clip(SCORES[0], SCORES[-1]))
    frame = joined.select(
        "sample_id",
        "rater",
        pl.col("prediction").alias("raw"),
        kept.otherwise(pl.col("prediction")).cast(pl.Int64).alias("score"),
        "fallback",
    )
    return Calibrated(method, frame, parameters)


def _same_task(source: SourceTurns, *tasks: str) -> None:
    for task in tasks:
        if task != source.task:
            raise RequestError(
                "turns of another task",
                "target turns",
                expected=source.task,
                fix="Calibrate one target task at a time",
            )
