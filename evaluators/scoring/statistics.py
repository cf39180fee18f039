"""How sure a figure is: intervals, paired tests, what could be detected, and how far two runs agree.

Questions that share a scenario stand or fall together, so resampling draws whole scenarios; Wilson's
interval and McNemar's test, which count questions as independent, are the customary companions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schemas.randomness import rng_for

RESAMPLES = 10_000
_Z95 = 1.959963984540054  # two-sided 5 %
_Z80 = 0.8416212335729143  # power 80 %

Answers = Sequence[bool]


@dataclass(frozen=True)
class Share:
    """``hits`` of ``items`` with Wilson's 95 % interval; rate and bounds are None for no items."""

    hits: int
    items: int
    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Paired:
    """Two runs on the same questions; ``difference`` is second minus first.

    ``only_first`` and ``only_second`` are right where the other is wrong; ``p`` is McNemar's exact two-sided
    test; ``low`` and ``high`` the 95 % interval of the difference, scenarios resampled; ``detectable`` the
    smallest difference found with 80 % power at 5 %, given how often these two differ.
    """

    items: int
    rate_first: float
    rate_second: float
    only_first: int
    only_second: int
    difference: float
    low: float
    high: float
    p: float
    detectable: float


def share(hits: int, items: int) -> Share:
    """A rate with Wilson's 95 % interval (Wilson 1927)."""
    if not items:
        return Share(0, 0, None, None, None)
    rate, z2 = hits / items, _Z95**2
    centre = (rate + z2 / (2 * items)) / (1 + z2 / items)
    half = _Z95 * math.sqrt(rate * (1 - rate) / items + z2 / (4 * items**2)) / (1 + z2 / items)
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    return Share(hits, items, rate, low, 1.0 if hits == items else min(1.0, centre + half))


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of McNemar's test: a fair coin for every question on which two runs differ."""
    from scipy.stats import binomtest

    if only_first + only_second == 0:
        return 1.0
    return float(binomtest(only_second, only_first + only_second, 0.5).pvalue)


def paired(first: Answers, second: Answers, groups: Sequence[str], seed: int) -> Paired:
    """Compare two runs question by question; ``groups`` are the scenarios. Raises ValueError for no questions."""
    if not first or not len(first) == len(second) == len(groups):
        raise ValueError("two runs on the same questions, at least one")
    items = len(first)
    a, b = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    only_first, only_second = int(np.sum((a == 1) & (b == 0))), int(np.sum((a == 0) & (b == 1)))
    low, high = interval(b - a, groups, seed)
    return Paired(
        items=items,
        rate_first=float(a.mean()),
        rate_second=float(b.mean()),
        only_first=only_first,
        only_second=only_second,
        difference=float((b - a).mean()),
        low=low,
        high=high,
        p=mcnemar(only_first, only_second),
        detectable=detectable_difference(items, (only_first + only_second) / items),
    )


def interval(values: npt.NDArray[np.float64], groups: Sequence[str], seed: int) -> tuple[float, float]:
    """The 95 % interval of a mean, whole groups resampled."""
    names = sorted(set(groups))
    place = {name: index for index, name in enumerate(names)}
    member = np.array([place[name] for name in groups])
    sums, counts = np.bincount(member, values, len(names)), np.bincount(member, minlength=len(names))
    generator = np.random.Generator(np.random.PCG64(rng_for(seed, "evaluators", "bootstrap", "groups").getrandbits(64)))
    drawn = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    means = (drawn @ sums) / (drawn @ counts)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def detectable_difference(items: int, differing: float) -> float:
    """The smallest paired difference found with 80 % power at 5 % two-sided (Connor 1987).

    ``differing`` is the share of questions on which exactly one of two runs is right. Two runs that never
    differ are treated as differing on one question.
    """
    share_differing = max(differing, 1 / items)
    delta = 0.0
    for _ in range(50):
        spread = max(share_differing - delta**2, 0.0)
        delta = (_Z95 * math.sqrt(share_differing) + _Z80 * math.sqrt(spread)) / math.sqrt(items)
        share_differing = max(share_differing, delta)
    return min(delta, 1.0)


def detectable_above(chance: float, items: int) -> float:
    """The smallest distance above a fixed rate found with 80 % power at 5 % two-sided."""
    return (_Z95 + _Z80) * math.sqrt(chance * (1 - chance) / items)


def agreement(first: Sequence[str | None], second: Sequence[str | None]) -> tuple[float | None, int]:
    """The share of questions answered by both on which both chose the same option, and how many (appendix E)."""
    both = [(one, two) for one, two in zip(first, second, strict=True) if one is not None and two is not None]
    return (sum(one == two for one, two in both) / len(both) if both else None), len(both)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The rank correlation of two series; None for fewer than three values or where one does not vary."""
    from scipy.stats import rankdata

    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def weighted_kappa(first: Sequence[int], second: Sequence[int], most: int) -> float | None:
    """Cohen's kappa with quadratic weights of two ratings from 0 to ``most``; None where it is not defined."""
    size = most + 1
    seen = np.zeros((size, size))
    for one, two in zip(first, second, strict=True):
        seen[one, two] += 1
    expected = np.outer(seen.sum(1), seen.sum(0)) / max(seen.sum(), 1)
    weights = np.subtract.outer(np.arange(size), np.arange(size)) ** 2
    apart = float((weights * expected).sum())
    return None if apart == 0 else 1 - float((weights * seen).sum()) / apart
