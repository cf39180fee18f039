"""Scores as a series over sessions: means with bands, slopes, and what kinds of people make of it.

LikeBench 3.1.1 and 5, as the facts resolve them: a turn is the mean of the metrics that apply to it, a session the mean
of its turns, a person the mean of their sessions, the model the mean of persons. A turn to which nothing applies, or
of which no score came, is left out and divides nothing. The improvement rate (IR) is the slope of the model's series,
its scaled form (N-IR) that of the series brought to 0..1 within the segment, each over all sessions and in segments
that share their end points. Intervals draw whole persons anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import polars as pl

from evaluators.scoring.metrics import Metric
from evaluators.scoring.resampling import ClusterDraws, Estimate, Floats, estimate
from evaluators.scoring.trends import slopes, trend

_GROUP = "type"
"""The group whose values are set against each other, where score rows have it."""


@dataclass(frozen=True)
class Series:
    """Scores by person and place: ``values`` of shape (people, places), NaN without a score; ``kinds`` of people."""

    people: tuple[str, ...]
    places: tuple[str, ...]
    values: Floats
    kinds: tuple[str | None, ...]

    def means(self) -> dict[str, float]:
        """The mean of each person who has a score."""
        rows = {name: own[~np.isnan(own)] for name, own in zip(self.people, self.values, strict=True)}
        return {name: float(own.mean()) for name, own in rows.items() if own.size}

    def of(self, kind: str) -> Floats:
        """1 for each person of a kind, 0 for the others."""
        return np.array([float(one == kind) for one in self.kinds])


def series_figures(frame: pl.DataFrame, metrics: Sequence[Metric], seed: int) -> Iterator[dict[str, Any]]:
    """An entry a rubric and judge of those metrics whose scores are a series."""
    serial = [metric for metric in metrics if metric.aggregation.series]
    for rubric, own in groupby(serial, key=lambda metric: metric.rubric):
        parts = list(own)
        rows = frame.filter(pl.col("metric").is_in([metric.name for metric in parts]))
        for judge in rows["judge"].unique().sort().to_list():
            found = series_of(rows.filter(pl.col("judge") == judge), parts[0])
            about = {"rubric": rubric, "judge": judge, "metrics": [metric.name for metric in parts]}
            yield {**about, **_figures(found, parts[0].aggregation.segments, seed), **_left_out(rows, parts[0], judge)}


def series_of(rows: pl.DataFrame, metric: Metric, value: str = "value") -> Series:
    """Turn, session and person means of one judge's rows on all metrics of a rubric."""
    how = metric.aggregation
    place, person = str(how.series), how.clusters[0]
    if how.only:
        rows = rows.filter(pl.col(how.only[0]) == how.only[1])
    kinds = [_GROUP] if _GROUP in rows.columns else []
    turns = rows.drop_nulls(value).group_by(person, place, "item", *kinds).agg(pl.col(value).mean())
    cells = turns.group_by(person, place, *kinds).agg(pl.col(value).mean())
    people, places = (tuple(cells[name].unique().sort().to_list()) for name in (person, place))
    values = np.full((len(people), len(places)), np.nan)
    kind_of: dict[str, str | None] = dict.fromkeys(people)
    row_of = {name: number for number, name in enumerate(people)}
    column_of = {name: number for number, name in enumerate(places)}
    for row in cells.rows(named=True):
        values[row_of[row[person]], column_of[row[place]]] = row[value]
        kind_of[row[person]] = row.get(_GROUP)
    return Series(people, places, values, tuple(kind_of[name] for name in people))


def difference(first: Series, second: Series, seed: int) -> Mapping[str, Any] | None:
    """Second minus first, mean over the people that both have, people drawn anew; None for none in common."""
    before, after = first.means(), second.means()
    shared = sorted(before.keys() & after.keys())
    if not shared:
        return None
    gaps = np.array([after[name] - before[name] for name in shared])
    (found,) = ClusterDraws(len(shared), seed, "persona").means(gaps[:, None], np.ones((len(shared), 1)))
    return {**asdict(found), "first": float(np.mean([before[name] for name in shared]))}


