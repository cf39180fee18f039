"""Rated turns as frames: what a calibrator may see, and nothing else.

PersTurnBench 3.1 and 4.1: a turn of a target task is judged with the same rater's scores in *other* tasks, never
with a score of the target task. Two types carry that rule. ``SourceTurns`` holds gold and refuses a turn of the
target task; ``TargetTurns`` holds predictions and has no column for gold. A calibrator takes these two, so it
cannot use target gold however it is written.

    gold = gold_turns(ratings)                                   # every rated turn of every task
    source, target = SourceTurns.of(gold, "travel"), TargetTurns("travel", predictions)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.errors import RequestError

SCORES = (1, 2, 3, 4, 5)
SATISFIED = 4
"""The lowest score that counts as satisfied (equation 1)."""

GOLD = {"sample_id": pl.String, "rater": pl.String, "task": pl.String, "gold": pl.Int64}
PREDICTIONS = {"sample_id": pl.String, "rater": pl.String, "prediction": pl.Int64}


@dataclass(frozen=True)
class SourceTurns:
    """Gold of all tasks but one: columns ``sample_id``, ``rater``, ``task``, ``gold``, ``prediction``.

    ``prediction`` is what the judge said of the source turn, null where it was not asked or must not be used: a
    judge that saw a memory of the target task has seen target gold, so its source predictions are left out
    (``without_predictions``). Raises RequestError for a turn of the target task, a score outside 1 to 5 and a
    repeated sample id.
    """

    task: str
    frame: pl.DataFrame

    def __post_init__(self) -> None:
        frame = _typed(self.frame, {**GOLD, "prediction": pl.Int64}, "source turns")
        own = frame.filter(pl.col("task") == self.task)
        if own.height:
            raise RequestError(
                "gold of the target task", "source turns", row=own["sample_id"][0], field="task",
                expected=f"any task but {self.task}", fix="Leave out the turns of the target task",
            )  # fmt: skip
        _check(frame, "source turns", ("gold", "prediction"))
        object.__setattr__(self, "frame", frame)

    @classmethod
    def of(cls, gold: pl.DataFrame, task: str, predictions: pl.DataFrame | None = None) -> SourceTurns:
        """The source turns of a target task out of all rated turns; ``predictions`` are joined by sample id."""
        frame = gold.filter(pl.col("task") != task)
        if predictions is None:
            return cls(task, frame.with_columns(prediction=pl.lit(None, pl.Int64)))
        return cls(task, frame.join(predictions.select("sample_id", "prediction"), on="sample_id", how="left"))

    def without_predictions(self, raters: pl.Series) -> SourceTurns:
        """The same turns with the predictions of some raters left out."""
        hidden = pl.when(pl.col("rater").is_in(raters.implode())).then(None).otherwise(pl.col("prediction"))
        return SourceTurns(self.task, self.frame.with_columns(prediction=hidden))

    def history(self) -> pl.DataFrame:
        """Score counts of each rater: ``rater``, ``turns``, ``total`` (the sum of scores), ``upto_1`` to ``upto_5``."""
        cumulative = [(pl.col("gold") <= score).sum().cast(pl.Int64).alias(f"upto_{score}") for score in SCORES]
        return self.frame.group_by("rater").agg(
            pl.len().cast(pl.Int64).alias("turns"), pl.col("gold").sum().alias("total"), *cumulative
        )


@dataclass(frozen=True)
class TargetTurns:
    """Predictions for the turns of one task: columns ``sample_id``, ``rater``, ``prediction``, and no other.

    Raises RequestError for another column, a score outside 1 to 5 and a repeated sample id.
    """

    task: str
    frame: pl.DataFrame

    def __post_init__(self) -> None:
        extra = sorted(set(self.frame.columns) - PREDICTIONS.keys())
        if extra:
            raise RequestError(
                "unknown column", "target turns", field=extra[0], expected=f"only {', '.join(PREDICTIONS)}",
                fix="Leave it out: a calibrator sees predictions and no gold",
            )  # fmt: skip
        frame = _typed(self.frame, PREDICTIONS, "target turns")
        _check(frame, "target turns", ("prediction",))
        if frame["prediction"].null_count():
            missing = frame.filter(pl.col("prediction").is_null())["sample_id"][0]
            raise RequestError(
                "missing value", "target turns", row=missing, field="prediction", expected="a score from 1 to 5",
                fix="Leave the turn out: a judge that gave no score has nothing to calibrate",
            )  # fmt: skip
        object.__setattr__(self, "frame", frame)


def gold_turns(rows: list[dict[str, Any]] | pl.DataFrame) -> pl.DataFrame:
    """Rated turns as a frame of ``GOLD``, from rows of ``ratings`` or a frame that has those columns.

    Raises RequestError for a score outside 1 to 5 and a repeated sample id.
    """
    if isinstance(rows, pl.DataFrame):
        frame = _typed(rows, GOLD, "ratings")
    else:
        columns = {"sample_id": "sample_id", "rater": "rater_id", "task": "task", "gold": "score"}
        frame = pl.DataFrame({ours: [row[theirs] for row in rows] for ours, theirs in columns.items()}, schema=GOLD)
    _check(frame, "ratings", ("gold",))
    return frame


def prediction_turns(frame: pl.DataFrame) -> pl.DataFrame:
    """Predictions as a frame of ``PREDICTIONS``; raises as ``TargetTurns`` does."""
    return TargetTurns("any", frame.select(PREDICTIONS.keys())).frame


def _typed(frame: pl.DataFrame, columns: dict[str, Any], where: str) -> pl.DataFrame:
    for name in columns:
        if name not in frame.columns:
            raise RequestError("missing column", where, field=name, expected=f"columns {', '.join(columns)}")
    scores = [name for name, kind in columns.items() if kind == pl.Int64]
    for name in scores:
        kind = frame[name].dtype
        if not (kind.is_numeric() or kind == pl.Null):
            raise RequestError("not a number", where, field=name, expected="whole numbers from 1 to 5")
        broken = frame.filter(pl.col(name) != pl.col(name).round()) if kind.is_float() else frame.clear()
        if broken.height:
            raise _outside(where, broken, name)
    return frame.select(pl.col(name).cast(kind) for name, kind in columns.items())


def _check(frame: pl.DataFrame, where: str, scores: tuple[str, ...]) -> None:
    for name in scores:
        outside = frame.filter(~pl.col(name).is_between(SCORES[0], SCORES[-1]))
        if outside.height:
            raise _outside(where, outside, name)
    repeated = frame.filter(pl.col("sample_id").is_duplicated())
    if repeated.height:
        raise RequestError(
            "repeated sample id", where, row=repeated["sample_id"][0], field="sample_id",
            expected="each turn once", fix="Leave out one of the two",
        )  # fmt: skip


def _outside(where: str, rows: pl.DataFrame, name: str) -> RequestError:
    return RequestError(
        f"score {rows[name][0]:g}", where, row=rows["sample_id"][0], field=name,
        expected="a whole number from 1 to 5", fix="Correct or leave out that turn",
    )  # fmt: skip
