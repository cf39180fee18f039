"""Ranks of runs, with ties where their intervals do not part them.

Two runs are told apart where the 95 % interval of their paired difference leaves out 0, whole clusters drawn anew. A
run's rank is one more than the number of runs that are told to be better than it, so several may share a rank.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from evaluators.psychometrics.figures import units as trait_units
from evaluators.scoring.fidelity import repeats_of
from evaluators.scoring.fidelity_figures import sentences_of
from evaluators.scoring.metrics import Metric, too_few
from evaluators.scoring.resampling import ClusterDraws, sums_of
from evaluators.scoring.score_figures import states_of
from evaluators.scoring.score_rows import Scores
from evaluators.scoring.series_figures import series_of

HEADLINE = "acc_atom"

_UNITS = {"unit": pl.String(), "cluster": pl.String(), "value": pl.Float64()}
_NOTHING = pl.DataFrame(schema=_UNITS)


@dataclass(frozen=True)
class Ranked:
    """A run's place; ``tied`` are the runs that it is not told from."""

    name: str
    rank: int
    metric: str
    value: float
    tied: tuple[str, ...]


def ranked(scores: Mapping[str, Scores], seed: int) -> list[Ranked]:
    """Runs by their first metric as the first judge of all of them scored it, best first.

    Runs with no item in common are not told apart. Empty where runs were judged on different metrics or have no judge
    in common: those have no common order."""
    firsts = {name: own.metrics[0] for name, own in scores.items()}
    if len({(metric.name, metric.rubric) for metric in firsts.values()}) != 1:
        return []
    common = set.intersection(*(set(own.frame["judge"].unique()) for own in scores.values()))
    if not common:
        return []
    metric = next(iter(firsts.values()))
    shown = {"atomic": HEADLINE, "traits": "1 - error of traits"}.get(metric.aggregation.method, metric.name)
    if metric.aggregation.series and metric.rubric:
        shown = metric.rubric.partition("@")[0].rpartition(".")[2]
    units = {name: _units(own, firsts[name], min(common)) for name, own in scores.items()}
    return ranks_of(units, f"{shown}, {min(common)}", seed)


def choices_ranked(results: Mapping[str, Mapping[str, Any]], seed: int) -> list[Ranked]:
    """Runs of multiple choice by accuracy, best first; whole characters are drawn anew."""
    units = {
        name: pl.DataFrame(
            [(item["question_id"], item["character_id"], float(item["share"])) for item in result["items"]],
            schema=_UNITS,
            orient="row",
        )
        for name, result in results.items()
    }
    settings = {result["run"]["setting"] for result in results.values()}
    return ranks_of(units, f"accuracy, {settings.pop()}" if len(settings) == 1 else "accuracy", seed)


def ranks_of(units: Mapping[str, pl.DataFrame], shown: str, seed: int) -> list[Ranked]:
    """Runs by the mean of their ``value``, highest first, from frames of ``unit``, ``cluster`` and ``value``."""
    values = {name: float(own["value"].mean()) for name, own in units.items() if len(own)}  # type: ignore[arg-type]
    order = sorted(values, key=lambda name: (-values[name], name))
    sign = {(one, two): _sign(units[one], units[two], seed) for one in order for two in order if one < two}
    better = {name: [other for other in order if _of(sign, other, name) > 0] for name in order}
    tied = {name: [other for other in order if other != name and _of(sign, other, name) == 0] for name in order}
    return [Ranked(name, 1 + len(better[name]), shown, values[name], tuple(tied[name])) for name in order]


def _of(sign: Mapping[tuple[str, str], int], one: str, two: str) -> int:
    """1 where the first is told to be better than the second, -1 worse, 0 neither."""
    if one == two:
        return 0
    return sign[one, two] if one < two else -sign[two, one]


def _units(own: Scores, metric: Metric, judge: str) -> pl.DataFrame:
    """What is compared: unit, cluster and value of each; of persona fidelity a set, else an item. Nothing where too
    few were scored."""
    how = metric.aggregation
    if how.series:
        return _people(own, metric, judge)
    rows = own.frame.filter((pl.col("metric") == metric.name) & (pl.col("judge") == judge))
    if too_few(states_of(rows)["states"]):
        return _NOTHING
    if how.method == "traits":
        return trait_units(rows)
    if how.method != "atomic":
        kept = rows.drop_nulls("value")
        return kept.select(pl.col("item").alias("unit"), pl.col(how.clusters[0]).alias("cluster"), "value")
    sentences, attributes = sentences_of(rows, how)
    found = [(one, one.figures()[HEADLINE]) for one in repeats_of(sentences, how.sets)]
    return pl.DataFrame(
        {
            "unit": ["/".join(one.key) for one, value in found if value is not None],
            "cluster": [attributes[one.key][how.clusters[0]] for one, value in found if value is not None],
            "value": [value for _, value in found if value is not None],
        },
        schema=_UNITS,
    )


def _people(own: Scores, metric: Metric, judge: str) -> pl.DataFrame:
    """Persons with their mean over all sessions and all metrics of the rubric."""
    names = [one.name for one in own.metrics if one.rubric == metric.rubric]
    rows = own.frame.filter(pl.col("metric").is_in(names) & (pl.col("judge") == judge))
    if too_few(states_of(rows)["states"]):
        return _NOTHING
    means = series_of(rows, metric).means()
    return pl.DataFrame(
        {"unit": list(means), "cluster": list(means), "value": list(means.values())},
        schema=_UNITS,
    )


def _sign(one: pl.DataFrame, two: pl.DataFrame, seed: int) -> int:
    both = one.join(two, on="unit").sort("unit")
    if not len(both):
        return 0
    names, places = np.unique(both["cluster"].to_numpy(), return_inverse=True)
    sums, counts = sums_of((both["value"] - both["value_right"]).to_numpy(), places, len(names))
    (found,) = _draws(len(names), seed).means(sums[:, None], counts[:, None])
    if found.low is None or found.high is None:
        return 0
    return 1 if found.low > 0 else -1 if found.high < 0 else 0


@functools.lru_cache(maxsize=2)
def _draws(clusters: int, seed: int) -> ClusterDraws:
    """The draws that all pairs of runs share."""
    return ClusterDraws(clusters, seed)
