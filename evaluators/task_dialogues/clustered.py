"""Means of columns by group, with intervals over users: whole users are drawn anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from evaluators.scoring.resampling import ClusterDraws, Floats, estimate, sums_of

USER = "user_id"
KINDS = ("single", "multi")
ALL = "all"

Figure = dict[str, Any]
"""``value``, ``low``, ``high`` (None where undefined) and ``items``, how many values it is the mean of."""


class Users:
    """Draws of users, shared by all figures of the same users."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        self.names = sorted(set(names))
        self._places = pl.DataFrame(
            {USER: self.names, "place": range(len(self.names))}, schema_overrides={"place": pl.Int64}
        )
        self._draws = ClusterDraws(len(self.names), seed, USER)

    def sums(self, frame: pl.DataFrame, column: str) -> tuple[Floats, Floats]:
        """Sum and number of a column's values for each user; null is no value."""
        known = frame.drop_nulls(column).join(self._places, on=USER)
        return sums_of(known[column].cast(pl.Float64).to_numpy(), known["place"].to_numpy(), len(self.names))

    def mean(self, frame: pl.DataFrame, column: str) -> Figure:
        """The mean of a column over all rows."""
        sums, weights = self.sums(frame, column)
        (found,) = self._draws.means(sums[:, None], weights[:, None])
        return {"value": found.value, "low": found.low, "high": found.high, "items": int(weights.sum())}

    def drawn(self, frame: pl.DataFrame, column: str) -> tuple[float, Floats]:
        """The mean of a column, and its resampled values."""
        sums, weights = self.sums(frame, column)
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(sums.sum() / weights.sum()), (self._draws.counts @ sums) / (self._draws.counts @ weights)


def by_kind(users: Users, frame: pl.DataFrame, columns: Sequence[str]) -> dict[str, dict[str, Figure]]:
    """Kind of task (``all``, ``single``, ``multi``) -> column -> mean; kinds without a row are left out."""
    parts = {ALL: frame, **{kind: frame.filter(pl.col("kind") == kind) for kind in KINDS}}
    return {kind: {column: users.mean(part, column) for column in columns} for kind, part in parts.items() if len(part)}


def corrected_rate(
    judged: tuple[float, Floats], hits: tuple[float, Floats], false_alarms: tuple[float, Floats], clusters: int
) -> Mapping[str, float | None]:
    """A rate corrected for a judge's known errors, each argument with its resampled values (Rogan and Gladen 1978).

    ``hits`` is the share of true cases that the judge calls true, ``false_alarms`` that of false cases. Undefined for a
    judge that tells nothing apart. The value is kept between 0 and 1.
    """

    def correct(rate: Any, hit: Any, false: Any) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.clip((rate - false) / (hit - false), 0.0, 1.0)

    if not hits[0] > false_alarms[0]:
        return {"value": None, "low": None, "high": None}
    value = float(correct(judged[0], hits[0], false_alarms[0]))
    found = estimate(value, correct(judged[1], hits[1], false_alarms[1]), clusters)
    return {"value": found.value, "low": found.low, "high": found.high}
