"""The figures of a card: one horizontal bar a row of a query, as SVG that a hub shows and a diff can read.

A figure is a title, a unit and a SELECT with the columns ``label`` and ``value`` and, where there is
something to hold it against, ``reference``; it stands in ``cards/<benchmark>.toml`` and is drawn from
the release itself, so the command beside it gives the same numbers. No clock, no fonts of ours, no
randomness: the same release gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from releases.asking.bounded import Patience, at_most
from releases.query import ask

if TYPE_CHECKING:
    import duckdb

_WIDTH = 720
_LABELS = 220  # px left of the bars
_VALUES = 110  # px right of them
_ROW = 24
_MOST_BARS = 1000
_TOP = 44
_INK, _PALE, _BAR, _MARK = "#1f2933", "#52606d", "#3b6ea5", "#c2410c"


@dataclass(frozen=True)
class Figure:
    """What a figure shows and the SQL that gives it; ``reference`` says what the marks are."""

    name: str
    title: str
    unit: str
    sql: str
    needs: tuple[str, ...]
    reference: str = ""


@dataclass(frozen=True)
class Bar:
    """One row of a figure."""

    label: str
    value: float
    reference: float | None


def bars(connection: duckdb.DuckDBPyConnection, figure: Figure, patience: Patience) -> list[Bar]:
    """The rows that a figure's SQL gives on a release. Raises RequestError for more than anybody could read."""
    with ask(connection, figure.sql, patience) as batches:
        rows = [row for batch in at_most(batches, _MOST_BARS, f"figure {figure.name}") for row in batch.to_pylist()]
    return [
        Bar(str(row["label"]), float(row["value"]), None if row.get("reference") is None else float(row["reference"]))
        for row in rows
    ]


def draw(figure: Figure, shown: Sequence[Bar]) -> str:
    """The figure as an SVG document; a title and a description carry the numbers for who cannot see it."""
    height = _TOP + _ROW * len(shown) + (44 if figure.reference else 20)
    top = max([bar.value for bar in shown] + [bar.reference or 0 for bar in shown] + [0]) or 1
    scale = (_WIDTH - _LABELS - _VALUES) / top
    described = "; ".join(f"{bar.label}: {number(bar.value)}" for bar in shown)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{escape(figure.title)}</title>",
        f"<desc>{escape(described)}</desc>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="26" fill="{_INK}" font-size="15" font-weight="600">{escape(figure.title)}'
        f'<tspan fill="{_PALE}" font-weight="400" font-size="13">  {escape(figure.unit)}</tspan></text>',
    ]
    for row, bar in enumerate(shown):
        lines += _bar(bar, _TOP + _ROW * row, scale)
    if figure.reference:
        y = height - 16
        lines.append(f'<rect x="{_LABELS}" y="{y - 11}" width="3" height="14" fill="{_MARK}"/>')
        lines.append(f'<text x="{_LABELS + 10}" y="{y}" fill="{_PALE}">{escape(figure.reference)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _bar(bar: Bar, y: int, scale: float) -> list[str]:
    width = _px(bar.value * scale)
    lines = [
        f'<text x="{_LABELS - 10}" y="{y + 14}" text-anchor="end" fill="{_INK}">{escape(bar.label)}</text>',
        f'<rect x="{_LABELS}" y="{y + 2}" width="{width}" height="16" fill="{_BAR}"/>',
    ]
    end = bar.value
    if bar.reference is not None:
        end = max(bar.value, bar.reference)
        lines.append(f'<rect x="{_px(_LABELS + bar.reference * scale)}" y="{y}" width="3" height="20" fill="{_MARK}"/>')
    lines.append(f'<text x="{_px(_LABELS + end * scale + 10)}" y="{y + 14}" fill="{_INK}">{number(bar.value)}</text>')
    return lines


def _px(value: float) -> str:
    return f"{value:.1f}"


def number(value: float) -> str:
    """A value as figure and card print it: counts with separators, the rest to three places."""
    return f"{int(value):,}" if value == int(value) else f"{value:.3f}"
