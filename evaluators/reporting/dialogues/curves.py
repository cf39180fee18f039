"""Scores session by session: curves with bands, slopes over all sessions and in segments, kinds of people.

From ``figures.series`` of score files. LikeBench 5: improvement rate, its scaled form, and R2; the gain of a memory is
the difference of two runs of one model that differ in it, person by person; so is what follows from a changed user.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import combinations
from typing import Any

import polars as pl

from evaluators.reporting.charts import legend
from evaluators.reporting.parts import Section, table
from evaluators.scoring.metrics import metric_of
from evaluators.scoring.score_rows import Scores
from evaluators.scoring.series_figures import difference, series_of

COLOURS = ("s-naive_rag", "s-recent", "s-mem0", "s-persona_db", "s-oracle", "s-full", "s-vanilla")
_RULE = (
    "A turn is the mean of the metrics that apply to it, a session the mean of its turns, a person the mean of their "
    "sessions, a run the mean of its people. A turn without a score (not applicable, a verdict that cannot be read) is "
    "left out and nothing is put in its place. People whose dialogue stopped half-way are left out whole: "
)

Result = Mapping[str, Any]


def curves(names: Sequence[str], results: Sequence[Result]) -> Section:
    """The curves of each rubric, and what they come to."""
    body = ""
    for rubric in dict.fromkeys(one["rubric"] for _, one in _entries(names, results)):
        own = [(name, one) for name, one in _entries(names, results) if one["rubric"] == rubric and one["places"]]
        if own:
            body += f"<h3>{escape(_title(rubric))}</h3>{_chart(own)}{_by_session(own)}{_slopes(own)}{_kinds(own)}"
    gone = sorted({person for _, one in _entries(names, results) for person in one["left_out"]})
    listed = escape(", ".join(gone)) if gone else "here nobody"
    lead = "How scores change as sessions go by. Bands are 95 % intervals, whole people resampled."
    note = f'<p class="note">{_RULE}{listed}.</p>' if body else ""
    return Section("sessions", "Over the sessions", body + note, lead)


def gains(names: Sequence[str], results: Sequence[Result], scores: Mapping[str, Scores], seed: int) -> Section:
    """Runs of one model and user that differ in their memory or in one thing about the people alone, by pairs."""
    rows = []
    for (one, first), (two, second) in combinations(zip(names, results, strict=True), 2):
        about = [{key: value for key, value in each["run"].items() if key not in _MEMORY} for each in (first, second)]
        differ = [name for name in _PAIRED if first["run"].get(name) != second["run"].get(name)]
        if about[0] != about[1] or len(differ) != 1:
            continue
        for metric, judge in _judged(first):
            frames = [_rows(scores[name], metric["rubric"], judge) for name in (one, two)]
            before, after = (series_of(frame, metric_of(metric)) for frame in frames)
            found = difference(before, after, seed)
            if found is None:
                continue
            share = 100 * found["value"] / found["first"]
            rows.append(
                [
                    f"{escape(first['run']['model'])}: {differ[0]} {escape(str(second['run'][differ[0]]))} against "
                    f"{escape(str(first['run'][differ[0]] or 'as they are'))} "
                    f"<small>{escape(_title(metric['rubric']))}, judged by {escape(judge)}</small>",
                    f'<span data-value="{found["value"]:.6f}">{found["value"]:+.3f}</span>',
                    _bounds(found),
                    f"{share:+.2f} %",
                    f"{found['clusters']}",
                ]
            )
    lead = (
        "The same people, the same agendas, another memory (DUP is a summary of preferences renewed after each turn), "
        "or one thing about the people changed: what a model does because of the user shows in such pairs."
    )
    heads = ["What differs", "Second less first", "95 %", "Of the first", "People"]
    return Section("gains", "Pairs of runs", table(heads, rows) if rows else "", lead)


_PAIRED = ("memory", "flip")
_MEMORY = (*_PAIRED, "prompts", "served_by")


def _judged(result: Result) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The first metric of each rubric that is a series, with each judge."""
    for one in _series(result):
        yield next(metric for metric in result["metrics"] if metric["rubric"] == one["rubric"]), one["judge"]


def _rows(scores: Scores, rubric: str, judge: str) -> pl.DataFrame:
    names = [metric.name for metric in scores.metrics if metric.rubric == rubric]
    return scores.frame.filter(pl.col("metric").is_in(names) & (pl.col("judge") == judge))


