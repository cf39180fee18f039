"""Charts in HTML and SVG that scale to any width, print, and say their numbers in text.

A position is a share of the chart's width, so nothing is measured in pixels and a phone shows the same
chart. Every mark carries its value in ``data-value`` (a share, 0 to 1), next to what places it.
Intervals are Wilson's. HEART-BENCH Figures 4 to 7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

_RADIUS = 42.0  # of 100
_DASHES = ("", "6 4", "2 4", "9 3 2 3", "14 4", "1 6", "9 3 2 3 2 3", "3 2")  # as many as a chart has lines

Share = Mapping[str, Any]


@dataclass(frozen=True)
class Mark:
    """A dot on a row: which series, where, and its interval; shares from 0 to 1, None for nothing to show."""

    series: str
    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A reference that runs through all rows."""

    value: float
    name: str


def percent(value: float | None, digits: int = 1) -> str:
    """A share for people; a dash for none."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def points(value: float) -> str:
    """A difference in points of a per cent, with a sign that is as wide as a plus."""
    return f"{100 * value:+.1f}".replace("-", "−")


def interval(share: Share) -> str:
    """An interval for people."""
    return "–" if share["rate"] is None else f"{100 * share['low']:.1f}–{100 * share['high']:.1f}"


def dots(rows: Sequence[tuple[str, Sequence[Mark]]], most: float, lines: Sequence[Line] = ()) -> str:
    """Rows of dots with intervals on one scale from 0 to ``most``; the value stands at the end of a row of one."""
    scale = "".join(f'<span style="left:{_at(tick, most)}">{round(100 * tick)}</span>' for tick in _ticks(most))
    references = "".join(
        f'<i class="ref" style="left:{_at(line.value, most)}" data-reference="{line.value:.6f}"></i>' for line in lines
    )
    body = "".join(
        f'<div class="row"><span class="label">{escape(label)}</span>'
        f'<span class="track">{references}{"".join(_dot(mark, most) for mark in marks)}</span>'
        f'<span class="value">{percent(marks[0].value) if len(marks) == 1 else ""}</span></div>'
        for label, marks in rows
    )
    caption = (
        f'<p class="refs">{"; ".join(f"{escape(one.name)} {percent(one.value)}" for one in lines)}</p>' if lines else ""
    )
    return (
        f'<div class="dots" style="--gridstep:{100 * _step(most) / most:.4f}%">{body}'
        f'<div class="row scale" aria-hidden="true"><span></span><span class="track">{scale}</span>'
        f"<span>%</span></div></div>{caption}"
    )


def _dot(mark: Mark, most: float) -> str:
    if mark.value is None:
        return ""
    said = f"{mark.name}: {percent(mark.value)}"
    whisker = ""
    if mark.low is not None and mark.high is not None:
        said += f", interval {100 * mark.low:.1f} to {100 * mark.high:.1f} %"
        width = 100 * (mark.high - mark.low) / most
        whisker = f'<i class="ci {mark.series}" style="left:{_at(mark.low, most)};width:{width:.3f}%"></i>'
    return (
        f'{whisker}<b class="dot {mark.series}" style="left:{_at(mark.value, most)}" data-value="{mark.value:.6f}"'
        f' data-most="{most}" role="img" aria-label="{escape(said)}" title="{escape(said)}"></b>'
    )


def lines(columns: Sequence[str], series: Sequence[tuple[str, str, Sequence[float | None]]], most: float) -> str:
    """A line a series over named columns; a series is its class, its name and a share a column."""
    step = 100 / len(columns)
    drawn = "".join(_polyline(*one, step, most, dash) for one, dash in zip(series, dashes(series), strict=True))
    grid = "".join(f'<path class="grid" d="M0 {100 - 100 * tick / most:.3f}H100"/>' for tick in _ticks(most))
    ticks = "".join(f'<span style="bottom:{_at(tick, most)}">{round(100 * tick)}</span>' for tick in _ticks(most))
    names = "".join(f"<span>{escape(column)}</span>" for column in columns)
    return (
        f'<div class="lines"><div class="axis" aria-hidden="true">{ticks}</div>'
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">{grid}{drawn}</svg>'
        f'<div class="columns" style="--columns:{len(columns)}">{names}</div></div>'
    )


def _polyline(series: str, name: str, values: Sequence[float | None], step: float, most: float, dash: str) -> str:
    points = [
        (step * (column + 0.5), 100 - 100 * value / most, value)
        for column, value in enumerate(values)
        if value is not None
    ]
    path = " ".join(f"{'L' if index else 'M'}{x:.3f} {y:.3f}" for index, (x, y, _) in enumerate(points))
    marks = "".join(
        f'<path class="point {series}" d="M{x:.3f} {y:.3f}h.001" data-value="{value:.6f}" data-most="{most}">'
        f"<title>{escape(name)}: {percent(value)}</title></path>"
        for x, y, value in points
    )
    return f'<path class="line {series}" d="{path}"{f" stroke-dasharray={dash!r}" if dash else ""}/>{marks}'


def dashes(series: Sequence[tuple[str, str, Sequence[float | None]]]) -> list[str]:
    """A dash pattern a line: those of one colour differ."""
    seen: dict[str, int] = {}
    made = []
    for name, _, _ in series:
        made.append(_DASHES[seen.get(name, 0) % len(_DASHES)])
        seen[name] = seen.get(name, 0) + 1
    return made


def sample(series: str, dash: str) -> str:
    """A piece of a line, for a legend."""
    stroke = f' stroke-dasharray="{dash}"' if dash else ""
    line = f'<path class="line {series}" d="M0 4H30"{stroke}/>'
    return f'<svg class="sample" viewBox="0 0 30 8" aria-hidden="true">{line}</svg>'


def radar(spokes: Sequence[str], series: Sequence[tuple[str, str, Sequence[float | None]]], most: float) -> str:
    """A polygon a series, a spoke a model (Figure 4); spokes are numbered, their names stand below."""
    turn = 2 * math.pi / len(spokes)
    rings = "".join(
        f'<circle class="grid" cx="50" cy="50" r="{_RADIUS * tick / most:.3f}"/>'
        f'<text class="tick" x="51" y="{50 - _RADIUS * tick / most + 3:.2f}">{round(100 * tick)}</text>'
        for tick in _ticks(most)
        if tick
    )
    arms = "".join(
        f'<path class="grid" d="M50 50L{_polar(_RADIUS, turn * place)}"/>'
        f'<text class="spoke" text-anchor="middle" x="{50 + 46 * math.sin(turn * place):.2f}"'
        f' y="{51.2 - 46 * math.cos(turn * place):.2f}">{place + 1}</text>'
        for place in range(len(spokes))
    )
    shapes = ""
    for name, label, values in series:
        points = [_polar(_RADIUS * (value or 0) / most, turn * place) for place, value in enumerate(values)]
        shapes += f'<path class="shape {name}" d="M{"L".join(points)}Z"><title>{escape(label)}</title></path>'
    names = "".join(f"<li>{escape(spoke)}</li>" for spoke in spokes)
    return (
        f'<div class="radar"><svg viewBox="0 0 100 100" role="img" aria-label="Accuracy by model and setting; the same'
        f' numbers stand in the rows above">{rings}{arms}{shapes}</svg><ol>{names}</ol></div>'
    )


def matrix(names: Sequence[str], cells: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """Pairwise agreement as a table whose cells are shaded (Figure 7); the diagonal is left out."""
    shown = [cell["rate"] for place, row in enumerate(cells) for cell in row[:place] if cell["rate"] is not None]
    least, most = (min(shown), max(shown)) if shown else (0.0, 1.0)
    header = "".join(
        f'<th scope="col"><abbr title="{escape(name)}">{place}</abbr></th>' for place, name in enumerate(names, 1)
    )
    body = ""
    for place, (name, row) in enumerate(zip(names, cells, strict=True)):
        body += f'<tr><th scope="row"><span class="number">{place + 1}</span> {escape(name)}</th>'
        for column, cell in enumerate(row):
            body += '<td class="self"></td>' if column == place else _cell(cell, least, most)
        body += "</tr>"
    return (
        f'<div class="wide"><table class="matrix"><thead><tr><td></td>{header}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(cell: Mapping[str, Any], least: float, most: float) -> str:
    if cell["rate"] is None:
        return "<td>–</td>"
    shade = 12 + 68 * ((cell["rate"] - least) / (most - least) if most > least else 0.5)
    dark = " class=dark" if shade > 48 else ""
    return (
        f'<td{dark} style="--shade:{shade:.1f}%" data-value="{cell["rate"]:.6f}"'
        f' title="{cell["items"]} questions answered by both">{100 * cell["rate"]:.1f}</td>'
    )


def strip(counts: Mapping[int, int], bounds: Sequence[tuple[str, int, int]], first: int, last: int) -> str:
    """Counts by age as bars from ``first`` to ``last``, over the stages they fall in (name, from, to)."""
    most = max(counts.values(), default=1)
    years = last - first + 1
    bars = "".join(
        f'<path d="M{age - first + 0.08:.2f} 100v{-100 * count / most:.3f}h.84V100Z" data-value="{count}">'
        f"<title>age {age}: {count} memories</title></path>"
        for age, count in sorted(counts.items())
        if first <= age <= last
    )
    stages = "".join(
        f'<span style="left:{100 * (start - first) / years:.3f}%;width:{100 * (end - start + 1) / years:.3f}%"'
        f' title="{escape(name)}, {start} to {end}">{start}</span>'
        for name, start, end in bounds
    )
    return (
        f'<div class="strip"><svg viewBox="0 0 {years} 100" preserveAspectRatio="none" role="img"'
        f' aria-label="Memories by age, {sum(counts.values())} in all, at most {most} in a year">{bars}</svg>'
        f'<div class="stages" aria-hidden="true">{stages}</div></div>'
    )


def round_scale(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a scale that holds 0 and all values: whole numbers, or tenths where everything is small."""
    least, most = min([0.0, *values]), max([0.0, *values])
    step = 0.1 if max(most, -least) <= 0.5 else 1.0
    return math.floor(least / step - 1e-9) * step if least else 0.0, max(step, math.ceil(most / step - 1e-9) * step)


