"""The bootstrap of the published evaluation, index by index: ``random.Random(42)`` over the sorted raters, 1,000 times.

A draw takes as many raters as there are, with replacement; of the sorted values the bounds are those at places 25 and
975. PersTurnBench 5.1. ``resampling`` has the intervals that this project reports otherwise: of the same raters, but
expanded for how few they are.
"""

from __future__ import annotations

import functools
from random import Random

import numpy as np

from evaluators.scoring.resampling import Floats

SEED, DRAWS = 42, 1_000
_TAIL = 0.025


@functools.lru_cache(maxsize=2)
def published_counts(raters: int, draws: int = DRAWS) -> Floats:
    """How often each of the sorted raters is drawn in each draw: (draws, raters)."""
    rng, places = Random(SEED), range(raters)
    drawn = [np.bincount([rng.choice(places) for _ in places], minlength=raters) for _ in range(draws)]
    made = np.array(drawn, np.float64).reshape(draws, raters)
    made.setflags(write=False)
    return made


def published_bounds(drawn: Floats) -> tuple[float, float] | None:
    """The bounds of drawn values; None where one of them is not defined, since it has no place among the sorted."""
    if not len(drawn) or np.isnan(drawn).any():
        return None
    ordered = np.sort(drawn)
    return float(ordered[int(_TAIL * len(ordered))]), float(ordered[int((1 - _TAIL) * len(ordered))])
