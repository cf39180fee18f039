"""Recovered traits against the release's: error, correlation, ranks, per trait; and how reliable the answers are.

A trait of a character is the mean of its statements' agreement, turned where a statement is keyed against the trait,
put on 0 to 1. Intervals draw whole characters anew: they speak of characters like these. With few characters a
correlation's interval is wide, and is None where a draw's correlation is never defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from evaluators.scoring.agreement import spearman
from evaluators.scoring.metrics import Aggregation
from evaluators.scoring.resampling import ClusterDraws, Estimate, Floats, estimate

MIDDLE = 0.5
"""What a subject that knows nothing would say of every trait."""

_LEAST, _MOST = 1.0, 5.0


def trait_figures(rows: pl.DataFrame, how: Aggregation, seed: int) -> dict[str, Any]:
    """All figures of one judge's scores of agreement; ``rows`` have the groups of the method as columns.

    ``error`` is the mean absolute distance of recovered and true values, ``floor`` the same for the middle of every
    trait; ``bias`` recovered minus true; ``correlation`` over all traits of all characters; ``profile`` the mean
    correlation within a character, over its traits; ``acquiescence`` the mean agreement above the middle of the scale,
    whatever the keying. ``wordings`` and ``orders`` compare the same statements put differently, None for one.
    """
    answers = _answers(rows)
    traits = recovered(answers)
    made: dict[str, Any] = {"cells": len(traits), "characters": traits["character_id"].n_unique()}
    if not len(traits):
        return {**made, **dict.fromkeys(("error", "floor", "bias", "correlation", "profile", "acquiescence")), "by": {}}
    drawn = _Drawn(traits, seed, how.clusters[0])
    difference = traits["value"] - traits["truth"]
    return {
        **made,
        "error": drawn.mean(difference.abs()),
        "floor": drawn.mean((traits["truth"] - MIDDLE).abs()),
        "bias": drawn.mean(difference),
        "correlation": drawn.correlation(),
        "profile": drawn.of_characters(_within(traits)),
        "acquiescence": float((answers["agreement"] - (_LEAST + _MOST) / 2).mean()),  # type: ignore[arg-type]
        "by": {
            str(key[0]): _trait(own, answers.filter(pl.col("trait") == key[0]), seed, how.clusters[0])
            for key, own in traits.group_by("trait", maintain_order=True)
        },
        "wordings": _put_differently(answers, "wording"),
        "orders": _put_differently(answers, "order"),
        "profiles": _profiles(traits),
    }


def recovered(answers: pl.DataFrame) -> pl.DataFrame:
    """Character and trait -> the recovered ``value`` and the ``truth``, both from 0 to 1, in order.

    A statement counts once, however often it was put: the mean over wordings and orders, then over statements."""
    keys = ("character_id", "trait", "truth")
    by_statement = answers.group_by(*keys, "statement_id").agg(pl.col("value").mean())
    # Sums in another order differ in the last digits: rounded, equal values are equal, for ranks.
    return by_statement.group_by(*keys).agg(pl.col("value").mean().round(12)).sort("trait", "character_id")


def _answers(rows: pl.DataFrame) -> pl.DataFrame:
    """Scored rows: ``agreement`` 1 to 5 as scored, ``value`` 0 to 1 towards the trait, ``truth`` as a number."""
    towards = pl.when(pl.col("keyed") == "-1").then(_LEAST + _MOST - pl.col("value")).otherwise(pl.col("value"))
    return rows.drop_nulls("value").with_columns(
        pl.col("value").alias("agreement"),
        ((towards - _LEAST) / (_MOST - _LEAST)).alias("value"),
        pl.col("truth").cast(pl.Float64),
    )


def units(rows: pl.DataFrame) -> pl.DataFrame:
    """What runs are ranked by: 1 minus the error of each trait of each character."""
    traits = recovered(_answers(rows))
    return traits.select(
        pl.concat_str("character_id", "trait", separator="/").alias("unit"),
        pl.col("character_id").alias("cluster"),
        (1 - (pl.col("value") - pl.col("truth")).abs()).alias("value"),
    )


class _Drawn:
    """Figures over traits of characters, with intervals from whole characters drawn anew."""

    def __init__(self, traits: pl.DataFrame, seed: int, cluster: str) -> None:
        self.names = traits["character_id"].unique().sort()
        self.places = traits["character_id"].cast(pl.Enum(self.names)).to_physical().cast(pl.Int64).to_numpy()
        self.value, self.truth = traits["value"].to_numpy(), traits["truth"].to_numpy()
        self.draws = ClusterDraws(len(self.names), seed, cluster)
        self.cluster = cluster

    def mean(self, values: pl.Series) -> dict[str, Any]:
        """The mean over cells."""
        sums = self._sums(values.to_numpy())
        counts = self._sums(np.ones(len(values)))
        (found,) = self.draws.means(sums[:, None], counts[:, None])
        return self._entry(found)

    def of_characters(self, values: Mapping[str, float | None]) -> dict[str, Any]:
        """The mean of a figure that each character has, where it is defined."""
        own = np.array([np.nan if values[name] is None else values[name] for name in self.names], np.float64)
        has = (~np.isnan(own)).astype(np.float64)
        (found,) = self.draws.means(np.nan_to_num(own)[:, None], has[:, None])
        return self._entry(found)

    def correlation(self) -> dict[str, Any]:
        """Pearson's correlation of recovered and true values over all cells."""
        x, y = self.value, self.truth
        moments = np.column_stack([self._sums(part) for part in (np.ones(len(x)), x, y, x * x, y * y, x * y)])
        whole = _pearson(moments.sum(axis=0)[None, :])[0]
        drawn = _pearson(self.draws.counts @ moments)
        return self._entry(estimate(float(whole), drawn, len(self.names)))

    def _sums(self, values: Floats) -> Floats:
        return np.bincount(self.places, values, len(self.names)).astype(np.float64)

    def _entry(self, found: Estimate) -> dict[str, Any]:
        spread = {"over": self.cluster, "low": found.low, "high": found.high, "clusters": found.clusters}
        return {"value": found.value, "intervals": [spread]}


