"""How far two judges, or a judge and an answer key, say the same of the same items.

Agreement on the value counts only items that both scored; whether both found that the metric applies is counted
apart (``not_applicable``), so that a judge cannot look exact by declining. PersTurnBench 5, LikeBench 4.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.scoring.resampling import Floats


@dataclass(frozen=True)
class Agreement:
    """Second against first on the items that both scored; shares from 0 to 1, None where nothing defines them.

    ``bias`` is the mean of second minus first; ``kappa`` has quadratic weights; ``not_applicable`` is the share of
    items, of those that each either scored or called not applicable, on which both chose the same of the two.
    """

    items: int
    exact: float | None
    within_one: float | None
    kappa: float | None
    spearman: float | None
    bias: float | None
    not_applicable: float | None
    judged: int


def agree(first: Floats, second: Floats, applicable: Floats | None = None) -> Agreement:
    """Agreement of two series of ratings; NaN where one has no value.

    ``applicable`` has a row a series: 1 scored, 0 not applicable, NaN neither (unscored, refused, failed). Raises
    ValueError for series of different lengths.
    """
    if len(first) != len(second):
        raise ValueError("two ratings of the same items")
    both = ~np.isnan(first) & ~np.isnan(second)
    one, two = first[both], second[both]
    apart = two - one
    applies = np.zeros(0) if applicable is None else (applicable[0] == applicable[1])[~np.isnan(applicable).any(axis=0)]
    return Agreement(
        items=int(both.sum()),
        exact=_mean(apart == 0),
        within_one=_mean(np.abs(apart) <= 1),
        kappa=quadratic_kappa(one, two),
        spearman=spearman(one.tolist(), two.tolist()),
        bias=_mean(apart),
        not_applicable=_mean(applies),
        judged=len(applies),
    )


def quadratic_kappa(first: Floats, second: Floats) -> float | None:
    """Cohen's kappa with quadratic weights: 1 minus squared distance over its chance value; None for 0/0.

    Computed from moments, so labels need not be listed: the chance value of (a - b)^2 over all pairs is
    var(a) + var(b) + (mean(a) - mean(b))^2.
    """
    if not len(first):
        return None
    chance = float(first.var() + second.var() + (first.mean() - second.mean()) ** 2)
    return None if chance == 0 else 1 - float(((first - second) ** 2).mean()) / chance


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The rank correlation of two series; None for fewer than three values or where one does not vary."""
    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def same_choice(first: Sequence[str | None], second: Sequence[str | None]) -> tuple[float | None, int]:
    """The share of questions answered by both on which both chose the same option, and how many (appendix E)."""
    both = [(one, two) for one, two in zip(first, second, strict=True) if one is not None and two is not None]
    return (sum(one == two for one, two in both) / len(both) if both else None), len(both)


def _ranks(values: Sequence[float]) -> Floats:
    """Ranks from 1, equal values the mean of theirs; scipy.stats has them too, but takes a second to import."""
    _, places, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _mean(values: object) -> float | None:
    numbers = np.asarray(values, np.float64)
    return float(numbers.mean()) if numbers.size else None