def whisker(value: float | None, spread: Mapping[str, Any] | None, least: float, most: float) -> str:
    """A dot with its interval on a scale of its own, for a cell of a table; nothing for no value."""
    if value is None:
        return ""
    width = most - least
    line = ""
    if spread and spread["low"] is not None:
        left, long = 100 * (spread["low"] - least) / width, 100 * (spread["high"] - spread["low"]) / width
        line = f'<i class="ci s-naive_rag" style="left:{left:.3f}%;width:{long:.3f}%"></i>'
    dot = f'<b class="dot s-naive_rag" style="left:{100 * (value - least) / width:.3f}%"></b>'
    return f'<span class="track small" aria-hidden="true">{line}{dot}</span>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Series classes and their names."""
    items = "".join(f'<li><i class="swatch {series}"></i>{escape(name)}</li>' for series, name in entries)
    return f'<ul class="legend">{items}</ul>'


def ceiling(values: Sequence[float | None]) -> float:
    """The end of a scale that holds all values: a multiple of ten per cent, at most 1."""
    top = max((value for value in values if value is not None), default=1.0)
    return min(1.0, math.ceil(top * 10 + 1e-9) / 10 or 0.1)


def _step(most: float) -> float:
    return 0.1 if most <= 0.6 else 0.2


def _ticks(most: float) -> list[float]:
    return [place * _step(most) for place in range(int(most / _step(most) + 1e-9) + 1)]


def _at(value: float, most: float) -> str:
    return f"{100 * value / most:.4f}%"


def _polar(radius: float, angle: float) -> str:
    return f"{50 + radius * math.sin(angle):.3f} {50 - radius * math.cos(angle):.3f}"
