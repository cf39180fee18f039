"""How well a judge of satisfaction could do, and what calibrations reach: measured on a release of planted raters.

A card declares it (``[curves]``: the tables of raters and of ratings, and the seed of the judges' noise). ``freeze``
measures the curves on the rows and writes them into the manifest; the card shows them as a table and a figure, and
``verify`` measures them again on the rows, whichever code wrote the card. PersTurnBench 3.4 and 4.3;
``schemas.satisfaction.curves`` says what each column is, and this prints the same table for any release:

    python -m evaluators.satisfaction.curves persturn@1.0.1 --markdown
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.cards.figures import Bar, Figure, number
from releases.manifest import Manifest, Problem
from releases.opening import Release
from schemas.tables import Row

MOST_RATERS = 500
"""Raters that are measured, the first by the SHA-256 of their id: what more of them add is smaller than rounding."""

TOLERANCE = 0.001
"""Linear algebra differs between machines in the last bits, which can move a turn or two to a neighbouring score."""

Curves = Mapping[str, Any]

_PLACES = 4
_LEAST_TASKS = 2  # a task is calibrated from the others
_MOST_BIASED = "harsh"
_DRAWN = ("reference_cdf", "ordinal")


def measured(release: Release) -> dict[str, Any] | None:
    """The curves of a release; None where its card declares none, or raters, ratings or their planted truth are not there.

    Raises RequestError for a row without planted truth among rows that have it.
    """
    said = release.manifest["card"].get("curves")
    if not said or not all(_is_planted(release, said[part]) for part in ("raters", "ratings")):
        return None
    from schemas.satisfaction.curves import JUDGES, curve
    from schemas.satisfaction.planted import planted_turns

    raters = sorted(release.rows(said["raters"]), key=_by_digest)[:MOST_RATERS]
    names = {row["rater_id"] for row in raters}
    ratings = [row for row in release.rows(said["ratings"]) if row["rater_id"] in names]
    if len({row["task"] for row in ratings}) < _LEAST_TASKS:
        return None
    turns = planted_turns(raters, ratings)
    rows = [_rounded(row) for judge in JUDGES for row in curve(turns, judge, said["seed"])]
    return {"seed": said["seed"], "raters": len(raters), "turns": len(ratings), "rows": rows}


def problems(release: Release) -> Iterator[Problem]:
    """The first figure of a manifest's curves that the rows do not give; a manifest before version 4 has none."""
    if "curves" not in release.manifest:
        return
    declared, found = release.manifest["curves"], measured(release)
    place = "manifest.json/curves"
    if declared is None or found is None:
        if declared is not found:
            yield Problem(place, "derived.curves", "missing, the rows have some" if found else "the rows have none")
        return
    for path, said, made in _beside(declared, found, ""):
        if not _agree(said, made):
            yield Problem(place, "derived.curves", f"{path} is {said}, the rows give {made}")
            return


def shown(curves: Curves | None, release: str) -> str:
    """The section of a card; empty where there are no curves."""
    if curves is None:
        return ""
    figure, bars = drawn(curves)
    values = "; ".join(f"{bar.label}: {number(bar.value)}" for bar in bars)
    return (
        "## How well a judge could do\n\n"
        f"Mean absolute error and, in brackets, quadratic weighted kappa of offline judges with planted bias, by the "
        f"number of source turns of each rater: {curves['turns']:,} turns of {curves['raters']:,} raters, judges' noise "
        f"drawn with seed {curves['seed']}. `best` knows rater and turn and lacks only the rater's noise, `oracle` "
        "calibrates knowing each rater's scale, `recovered` is the correlation of fitted borders of satisfaction with "
        f"the planted ones.\n\n{table(curves['rows'])}\n\n"
        f"![{figure.title}. {values}](figures/{figure.name}.svg)\n\n"
        f"```sh\npython -m evaluators.satisfaction.curves {release} --seed {curves['seed']}\n```\n\n"
        f"`python -m releases verify {release}` measures these figures again on the rows.\n\n"
    )


def table(rows: Sequence[Curves]) -> str:
    """Curves as a Markdown table, as the card and ``docs/persturn.md`` show them."""
    from schemas.satisfaction.curves import COLUMNS

    heads = ["judge", "source turns", *(name.replace("_", " ") for name in COLUMNS), "recovered"]
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
            bars.append(Bar(f"{method.replace('_', ' ')}, {history} turns", row[method], row["oracle"]))
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


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return round(value, _PLACES) if isinstance(value, float) else value


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


def _value(value: float | None, places: int) -> str:
    return "not defined" if value is None else f"{value:.{places}f}"
