"""Rates with intervals, for items that come in groups: how often, how sure, and against what chance.

Questions about one scenario share its texts, so they are not independent. The interval is Wilson's
on the effective number of items: their number over the design effect, which is the variance between
group totals over that of a simple sample (Kish), at least 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

_LEVEL = 0.95


@dataclass(frozen=True)
class Rate:
    """``hits`` of ``items`` (a tie may count in part), the 95 % interval, the rate by chance.

    ``above`` is the one-sided p-value: how likely chance alone makes a rate this high.
    """

    hits: float
    items: int
    rate: float
    low: float
    high: float
    chance: float
    above: float


def rate(hits: Sequence[float], chances: Sequence[float], groups: Sequence[str]) -> Rate:
    """The rate of hits (0 to 1 each), given each item's chance of one and its group. Raises ValueError for no items."""
    if not hits:
        raise ValueError("no items to take a rate of")
    items = len(hits)
    mean, chance = math.fsum(hits) / items, math.fsum(chances) / items
    effective = items / _design_effect(hits, groups)
    low, high = _wilson(mean, effective)
    spread = math.fsum(p * (1 - p) for p in chances) / items
    distance = (mean - chance) * math.sqrt(effective)
    above = math.erfc(distance / math.sqrt(2 * spread)) / 2 if spread else float(distance <= 0)
    return Rate(round(math.fsum(hits), 6), items, mean, low, high, chance, above)


def _design_effect(hits: Sequence[float], groups: Sequence[str]) -> float:
    mean = math.fsum(hits) / len(hits)
    simple = len(hits) / max(len(hits) - 1, 1) * math.fsum((hit - mean) ** 2 for hit in hits)
    sums: dict[str, float] = defaultdict(float)
    for hit, group in zip(hits, groups, strict=True):
        sums[group] += hit - mean
    if len(sums) < 2 or not simple:
        return 1.0
    clustered = len(sums) / (len(sums) - 1) * math.fsum(total**2 for total in sums.values())
    return max(1.0, clustered / simple)


def _wilson(mean: float, items: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + _LEVEL) / 2)
    middle = (mean + z * z / (2 * items)) / (1 + z * z / items)
    half = z / (1 + z * z / items) * math.sqrt(mean * (1 - mean) / items + z * z / (4 * items * items))
    return max(0.0, middle - half), min(1.0, middle + half)
