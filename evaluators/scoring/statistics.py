"""How sure a share of right answers is: intervals, paired tests, what could be detected.

Two kinds of questions are asked of the same answers. Wilson's interval and McNemar's test count questions as
independent: they speak of these very characters and scenarios, and of nothing but the chance of single answers.
What a reader wants to know is mostly whether a difference would hold for other scenarios, for characters like
these, or for both: then whole scenarios, whole characters, or both are drawn anew (``resampling``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.scoring.resampling import ClusterDraws, Estimate, Floats, Places, crossed_means, sums_of
from evaluators.scoring.significance import sign_flip

_Z95 = 1.959963984540054  # two-sided 5 %
_Z80 = 0.8416212335729143  # power 80 %

Answers = Sequence[float]

ASKED = {
    "scenarios": "these characters, scenarios like these",
    "characters": "characters like these, these scenarios",
    "both": "characters and scenarios like these",
}
"""What is drawn anew -> whom the interval then speaks of."""


@dataclass(frozen=True)
class Share:
    """``hits`` of ``items`` with Wilson's 95 % interval; rate and bounds are None for no items."""

    hits: float
    items: float
    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Spread:
    """A 95 % interval, and whom it speaks of; bounds are None where fewer than two clusters were there."""

    over: str
    answers: str
    clusters: int
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Paired:
    """Two runs on the same questions; ``difference`` is second minus first.

    Answers are shares of orders that were right, 0 or 1 with one order. ``only_first`` and ``only_second`` count where
    one is right and the other wrong (or right in fewer orders); ``p`` is McNemar's exact two-sided test, which counts
    questions as independent; ``p_characters`` turns the signs of whole characters and is the one to go by for
    characters like these. ``low`` and ``high`` are the 95 % interval with scenarios drawn anew, ``intervals`` has the
    others too. ``detectable`` is the smallest difference found with 80 % power at 5 %, given how often these two
    differ, questions counted as independent.
    """

    items: int
    rate_first: float
    rate_second: float
    only_first: int
    only_second: int
    difference: float
    low: float | None
    high: float | None
    p: float
    p_characters: float | None
    intervals: tuple[Spread, ...]
    detectable: float


def share(hits: float, items: float) -> Share:
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
    tosses = only_first + only_second
    tail = sum(math.comb(tosses, heads) for heads in range(min(only_first, only_second) + 1))
    return min(1.0, float(2 * tail / 2**tosses))


def paired(first: Answers, second: Answers, scenarios: Sequence[str], characters: Sequence[str], seed: int) -> Paired:
    """Compare two runs question by question. Raises ValueError for no questions or series of different lengths."""
    if not first or not len(first) == len(second) == len(scenarios) == len(characters):
        raise ValueError("two runs on the same questions, at least one")
    items = len(first)
    a, b = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    only_first, only_second = int(np.sum(a > b)), int(np.sum(b > a))
    spreads = intervals(b - a, scenarios, characters, seed)
    names, places = _places(characters)
    return Paired(
        items=items,
        rate_first=float(a.mean()),
        rate_second=float(b.mean()),
        only_first=only_first,
        only_second=only_second,
        difference=float((b - a).mean()),
        low=spreads[0].low,
        high=spreads[0].high,
        p=mcnemar(only_first, only_second),
        p_characters=sign_flip(sums_of(b - a, places, len(names))[0], seed) if len(names) > 1 else None,
        intervals=spreads,
        detectable=detectable_difference(items, (only_first + only_second) / items),
    )


def intervals(values: Floats, scenarios: Sequence[str], characters: Sequence[str], seed: int) -> tuple[Spread, ...]:
    """The 95 % intervals of a mean over questions: scenarios, characters, and both drawn anew."""
    situations, by_scenario = _places(scenarios)
    people, by_character = _places(characters)
    shape = (len(people), len(situations))
    cells = by_character * len(situations) + by_scenario
    sums, counts = (part.reshape(shape) for part in sums_of(values, cells, shape[0] * shape[1]))
    over_people = ClusterDraws(len(people), seed, "characters")
    over_situations = ClusterDraws(len(situations), seed, "scenarios")
    (by_scenarios,) = over_situations.means(sums.sum(0)[:, None], counts.sum(0)[:, None])
    (by_characters,) = over_people.means(sums.sum(1)[:, None], counts.sum(1)[:, None])
    by_both = crossed_means(sums, counts, over_people, over_situations)
    return tuple(
        _spread(over, found)
        for over, found in (("scenarios", by_scenarios), ("characters", by_characters), ("both", by_both))
    )


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


def _spread(over: str, found: Estimate) -> Spread:
    return Spread(over, ASKED[over], found.clusters, found.low, found.high)


def _places(names: Sequence[str]) -> tuple[Sequence[str], Places]:
    unique, places = np.unique(np.asarray(names), return_inverse=True)
    return [str(name) for name in unique], places
