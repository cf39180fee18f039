"""Audit user memories: nothing of the target task is in them, and their figures are those of the source turns.

PersTurnBench 3.1 and 3.2. A memory is shown to the judge of the target task; a memory that holds target gold or target
text makes every score of that judge worthless. Figures are counted again from ``ratings``; words are compared in runs
of eight with the rater's conversations. Codes: ``user_memories.toml``.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.findings import Finding, in_order
from schemas.tables import Row

KEY = ("rater_id", "target_task", "memory_version")
TABLE = "user_memories"

_RUN = 8
_SCORES = (1, 2, 3, 4, 5)
_TEXTS = (
    "scoring_style",
    "four_vs_five_distinction",
    "three_vs_four_distinction",
    "preferred_response_format",
    "evidence_notes",
)
_WORD = re.compile(r"\w+")

Runs = frozenset[tuple[str, ...]]


def audit(rows: Sequence[Row], related: Mapping[str, Sequence[Row]]) -> list[Finding]:
    """Findings of memories; ``related`` holds the tables "conversations" and "ratings" of their raters."""
    scores: dict[tuple[str, str], list[int]] = defaultdict(list)
    for rating in related["ratings"]:
        scores[rating["rater_id"], rating["task"]].append(rating["score"])
    conversations: dict[str, list[Row]] = defaultdict(list)
    for conversation in related["conversations"]:
        conversations[conversation["rater_id"]].append(conversation)
    found: list[Finding] = []
    for row in rows:
        own = {task: given for (rater, task), given in scores.items() if rater == row["rater_id"]}
        found += [*_figures(row, own), *_tasks(row), *_words(row, conversations[row["rater_id"]])]
    return in_order(found)


def _figures(row: Row, scores: Mapping[str, Sequence[int]]) -> Iterator[Finding]:
    source = [score for task, given in scores.items() if task != row["target_task"] for score in given]
    if _stated(row) == _counted(source):
        return
    everything = [score for given in scores.values() for score in given]
    leaked = _stated(row) == _counted(everything)
    due = ", ".join(map(str, _counted(source)))
    yield _finding(
        row, "memory.target_gold" if leaked else "memory.statistics", "score_distribution",
        f"turns, mean and counts are {', '.join(map(str, _stated(row)))}; source turns come to {due}",
    )  # fmt: skip


def _tasks(row: Row) -> Iterator[Finding]:
    named = [*row["source_tasks"], *(entry["task_name"] for entry in row["task_specific_observations"])]
    if row["target_task"] in named:
        yield _finding(row, "memory.target_task", "source_tasks", "names the target task", row["target_task"])


def _words(row: Row, conversations: Iterable[Row]) -> Iterator[Finding]:
    of_target: set[tuple[str, ...]] = set()
    of_source: set[tuple[str, ...]] = set()
    for conversation in conversations:
        runs = of_target if conversation["task"] == row["target_task"] else of_source
        runs |= _runs_of_conversation(conversation["conversation_id"], _text(conversation))
    for field, text in _fields(row):
        for run in _runs(text):
            if run in of_target and run not in of_source:
                yield _finding(
                    row, "memory.target_text", field, "stands in a conversation of the target task", " ".join(run)
                )
                break


def _stated(row: Row) -> tuple[float, ...]:
    counts = [row["score_distribution"][f"score_{score}"] for score in _SCORES]
    return (row["n_history_turns"], row["avg_satisfaction_score"], *counts)


def _counted(scores: Sequence[int]) -> tuple[float, ...]:
    counts = Counter(scores)
    mean = round(sum(scores) / len(scores), 4) if scores else 0.0
    return (len(scores), mean, *(counts[score] for score in _SCORES))


def _fields(row: Row) -> Iterator[tuple[str, str]]:
    for field in _TEXTS:
        if row[field]:
            yield field, row[field]
    for text in row["user_specific_requirements"]:
        yield "user_specific_requirements", text
    for entry in row["task_specific_observations"]:
        yield "task_specific_observations", entry["observation"]


def _text(conversation: Row) -> tuple[str, ...]:
    return (conversation["task_context"], *(message["content"] for message in conversation["messages"]))


@functools.lru_cache(maxsize=256)
def _runs_of_conversation(_: str, texts: tuple[str, ...]) -> Runs:
    return frozenset(run for text in texts for run in _runs(text))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return (tuple(words[place : place + _RUN]) for place in range(len(words) - _RUN + 1))


def _finding(row: Row, code: str, field: str, message: str, text: str | None = None) -> Finding:
    known = _codes()[code]
    row_id = "/".join(str(row[column]) for column in KEY)
    return Finding(code, TABLE, row_id, field, known["severity"], None, text, message, known["source"])


@functools.cache
def _codes() -> Mapping[str, Mapping[str, Any]]:
    path = Path(__file__).with_suffix(".toml")
    return {entry["code"]: entry for entry in tomllib.loads(path.read_text("utf-8"))["codes"]}
