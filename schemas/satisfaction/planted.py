"""The answer key of planted raters: the best score a judge could give, oracle calibration, and offline judges.

In rows of ``raters`` and ``ratings`` that were built (not imported) everything that made a score is known: worth =
weights . levels / 3 + leniency + noise, and the score counts the thresholds below it. From this follow

    best_scores      the median of the true distribution of each turn: no judge has a smaller expected error
    oracle_scores    calibration that knows each rater's scale, but of a turn only the judge's raw score
    judge_scores     an offline judge whose bias, slope and noise are planted; it sees quality, not the rater

so that calibrators are examined before anybody pays a model (PersTurnBench 3.4, 4.3).

    python -m evaluators.satisfaction.curves persturn@1.0.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.satisfaction.turns import SCORES
from schemas.tables import term_ids

REASONS = tuple(term for term in term_ids("dissatisfaction_reasons") if term not in ("other", "satisfied"))
_TOP_LEVEL = 3

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PlantedTurns:
    """Turns with known truth. ``rater`` numbers the raters, whose scales are (raters, ...); ``levels`` (turns, 4)."""

    sample_id: tuple[str, ...]
    rater: Ints
    task: tuple[str, ...]
    gold: Ints
    levels: Floats
    raters: tuple[str, ...]
    leniency: Floats
    weights: Floats
    thresholds: Floats
    noise: Floats

    def gold_frame(self) -> pl.DataFrame:
        """The scores in the form of ``turns.GOLD``."""
        names = np.array(self.raters)[self.rater]
        return pl.DataFrame({"sample_id": self.sample_id, "rater": names, "task": self.task, "gold": self.gold})

    def prediction_frame(self, scores: Ints) -> pl.DataFrame:
        """Scores of a judge in the form of ``turns.PREDICTIONS``."""
        names = np.array(self.raters)[self.rater]
        return pl.DataFrame({"sample_id": self.sample_id, "rater": names, "prediction": scores})


@dataclass(frozen=True)
class PlantedJudge:
    """An offline judge: perceived = middle + slope * (quality - middle) + bias + noise * e, cut at ``cuts``.

    Quality is the mean level over the reasons in shares of full quality: what a judge can see that knows nothing of
    the rater. ``bias`` below zero is a harsh judge. Where it is shown a memory, the judge leans towards the rater:
    each point that the memory's mean score lies above 4 adds ``trust`` to what it perceives.
    """

    name: str
    bias: float
    noise: float
    slope: float = 1.0
    cuts: tuple[float, ...] = (0.22, 0.36, 0.50, 0.72)
    middle: float = 0.745
    trust: float = 0.15

    def perceived(self, quality: Floats, chance: Floats) -> Floats:
        """What it sees of turns of this quality; ``chance`` are draws of N(0, 1)."""
        return self.middle + self.slope * (quality - self.middle) + self.bias + self.noise * chance

    def scores(self, perceived: Floats) -> Ints:
        """The scores that it gives for what it sees."""
        return np.asarray(SCORES[0] + np.searchsorted(np.array(self.cuts), perceived, side="left"), np.int64)


JUDGES = (
    PlantedJudge("harsh", bias=-0.25, noise=0.12),
    PlantedJudge("lenient", bias=0.20, noise=0.12),
    PlantedJudge("flat", bias=0.10, noise=0.05, slope=0.4),
    PlantedJudge("fair", bias=0.0, noise=0.10),
)
"""The offline judges of the release's figures, and of ``evaluators judge --judge offline:NAME``."""


def planted_turns(raters: Sequence[Mapping[str, Any]], ratings: Sequence[Mapping[str, Any]]) -> PlantedTurns:
    """The turns of rows of ``raters`` and ``ratings``. Raises RequestError for a row without planted truth."""
    scales = {row["rater_id"]: row["planted"] for row in raters}
    names = tuple(sorted(scales))
    for table, rows, key in (("raters", raters, "rater_id"), ("ratings", ratings, "sample_id")):
        bare = next((row[key] for row in rows if row["planted"] is None), None)
        if bare is not None:
            raise RequestError(
                "no planted truth", table, row=bare, field="planted", expected="rows of the builder",
                fix="Imported ratings have no known truth: use the built benchmark",
            )  # fmt: skip
    place = {name: number for number, name in enumerate(names)}
    return PlantedTurns(
        sample_id=tuple(row["sample_id"] for row in ratings),
        rater=np.array([place[row["rater_id"]] for row in ratings], np.int64),
        task=tuple(row["task"] for row in ratings),
        gold=np.array([row["score"] for row in ratings], np.int64),
        levels=np.array([[row["planted"]["levels"][reason] for reason in REASONS] for row in ratings], np.float64),
        raters=names,
        leniency=np.array([scales[name]["leniency"] for name in names]),
        weights=np.array([[scales[name]["weights"][reason] for reason in REASONS] for name in names]),
        thresholds=np.array([scales[name]["thresholds"] for name in names]),
        noise=np.array([scales[name]["noise"] for name in names]),
    )


def judge_scores(turns: PlantedTurns, judge: PlantedJudge, seed: int) -> Ints:
    """The raw scores of an offline judge."""
    generator = np.random.Generator(np.random.PCG64(rng_for(seed, "evaluators", "judge", judge.name).getrandbits(64)))
    quality = quality_of(turns.levels)
    return judge.scores(judge.perceived(quality, generator.standard_normal(len(quality))))


def quality_of(levels: Floats) -> Floats:
    """Mean level over the reasons, in shares of full quality; ``levels`` is (turns, 4)."""
    return np.asarray(levels.mean(axis=1) / _TOP_LEVEL)


def score_shares(turns: PlantedTurns, rater: Ints, levels: Floats) -> Floats:
    """The true distribution of the score that rater ``rater[i]`` gives to a turn with ``levels[i]``: (turns, 5)."""
    from scipy.special import ndtr

    worth = turns.leniency[rater] + (turns.weights[rater] * levels).sum(axis=1) / _TOP_LEVEL
    below = ndtr((turns.thresholds[rater] - worth[:, None]) / turns.noise[rater][:, None])
    edges = np.concatenate([np.zeros((len(below), 1)), below, np.ones((len(below), 1))], axis=1)
    return np.asarray(np.diff(edges, axis=1))


def best_scores(turns: PlantedTurns) -> Ints:
    """The median of each turn's true distribution: what a judge says that knows rater and turn, but not the noise."""
    return _medians(score_shares(turns, turns.rater, turns.levels))


def oracle_scores(turns: PlantedTurns, raw: Ints) -> Ints:
    """Oracle calibration: the median of the scores each rater would give to all turns with the same raw score.

    It knows every rater's scale exactly and uses no gold; a calibrator that learns scales from history can only come
    close to it.
    """
    levels, kind = np.unique(turns.levels, axis=0, return_inverse=True)
    medians = np.zeros((len(turns.raters), len(SCORES)), np.int64)
    kinds_of_raw = np.zeros((len(SCORES), len(levels)))
    np.add.at(kinds_of_raw, (raw - SCORES[0], kind.ravel()), 1.0)
    for number in range(len(turns.raters)):
        shares = score_shares(turns, np.full(len(levels), number, np.int64), levels)
        medians[number] = _medians(kinds_of_raw @ shares)
    return np.asarray(medians[turns.rater, raw - SCORES[0]])


def _medians(weights: Floats) -> Ints:
    totals = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(SCORES[0] + (np.cumsum(weights, axis=1)[:, :-1] / totals < 0.5).sum(axis=1), np.int64)
