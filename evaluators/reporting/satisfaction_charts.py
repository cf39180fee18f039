"""Charts on the scale of raters, 1 to 5 on both axes with the line on which both are the same. Values stand in titles.

Positions are shares of a square, so that a phone and a print show the same chart; every mark has its numbers in
``data-x`` and ``data-y``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from evaluators.reporting.charts import legend

_LEAST, _MOST = 1, 5


@dataclass(frozen=True)
class Series:
    """Points of one colour: class, name, and x, y and what each point is."""

    css: str
    name: str
    points: Sequence[tuple[float, float, str]]
    joined: bool = False


def square(series: Sequence[Series], across: str, up: str, about: str) -> str:
    """Series over the scale of scores; ``across`` and ``up`` name the axes."""
    ticks = range(_LEAST, _MOST + 1)
    grid = "".join(f'<path class="grid" d="M{_x(n)} 0V100M0 {_y(n)}H100"/>' for n in ticks)
    body = "".join(_drawn(one) for one in series)
    left = "".join(f'<span style="bottom:{100 - _y(n):.2f}%">{n}</span>' for n in ticks)
    columns = "".join(f"<span>{n}</span>" for n in ticks)
    return (
        f'<figure><div class="lines square"><div class="axis" aria-hidden="true">{left}</div>'
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="{escape(about)}">{grid}'
        f'<path class="line s-vanilla" stroke-dasharray="4 4" d="M{_x(_LEAST)} {_y(_LEAST)}L{_x(_MOST)} {_y(_MOST)}"/>'
        f'{body}</svg><div class="columns" style="--columns:{len(ticks)}" aria-hidden="true">{columns}</div></div>'
        f"{legend([(one.css, one.name) for one in series])}"
        f'<figcaption class="note">Across: {escape(across)}. Up: {escape(up)}.</figcaption></figure>'
    )


def _drawn(series: Series) -> str:
    marks = "".join(
        f'<path class="point {series.css}" d="M{_x(x):.3f} {_y(y):.3f}h.001" data-x="{x:.4f}" data-y="{y:.4f}">'
        f"<title>{escape(title)}: {x:.2f}, {y:.2f}</title></path>"
        for x, y, title in series.points
    )
    if not series.joined:
        return marks
    path = " ".join(f"{'L' if place else 'M'}{_x(x):.3f} {_y(y):.3f}" for place, (x, y, _) in enumerate(series.points))
    return f'<path class="line {series.css}" d="{path}"/>{marks}'


def _x(score: float) -> float:
    return 10 + 80 * (score - _LEAST) / (_MOST - _LEAST)


def _y(score: float) -> float:
    return 100 - _x(score)
