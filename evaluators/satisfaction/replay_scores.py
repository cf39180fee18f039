"""Scores of candidates in replay: aggregates, comparisons of two candidates, and the paper's user bootstrap.

PersTurnBench 5.1 and appendix G. A candidate's calibrated scores are averaged over turns (``micro``) and over groups
first (``rater``, ``task``, ``block``), with the share of satisfied turns. Two candidates are compared turn by turn
and group by group on the turns that both answered, under **one** calibration: the published figure 3 sets reference-CDF
scores of candidates against block-CDF scores of the originals, which are two scales, and ``compare`` refuses that.

``published_interval`` repeats the published bootstrap index by index (``published_bootstrap``). Ours, for every
aggregate, is ``resampling``'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from evaluators.satisfaction.published_bootstrap import DRAWS, published_bounds, published_counts
from evaluators.scoring.resampling import ClusterDraws, Estimate
from schemas.errors import RequestError
from schemas.satisfaction.calibration import Calibrated
from schemas.satisfaction.turns import SATISFIED, SCORES

GROUPS: Mapping[str, tuple[str, ...]] = {"rater": ("rater",), "task": ("task",), "block": ("rater", "task")}


@dataclass(frozen=True)
class CandidateScores:
    """A candidate's scores: columns ``sample_id``, ``rater``, ``task``, ``score``, and the calibration they are under.

    Raises RequestError for a repeated sample id and a score outside 1 to 5.
    """

    candidate: str
    calibration: str
    frame: pl.DataFrame

    def __post_init__(self) -> None:
        for what, rows in (
            ("repeated sample id", self.frame.filter(pl.col("sample_id").is_duplicated())),
            ("score outside 1 to 5", self.frame.filter(~pl.col("score").is_in(SCORES))),
        ):
            if rows.height:
                raise RequestError(what, f"scores of {self.candidate}", row=rows["sample_id"][0], field="score")


def candidate_scores(candidate: str, found: Sequence[tuple[str, Calibrated]]) -> CandidateScores:
    """The scores of a candidate from the calibrated turns of each task. Raises RequestError for two calibrations."""
    names = sorted({calibrated.method for _, calibrated in found})
    if len(names) != 1:
        raise RequestError("two calibrations", f"scores of {candidate}", expected=f"one of {', '.join(names)}")
    parts = [
        calibrated.frame.select("sample_id", "rater", pl.lit(task).alias("task"), "score") for task, calibrated in found
    ]
    return CandidateScores(candidate, names[0], pl.concat(parts))


def aggregates(scores: CandidateScores) -> dict[str, float]:
    """``micro``, ``rater``, ``task`` and ``block`` means, ``sat_rate`` and ``dsat_rate``. Raises for no scores."""
    frame = scores.frame
    if not frame.height:
        raise RequestError("no scores", f"scores of {scores.candidate}", fix="Check for failed replies")
    satisfied = int((frame["score"] >= SATISFIED).sum())
    macro = {name: _mean(_group_means(frame, name)["mean"]) for name in GROUPS}
    micro = int(frame["score"].sum()) / frame.height
    rates = {"sat_rate": satisfied / frame.height, "dsat_rate": (frame.height - satisfied) / frame.height}
    return {"micro": micro, **macro, **rates}


def published_interval(scores: CandidateScores, draws: int = DRAWS) -> tuple[float, float]:
    """The published 95 % interval of the rater macro mean. Raises RequestError for no scores."""
    means = _group_means(scores.frame, "rater")["mean"].to_numpy()
    bounds = published_bounds(published_counts(len(means), draws) @ means / max(len(means), 1))
    if bounds is None:
        raise RequestError("no scores", f"scores of {scores.candidate}", fix="Check for failed replies")
    return bounds


def rater_interval(scores: CandidateScores, seed: int) -> Estimate:
    """The rater macro mean with the interval over raters that other reports of this project use."""
    means = _group_means(scores.frame, "rater")["mean"].to_numpy()
    return ClusterDraws(len(means), seed, "raters").means(means[:, None], np.ones((len(means), 1)))[0]


def compare(one: CandidateScores, other: CandidateScores) -> dict[str, dict[str, float]]:
    """Win, tie and loss rates of ``one`` against ``other`` by turn and by group, with ``won`` (of what is no tie).

    ``won`` is NaN where all are ties. Raises RequestError for two calibrations and for no turn in common.
    """
    if one.calibration != other.calibration:
        raise RequestError(
            "two calibrations", f"{one.candidate} and {other.candidate}",
            expected=f"one, found {one.calibration} and {other.calibration}", fix="Calibrate both the same way",
        )  # fmt: skip
    both = one.frame.join(other.frame.select("sample_id", theirs="score"), on="sample_id")
    if not both.height:
        raise RequestError("no turn in common", f"{one.candidate} and {other.candidate}")
    found = {"turn": _outcomes(both["score"] - both["theirs"])}
    for name, keys in GROUPS.items():
        apart = both.group_by(keys).agg(d=(pl.col("score") - pl.col("theirs")).sum() / pl.len()).sort(keys)
        found[name] = _outcomes(apart["d"])
    return found


def _outcomes(apart: pl.Series) -> dict[str, float]:
    wins, losses, count = int((apart > 0).sum()), int((apart < 0).sum()), len(apart)
    won = wins / (wins + losses) if wins + losses else float("nan")
    return {
        "count": count, "win": wins / count, "tie": (count - wins - losses) / count, "lose": losses / count,
        "won": won, "delta": _mean(apart),
    }  # fmt: skip


def _group_means(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    keys = list(GROUPS[name])
    return frame.group_by(keys).agg(mean=pl.col("score").sum() / pl.len()).sort(keys)


def _mean(values: pl.Series) -> float:
    return float(values.to_numpy().mean())
