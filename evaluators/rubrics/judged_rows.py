"""Verdicts as score rows: a row an item and score; what was not said is not judged and has its own state.

Rows are made as replies come, while others are being asked for: ``python -m evaluators judge``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from evaluators.rubrics.loading import Rubric
from evaluators.rubrics.offline import planted_of
from evaluators.rubrics.verdicts import Verdict
from evaluators.running import used
from evaluators.scoring.metrics import State
from evaluators.scoring.said_rows import Said, without_texts
from models.backends import BackendSettings
from models.request import Reply

_UNSAID: Mapping[str, State] = {
    "refused": "refused",
    "failed": "failed",
    "truncated": "unscored",
    "unreadable": "unscored",
}

_NOTHING = {"input_tokens": 0, "output_tokens": 0, "cost": 0.0}

Found = tuple[dict[str, Verdict], tuple[Reply, ...]]
"""What judging an item comes to: score -> verdict, and the replies."""


def said_rows(table: Said) -> pl.DataFrame:
    """The rows that are judged."""
    return table.rows.filter(pl.col("state") == "said")


def score_rows(
    table: Said, rubric: Rubric, judge: str, found: Iterable[Found], settings: BackendSettings
) -> Iterator[dict[str, Any]]:
    """The score rows of a judge; ``found`` are what judging each of ``said_rows`` comes to, in their order."""
    by_item = {row["item"]: row for row in without_texts(table.rows, table.groups)}
    for item, (verdicts, replies) in zip(said_rows(table)["item"], found, strict=True):  # while others are judged
        spent = used([reply.usage for reply in replies], judge, settings)
        yield from _scores(table, rubric, judge, by_item.pop(item), verdicts, spent)
    for row in by_item.values():
        state = _UNSAID[row["state"]]
        nothing = {part.name: Verdict(state, reason=row["reason"]) for part in rubric.parts}
        yield from _scores(table, rubric, judge, row, nothing, _NOTHING)


def _scores(
    table: Said,
    rubric: Rubric,
    judge: str,
    row: Mapping[str, Any],
    verdicts: Mapping[str, Verdict],
    spent: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """The score rows of an item. One call gives all scores of a rubric: its tokens stand with the first."""
    for place, (part, verdict) in enumerate(verdicts.items()):
        planted_state, planted = planted_of(rubric, row, part)
        yield {
            "item": row["item"],
            "metric": part,
            "judge": judge,
            "state": verdict.state,
            "value": verdict.value,
            "reason": verdict.reason,
            "evidence": verdict.evidence,
            "planted": planted,
            "planted_state": planted_state,
            **(_NOTHING if place else spent),
            "groups": {name: row[name] for name in table.groups},
        }
