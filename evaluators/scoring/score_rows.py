"""Scores as rows: one Parquet file of scores beside a small JSON header, checked when written and when read.

A row is one item judged by one judge on one metric: its groups, value, state, evidence, tokens and cost. A value is
there exactly where the state is "scored": null is never 0. Where the quality of the answers was planted, ``planted``
and ``planted_state`` hold what a judge should say, and judges are examined by them. The header says of which release
the scores are, which metrics and judges, and the figures; on reading these are made again from the rows.

    build/evaluations/fidelity@0.1.0/judged.offline-planted.json
    build/evaluations/fidelity@0.1.0/judged.offline-planted.scores.parquet
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from evaluators.scoring.fidelity import LEVELS
from evaluators.scoring.metrics import STATES, Metric, close, metric_of
from evaluators.scoring.score_figures import summary
from schemas.errors import RequestError
from schemas.rows import write_whole

SUFFIX = ".scores.parquet"
KEY = ("metric", "judge", "item")

_COLUMNS: Mapping[str, pl.DataType] = {
    "item": pl.String(),
    "metric": pl.String(),
    "judge": pl.String(),
    "state": pl.String(),
    "value": pl.Float64(),
    "planted": pl.Float64(),
    "planted_state": pl.String(),
    "reason": pl.String(),
    "evidence": pl.String(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "cost": pl.Float64(),
}
_SPENT = ("input_tokens", "output_tokens", "cost")
_RECOMPUTED = ("item", "metric", "judge", "state", "value", "planted", "planted_state", "reason")
_AGAIN = "Judge again"


@dataclass(frozen=True)
class Scores:
    """A header and what its figures are made of; ``frame`` has the groups as columns of their own."""

    path: Path
    header: dict[str, Any]
    metrics: tuple[Metric, ...]
    frame: pl.DataFrame


def frame_of(rows: Sequence[Mapping[str, Any]], groups: Sequence[str]) -> pl.DataFrame:
    """Score rows as a frame with the declared columns; ``rows`` hold their groups under ``groups``."""
    schema = {**_COLUMNS, "groups": pl.Struct({name: pl.String() for name in groups})}
    return pl.DataFrame(list(rows), schema=schema)


def write_scores(path: Path, head: Mapping[str, Any], metrics: Sequence[Metric], frame: pl.DataFrame) -> dict[str, Any]:
    """Write rows, then the header that vouches for them; returns the header.

    ``head`` holds what a result begins with (``results.head``). Raises RequestError as ``read_scores`` does.
    """
    ordered = frame.sort(KEY)
    problem = _problem(_flat(ordered), metrics)
    if problem is not None:
        raise _wrong(problem, path)
    sink = io.BytesIO()
    ordered.write_parquet(sink, compression="zstd", statistics=False)
    rows = sink.getvalue()
    seed = head["run"]["seed"]
    header: dict[str, Any] = {
        **head,
        "metrics": [metric.as_dict() for metric in metrics],
        "rows": {"file": rows_beside(path).name, "count": len(ordered), "sha256": hashlib.sha256(rows).hexdigest()},
        "figures": {**summary(_flat(ordered), metrics, seed), "used": _used(ordered)},
    }
    write_whole(rows_beside(path), [rows])
    write_whole(path, [orjson.dumps(header, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])
    return header


def rows_beside(path: Path) -> Path:
    """The file of the rows of a header."""
    return path.with_name(path.name.removesuffix(".json") + SUFFIX)


def read_scores(path: Path, header: Mapping[str, Any]) -> Scores:
    """The rows of a header that ``results`` has read, and figures that follow from them.

    Raises RequestError, naming item and file, for rows that are missing, doubled, out of range, of another file
    than the header's, or whose figures are not the header's.
    """
    rows = rows_beside(path)
    try:
        metrics = tuple(metric_of(value) for value in header["metrics"])
    except (KeyError, TypeError) as error:
        raise RequestError("malformed metric", path, expected=str(error), fix=_AGAIN) from None
    frame, spent = _read(rows, header["rows"]["sha256"])
    if len(frame) != header["rows"]["count"]:
        expected = f"{header['rows']['count']:,} rows, found {len(frame):,}"
        raise RequestError("another number of rows", rows, expected=expected, fix=_AGAIN)
    problem = _problem_of_metrics(frame, metrics)  # what the rows alone show was checked as they were read
    if problem is not None:
        raise _wrong(problem, rows)
    fresh = orjson.loads(orjson.dumps({**summary(frame, metrics, header["run"]["seed"]), "used": _used(spent)}))
    for name in sorted(fresh.keys() | header["figures"].keys()):
        if name not in fresh or not close(header["figures"].get(name), fresh[name]):
            raise RequestError("figures do not follow from the rows", path, field=name, fix=_AGAIN)
    _demand_consistent(path, header, frame)
    return Scores(path, dict(header), metrics, frame)


def _demand_consistent(path: Path, header: Mapping[str, Any], frame: pl.DataFrame) -> None:
    """Raises RequestError for a header that names another model or other judges than its other half or its rows."""
    run, said = header["run"], header["said"]
    if run["model"] != said["model"]:
        raise RequestError("two models", path, field="run.model", expected=str(said["model"]), fix=_AGAIN)
    judges = sorted(frame["judge"].unique().to_list())
    if len(frame) and sorted(run["judges"]) != judges:
        raise RequestError("judges against the rows", path, field="run.judges", expected=", ".join(judges), fix=_AGAIN)


@dataclass(frozen=True)
class _Problem:
    what: str
    item: str | None = None
    field: str | None = None
    expected: str | None = None


def _wrong(problem: _Problem, path: Path) -> RequestError:
    return RequestError(
        problem.what, path, row=problem.item, field=problem.field, expected=problem.expected, fix=_AGAIN
    )


def _read(path: Path, digest: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that figures are made of, and what judging them used."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        whole = pl.read_parquet_schema(path)
    except FileNotFoundError:
        raise RequestError("missing rows", path, fix="Put them beside their header, or judge again") from None
    except (pl.exceptions.ComputeError, OSError) as error:
        raise RequestError("malformed Parquet", path, expected=str(error), fix=_AGAIN) from None
    for name, kind in _COLUMNS.items():
        if whole.get(name) != kind:
            raise RequestError("column of another type", path, field=name, expected=str(kind), fix=_AGAIN)
    if not isinstance(whole.get("groups"), pl.Struct):
        raise RequestError("column of another type", path, field="groups", expected="a struct", fix=_AGAIN)
    frame = _flat(pl.read_parquet(path, columns=[*_RECOMPUTED, "groups"], memory_map=True))
    problem = _problem(frame, None)
    if problem is not None:
        raise _wrong(problem, path)
    if found != digest:
        expected = f"SHA-256 {digest[:16]}, found {found[:16]}"
        raise RequestError("rows of another result", path, expected=expected, fix=_AGAIN)
    return frame, pl.read_parquet(path, columns=["judge", *_SPENT], memory_map=True)


def _used(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Judge -> tokens and dollars; dollars None where a part has no price."""
    sums = frame.group_by("judge").agg(
        pl.col("input_tokens").sum(),
        pl.col("output_tokens").sum(),
        pl.when(pl.col("cost").null_count() == 0).then(pl.col("cost").sum()).alias("cost"),
    )
    return {row.pop("judge"): row for row in sums.sort("judge").rows(named=True)}


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The columns that figures need, with the groups as columns of their own."""
    return frame.select(*_RECOMPUTED, "groups").unnest("groups")


def _problem(frame: pl.DataFrame, metrics: Sequence[Metric] | None) -> _Problem | None:
    """The first thing that is wrong with rows; without ``metrics`` only what rows alone can show."""
    for column in ("item", "metric", "judge", "state"):
        if frame[column].null_count():
            return _Problem("null", None, column, "a text in every row")
    if bad := _first(frame, ~pl.col("state").is_in(STATES)):
        return _Problem(f"unknown state {bad['state']!r}", bad["item"], "state", ", ".join(STATES))
    if bad := _first(frame, (pl.col("state") == "scored") != pl.col("value").is_not_null()):
        return _Problem("value against its state", bad["item"], "value", "a value where scored, null elsewhere")
    if bad := _first(frame, pl.col("planted_state").eq_missing(pl.lit("scored")) != pl.col("planted").is_not_null()):
        return _Problem(
            "planted value against its state", bad["item"], "planted", "a value where scored, null elsewhere"
        )
    doubled = frame.select(KEY).is_duplicated()
    if doubled.any():
        bad = frame.filter(doubled).row(0, named=True)
        return _Problem(f"two scores of {bad['judge']} on {bad['metric']}", bad["item"], None, "one")
    return None if metrics is None else _problem_of_metrics(frame, metrics)


def _problem_of_metrics(frame: pl.DataFrame, metrics: Sequence[Metric]) -> _Problem | None:
    known = {metric.name: metric for metric in metrics}
    for name in frame["metric"].unique().sort().to_list():
        if name not in known:
            return _Problem(f"unknown metric {name!r}", None, "metric", ", ".join(known))
    for metric in metrics:
        own = frame.filter(pl.col("metric") == metric.name)
        missing = [group for group in metric.aggregation.groups if group not in frame.columns]
        if missing:
            return _Problem(f"no group {missing[0]!r}", None, "groups", f"{metric.name} is summed up by it")
        if problem := _problem_of_groups(own, metric):
            return problem
        if bad := _first(own, pl.col("value").is_not_null() & ~pl.col("value").is_in(metric.scale.values)):
            return _Problem(f"score {bad['value']:g} of {metric.name}", bad["item"], "value", metric.scale.in_words())
        every = own["item"].n_unique()
        for judge in own["judge"].unique().sort().to_list():
            judged = own.filter(pl.col("judge") == judge)
            if len(judged) != every:
                gone = own.select("item").unique().join(judged, on="item", how="anti")["item"].min()
                return _Problem(f"no score of {judge} on {metric.name}", str(gone), None, "a row for every item")
    return None


def _problem_of_groups(own: pl.DataFrame, metric: Metric) -> _Problem | None:
    """A group that figures need and a row does not have, or a level that is none."""
    how = metric.aggregation
    needed = {*how.within, *how.clusters, *how.sets, *how.only[:1], *filter(None, (how.target, how.series))} - {"item"}
    for name in sorted(needed):
        if bad := _first(own, pl.col(name).is_null()):
            return _Problem("null", bad["item"], f"groups.{name}", f"a text: {metric.name} is summed up by it")
    if how.target and (bad := _first(own, ~pl.col(how.target).is_in(LEVELS))):
        return _Problem(f"unknown level {bad[how.target]!r}", bad["item"], f"groups.{how.target}", ", ".join(LEVELS))
    return None


def _first(frame: pl.DataFrame, bad: pl.Expr) -> dict[str, Any] | None:
    found = frame.filter(bad).head(1)
    return found.row(0, named=True) if len(found) else None
