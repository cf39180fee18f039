"""PersonaLens beside its paper: figures of both, which tables can be computed again and why, and the misprints.

What the paper prints stands in ``evaluators/task_dialogues/paper.toml``.

    python -m evaluators report build/evaluations/personalens@1.0.0/dialogues.json --out report.html
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting.parts import Section, table

_PAPER = Path(__file__).parents[1] / "task_dialogues" / "paper.toml"
_KINDS = ("single", "multi")


def beside(figures: Mapping[str, Any]) -> Section:
    """The paper's figures and those of the runs, a row a run."""
    paper = _paper()
    rows = []
    for row in paper["rows"]:
        for run, kinds in _named(figures, row["figure"]):
            name = f"{escape(row['what'])} <small>{escape(row['table'])}; here {escape(run)}</small>"
            both = [(f"{row[kind]:g}" if kind in row else "–", _value(kinds.get(kind))) for kind in _KINDS]
            rows.append([name, *(cell for pair in both for cell in pair)])
    lead = (
        f"The paper: {escape(paper['models'])}. Other models, other users: no figure has to be equal. Single and multi"
        " are tasks in one and in several domains."
    )
    head = ["Figure", "Paper, single", "Here, single", "Paper, multi", "Here, multi"]
    return Section("task-paper", "Beside the paper", table(head, rows) if rows else "", lead)


def again() -> Section:
    """Which tables of the paper can be computed again, why the others cannot, and its misprints."""
    paper = _paper()
    rows = [[escape(one["table"]), "yes" if one["again"] else "no", escape(one["why"])] for one in paper["tables"]]
    misprints = "".join(f"<li>{escape(one['where'])}: {escape(one['what'])}</li>" for one in paper["misprints"])
    body = table(["Of the paper", "Again", "Why"], rows, 9) + f"<h3>Misprints of the paper</h3><ul>{misprints}</ul>"
    return Section("task-again", "What can be computed again", body)


@functools.cache
def _paper() -> Mapping[str, Any]:
    return tomllib.loads(_PAPER.read_text("utf-8"))


def _named(figures: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Run (and judge) -> kinds of a figure: a metric of the judges or a measure of what was said."""
    for one in figures["scores"]:
        if one["metric"] == name:
            yield f"{one['run']}, judged by {one['judge']}", one["kinds"]
    for one in figures["runs"]:
        if name in one["kinds"]["all"]:
            yield one["run"], {kind: made[name] for kind, made in one["kinds"].items()}


def _value(figure: Mapping[str, Any] | None) -> str:
    if figure is None or figure["value"] is None:
        return "–"
    spread = "" if figure["low"] is None else f" <small>{figure['low']:.3f} to {figure['high']:.3f}</small>"
    return f"{figure['value']:.3f}{spread}"