def _entries(names: Sequence[str], results: Sequence[Result]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The series of each run under its name, and its judge's where there are several."""
    found = [(name, one) for name, result in zip(names, results, strict=True) for one in _series(result)]
    several = len({one["judge"] for _, one in found}) > 1
    for name, one in found:
        yield f"{name}, {one['judge']}" if several else name, one


def _series(result: Result) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = result["figures"].get("series", ())
    return found


def _title(rubric: str) -> str:
    """The name of a rubric for people: ``likebench.user_in_character@1`` is "User in character"."""
    return rubric.partition("@")[0].rpartition(".")[2].replace("_", " ").capitalize()


def _by_session(own: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The numbers of the chart: a row a session, a column a run."""
    places = list(dict.fromkeys(place for _, one in own for place in one["places"]))
    cells: dict[str, list[str]] = {place: [] for place in places}
    for _, one in own:
        dots = dict(zip(one["places"], one["curve"], strict=True))
        for place in places:
            cells[place].append(_dot(dots.get(place)))
    rows = [[str(int(place)), *found] for place, found in cells.items()]
    shown = table(["Session", *(name for name, _ in own)], rows)
    return f"<details><summary>The numbers of the chart</summary>{shown}</details>"


def _dot(dot: Mapping[str, Any] | None) -> str:
    if dot is None or dot["value"] is None:
        return "–"
    return f"{dot['value']:.3f} <small>{_bounds(dot)}</small>"


def _chart(own: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """A line with its band a run and judge."""
    places = max((one["places"] for _, one in own), key=len)
    known = [end for _, one in own for dot in one["curve"] for end in (dot["low"], dot["high"], dot["value"])]
    shown = [value for value in known if value is not None]
    least = math.floor(min(shown) - 0.01)
    most = max(least + 1, math.ceil(max(shown)))
    drawn = "".join(
        _line(name, one["curve"], COLOURS[place % len(COLOURS)], (least, most, len(places)))
        for place, (name, one) in enumerate(own)
    )
    ticks = [least + (most - least) * step / 4 for step in range(5)]
    grid = "".join(f'<path class="grid" d="M0 {_y(tick, least, most):.3f}H100"/>' for tick in ticks)
    axis = "".join(f'<span style="bottom:{100 - _y(tick, least, most):.3f}%">{tick:.2f}</span>' for tick in ticks)
    columns = "".join(f"<span>{int(place)}</span>" for place in places)
    about = "Scores by session; the same numbers stand in the table that opens below"
    return (
        f'<figure><div class="lines scores"><div class="axis" aria-hidden="true">{axis}</div>'
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="{about}">{grid}{drawn}</svg>'
        f'<div class="columns" style="--columns:{len(places)}" aria-hidden="true">{columns}</div></div>'
        f"{legend([(COLOURS[place % len(COLOURS)], name) for place, (name, _) in enumerate(own)])}</figure>"
    )


def _line(name: str, curve: Sequence[Mapping[str, Any]], colour: str, frame: tuple[int, int, int]) -> str:
    least, most, count = frame
    dots = [((place + 0.5) * 100 / count, dot) for place, dot in enumerate(curve) if dot["value"] is not None]
    banded = [(x, dot) for x, dot in dots if dot["low"] is not None]
    upper = [f"{x:.3f} {_y(dot['high'], least, most):.3f}" for x, dot in banded]
    lower = [f"{x:.3f} {_y(dot['low'], least, most):.3f}" for x, dot in reversed(banded)]
    band = f'<path class="band {colour}" d="M{"L".join([*upper, *lower])}Z"/>' if banded else ""
    path = "L".join(f"{x:.3f} {_y(dot['value'], least, most):.3f}" for x, dot in dots)
    marks = "".join(
        f'<path class="point {colour}" d="M{x:.3f} {_y(dot["value"], least, most):.3f}h.001" '
        f'data-value="{dot["value"]:.6f}"><title>{escape(name)}: {dot["value"]:.3f}</title></path>'
        for x, dot in dots
    )
    return f'{band}<path class="line {colour}" d="M{path}"/>{marks}'


def _y(value: float, least: float, most: float) -> float:
    return 100 - 100 * (value - least) / (most - least)


def _slopes(own: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Means and slopes: IR with its interval, N-IR and R2, over all sessions, and in each segment where one looks."""
    whole = [[escape(name), _dot(one["mean"]), *_slope(trend)] for name, one in own for trend in one["trends"][:1]]
    parts = [
        [f"{escape(name)} <small>sessions {trend['first']} to {trend['last']}</small>", *_slope(trend)]
        for name, one in own
        for trend in one["trends"][1:]
    ]
    note = (
        '<p class="note">IR is the slope of the curve, in score points a session; N-IR that of the curve brought to '
        "0..1 within the sessions named; R² says how well a line fits, and does not exist for a curve that is flat.</p>"
    )
    shown = table(["Run", *_TREND], parts)
    details = f"<details><summary>Slopes in segments</summary>{shown}</details>" if parts else ""
    return table(["Run", "Mean", *_TREND], whole) + note + details


_TREND = ("IR", "N-IR", "R²")


def _slope(trend: Mapping[str, Any]) -> list[str]:
    """IR with its interval, N-IR and R2, for cells."""
    slope = trend["slope"]
    return [
        "–" if slope["value"] is None else f"{slope['value']:+.4f} <small>{_bounds(slope)}</small>",
        "–" if trend["scaled"] is None else f"{trend['scaled']:+.4f}",
        "–" if trend["fit"] is None else f"{trend['fit']:.4f}",
    ]


def _kinds(own: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Social against anti-social people, or whatever kinds there are: mean, slope and difference, a row a run."""
    kinds = sorted({kind for _, one in own for kind in one["kinds"]})
    differ = next((one["kinds_differ"] for _, one in own if one["kinds_differ"]), None)
    heading = [f"{differ['second'].capitalize()} less {differ['first']}"] if differ else []
    rows = []
    for name, one in own:
        found = [one["kinds"].get(kind) for kind in kinds]
        means = [_dot(kind["mean"]) if kind else "–" for kind in found]
        gap = one["kinds_differ"]
        gaps = [f"{gap['value']:+.3f} <small>{_bounds(gap)}</small>" if gap else "–"] if heading else []
        slopes = [_slope(kind["trends"][0])[0] if kind else "–" for kind in found]
        rows.append([escape(name), *means, *gaps, *slopes])
    heads = ["Run", *map(str.capitalize, kinds), *heading, *(f"{kind.capitalize()}, IR" for kind in kinds)]
    return table(heads, rows) if kinds else ""


def _bounds(found: Mapping[str, Any]) -> str:
    return "no interval" if found["low"] is None else f"{found['low']:.3f} to {found['high']:.3f}"
