"""Ordinal calibration: thresholds of each rater, shrunk to those of all raters, fitted on source turns only.

Rank-based calibration gives a judge's scores the spread of the rater's, however little the judge knows; where it
knows little, that spread is guessed. This model asks instead what the rater says of turns with this raw score:

    P(gold <= k | raw score x, rater u) = logistic(threshold_k + deviation_uk - effect_x),   deviation_u ~ N(0, S)

Thresholds and effects are those of all raters; the deviations of a rater (four, one a threshold: leniency and how
the scale is used) are estimated from the rater's own source turns and shrink to zero where those are few. S is
estimated too (empirical Bayes, Fisher scoring, Laplace approximation), with a weak prior for a handful of raters.
The score is the median of the predicted distribution, which has the least expected absolute error.

Everything is estimated from ``SourceTurns``, so no gold of the target task is used, of any rater. Source turns
without a prediction count as a level of their own. Population figures come from at most ``MOST_RATERS`` raters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from schemas.errors import RequestError
from schemas.satisfaction.calibration import Calibrated
from schemas.satisfaction.turns import SCORES, SourceTurns, TargetTurns

Floats = npt.NDArray[np.float64]

MOST_RATERS = 2_000

_CUTS = len(SCORES) - 1
_LEVELS = len(SCORES) + 1  # raw scores, and "no prediction"
_ROUNDS, _STEPS, _LAST_STEPS = 12, 2, 8
_RIDGE = 0.5  # on the effects of raw scores, which are otherwise defined up to a shift
_PRIOR_RATERS = 10.0
_PRIOR = 0.5 * np.ones((_CUTS, _CUTS)) + 0.15 * np.eye(_CUTS)
_LEAST_GAP = 1e-3  # between neighbouring thresholds
_LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class Population:
    """What raters have in common: ``thresholds`` (4), ``effects`` of raw scores and of none (6), ``spread`` (4, 4)."""

    thresholds: Floats
    effects: Floats
    spread: Floats


@dataclass(frozen=True)
class Deviations:
    """Deviations of raters from the population's thresholds, (raters, 4), and their uncertainty, (raters, 4, 4)."""

    values: Floats
    covariance: Floats


def ordinal(source: SourceTurns, target: TargetTurns, population: Population | None = None) -> Calibrated:
    """Calibrated scores of the target turns, with ``probability_1`` to ``probability_5`` and ``expected`` beside them.

    ``population`` comes from other raters' turns (``fit_population``); None: from the source turns themselves. A
    rater without source turns gets the population's distribution. Raises RequestError for other tasks, and for no
    source turns where no population is given.
    """
    if source.task != target.task:
        raise RequestError("turns of another task", "target turns", expected=source.task)
    counts, raters = _counts(source.frame)
    shared = fit_population(source) if population is None else population
    own = rater_deviations(counts, shared, _LAST_STEPS)
    known = dict(zip(raters, range(len(raters)), strict=True))
    places = np.array([known.get(rater, len(raters)) for rater in target.frame["rater"].to_list()], np.int64)
    values = np.vstack([own.values, np.zeros((1, _CUTS))])[places]
    variances = np.vstack(
        [np.diagonal(own.covariance, axis1=1, axis2=2).reshape(-1, _CUTS), np.diagonal(shared.spread)[None]]
    )[places]
    levels = target.frame["prediction"].to_numpy() - SCORES[0]
    shares = _predicted(shared, values, variances, levels)
    return _calibrated(target, shares)


def fit_population(source: SourceTurns) -> Population:
    """Thresholds, effects and spread of the raters of these turns. Raises RequestError for no turns."""
    counts, _ = _counts(source.frame)
    if not len(counts):
        raise RequestError("no source turns", "source turns", expected="at least one rated turn of another task")
    if len(counts) > MOST_RATERS:
        counts = counts[np.linspace(0, len(counts) - 1, MOST_RATERS).astype(np.int64)]
    shared = Population(_start(counts), np.zeros(_LEVELS), _PRIOR)
    values = np.zeros((len(counts), _CUTS))
    for _ in range(_ROUNDS):
        shared = _shared_step(counts, shared, values)
        own = rater_deviations(counts, shared, _STEPS, values)
        values = own.values
        outer = np.einsum("ui,uj->uij", values, values) + own.covariance
        spread = (outer.sum(axis=0) + _PRIOR_RATERS * _PRIOR) / (len(counts) + _PRIOR_RATERS)
        shared = Population(shared.thresholds, shared.effects, spread)
    return shared


def fitted_thresholds(source: SourceTurns, population: Population) -> tuple[list[str], Floats]:
    """The raters of these turns, in order of name, and the four thresholds that the model finds for each."""
    counts, raters = _counts(source.frame)
    return raters, population.thresholds + rater_deviations(counts, population, _LAST_STEPS).values


def rater_deviations(counts: Floats, shared: Population, steps: int, start: Floats | None = None) -> Deviations:
    """Most probable deviations of raters given their counts, of shape (raters, 6 levels, 5 scores)."""
    values = np.zeros((len(counts), _CUTS)) if start is None else start
    precision = np.linalg.inv(shared.spread)
    information = np.broadcast_to(precision, (len(counts), _CUTS, _CUTS))
    for _ in range(steps):
        gradient, fisher = _gradients(counts, shared, values)
        information = fisher.sum(axis=1) + precision
        slope = gradient.sum(axis=1) - values @ precision
        move = np.linalg.solve(information, slope[..., None])[..., 0]
        values = values + _shortened(shared.thresholds + values, move)
    return Deviations(values, np.linalg.inv(information))


