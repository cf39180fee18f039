"""What score rows come to: means with intervals, by group, by judge, and how judges agree.

Pure: rows in, numbers out. The same function makes the figures when scores are written and checks them when they
are read. Scores that are not there (not applicable, unscored, refused, failed) are counted and never stand for 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from evaluators.psychometrics.figures import trait_figures
from evaluators.scoring.agreement import agree
from evaluators.scoring.fidelity_figures import fidelity_figures
from evaluators.scoring.metrics import STATES, Metric, Scale
from evaluators.scoring.resampling import ClusterDraws, Estimate, crossed_means, sums_of
from evaluators.scoring.series_figures import series_figures

POSITION = "position"
"""The reason of a pairwise tie that came of two verdicts that went by the place and not by the text."""

PEOPLE = "people"
"""The judge whose scores are people's ratings: compared with the others, and no part of their consensus."""

Draws = dict[tuple[str, int], ClusterDraws]


def summary(frame: pl.DataFrame, metrics: Sequence[Metric], seed: int) -> dict[str, Any]:
    """All figures of score rows.

    ``judged`` has an entry a metric and judge, ``consensus`` one a metric with several judges (mean over judges of
    each item) and with each judge left out, ``agreement`` one a pair of judges and metric, ``examined`` one a judge and
    metric where the answers' quality was planted, ``series`` one a rubric and judge where scores are a series.
    """
    draws: Draws = {}
    judged, consensus, agreement, examined = [], [], [], []
    for metric in metrics:
        own = _composite(frame, metric) if metric.aggregation.of else frame.filter(pl.col("metric") == metric.name)
        alone: dict[str, dict[str, Any]] = {}
        by_judge = {str(key[0]): rows for key, rows in sorted(own.partition_by("judge", as_dict=True).items())}
        for judge, rows in by_judge.items():
            about = {"metric": metric.name, "unit": metric.unit, "judge": judge}
            alone[judge] = _figures(rows, metric, seed, draws)
            judged.append({**about, **states_of(rows), **alone[judge]})
            if rows["planted_state"].count():
                examined.append({"metric": metric.name, "judge": judge, **_examined(rows)})
        models = {judge: figures for judge, figures in alone.items() if judge != PEOPLE}
        if len(models) > 1:
            consensus += list(_consensus(own.filter(pl.col("judge") != PEOPLE), metric, models, seed, draws))
        if len(by_judge) > 1:
            agreement += [
                {"metric": metric.name, "first": one, "second": two, **_agreement(by_judge[one], by_judge[two])}
                for one, two in combinations(by_judge, 2)
            ]
    made = {"judged": judged, "consensus": consensus, "agreement": agreement, "examined": examined}
    series = list(series_figures(frame, metrics, seed))
    return {**made, "series": series} if series else made


def states_of(rows: pl.DataFrame) -> dict[str, Any]:
    """Items, how many are in each state, and of pairwise verdicts the share that went by position."""
    counts = Counter(dict(rows["state"].value_counts().rows()))
    made: dict[str, Any] = {"items": len(rows), "states": {state: counts[state] for state in STATES}}
    by_place = int((rows["reason"] == POSITION).sum())
    return {**made, "position_dependent": by_place / counts["scored"] if by_place else None}


def _figures(rows: pl.DataFrame, metric: Metric, seed: int, draws: Draws) -> dict[str, Any]:
    rows = counting(rows, metric)
    if metric.aggregation.method == "atomic":
        return {"fidelity": fidelity_figures(rows, metric.aggregation, seed)}
    if metric.aggregation.method == "traits":
        return {"traits": trait_figures(rows, metric.aggregation, seed), "distribution": _distribution(rows, metric)}
    mean = {"mean": mean_figures(rows, metric, seed, draws)}
    return mean if metric.aggregation.of else {**mean, "distribution": _distribution(rows, metric)}


