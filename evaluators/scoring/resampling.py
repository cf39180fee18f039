"""Intervals by resampling: which question an interval answers is decided by what is drawn anew.

Whole clusters are drawn (characters, personas, users, scenarios), never single scores, as the scores of one
cluster rise and fall together. Three designs, one set of draws for all figures that share the clusters:

    ClusterDraws     clusters of one kind: "characters like these"
    crossed_means    two kinds that cross, characters and scenarios: "characters and scenarios like these"
    RepeatDraws      repeats within fixed strata: "these characters, asked again"

Bounds are expanded percentiles: with n clusters the plain percentiles of resampled means are too close by
sqrt((n-1)/n) and by the step from Student's t to the normal, so the percentiles are taken further out
(Hesterberg 2015, What Teachers Should Know About the Bootstrap, 3.3). Fewer than two clusters give no interval.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schemas.randomness import rng_for

RESAMPLES = 10_000

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval; ``se`` is the standard deviation over resamples, all None where undefined."""

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    clusters: int


class ClusterDraws:
    """Draws of ``clusters`` clusters with replacement; ``name`` tells one kind of cluster from another."""

    def __init__(self, clusters: int, seed: int, name: str = "clusters", resamples: int = RESAMPLES) -> None:
        self.clusters = clusters
        self.counts = draw_counts([clusters], seed, name, resamples)

    def means(self, sums: Floats, weights: Floats) -> list[Estimate]:
        """One estimate a column: sum of ``sums`` over sum of ``weights``, both of shape (clusters, figures).

        A column counts only the clusters in which it has weight.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            values = sums.sum(axis=0) / weights.sum(axis=0)
            drawn = (self.counts @ sums) / (self.counts @ weights)
        held = (weights > 0).sum(axis=0)
        return [estimate(float(value), drawn[:, column], int(held[column])) for column, value in enumerate(values)]


class RepeatDraws:
    """Draws of repeats within each of several strata; ``strata`` holds the number of repeats of each."""

    def __init__(self, strata: Sequence[int], seed: int, name: str = "repeats", resamples: int = RESAMPLES) -> None:
        self.strata = tuple(strata)
        self.counts = draw_counts(strata, seed, name, resamples)
        self._ends = np.cumsum([0, *strata])

    @property
    def tail(self) -> float | None:
        """The share of resamples beyond each bound of a 95 % interval; None where nothing was repeated.

        As ``tail_share``, with the strata's mean number of repeats and their degrees of freedom together.
        """
        freedom = sum(size - 1 for size in self.strata)
        return tail_share(sum(self.strata) / len(self.strata), freedom) if freedom else None

    def of(self, stratum: int) -> Floats:
        """The counts of one stratum, of shape (resamples, repeats)."""
        return self.counts[:, self._ends[stratum] : self._ends[stratum + 1]]

    def mean_of_means(self, values: Sequence[Floats]) -> Floats:
        """Resampled means over strata of each stratum's mean; NaN values are left out."""
        total, defined = np.zeros(len(self.counts)), np.zeros(len(self.counts))
        for stratum, own in enumerate(values):
            _add_defined(total, defined, _weighted(self.of(stratum), own))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / defined)

    def mean_of_pairs(self, pairs: Sequence[Floats]) -> Floats:
        """Resampled means over strata of the mean over pairs of different repeats.

        ``pairs`` holds a symmetric matrix a stratum, NaN where a pair has no value. A repeat that was drawn twice
        is no pair with itself: it would always agree.
        """
        total, defined = np.zeros(len(self.counts)), np.zeros(len(self.counts))
        for stratum, matrix in enumerate(pairs):
            counts, has = self.of(stratum), ~np.isnan(matrix) & ~np.eye(len(matrix), dtype=bool)
            known = np.where(has, matrix, 0.0)
            with np.errstate(invalid="ignore", divide="ignore"):
                means = ((counts @ known) * counts).sum(axis=1) / ((counts @ has) * counts).sum(axis=1)
            _add_defined(total, defined, means)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / defined)


def crossed_means(sums: Floats, weights: Floats, first: ClusterDraws, second: ClusterDraws) -> Estimate:
    """A mean over cells of two crossed kinds of clusters, both drawn anew; matrices of shape (first, second).

    Raises ValueError where the draws do not fit the cells.
    """
    if sums.shape != (first.clusters, second.clusters):
        raise ValueError(f"cells of shape {sums.shape} for {first.clusters} by {second.clusters} clusters")
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(sums.sum() / weights.sum())
        drawn = ((first.counts @ sums) * second.counts).sum(axis=1) / ((first.counts @ weights) * second.counts).sum(
            axis=1
        )
    return estimate(value, drawn, min(first.clusters, second.clusters))


def draw_counts(strata: Sequence[int], seed: int, name: str, resamples: int = RESAMPLES) -> Floats:
    """How often each member is drawn in each resample, strata side by side, each drawn with replacement in itself."""
    generator = np.random.Generator(np.random.PCG64(rng_for(seed, "evaluators", "bootstrap", name).getrandbits(64)))
    made = np.empty((resamples, sum(strata)), np.float64)
    start = 0
    for size in strata:
        drawn = generator.integers(0, size, (resamples, size)) + np.arange(resamples)[:, None] * size
        made[:, start : start + size] = np.bincount(drawn.ravel(), minlength=resamples * size).reshape(-1, size)
        start += size
    return made


def estimate(value: float, resampled: Floats, clusters: int, tail: float | None = None) -> Estimate:
    """A figure with the expanded percentile interval of its resampled values. Undefined resamples are left out.

    ``tail`` is the share beyond each bound (default: that of so many clusters).
    """
    if math.isnan(value):
        return Estimate(None, None, None, None, clusters)
    defined = resampled[~np.isnan(resampled)]
    if clusters < 2 or not defined.size:
        return Estimate(value, None, None, None, clusters)
    tail = tail_share(clusters, clusters - 1) if tail is None else tail
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Estimate(value, float(low), float(high), float(defined.std()), clusters)


@functools.cache
def tail_share(drawn: float, freedom: int) -> float:
    """The share of resamples beyond each bound of a 95 % interval (below .025): so many drawn, degrees of freedom."""
    from scipy.special import ndtr, stdtrit  # of scipy.stats, which takes a second to import

    return float(ndtr(-math.sqrt(drawn / (drawn - 1)) * stdtrit(freedom, 0.975)))


def load_ahead() -> None:
    """Load what intervals need in a thread, while a command waits for replies: it takes a moment."""
    threading.Thread(target=tail_share, args=(2.0, 1), name="scipy").start()


def sums_of(values: Floats, places: Places, clusters: int) -> tuple[Floats, Floats]:
    """Sum and number of the values of each cluster; ``places`` says which cluster each value belongs to."""
    sums = np.bincount(places, values, clusters).astype(np.float64)
    return sums, np.bincount(places, minlength=clusters).astype(np.float64)


def _weighted(counts: Floats, values: Floats) -> Floats:
    has = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((counts @ np.where(has, values, 0.0)) / (counts @ has))


def _add_defined(total: Floats, defined: Floats, values: Floats) -> None:
    has = ~np.isnan(values)
    total[has] += values[has]
    defined += has
