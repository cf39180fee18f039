"""Score files of judges as predictions: of recorded replies (the reference), and of candidates in replay.

A judge under one rubric is one entry; its scores of ``offline:original`` and of every candidate are brought together
by judge and metric. Scores that are not there (unscored, refused, failed) are counted and stand for no number. Of
rubrics with two labels the upper is a score of 4, the lower of 3, as the published evaluation has it for SPUR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from evaluators.scoring.metrics import STATES, Metric
from evaluators.scoring.score_rows import Scores
from schemas.errors import RequestError
from schemas.satisfaction.turns import SATISFIED, SCORES

ORIGINAL = "offline:original"
MEMORY = "memory_"
"""How the fields begin that hold a memory of the rater."""

_PROTOCOL = "replay"


@dataclass(frozen=True)
class Predictions:
    """Scores of one judge: ``frame`` has ``sample_id``, ``rater``, ``task``, ``prediction``, ``planted`` (null where
    nothing was planted); ``states`` counts all items, those without a score too."""

    frame: pl.DataFrame
    states: Mapping[str, int]

    @property
    def missing(self) -> int:
        """Items without a score."""
        return sum(count for state, count in self.states.items() if state != "scored")


@dataclass
class Entry:
    """A judge under one rubric. ``remembers``: it is shown a memory of the rater."""

    judge: str
    metric: str
    remembers: bool
    originals: Predictions | None = None
    candidates: dict[tuple[str, str], Predictions] = field(default_factory=dict)
    """By selection and candidate."""

    @property
    def name(self) -> str:
        """Judge and rubric."""
        return f"{self.judge}, {self.metric}"


def entries(scores: Sequence[Scores]) -> list[Entry]:
    """The entries of score files, by name. Raises RequestError for scores of no replay, of one thing twice, and for
    candidates whose judge has not scored the recorded replies."""
    found: dict[tuple[str, str], Entry] = {}
    for one in scores:
        run = one.header["run"]
        if run.get("protocol") != _PROTOCOL:
            raise RequestError(
                "scores of no replay", one.path, field="protocol", expected=_PROTOCOL,
                fix="Judge what `run` wrote of a release of rated turns",
            )  # fmt: skip
        for judge, metric, predictions in _predictions(one):
            entry = found.setdefault((judge, metric.name), Entry(judge, metric.name, _remembers(run, metric.name)))
            _add(entry, one, predictions)
    for entry in found.values():
        if entry.originals is None:
            raise RequestError(
                f"{entry.name} has not scored the recorded replies", expected=f"scores of {ORIGINAL}",
                fix=f"Judge what `run --model {ORIGINAL}` wrote, and name that result too",
            )  # fmt: skip
    return [found[key] for key in sorted(found)]


def candidate_name(run: Mapping[str, Any]) -> str:
    """A candidate for people: the model, and how it was asked."""
    return f"{run['model']}, {run['mode']}" if run.get("mode") else str(run["model"])


def _add(entry: Entry, scores: Scores, predictions: Predictions) -> None:
    run = scores.header["run"]
    if run["model"] == ORIGINAL:
        if entry.originals is not None:
            raise RequestError(f"two results of {entry.name} on {ORIGINAL}", scores.path, fix="Leave one out")
        if not predictions.frame.height:
            counts = ", ".join(f"{state} {count:,}" for state, count in predictions.states.items() if count)
            raise RequestError(
                f"no score of {entry.name}", scores.path, expected=f"some scored item, found {counts or 'no item'}",
                fix="Judge the recorded replies again, or leave the file out",
            )  # fmt: skip
        entry.originals = predictions
        return
    key = str(run["selection"]), candidate_name(run)
    if key in entry.candidates:
        raise RequestError(f"two results of {entry.name} on {key[1]}", scores.path, fix="Leave one out")
    entry.candidates[key] = predictions


def _predictions(scores: Scores) -> Iterator[tuple[str, Metric, Predictions]]:
    for metric in scores.metrics:
        value = _score(metric, scores)
        own = scores.frame.filter(pl.col("metric") == metric.name)
        planted = pl.col("planted") if metric.scale.values == SCORES else pl.lit(None, pl.Float64).alias("planted")
        for judge in own["judge"].unique().sort().to_list():
            rows = own.filter(pl.col("judge") == judge)
            counted = dict(rows["state"].value_counts().rows())
            frame = rows.drop_nulls("value").select(
                pl.col("item").alias("sample_id"), "rater", "task", value.alias("prediction"), planted
            )
            yield judge, metric, Predictions(frame.sort("sample_id"), {name: counted.get(name, 0) for name in STATES})


def _score(metric: Metric, scores: Scores) -> pl.Expr:
    values = metric.scale.values
    if values == SCORES:
        return pl.col("value").cast(pl.Int64)
    if len(values) == 2:
        return (pl.col("value") == values[1]).cast(pl.Int64) + (SATISFIED - 1)
    raise RequestError(
        f"scale of {metric.name}", scores.path, field="metrics", expected="1 to 5, or two labels, the worse first",
        fix="Judge with a rubric of that scale",
    )  # fmt: skip


def _remembers(run: Mapping[str, Any], metric: str) -> bool:
    return any(name.startswith(MEMORY) for name in run.get("shown", {}).get(metric, ()))
