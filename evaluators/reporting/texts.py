"""Every judged text with its parts: the sentences of a response, or an answer as a whole, and what each judge said.

The texts come from the rows of what was said, found beside the scores and compared with the digests in their header.
What was judged is the last field that the judge is shown; sentences of one response stand together. A score carries
whether it fits the level that was assigned, where the rubric has a target. Dialogues have a reader of their own
(``dialogues.reader``).

    python -m evaluators report build/evaluations/fidelity@0.1.0/scores.*.json --out report.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from evaluators.reporting.dialogues.said import said_tables
from evaluators.reporting.parts import PLACED, Section, SharedWords, data_block_within
from evaluators.scoring.fidelity import level_of
from evaluators.scoring.metrics import Metric, metric_of
from evaluators.scoring.score_rows import rows_beside

_FORM = Path(__file__).with_name("texts.html")
_COLUMNS = ("item", "metric", "judge", "state", "value", "evidence", "reason")
_TEXT = "response"  # the column that sentences of one text share

Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Run:
    """One run's rows by text, and its scores by item."""

    name: str
    metrics: Sequence[Metric]
    shown: Sequence[str]
    texts: Mapping[str, Sequence[Row]]
    scores: Mapping[str, Sequence[Row]]


def texts(paths: Sequence[Path], names: Sequence[str], results: Sequence[Mapping[str, Any]]) -> Section:
    """The texts of all runs whose rows are at hand; empty without any."""
    runs, missing = [], []
    for path, name, result in zip(paths, names, results, strict=True):
        if "dialogues" in result["said"]["tables"]:
            continue
        found = _run(path, name, result)
        runs += [found] if found else []
        missing += [] if found else [name]
    notes = [f"Not at hand: {escape(', '.join(missing))}."] if missing else []
    body = ""
    if runs:
        ids = sorted({text for run in runs for text in run.texts})
        block, count = data_block_within("texts", ids, lambda chosen: _data(runs, chosen))
        body = _FORM.read_text("utf-8") + block
        notes += [PLACED.format(count=count, all=len(ids), what="texts")] if count < len(ids) else []
    note = "".join(f'<p class="note">{one}</p>' for one in notes)
    lead = (
        "What was judged, and what each judge said of it: a score, the words it rests on, or why there is none. Where "
        "a level was assigned, a green bar marks a score in its third of the scale and a red one a score outside it."
    )
    return Section("texts", "Text by text", body + note, lead)


def _run(path: Path, name: str, result: Mapping[str, Any]) -> _Run | None:
    """A run whose metrics are all of one unit, as far as rows are at hand."""
    metrics = [metric for metric in map(metric_of, result["metrics"]) if not metric.aggregation.of]
    unit = metrics[0].unit
    shown = result["run"].get("shown", {}).get(metrics[0].name)
    said = said_tables(path, result, (unit,)) if shown else None
    if said is None:
        return None
    rows = said[unit].sort("item")
    text = _TEXT if _TEXT in rows.columns else "item"
    scores: dict[str, list[Row]] = {}
    scored = pl.read_parquet(rows_beside(path), columns=[*_COLUMNS])
    for row in scored.with_columns(level_of(pl.col("value")).alias("level")).rows(named=True):
        scores.setdefault(row["item"], []).append(row)
    judged = rows.filter(pl.col("item").is_in(scored["item"].implode())).rows(named=True)
    by_text = {str(key): list(own) for key, own in groupby(judged, key=lambda row: row[text])}
    return _Run(name, metrics, shown, by_text, scores)


def _data(runs: Sequence[_Run], chosen: Sequence[str]) -> dict[str, Any]:
    """What the script needs, of these texts."""
    words = SharedWords()
    first = runs[0].metrics[0]
    return {
        "runs": [
            {"name": run.name, "texts": [_text(run, name, words) for name in chosen if name in run.texts]}
            for run in runs
        ],
        "groups": list(first.aggregation.by),
        "metrics": max(len(run.metrics) for run in runs),
        "part": f"{first.unit.capitalize()}s, with their scores" if first.unit == "sentence" else "What was judged",
        "words": words.words,
    }


def _text(run: _Run, name: str, words: SharedWords) -> dict[str, Any]:
    rows = run.texts[name]
    how = run.metrics[0].aggregation
    judged = run.shown[-1]
    target = rows[0].get(how.target) if how.target else None
    return {
        "id": name,
        "groups": [str(rows[0].get(group) or "") for group in how.by],
        "fields": [[words.place(heading), words.place(text)] for heading, text in _fields(run, rows[0])],
        "parts": [
            [
                row.get(judged),
                None if row["state"] == "said" else f"{row['state']}: {row['reason']}",
                [_score(one, target, words) for one in run.scores.get(row["item"], ())],
            ]
            for row in rows
        ],
    }


def _fields(run: _Run, row: Row) -> Iterator[tuple[str, str]]:
    """What else the judge is shown: short fields in one line, long ones each under a heading."""
    shown = {name: str(row[name]) for name in run.shown[:-1] if row.get(name)}
    short = {name: text for name, text in shown.items() if len(text) <= _SHORT}
    if short:
        yield "The judge knows", "; ".join(f"{name.replace('_', ' ')}: {text}" for name, text in short.items())
    yield from ((name.replace("_", " ").capitalize(), text) for name, text in shown.items() if name not in short)


_SHORT = 80


def _score(row: Row, target: str | None, words: SharedWords) -> list[Any]:
    """Metric, judge, value or state, whether it fits what was assigned (1, 0, or null), and evidence or reason."""
    scored = row["state"] == "scored"
    value = row["value"] if scored else row["state"].replace("_", " ")
    fits = int(row["level"] == target) if scored and target else None
    why = row["evidence"] or row["reason"]
    about = [words.place(row["metric"].replace("_", " ")), words.place(row["judge"]), value, fits]
    return [*about, why] if why else about
