"""How far people agree: the measures the papers report, with one rule where they are not defined.

Ratings are a table, one row an item, one column a person, None where somebody did not judge. A measure
that corrects for chance is None when nothing was told apart (everybody gave the same answer to every
item): chance alone would give the same, so neither agreement nor disagreement was shown. The unanimous
share stands beside it and says what was seen.

- Fleiss' kappa (Fleiss 1971): items that everybody judged
- Krippendorff's alpha (Krippendorff 2011): all items with two judgements or more; nominal, ordinal, interval
- Cohen's kappa (Cohen 1960): two people, the items both judged
- Kendall's tau-b (Kendall 1938): two orderings
- the per-token edit rate of HEART-BENCH appendix D.2
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

Rating = str | int
Ratings = Sequence[Sequence[Rating | None]]
Level = Literal["nominal", "ordinal", "interval"]

_TOKEN = re.compile(r"\w+|[^\w\s]")
_NOTHING = 1e-12


def unanimous_share(ratings: Ratings) -> float | None:
    """Share of the items with two judgements or more on which all judgements are the same; None without any."""
    several = [found for found in map(_given, ratings) if len(found) > 1]
    return sum(len(set(found)) == 1 for found in several) / len(several) if several else None


def fleiss_kappa(ratings: Ratings) -> float | None:
    """Fleiss' kappa over the items that all judged; None without any, or when all ratings are the same."""
    complete = [row for row in ratings if len(row) > 1 and None not in row]
    if not complete:
        return None
    raters = len(complete[0])
    totals = Counter(rating for row in complete for rating in row)
    by_chance = sum((count / (len(complete) * raters)) ** 2 for count in totals.values())
    seen = sum(
        (sum(count**2 for count in Counter(row).values()) - raters) / (raters * (raters - 1)) for row in complete
    )
    return _corrected(seen / len(complete), by_chance)


def cohen_kappa(first: Sequence[Rating | None], second: Sequence[Rating | None]) -> float | None:
    """Cohen's kappa of two people over the items both judged; None without any, or when all ratings are the same."""
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    if not both:
        return None
    left, right = Counter(a for a, _ in both), Counter(b for _, b in both)
    by_chance = sum(left[rating] * right[rating] for rating in left) / len(both) ** 2
    return _corrected(sum(a == b for a, b in both) / len(both), by_chance)


def krippendorff_alpha(ratings: Ratings, order: Sequence[Rating], level: Level = "nominal") -> float | None:
    """Krippendorff's alpha; ``order`` lists all possible ratings from lowest to highest.

    Interval distances are differences of places in ``order``. None when no item has two judgements, or when
    all of their ratings are the same.
    """
    places = {rating: place for place, rating in enumerate(order)}
    items = [[places[rating] for rating in _given(row)] for row in ratings]
    items = [item for item in items if len(item) > 1]
    totals = Counter(place for item in items for place in item)
    count = sum(totals.values())
    distance = _DISTANCES[level](totals)
    seen = sum(distance(a, b) / (len(item) - 1) for item in items for a, b in itertools.permutations(item, 2))
    expected = sum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals)
    if expected < _NOTHING:
        return None
    return float(1 - (count - 1) * seen / expected)


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two orderings of the same things; None for fewer than two, or without any order in one."""
    if len(first) < 2 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)


def tau_of_pairs(expected: Sequence[float], preferred: Sequence[float]) -> float | None:
    """Kendall's tau over pairs that were compared: those ordered alike less those ordered otherwise, per pair.

    Both give first minus second; pairs in which one of them sees no difference are left out. None without any.
    """
    signs = [(a > 0) == (b > 0) for a, b in zip(expected, preferred, strict=True) if a and b]
    return (2 * sum(signs) - len(signs)) / len(signs) if signs else None


def pairwise(
    measure: Callable[[Sequence[Rating | None], Sequence[Rating | None]], float | None],
    by_person: Mapping[str, Sequence[Rating | None]],
) -> dict[str, float | None]:
    """A measure of two people for every two of them, by "one, other"."""
    return {
        f"{one}, {other}": measure(by_person[one], by_person[other])
        for one, other in itertools.combinations(sorted(by_person), 2)
    }


def token_edits(before: str, after: str) -> tuple[int, int]:
    """Tokens inserted, deleted or replaced to get from one text to the other, and the tokens of the first."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    costs = list(range(len(new) + 1))
    for row, token in enumerate(old, 1):
        diagonal, costs[0] = costs[0], row
        for column, other in enumerate(new, 1):
            cheapest = min(costs[column] + 1, costs[column - 1] + 1, diagonal + (token != other))
            diagonal, costs[column] = costs[column], cheapest
    return costs[-1], len(old)


def edit_rate(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Edited tokens per token over (before, after) texts; None for no tokens."""
    edits = [token_edits(before, after) for before, after in pairs]
    tokens = sum(length for _, length in edits)
    return sum(changed for changed, _ in edits) / tokens if tokens else None


def _given(row: Sequence[Rating | None]) -> list[Rating]:
    return [rating for rating in row if rating is not None]


def _corrected(seen: float, by_chance: float) -> float | None:
    return None if 1 - by_chance < _NOTHING else (seen - by_chance) / (1 - by_chance)


Distance = Callable[[int, int], float]


def _nominal(totals: Mapping[int, int]) -> Distance:
    return lambda a, b: float(a != b)


def _interval(totals: Mapping[int, int]) -> Distance:
    return lambda a, b: float((a - b) ** 2)


def _ordinal(totals: Mapping[int, int]) -> Distance:
    """Squared count of the ratings between two, half of their own included."""

    def distance(a: int, b: int) -> float:
        between = sum(totals[place] for place in range(min(a, b), max(a, b) + 1) if place in totals)
        return float(between - (totals[a] + totals[b]) / 2) ** 2

    return distance


_DISTANCES: Mapping[Level, Callable[[Mapping[int, int]], Distance]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}