def _counts(frame: pl.DataFrame) -> tuple[Floats, list[str]]:
    """Source turns by rater, raw score (last: none) and gold; the raters in order of name."""
    raters = frame["rater"].unique().sort()
    places = frame["rater"].cast(pl.Enum(raters)).to_physical().to_numpy().astype(np.int64)
    levels = (frame["prediction"] - SCORES[0]).fill_null(_LEVELS - 1).to_numpy()
    gold = frame["gold"].to_numpy() - SCORES[0]
    shape = (len(raters), _LEVELS, len(SCORES))
    cells = np.ravel_multi_index((places, levels, gold), shape) if len(raters) else np.zeros(0, np.int64)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape).astype(np.float64), raters.to_list()


def _start(counts: Floats) -> Floats:
    """Thresholds that give the scores of all raters, one pseudo-count a score."""
    totals = counts.sum(axis=(0, 1)) + 1.0
    shares = np.cumsum(totals)[:-1] / totals.sum()
    return np.asarray(np.log(shares / (1 - shares)))


def _shared_step(counts: Floats, shared: Population, values: Floats) -> Population:
    """One step of Fisher scoring for thresholds and effects, the deviations of raters held."""
    gradient, fisher = _gradients(counts, shared, values)
    size = _CUTS + _LEVELS
    slope, information = np.zeros(size), np.zeros((size, size))
    by_level, fisher = gradient.sum(axis=0), fisher.sum(axis=0)
    slope[:_CUTS] = by_level.sum(axis=0)
    slope[_CUTS:] = -by_level.sum(axis=1) - _RIDGE * shared.effects
    information[:_CUTS, :_CUTS] = fisher.sum(axis=0)
    information[:_CUTS, _CUTS:] = -fisher.sum(axis=1).T
    information[_CUTS:, :_CUTS] = information[:_CUTS, _CUTS:].T
    information[_CUTS:, _CUTS:] = np.diag(fisher.sum(axis=(1, 2)) + _RIDGE)
    move = np.linalg.solve(information + 1e-6 * np.eye(size), slope)
    own = shared.thresholds + values
    step = _shortened(own, np.broadcast_to(move[:_CUTS], own.shape))
    share = min(1.0, float(np.min(np.linalg.norm(step, axis=1)) / max(float(np.linalg.norm(move[:_CUTS])), 1e-12)))
    return Population(shared.thresholds + share * move[:_CUTS], shared.effects + share * move[_CUTS:], shared.spread)


def _gradients(counts: Floats, shared: Population, values: Floats) -> tuple[Floats, Floats]:
    """Slope (raters, levels, 4) and expected information (raters, levels, 4, 4) of the log-likelihood in the cuts."""
    below = _logistic((shared.thresholds + values)[:, None, :] - shared.effects[None, :, None])
    density = below * (1 - below)
    edges = np.concatenate([np.zeros((*below.shape[:2], 1)), below, np.ones((*below.shape[:2], 1))], axis=2)
    shares = np.maximum(np.diff(edges, axis=2), _LEAST_SHARE)
    ratio = counts / shares
    gradient = density * (ratio[..., :-1] - ratio[..., 1:])
    totals = counts.sum(axis=2)[..., None]
    inverse = totals / shares
    fisher = np.zeros((*below.shape, _CUTS))
    place = np.arange(_CUTS)
    fisher[..., place, place] = density**2 * (inverse[..., :-1] + inverse[..., 1:])
    across = -density[..., :-1] * density[..., 1:] * inverse[..., 1:-1]
    fisher[..., place[:-1], place[1:]] = across
    fisher[..., place[1:], place[:-1]] = across
    return gradient, fisher


def _shortened(cuts: Floats, move: Floats) -> Floats:
    """Steps, halved for each rater until neighbouring thresholds stay in order."""
    move = np.array(move)
    for _ in range(12):
        crossed = np.diff(cuts + move, axis=1).min(axis=1) < _LEAST_GAP
        if not crossed.any():
            return move
        move[crossed] /= 2
    move[np.diff(cuts + move, axis=1).min(axis=1) < _LEAST_GAP] = 0.0
    return move


def _predicted(shared: Population, values: Floats, variances: Floats, levels: npt.NDArray[np.int64]) -> Floats:
    """Probabilities of the scores, (turns, 5); uncertain thresholds flatten them (MacKay 1992)."""
    margin = shared.thresholds + values - shared.effects[levels][:, None]
    below = _logistic(margin / np.sqrt(1 + math.pi / 8 * variances))
    below = np.maximum.accumulate(below, axis=1)
    edges = np.concatenate([np.zeros((len(below), 1)), below, np.ones((len(below), 1))], axis=1)
    return np.diff(edges, axis=1)


def _calibrated(target: TargetTurns, shares: Floats) -> Calibrated:
    median = SCORES[0] + (np.cumsum(shares, axis=1)[:, :-1] < 0.5).sum(axis=1)
    frame = target.frame.rename({"prediction": "raw"}).with_columns(
        pl.Series("score", median, pl.Int64),
        pl.lit(None, pl.String).alias("fallback"),
        pl.Series("expected", shares @ np.array(SCORES, np.float64)),
        *(pl.Series(f"probability_{score}", shares[:, place]) for place, score in enumerate(SCORES)),
    )
    parameters = {"decision": "median", "history": "source turns", "link": "logit"}
    return Calibrated("ordinal", frame, parameters)


def _logistic(values: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))