def _pearson(moments: Floats) -> Floats:
    """Correlations from rows of (n, sum x, sum y, sum x2, sum y2, sum xy); NaN where one does not vary."""
    n, x, y, xx, yy, xy = moments.T
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (xx / n - (x / n) ** 2) * (yy / n - (y / n) ** 2)
        return np.asarray(np.where(spread > 1e-12, (xy / n - x * y / n**2) / np.sqrt(np.maximum(spread, 0)), np.nan))


def _trait(traits: pl.DataFrame, answers: pl.DataFrame, seed: int, cluster: str) -> dict[str, Any]:
    """One trait over characters."""
    drawn = _Drawn(traits, seed, cluster)
    difference = traits["value"] - traits["truth"]
    return {
        "characters": len(traits),
        "error": drawn.mean(difference.abs()),
        "bias": drawn.mean(difference),
        "correlation": drawn.correlation(),
        "ranks": spearman(traits["value"].to_list(), traits["truth"].to_list()),
        "alpha": _alpha(answers),
    }


def _alpha(answers: pl.DataFrame) -> float | None:
    """Cronbach's alpha of a trait's statements over characters that answered all; None where it is not defined."""
    means = answers.group_by("character_id", "statement_id").agg(pl.col("value").mean())
    table = means.sort("statement_id").pivot("statement_id", index="character_id", values="value").drop_nulls()
    matrix = table.drop("character_id").to_numpy()
    count = matrix.shape[1]
    if len(matrix) < 2 or count < 2:
        return None
    total = float(matrix.sum(axis=1).var(ddof=1))
    return count / (count - 1) * (1 - float(matrix.var(axis=0, ddof=1).sum()) / total) if total > 1e-12 else None


def _within(traits: pl.DataFrame) -> dict[str, float | None]:
    """Character -> the correlation of its recovered and true traits; None where one does not vary."""
    made: dict[str, float | None] = {}
    for key, own in traits.group_by("character_id"):
        x, y = own["value"].to_numpy(), own["truth"].to_numpy()
        moments = np.array([[len(x), x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()]], np.float64)
        value = float(_pearson(moments)[0])
        made[str(key[0])] = None if np.isnan(value) else value
    return made


def _put_differently(answers: pl.DataFrame, group: str) -> dict[str, Any] | None:
    """How answers to the same statements agree over wordings or orders; None where there is one.

    ``correlation`` is the mean over pairs of the correlation of recovered traits, ``same`` the share of answers that
    stay the same, ``distance`` their mean absolute difference in points of the scale."""
    names = answers[group].unique().sort().to_list()
    if len(names) < 2:
        return None
    other = "order" if group == "wording" else "wording"
    tables = {name: answers.filter(pl.col(group) == name) for name in names}
    apart, correlations = [], []
    for one, two in combinations(names, 2):
        keys = ("character_id", "statement_id", other)
        both = tables[one].join(tables[two], on=keys)
        apart.append((both["agreement"] - both["agreement_right"]).abs())
        traits = recovered(tables[one]).join(recovered(tables[two]), on=("character_id", "trait"))
        x, y = traits["value"].to_numpy(), traits["value_right"].to_numpy()
        moments = np.array([[len(x), x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()]], np.float64)
        correlations.append(float(_pearson(moments)[0]) if len(x) else float("nan"))
    distances = pl.concat(apart)
    defined = [one for one in correlations if not np.isnan(one)]
    return {
        "count": len(names),
        "answers": len(distances),
        "correlation": float(np.mean(defined)) if defined else None,
        "same": float((distances == 0).mean()) if len(distances) else None,  # type: ignore[arg-type]
        "distance": float(distances.mean()) if len(distances) else None,  # type: ignore[arg-type]
    }


def _profiles(traits: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """Character -> trait -> recovered value and truth."""
    made: dict[str, dict[str, dict[str, float]]] = {}
    for row in traits.sort("character_id").rows(named=True):
        own = {"value": row["value"], "truth": row["truth"]}
        made.setdefault(row["character_id"], {})[row["trait"]] = own
    return made
