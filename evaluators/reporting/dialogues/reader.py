"""Every dialogue as a dialogue: messages of both sides, scores with their evidence, what the user was after.

The texts come from the rows of what was said, found beside the scores and compared with the digests in their header.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from evaluators.reporting.dialogues.said import said_tables, table_of
from evaluators.reporting.parts import Section, data_block
from evaluators.scoring.score_rows import rows_beside

_FORM = (
    '<form class="filter"><label>Run<select name="run"></select></label>'
    '<label>Dialogue<select name="talk"></select></label></form><div class="talk"></div>'
)

Row = Mapping[str, Any]


@dataclass
class _Shared:
    """What several dialogues and runs have in common, once: names of metrics and judges, texts about persons."""

    words: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def place(self, word: str) -> int:
        """The place of a text in ``words``."""
        if word not in self.places:
            self.places[word] = len(self.words)
            self.words.append(word)
        return self.places[word]


def reader(paths: Sequence[Path], names: Sequence[str], results: Sequence[Mapping[str, Any]]) -> Section:
    """The dialogues of all runs whose rows are at hand; empty without any."""
    runs, missing, shared = [], [], _Shared()
    for path, name, result in zip(paths, names, results, strict=True):
        said = said_tables(path, result, ("message", "dialogue")) if _has_dialogues(result) else None
        if said is None:
            missing += [name] if _has_dialogues(result) else []
            continue
        runs.append({"name": name, "talks": _talks(path, result, said, shared)})
    note = f'<p class="note">Not at hand: {escape(", ".join(missing))}.</p>' if missing else ""
    body = f"{_FORM}{data_block('dialogues', {'runs': runs, 'words': shared.words})}" if runs else ""
    lead = "What was said, message by message; under each reply its scores, with the words they rest on."
    return Section("dialogues", "Dialogues", body + note, lead)


def _has_dialogues(result: Mapping[str, Any]) -> bool:
    return {"turns", "dialogues"} <= set(result["said"]["tables"])


def _talks(
    path: Path, result: Mapping[str, Any], said: Mapping[str, pl.DataFrame], shared: _Shared
) -> list[dict[str, Any]]:
    scores = _scores(path)
    sessions = table_of(path, result, "sessions")
    after = {} if sessions is None else {row["item"]: row.get("agenda") for row in sessions.rows(named=True)}
    about = {row["item"]: row for row in said["dialogue"].rows(named=True)}
    rows = said["message"].sort("dialogue", "item").rows(named=True)
    return [
        {
            "id": name,
            "name": about[name].get("name") or name,
            "about": ", ".join(str(about[name][key]) for key in ("type", "archetype") if about[name].get(key)),
            "profile": shared.place(about[name].get("profile") or ""),
            "ended": f"{about[name]['ended']}: {about[name]['reason']}",
            "sessions": [
                {
                    "number": int(session),
                    "agenda": shared.place(after.get(f"{name}/{session}") or ""),
                    "said": [_message(row, scores.get(f"{name}/{session}/{row['turn']}", ()), shared) for row in part],
                }
                for session, part in groupby(own, key=lambda row: row["session"])
            ],
        }
        for name, own in groupby(rows, key=lambda row: row["dialogue"])
    ]


def _message(row: Row, scores: Sequence[Row], shared: _Shared) -> list[Any]:
    """Who said it (1: the model that is judged), speaker, text, what is wrong with it, scores."""
    own = row["role"] == "subject"
    wrong = None if row["state"] == "said" else f"{row['state']}: {row['reason']}"
    found = [_score(one, row["text"] or "", shared) for one in scores] if own else []
    return [int(own), shared.place(row["speaker"]), row["text"], wrong, found]


def _score(row: Row, text: str, shared: _Shared) -> list[Any]:
    """Metric, judge, value or state, and the evidence: where it stands in the text, or else in words."""
    value = row["value"] if row["state"] == "scored" else row["state"].replace("_", " ")
    why = row["evidence"] or row["reason"]
    start = text.find(why) if why else -1
    told = [start, start + len(why)] if why and start >= 0 else [shared.place(why)] if why else []
    return [shared.place(row["metric"].replace("_", " ")), shared.place(row["judge"]), value, *told]


def _scores(path: Path) -> dict[str, list[Row]]:
    """Item -> its score rows."""
    columns = ["item", "metric", "judge", "state", "value", "evidence", "reason"]
    made: dict[str, list[Row]] = {}
    for row in pl.read_parquet(rows_beside(path), columns=columns).rows(named=True):
        made.setdefault(row["item"], []).append(row)
    return made