def _composite(frame: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """The rows of a metric that is made of others: a value where all of them have one, else the first other state."""
    how = metric.aggregation
    parts = frame.filter(pl.col("metric").is_in(how.of)).sort("metric")
    given = pl.col("value").count() == len(how.of)
    other = pl.col("state").filter(pl.col("state") != "scored").first()
    nulls = {name: parts.schema[name] for name in ("planted", "planted_state", "reason")}
    kept = [name for name in parts.columns if name not in ("item", "judge", "metric", "state", "value", *nulls)]
    return parts.group_by("judge", "item", maintain_order=True).agg(
        pl.col(kept).first(),
        *(pl.lit(None, kind).alias(name) for name, kind in nulls.items()),
        pl.lit(metric.name).alias("metric"),
        pl.when(given).then(pl.lit("scored")).otherwise(other).alias("state"),
        pl.when(given).then(pl.col("value").mean() / how.over).alias("value"),
    )


def counting(rows: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """The rows that count: all, or those with the value that ``only`` names."""
    only = metric.aggregation.only
    return rows.filter(pl.col(only[0]) == only[1]) if only else rows


def _distribution(rows: pl.DataFrame, metric: Metric) -> list[int]:
    counts = dict(rows["value"].drop_nulls().value_counts().rows())
    return [int(counts.get(value, 0)) for value in metric.scale.values]


def mean_figures(rows: pl.DataFrame, metric: Metric, seed: int, draws: Draws) -> dict[str, Any]:
    """The nested mean of a metric, an interval for each kind of cluster, and the same by group."""
    how = metric.aggregation
    scored = rows.drop_nulls("value")
    overall = _nested(scored, how.within, how.clusters)
    made: dict[str, Any] = {"value": None, "intervals": [], "declined_as_least": _declined(rows, metric), "by": {}}
    if not len(overall):
        return {**made, "by": {name: {} for name in how.by}}
    made["value"] = float(overall["value"].mean())  # type: ignore[arg-type]
    for cluster in how.clusters:
        (found,) = _by_cluster(overall, cluster, None, seed, draws).values()
        made["intervals"].append({"over": cluster, **_bounds(found)})
    if len(how.clusters) == 2:
        made["intervals"].append({"over": "both", **_bounds(_crossed(overall, how.clusters, seed, draws))})
    for name in how.by:
        grouped = _nested(scored, how.within, (*how.clusters, name))
        by_group = _by_cluster(grouped, how.clusters[0], name, seed, draws)
        counts = dict(scored[name].value_counts().rows())
        made["by"][name] = {
            key: {"value": one.value, "items": counts.get(key, 0), **_bounds(one)} for key, one in by_group.items()
        }
    return made


def _declined(rows: pl.DataFrame, metric: Metric) -> float | None:
    """The nested mean where an item that the model declined has the least of the scale, so that declining cannot raise
    a score; None where nothing was declined, or nothing scored at all."""
    declined = pl.col("state") == "refused"
    if not (rows["state"] == "refused").any() or not rows["value"].count():
        return None
    least = metric.scale.values[0] / metric.aggregation.over
    filled = rows.with_columns(pl.when(declined).then(least).otherwise(pl.col("value")).alias("value"))
    mean = _nested(filled.drop_nulls("value"), metric.aggregation.within, metric.aggregation.clusters)["value"].mean()
    return float(mean)  # type: ignore[arg-type]


def _nested(scored: pl.DataFrame, within: Sequence[str], keep: Sequence[str]) -> pl.DataFrame:
    """Means of means, from the finest group to the coarsest; the groups in ``keep`` are never mixed."""
    keys = tuple(dict.fromkeys((*within, *keep)))
    made = scored.select(*keys, "value")
    for place in range(len(within)):
        keys = tuple(dict.fromkeys((*within[place:], *keep)))
        made = made.group_by(keys).agg(pl.col("value").mean())
    return made.sort(keys) if within else made


def _by_cluster(frame: pl.DataFrame, cluster: str, group: str | None, seed: int, draws: Draws) -> dict[str, Estimate]:
    """An estimate a value of ``group`` (one under "" without), whole clusters drawn anew."""
    names = frame[cluster].unique().sort()
    places = frame[cluster].cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
    groups = [""] if group is None else frame[group].drop_nulls().unique().sort().to_list()
    column = (
        np.zeros(len(frame), np.int64)
        if group is None
        else frame[group].cast(pl.Enum(groups)).to_physical().fill_null(len(groups)).cast(pl.Int64).to_numpy()
    )
    width = len(groups) + 1
    cells, size = places * width + column, len(names) * width
    sums, weights = (part.reshape(-1, width)[:, :-1] for part in sums_of(frame["value"].to_numpy(), cells, size))
    found = _draws(cluster, len(names), seed, draws).means(sums, weights)
    return dict(zip(groups, found, strict=True))


def _crossed(frame: pl.DataFrame, clusters: Sequence[str], seed: int, draws: Draws) -> Estimate:
    first, second = (frame[name].unique().sort() for name in clusters)
    one, two = (
        frame[name].cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
        for name, names in zip(clusters, (first, second), strict=True)
    )
    cells, size = one * len(second) + two, len(first) * len(second)
    sums, weights = (part.reshape(len(first), -1) for part in sums_of(frame["value"].to_numpy(), cells, size))
    drawn = [_draws(name, len(names), seed, draws) for name, names in zip(clusters, (first, second), strict=True)]
    return crossed_means(sums, weights, drawn[0], drawn[1])


def _draws(cluster: str, count: int, seed: int, draws: Draws) -> ClusterDraws:
    if (cluster, count) not in draws:
        draws[cluster, count] = ClusterDraws(count, seed, cluster)
    return draws[cluster, count]


def _bounds(found: Estimate) -> dict[str, Any]:
    return {"low": found.low, "high": found.high, "clusters": found.clusters}


def _consensus(
    own: pl.DataFrame, metric: Metric, alone: Mapping[str, dict[str, Any]], seed: int, draws: Draws
) -> Iterator[dict[str, Any]]:
    """The figures of all judges' mean, then with each judge left out; ``alone`` has those of each judge."""
    kept = [
        column
        for column in own.columns
        if column not in ("judge", "state", "value", "planted", "planted_state", "reason", "item")
    ]
    for left_out in (None, *sorted(alone)):
        if left_out is not None and len(alone) == 2:
            (other,) = alone.keys() - {left_out}
            yield _entry(metric, left_out, alone[other])
            continue
        rows = own.filter(pl.col("judge") != left_out) if left_out else own
        agreed = pl.col("value").mean() if metric.aggregation.method == "mean" else _median(metric.scale)
        items = rows.group_by("item", maintain_order=True).agg(pl.col(kept).first(), agreed)
        scored = pl.when(pl.col("value").is_null()).then(pl.lit("unscored")).otherwise(pl.lit("scored"))
        items = items.with_columns(scored.alias("state"), pl.lit(None, pl.String).alias("reason"))
        yield _entry(metric, left_out, _figures(items, metric, seed, draws))


def _median(scale: Scale) -> pl.Expr:
    """The median of several judges as a value of the scale: between two values the one nearer to the middle, so that
    an even number of judges moves no figure up or down as a whole."""
    median, middle = pl.col("value").median(), (scale.values[0] + scale.values[-1]) / 2
    return pl.when(median < middle).then(median.ceil()).otherwise(median.floor()).alias("value")


def _entry(metric: Metric, left_out: str | None, figures: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in figures.items() if name != "distribution"}
    return {"metric": metric.name, "without": left_out, **kept}


def _agreement(first: pl.DataFrame, second: pl.DataFrame) -> Mapping[str, Any]:
    both = first.select("item", "value", "state").join(second.select("item", "value", "state"), on="item").sort("item")
    states = np.array([_applies(both["state"]), _applies(both["state_right"])])
    return asdict(agree(_floats(both["value"]), _floats(both["value_right"]), states))


def _examined(rows: pl.DataFrame) -> Mapping[str, Any]:
    """A judge against what was planted."""
    known = rows.drop_nulls("planted_state").sort("item")
    applies = np.array([_applies(known["planted_state"]), _applies(known["state"])])
    return asdict(agree(_floats(known["planted"]), _floats(known["value"]), applies))


def _applies(states: pl.Series) -> Any:
    """1 scored, 0 not applicable, NaN neither."""
    applies = states.replace_strict(
        {"scored": 1.0, "not_applicable": 0.0}, default=float("nan"), return_dtype=pl.Float64
    )
    return applies.to_numpy()


def _floats(values: pl.Series) -> Any:
    return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
