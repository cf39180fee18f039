"""One calibration of one judge over all task families: source gold and predictions in, calibrated turns out.

Gold of all raters goes in, of which each task's ``SourceTurns`` takes the other tasks; a calibrator sees no more. A
judge that was shown a memory has seen gold of the target task when it judged a source task, so what it said of the
evaluated raters' source turns is left out for the ordinal model, which then needs its predictions of raters that train.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from evaluators.satisfaction.judged_turns import Entry
from schemas.satisfaction import calibration
from schemas.satisfaction.calibration import Calibrated, Ties
from schemas.satisfaction.ordinal import ordinal
from schemas.satisfaction.turns import PREDICTIONS, SourceTurns, TargetTurns

METHODS = (
    "raw", "mean_shift", "block_cdf", "reference_cdf", "reference_mean_shift", "reference_transfer", "ordinal",
)  # fmt: skip
OFFICIAL = "reference_cdf"


@dataclass(frozen=True)
class Raters:
    """Gold of all raters (``turns.GOLD``), and those that are evaluated."""

    gold: pl.DataFrame
    evaluated: frozenset[str]

    @property
    def judged(self) -> pl.DataFrame:
        """Gold of the evaluated raters."""
        return self.gold.filter(pl.col("rater").is_in(sorted(self.evaluated)))


def calibrate(
    method: str, entry: Entry, raters: Raters, target: pl.DataFrame, ties: Ties
) -> list[tuple[str, Calibrated]]:
    """The turns of ``target`` (``sample_id``, ``rater``, ``task``, ``prediction``), task by task, under one method."""
    assert entry.originals is not None
    said = entry.originals.frame
    found = []
    for task in target["task"].unique().sort().to_list():
        source = SourceTurns.of(raters.gold, task, said)
        own = TargetTurns(task, _of_task(target, task))
        reference = TargetTurns(task, _of_task(said, task))
        found.append((task, _calibrated(method, (source, own, reference), entry, raters, ties)))
    return found


def predictions_of(parts: list[tuple[str, Calibrated]]) -> pl.DataFrame:
    """Calibrated turns in the form of ``turns.PREDICTIONS``."""
    frames = [made.frame.select("sample_id", "rater", pl.col("score").alias("prediction")) for _, made in parts]
    return pl.concat(frames) if frames else pl.DataFrame(schema=PREDICTIONS)


def fallbacks(parts: list[tuple[str, Calibrated]]) -> dict[str, int]:
    """Turns that kept their raw score, by reason, over all tasks."""
    counted: dict[str, int] = {}
    for _, made in parts:
        for reason, count in made.fallbacks.items():
            counted[reason] = counted.get(reason, 0) + count
    return dict(sorted(counted.items()))


def parameters(parts: list[tuple[str, Calibrated]]) -> Mapping[str, str]:
    """What was chosen where the paper leaves it open."""
    return parts[0][1].parameters if parts else {}


def _calibrated(
    method: str, turns: tuple[SourceTurns, TargetTurns, TargetTurns], entry: Entry, raters: Raters, ties: Ties
) -> Calibrated:
    source, target, reference = turns
    if method == "raw":
        return calibration.identity(target)
    if method == "mean_shift":
        return calibration.mean_shift(source, target)
    if method == "block_cdf":
        return calibration.block_cdf(source, target, ties)
    if method == "reference_cdf":
        return calibration.reference_cdf(source, target, reference, ties)
    if method == "reference_mean_shift":
        return calibration.reference_mean_shift(source, target, reference)
    if method == "reference_transfer":
        of_reference = calibration.block_cdf(source, reference, ties)
        return calibration.reference_transfer(target, reference, of_reference)
    return _ordinal(source, target, entry, raters)


def _ordinal(source: SourceTurns, target: TargetTurns, entry: Entry, raters: Raters) -> Calibrated:
    if entry.remembers:
        source = source.without_predictions(pl.Series(sorted(raters.evaluated), dtype=pl.String))
    if source.frame["prediction"].null_count() == source.frame.height:
        reason = "no_source_predictions" if source.frame.height else "no_history"
        kept = calibration.identity(target).frame.with_columns(fallback=pl.lit(reason))
        return Calibrated("ordinal", kept)
    return ordinal(source, target)


def _of_task(frame: pl.DataFrame, task: str) -> pl.DataFrame:
    return frame.filter(pl.col("task") == task).select(PREDICTIONS.keys())


def blocks(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The turns of each task family, by name."""
    for task in frame["task"].unique().sort().to_list():
        yield task, frame.filter(pl.col("task") == task)
