"""How a series goes: slope over sessions, slope after min-max scaling, and how well a line fits.

LikeBench 5 (improvement rate). A constant series has no direction that could fit well or badly: 0/0 is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.scoring.resampling import Floats


@dataclass(frozen=True)
class Trend:
    """Least squares over places 1, 2, ...; ``scaled`` is the slope of the series brought to 0..1.

    ``slope`` is in score units a step. ``scaled`` is 0 and ``fit`` (R squared) None for a constant series; all three
    are None for fewer than two values.
    """

    slope: float | None
    scaled: float | None
    fit: float | None
    values: int


def trend(series: Sequence[float | None], first: int = 1, last: int | None = None) -> Trend:
    """The trend of a series between two places, counted from 1; places without a value are left out."""
    places = range(first, (last or len(series)) + 1)
    known = [(float(place), value) for place in places if (value := series[place - 1]) is not None]
    if len(known) < 2:
        return Trend(None, None, None, len(known))
    x, y = np.array(known, dtype=np.float64).T
    x = x - x.mean()
    slope = float((x * y).sum() / (x * x).sum())
    spread = float(y.max() - y.min())
    if spread == 0:
        return Trend(0.0, 0.0, None, len(known))
    centred = y - y.mean()
    left = float(((centred - slope * x) ** 2).sum())
    return Trend(slope, slope / spread, 1 - left / float((centred**2).sum()), len(known))


def slopes(series: Floats) -> Floats:
    """The slope of each row of a matrix, as ``trend`` has it; NaN for a row with a place without a value."""
    x = np.arange(series.shape[1], dtype=np.float64)
    x -= x.mean()
    found: Floats = series @ x / (x @ x) if x.any() else np.full(len(series), np.nan)
    return found
