"""Persona fidelity of a run of judged sentences: each metric with two intervals, and by group.

Two questions, two intervals: would *these* personas come out the same if asked again (``repeats``: runs drawn anew
within each persona and task), and would *other* personas like these (the declared clusters drawn anew)?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from evaluators.scoring.fidelity import LEVELS, METRICS, Repeats, repeats_of
from evaluators.scoring.metrics import Aggregation
from evaluators.scoring.resampling import ClusterDraws, Estimate, Floats, RepeatDraws, estimate

_REPEATED = ("acc_atom", "ic_atom", "acc", "mean")


def fidelity_figures(rows: pl.DataFrame, how: Aggregation, seed: int) -> dict[str, Any]:
    """All fidelity metrics of one judge's sentences. ``rows`` have the groups as columns and null for no valid score.

    ``within`` names the groups of responses and runs, ``sets`` those within which runs repeat, ``target`` the level.
    """
    sentences, attributes = sentences_of(rows, how)
    found = repeats_of(sentences, how.sets)
    values = {name: _column([one.figures()[name] for one in found]) for name in METRICS}
    about = {name: [attributes[one.key][name] for one in found] for name in (*how.by, *how.clusters)}
    cluster = how.clusters[0]
    overall = _overall(values, about[cluster], seed)
    again = _again(found, seed)
    made: dict[str, Any] = {"sets": len(found), "runs": sum(len(one.runs) for one in found)}
    made["metrics"] = {
        name: {
            "value": overall[name].value,
            "defined": int((~np.isnan(values[name])).sum()),
            "intervals": [
                {"over": cluster, **_bounds(overall[name])},
                *([{"over": "repeats", **_bounds(again[name])}] if name in again else []),
            ],
        }
        for name in METRICS
    }
    made["by"] = {name: _by(values, about[name], about[cluster], seed) for name in how.by}
    made["by_run"] = _by_run(found)
    return made


def sentences_of(rows: pl.DataFrame, how: Aggregation) -> tuple[pl.DataFrame, Mapping[tuple[str, ...], dict[str, str]]]:
    """Score rows in the columns that ``repeats_of`` wants, and the groups of each set.

    Raises ValueError for a level that is none."""
    response, run = how.within
    assert how.target is not None
    level = pl.col(how.target).replace({"medium": "neutral"})
    frame = rows.with_columns(pl.col(run).alias("run"), pl.col(response).alias("response"), level.alias("target"))
    columns = tuple(dict.fromkeys((*how.sets, *how.by, *how.clusters)))
    sets = frame.select(columns).unique(subset=how.sets, keep="first", maintain_order=True)
    attributes = {tuple(row[name] for name in how.sets): row for row in sets.rows(named=True)}
    unknown = frame.filter(~pl.col("target").is_in(LEVELS))
    if len(unknown):
        raise ValueError(f"unknown level {unknown['target'][0]!r} of {unknown['item'][0]}")
    return frame.select(*how.sets, "run", "response", "target", "value"), attributes


def _overall(values: Mapping[str, Floats], clusters: Sequence[str], seed: int) -> dict[str, Estimate]:
    """The mean over sets of every metric, whole clusters drawn anew."""
    names, places = np.unique(np.asarray(clusters), return_inverse=True)
    matrix = np.column_stack([values[name] for name in METRICS])
    has = ~np.isnan(matrix)
    sums, weights = np.zeros((len(names), len(METRICS))), np.zeros((len(names), len(METRICS)))
    np.add.at(sums, places, np.where(has, matrix, 0.0))
    np.add.at(weights, places, has)
    found = ClusterDraws(len(names), seed, "personas").means(sums, weights)
    return dict(zip(METRICS, found, strict=True))


def _again(found: Sequence[Repeats], seed: int) -> dict[str, Estimate]:
    """The mean over these sets, their runs drawn anew."""
    draws = RepeatDraws([len(one.runs) for one in found], seed)
    runs = sum(len(one.runs) for one in found)
    resampled = {name: draws.mean_of_means([one.values[name] for one in found]) for name in _REPEATED}
    resampled["rc_atom"] = draws.mean_of_pairs([one.pairs for one in found])
    made = {}
    for name, drawn in resampled.items():
        defined = [value for one in found if (value := one.figures()[name]) is not None]
        value = float(np.mean(defined)) if defined else float("nan")
        made[name] = estimate(value, drawn, runs if draws.tail else 1, draws.tail)
    return made


def _by(
    values: Mapping[str, Floats], groups: Sequence[str], clusters: Sequence[str], seed: int
) -> dict[str, dict[str, Any]]:
    """Group -> metric -> value and interval over the clusters in it."""
    made = {}
    for group in sorted(set(groups)):
        chosen = [place for place, name in enumerate(groups) if name == group]
        own = {name: column[chosen] for name, column in values.items()}
        found = _overall(own, [clusters[place] for place in chosen], seed)
        made[group] = {
            "sets": len(chosen),
            **{name: {"value": one.value, **_bounds(one)} for name, one in found.items()},
        }
    return made


def _by_run(found: Sequence[Repeats]) -> dict[str, dict[str, float | None]]:
    """Run (iteration) -> the mean over sets of the metrics that one run has."""
    values: dict[str, dict[str, list[float]]] = {}
    for one in found:
        for place, run in enumerate(one.runs):
            for name in _REPEATED:
                values.setdefault(run, {}).setdefault(name, []).append(float(one.values[name][place]))
    return {
        run: {name: _mean(np.array(own)) for name, own in metrics.items()} for run, metrics in sorted(values.items())
    }


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def _column(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _bounds(found: Estimate) -> dict[str, Any]:
    return {"low": found.low, "high": found.high, "clusters": found.clusters}
