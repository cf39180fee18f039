"""How well a judge of satisfaction could do, and what calibrations reach: measured on a release of planted raters.

A card declares it (``[curves]``: the tables of raters and of ratings, and the seed of the judges' noise). ``freeze``
measures the curves on the rows and writes them into the manifest; the card shows them as a table and a figure, and
``verify`` measures them again on the rows, whichever code wrote the card. PersTurnBench 3.4 and 4.3;
``schemas.satisfaction.curves`` says what each column is, and this prints the same table for any release:

    python -m evaluators.satisfaction.curves persturn@1.0.1 --markdown
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from releases.cards.figures import Bar, Figure, number
from releases.manifest import Problem
from releases.opening import Release
from schemas.tables import Row

if TYPE_CHECKING:
    from schemas.satisfaction.planted import PlantedTurns

MOST_RATERS = 500
"""Raters that are measured: of more, the first by the SHA-256 of their id, so that a large release is verified soon."""

TOLERANCE = 0.001
"""Linear algebra differs between machines in the last bits, which can move a turn or two to a neighbouring score."""

Curves = Mapping[str, Any]

_SECTION = Path(__file__).with_name("curves.md")

_LEAST_TASKS = 2  # a task is calibrated from the others
_MOST_BIASED = "harsh"
_DRAWN = ("reference_cdf", "ordinal")


def measured(release: Release) -> dict[str, Any] | None:
    """The curves of a release; None where its card declares none, or its rows have no planted truth.

    Raises RequestError for a row without planted truth among rows that have it.
    """
    said = release.manifest["card"].get("curves")
    if not said or not all(_is_planted(release, said[part]) for part in ("raters", "ratings")):
        return None
    from schemas.satisfaction.curves import curve
    from schemas.satisfaction.planted import JUDGES

    turns = turns_of(release, said["raters"], said["ratings"])
    if len(set(turns.task)) < _LEAST_TASKS:
        return None
    rows = [row for judge in JUDGES for row in curve(turns, judge, said["seed"])]
    return {"seed": said["seed"], "raters": len(turns.raters), "turns": len(turns.gold), "rows": rows}


def turns_of(release: Release, raters: str, ratings: str) -> PlantedTurns:
    """The turns of at most ``MOST_RATERS`` raters. Raises RequestError for a row without planted truth."""
    from schemas.satisfaction.planted import planted_turns

    chosen = sorted(release.rows(raters), key=_by_digest)[:MOST_RATERS]
    names = {row["rater_id"] for row in chosen}
    return planted_turns(chosen, [row for row in release.rows(ratings) if row["rater_id"] in names])


def problems(release: Release) -> Iterator[Problem]:
    """What is wrong with the curves of a manifest; a manifest before version 4 has none."""
    if "curves" in release.manifest and (said := difference(release.manifest["curves"], measured(release))):
        yield Problem("manifest.json/curves", "derived.curves", said)


def difference(declared: Curves | None, found: Curves | None) -> str | None:
    """The first figure of declared curves that is not that of the measured ones, in words; None where all agree."""
    if declared is None or found is None:
        return None if declared is found else "missing, the rows have some" if found else "the rows have none"
    for path, said, made in _beside(declared, found, ""):
        if not _agree(said, made):
            return f"{path} is {said}, the rows give {made}"
    return None


def shown(curves: Curves | None, release: str) -> str:
    """The section of a card; empty where there are no curves."""
    if curves is None:
        return ""
    figure, bars = drawn(curves)
    words = {
        "turns": f"{curves['turns']:,}",
        "raters": f"{curves['raters']:,}",
        "seed": curves["seed"],
        "table": table(curves["rows"]),
        "title": figure.title,
        "values": "; ".join(f"{bar.label}: {number(bar.value)}" for bar in bars),
        "name": figure.name,
        "release": release,
    }
    return string.Template(_SECTION.read_text("utf-8")).substitute(words)


def table(rows: Sequence[Curves]) -> str:
    """Curves as a Markdown table, as the card and ``docs/persturn.md`` show them."""
    from schemas.satisfaction.curves import COLUMNS

    heads = ["judge", "source turns", *map(_words, COLUMNS), "recovered"]
    lines = [f"| {' | '.join(heads)} |", "|---|---:|" + "---|" * (len(COLUMNS) + 1)]
    for row in rows:
        cells = [f"{row[name]:.3f} ({_value(row['qwk'][name], 2)})" for name in COLUMNS]
        history = "all" if row["history"] is None else str(row["history"])
        lines.append("| " + " | ".join([row["judge"], history, *cells, _value(row["recovered"], 3)]) + " |")
    return "\n".join(lines)


def drawn(curves: Curves) -> tuple[Figure, list[Bar]]:
    """The figure: what is left of the error of the judge with most bias, beside what an oracle leaves."""
    rows = [row for row in curves["rows"] if row["judge"] == _MOST_BIASED]
    bars = [Bar("raw", rows[0]["raw"], rows[0]["oracle"])]
    for method in _DRAWN:
        for row in rows:
            history = "all" if row["history"] is None else row["history"]
            bars.append(Bar(f"{_words(method)}, {history} turns", row[method], row["oracle"]))
    return _figure(), bars


def _figure() -> Figure:
    title = f"Error of a {_MOST_BIASED} judge by source turns"
    return Figure(
        "calibration-curves", title, "mean absolute error", "", (), "calibration that knows every rater's scale"
    )


def _is_planted(release: Release, name: str) -> bool:
    """Whether a table is there, with rows, and the first of them has its planted truth."""
    row: Row | None = next(iter(release.rows(name)), None) if release.tables.get(name) else None
    return row is not None and row.get("planted") is not None


def _by_digest(row: Row) -> str:
    return hashlib.sha256(row["rater_id"].encode()).hexdigest()


def _beside(declared: Any, found: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Every value of one of two documents beside the other's, with its path."""
    if isinstance(declared, dict) and isinstance(found, dict) and declared.keys() == found.keys():
        for name in sorted(found):
            yield from _beside(declared[name], found[name], f"{path}/{name}")
    elif isinstance(declared, list) and isinstance(found, list) and len(declared) == len(found):
        for number, (one, other) in enumerate(zip(declared, found, strict=True)):
            yield from _beside(one, other, f"{path}/{number}")
    else:
        yield path.lstrip("/"), declared, found


def _agree(declared: Any, found: Any) -> bool:
    if isinstance(declared, float) and isinstance(found, float):
        return abs(declared - found) <= TOLERANCE
    return type(declared) is type(found) and bool(declared == found)


def _words(name: str) -> str:
    """``reference_cdf`` -> ``reference CDF``."""
    return name.replace("_", " ").replace("cdf", "CDF")


def _value(value: float | None, places: int) -> str:
    return "not defined" if value is None else f"{value:.{places}f}"
