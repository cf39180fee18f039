"""Is one run better than another on real-valued scores: difference, interval, test, what could be detected.

Scores are paired by item. A cluster's items move together, so the test turns the sign of whole clusters and
the interval draws whole clusters (``resampling``). With at most 14 clusters all sign patterns are tried, so that
the p-value is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.scoring.resampling import RESAMPLES, ClusterDraws, Floats, sums_of
from schemas.randomness import rng_for

_EXACT = 14  # clusters up to which all sign patterns are tried
_NEARLY = 1e-9  # statistics that differ by rounding are equal


@dataclass(frozen=True)
class Difference:
    """Two runs on the same items; ``difference`` is the mean of second minus first.

    ``low`` and ``high`` bound it at 95 %, clusters drawn anew; ``p`` is the two-sided sign-flip test over clusters;
    ``detectable`` the smallest true difference that would be found with 80 % power at 5 %. All four are None
    for fewer than two clusters.
    """

    items: int
    clusters: int
    mean_first: float
    mean_second: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    detectable: float | None


def compare_scores(first: Floats, second: Floats, clusters: Sequence[str], seed: int) -> Difference:
    """Compare two runs item by item. Raises ValueError for no items or series of different lengths."""
    if not len(first) or not len(first) == len(second) == len(clusters):
        raise ValueError("two runs on the same items, at least one")
    names, places = np.unique(np.asarray(clusters), return_inverse=True)
    sums, counts = sums_of(second - first, places, len(names))
    (found,) = ClusterDraws(len(names), seed).means(sums[:, None], counts[:, None])
    enough = len(names) > 1
    return Difference(
        items=len(first),
        clusters=len(names),
        mean_first=float(first.mean()),
        mean_second=float(second.mean()),
        difference=float((second - first).mean()),
        low=found.low,
        high=found.high,
        p=sign_flip(sums, seed) if enough else None,
        detectable=detectable(found.se, len(names)) if enough and found.se is not None else None,
    )


def sign_flip(sums: Floats, seed: int, resamples: int = RESAMPLES) -> float:
    """Two-sided p-value: how often clusters with signs turned at random sum up to as much as they do.

    ``sums`` are the clusters' sums of differences. Exact up to 14 clusters; beyond, at random, with the
    observed pattern counted (Phipson and Smyth 2010), so it is never 0.
    """
    observed = abs(float(sums.sum())) - _NEARLY * max(1.0, float(np.abs(sums).sum()))
    if len(sums) <= _EXACT:
        patterns = np.array(np.meshgrid(*[[-1.0, 1.0]] * len(sums))).reshape(len(sums), -1).T
        return float((np.abs(patterns @ sums) >= observed).mean())
    generator = np.random.Generator(np.random.PCG64(rng_for(seed, "evaluators", "signs", "flip").getrandbits(64)))
    signs = generator.integers(0, 2, (resamples, len(sums))) * 2.0 - 1
    return float((1 + (np.abs(signs @ sums) >= observed).sum()) / (1 + resamples))


def detectable(se: float, clusters: int) -> float:
    """The smallest difference found with 80 % power at 5 % two-sided, from a bootstrap's standard error."""
    from scipy.special import stdtrit  # of scipy.stats, which takes a second to import

    corrected = se * math.sqrt(clusters / (clusters - 1))
    return float((stdtrit(clusters - 1, 0.975) + stdtrit(clusters - 1, 0.8)) * corrected)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjusted p-values of a family of tests, by name (Holm 1979)."""
    adjusted, highest = {}, 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}
