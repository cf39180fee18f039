"""Every dialogue as a dialogue: messages of both sides, scores with their evidence, what the user was after.

The texts come from the rows of what was said, found beside the scores and compared with the digests in their header.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from evaluators.reporting.dialogues.said import said_tables, table_of
from evaluators.reporting.parts import PLACED, Section, SharedWords, data_block_within
from evaluators.scoring.score_rows import rows_beside

_FORM = (
    '<form class="filter"><label>Run<select name="run"></select></label>'
    '<label>Dialogue<select name="talk"></select></label></form><div class="talk"></div>'
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Run:
    """One run: its name, its header, what was said by unit, and its scores; rows become dicts for the page alone."""

    name: str
    result: Mapping[str, Any]
    said: Mapping[str, pl.DataFrame]
    sessions: pl.DataFrame | None
    scores: pl.DataFrame

    def of_users(self) -> set[str]:
        """The metrics that judge the user's message: it is the last thing that the judge is shown."""
        shown = self.result["run"].get("shown", {})
        return {metric for metric, fields in shown.items() if fields and fields[-1] == "message"}


def reader(paths: Sequence[Path], names: Sequence[str], results: Sequence[Mapping[str, Any]]) -> Section:
    """The dialogues of all runs whose rows are at hand; empty without any."""
    runs, missing = [], []
    for path, name, result in zip(paths, names, results, strict=True):
        said = said_tables(path, result, ("message", "dialogue")) if _has_dialogues(result) else None
        if said is None:
            missing += [name] if _has_dialogues(result) else []
            continue
        runs.append(_Run(name, result, said, table_of(path, result, "sessions"), _scores(path)))
    notes = [f"Not at hand: {escape(', '.join(missing))}."] if missing else []
    body = ""
    if runs:
        ids = sorted({talk for run in runs for talk in run.said["dialogue"]["item"]})
        block, count = data_block_within("dialogues", ids, lambda chosen: _data(runs, chosen))
        body = _FORM + block
        notes += [PLACED.format(count=count, all=len(ids), what="dialogues")] if count < len(ids) else []
    note = "".join(f'<p class="note">{one}</p>' for one in notes)
    lead = "What was said, message by message; under each message its scores, with the words they rest on."
    return Section("dialogues", "Dialogues", body + note, lead)


def _data(runs: Sequence[_Run], chosen: Sequence[str]) -> dict[str, Any]:
    """What the script needs, of these dialogues."""
    shared = SharedWords()
    made = [{"name": run.name, "talks": _talks(run, chosen, shared)} for run in runs]
    return {"runs": made, "words": shared.words}


def _has_dialogues(result: Mapping[str, Any]) -> bool:
    return {"turns", "dialogues"} <= set(result["said"]["tables"])


def _talks(run: _Run, chosen: Sequence[str], shared: SharedWords) -> list[dict[str, Any]]:
    after = {} if run.sessions is None else {row["item"]: row.get("agenda") for row in _of(run.sessions, chosen)}
    about = {row["item"]: row for row in _of(run.said["dialogue"], chosen)}
    rows = sorted(_of(run.said["message"], chosen), key=lambda row: (row["dialogue"], row["item"]))
    scores: dict[str, list[Row]] = {}
    for row in _of(run.scores, chosen):
        scores.setdefault(row["item"], []).append(row)
    of_users = run.of_users()
    return [
        {
            "id": name,
            "name": about[name].get("name") or name,
            "about": ", ".join(str(about[name][key]) for key in ("type", "archetype") if about[name].get(key)),
            "profile": shared.place(about[name].get("profile") or ""),
            "ended": f"{about[name]['ended']}: {about[name]['reason']}",
            "scores": [_score(one, "", shared) for one in scores.get(name, ())],
            "sessions": [
                {
                    "number": int(session),
                    "agenda": shared.place(after.get(f"{name}/{session}") or ""),
                    "said": [
                        _message(row, scores.get(f"{name}/{session}/{row['turn']}", ()), of_users, shared)
                        for row in part
                    ],
                }
                for session, part in groupby(own, key=lambda row: row["session"])
            ],
        }
        for name, own in groupby(rows, key=lambda row: row["dialogue"])
    ]


def _message(row: Row, scores: Sequence[Row], of_users: set[str], shared: SharedWords) -> list[Any]:
    """Who said it (1: the model that is judged), speaker, text, what is wrong with it, and the scores of it."""
    own = row["role"] == "subject"
    wrong = None if row["state"] == "said" else f"{row['state']}: {row['reason']}"
    found = [_score(one, row["text"] or "", shared) for one in scores if (one["metric"] in of_users) != own]
    return [int(own), shared.place(row["speaker"]), row["text"], wrong, found]


def _score(row: Row, text: str, shared: SharedWords) -> list[Any]:
    """Metric, judge, value or state, and the evidence: where it stands in the text, or else in words."""
    value = row["value"] if row["state"] == "scored" else row["state"].replace("_", " ")
    why = row["evidence"] or row["reason"]
    start = text.find(why) if why else -1
    quoted = [start, start + len(why)] if why and start >= 0 else [shared.place(why)] if why else []
    return [shared.place(row["metric"].replace("_", " ")), shared.place(row["judge"]), value, *quoted]


def _scores(path: Path) -> pl.DataFrame:
    """Score rows, each with the dialogue that it is of."""
    columns = ["item", "metric", "judge", "state", "value", "evidence", "reason"]
    dialogue = pl.col("groups").struct.field("dialogue")
    return pl.scan_parquet(rows_beside(path)).select(*columns, dialogue).collect()


def _of(rows: pl.DataFrame, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of some dialogues."""
    return rows.filter(pl.col("dialogue").is_in(chosen)).rows(named=True)