def _figures(series: Series, segments: Sequence[int], seed: int) -> dict[str, Any]:
    if not series.people:
        return {"people": 0, "mean": None, "places": [], "curve": [], "trends": [], "kinds": {}, "kinds_differ": None}
    draws = ClusterDraws(len(series.people), seed, "persona")
    made = _of_people(series, np.ones(len(series.people)), segments, draws)
    kinds = sorted({kind for kind in series.kinds if kind is not None})
    by_kind = {kind: _of_people(series, series.of(kind), segments, draws) for kind in kinds}
    gap = _kinds_differ(series, kinds, draws) if len(kinds) == 2 else None
    return {"people": len(series.people), "places": list(series.places), **made, "kinds": by_kind, "kinds_differ": gap}


def _of_people(series: Series, chosen: Floats, segments: Sequence[int], draws: ClusterDraws) -> dict[str, Any]:
    """Mean, curve and trends of the people whose ``chosen`` is 1."""
    known = (~np.isnan(series.values)) * chosen[:, None]
    sums = np.where(known > 0, series.values, 0.0)
    curve = draws.means(sums, known)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (draws.counts @ sums) / (draws.counts @ known)
    return {
        "mean": asdict(_mean(series, chosen, draws)),
        "curve": [asdict(one) for one in curve],
        "trends": _trends(curve, drawn, segments, int(chosen.sum())),
    }


def _mean(series: Series, chosen: Floats, draws: ClusterDraws) -> Estimate:
    means = np.nan_to_num(np.nanmean(series.values, axis=1)) * chosen
    (found,) = draws.means(means[:, None], chosen[:, None])
    return found


def _trends(curve: Sequence[Estimate], drawn: Floats, segments: Sequence[int], people: int) -> list[dict[str, Any]]:
    """IR with its interval, N-IR and R2 over all places and over each segment that the series reaches.

    Of N-IR and R2 there is no interval: both have bounds that a resampled series is drawn towards.
    """
    values = [one.value for one in curve]
    made = []
    ends = [*(end for end in segments if end < len(values)), len(values)]
    for first, last in [(1, len(values)), *(pairwise(ends) if len(ends) > 2 else ())]:
        found = trend(values, first, last)
        value = float("nan") if found.slope is None else found.slope
        slope = estimate(value, slopes(drawn[:, first - 1 : last]), people)
        made.append({"first": first, "last": last, "slope": asdict(slope), "scaled": found.scaled, "fit": found.fit})
    return made


def _kinds_differ(series: Series, kinds: Sequence[str], draws: ClusterDraws) -> dict[str, Any]:
    """Second kind minus first, people drawn anew."""
    means = np.nan_to_num(np.nanmean(series.values, axis=1))
    values, resampled = [], []
    for kind in kinds:
        chosen = series.of(kind)
        values.append(float((means * chosen).sum() / chosen.sum()))
        with np.errstate(invalid="ignore", divide="ignore"):
            resampled.append((draws.counts @ (means * chosen)) / (draws.counts @ chosen))
    found = estimate(values[1] - values[0], resampled[1] - resampled[0], len(series.people))
    return {"first": kinds[0], "second": kinds[1], **asdict(found)}


def _left_out(rows: pl.DataFrame, metric: Metric, judge: str) -> dict[str, Any]:
    """People whose dialogue does not count, by the group that ``only`` names."""
    only, person = metric.aggregation.only, metric.aggregation.clusters[0]
    if not only:
        return {"left_out": []}
    gone = rows.filter((pl.col("judge") == judge) & (pl.col(only[0]) != only[1]))
    return {"left_out": sorted(gone[person].unique().to_list())}
