"""Whole numbers in given proportions: memories a year of age, and tiers a life stage.

HEART-BENCH equation (1) and appendix B.2. Used by ``builders.memories.plan``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence


def quotas(deficit: int, weight_of: Mapping[int, float]) -> dict[int, int]:
    """Equation (1): floor of the proportional share, then one more for the largest remainders.

    Ties go to the younger age. The values sum to ``deficit``.

    >>> quotas(10, {6: 1, 7: 1, 8: 1})
    {6: 4, 7: 3, 8: 3}
    """
    ages = sorted(weight_of)
    return dict(zip(ages, apportion(deficit, [weight_of[age] for age in ages]), strict=True))


def staged_quotas(deficit: int, weight_of: Mapping[int, float], stages: Sequence[Sequence[int]]) -> dict[int, int]:
    """Quotas apportioned to life stages first and to the years of each after that, so that shares of stages hold.

    Rounding year by year adds up over a stage's years: at 60 memories it moved a stage by 4.8 points. ``stages`` are
    the ages of each stage; together they are the ages of ``weight_of``. The values sum to ``deficit``.

    >>> staged_quotas(3, {6: 1, 7: 1, 8: 2}, [[6, 7], [8]])
    {6: 1, 7: 0, 8: 2}
    """
    shares = [sum(weight_of[age] for age in ages) for ages in stages]
    made: dict[int, int] = {}
    for ages, part in zip(stages, apportion(deficit, shares), strict=True):
        made |= quotas(part, {age: weight_of[age] for age in ages})
    return made


def apportion(total: int, shares: Sequence[float]) -> list[int]:
    """``total`` in whole parts proportional to ``shares``, by largest remainder; ties go to the earlier part."""
    whole = sum(shares)
    exact = [total * share / whole for share in shares]
    parts = [math.floor(value + 1e-9) for value in exact]
    by_remainder = sorted(range(len(parts)), key=lambda index: (round(parts[index] - exact[index], 9), index))
    for index in by_remainder[: total - sum(parts)]:
        parts[index] += 1
    return parts


def tier_table(windows: Sequence[int], shares: Sequence[float]) -> list[list[int]]:
    """Whole counts per window and tier: rows sum to ``windows``, columns to the apportioned shares of the whole.

    Each cell is its exact value rounded down or up; among the tables that meet both margins, the one that
    rounds up the largest remainders (a controlled rounding, by dynamic programming over the windows).
    """
    columns = apportion(sum(windows), shares)
    exact = [[size * share for share in shares] for size in windows]
    floors = [[math.floor(value + 1e-9) for value in row] for row in exact]
    wanted = tuple(column - sum(row[index] for row in floors) for index, column in enumerate(columns))
    best: dict[tuple[int, ...], tuple[float, tuple[tuple[int, ...], ...]]] = {(0,) * len(shares): (0.0, ())}
    for size, values, floor in zip(windows, exact, floors, strict=True):
        after: dict[tuple[int, ...], tuple[float, tuple[tuple[int, ...], ...]]] = {}
        for used, (gain, path) in best.items():
            for ups in _choices(len(shares), size - sum(floor)):
                state = tuple(a + b for a, b in zip(used, ups, strict=True))
                if any(have > want for have, want in zip(state, wanted, strict=True)):
                    continue
                total = gain + sum(up * (value - low) for up, value, low in zip(ups, values, floor, strict=True))
                if state not in after or total > after[state][0] + 1e-9:
                    after[state] = (total, (*path, ups))
        best = after
    _, path = best[wanted]
    return [[low + up for low, up in zip(floor, ups, strict=True)] for floor, ups in zip(floors, path, strict=True)]


def _choices(places: int, ones: int) -> Iterator[tuple[int, ...]]:
    """All ways to put ``ones`` ones into ``places`` places, the leftmost first."""
    if places == 0:
        if ones == 0:
            yield ()
        return
    for first in (1, 0):
        if ones >= first:
            yield from ((first, *rest) for rest in _choices(places - 1, ones - first))
