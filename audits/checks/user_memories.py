"""Audit user memories: nothing of the target task is in them, and their figures are those of the source turns.

PersTurnBench 3.1 and 3.2. A memory is shown to the judge of the target task; a memory that holds target gold or target
text makes every score of that judge worthless. Figures are counted again from ``ratings``; words are compared in runs
of eight with the rater's conversations. Codes: ``user_memories.toml``.

    python -m audits --benchmark persturn --table user_memories
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from audits.subjects import Related, Subject, at_row, entries
from audits.text.word_runs import Run, placed_runs, word_runs
from schemas.findings import Finding
from schemas.tables import Row

_RUN = 8
_SCORES = (1, 2, 3, 4, 5)
_TEXTS = (
    "scoring_style",
    "four_vs_five_distinction",
    "three_vs_four_distinction",
    "preferred_response_format",
    "evidence_notes",
)
_OBSERVATIONS = "task_specific_observations"
_REQUIREMENTS = "user_specific_requirements"


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each memory; ``related`` holds "conversations" and "ratings" of their raters, whatever their script.

    What they are needed for is not looked at where they are missing (``not_checked``).
    """
    scores: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for rating in related.get("ratings", ()):
        scores[rating["rater_id"]][rating["task"]].append(rating["score"])
    conversations: dict[str, list[Row]] = defaultdict(list)
    for conversation in related.get("conversations", ()):
        conversations[conversation["rater_id"]].append(conversation)
    found: list[Finding] = []
    for subject in read:
        rater = subject.text("rater_id")
        found += [*_tasks(subject), *_words(subject, conversations[rater])]
        if rater in scores:
            found += _figures(subject, scores[rater])
    return found


def not_checked(rows: Sequence[Row], related: Related, wanted: Collection[str]) -> list[str]:
    """What of these memories could not be compared, a line each."""
    checks = (
        ("ratings", ("memory.target_gold", "memory.statistics"), "figures"),
        ("conversations", ("memory.target_text",), "words"),
    )
    lines = []
    for table, codes, what in checks:
        known = {row["rater_id"] for row in related.get(table, ())}
        missing = sum(row.get("rater_id") not in known for row in rows)
        if missing and not {*codes}.isdisjoint(wanted):
            lines.append(
                f"{what} not checked: {missing:,} of {len(rows):,} memories have no {table} of their rater here"
            )
    return lines


def _figures(subject: Subject, scores: Mapping[str, Sequence[int]]) -> Iterator[Finding]:
    stated, target = _stated(subject), subject.text("target_task")
    source = [score for task, given in scores.items() if task != target for score in given]
    if stated is None or stated == _counted(source):
        return
    everything = [score for given in scores.values() for score in given]
    code = "memory.target_gold" if stated == _counted(everything) else "memory.statistics"
    due = ", ".join(map(str, _counted(source)))
    message = f"turns, mean and counts are {', '.join(map(str, stated))}; source turns come to {due}"
    yield at_row(subject, code, "error", message, "score_distribution")


def _tasks(subject: Subject) -> Iterator[Finding]:
    target = subject.text("target_task")
    sources = subject.find("source_tasks")[1]
    named = [
        *(sources if isinstance(sources, list) else ()),
        *(entry.get("task_name") for entry in entries(subject.row, _OBSERVATIONS)),
    ]
    if target and target in named:
        yield at_row(subject, "memory.target_task", "error", "names the target task", "source_tasks", target)


def _words(subject: Subject, conversations: Iterable[Row]) -> Iterator[Finding]:
    of_target: set[Run] = set()
    of_source: set[Run] = set()
    for conversation in conversations:
        runs = of_target if conversation["task"] == subject.text("target_task") else of_source
        runs |= _runs_of_conversation(conversation["conversation_id"], _text(conversation))
    message = "occurs in a conversation of the target task"
    for field, text in _fields(subject):
        for run, _ in placed_runs(text, _RUN):
            if run in of_target and run not in of_source:
                yield at_row(subject, "memory.target_text", "error", message, field, " ".join(run))
                break


def _stated(subject: Subject) -> tuple[float, ...] | None:
    """Turns, mean and counts as the memory has them; None where one is missing or no number."""
    fields = ("n_history_turns", "avg_satisfaction_score", *(f"score_distribution.score_{score}" for score in _SCORES))
    values = [subject.number(field) for field in fields]
    return None if None in values else tuple(value for value in values if value is not None)


def _counted(scores: Sequence[int]) -> tuple[float, ...]:
    counts = Counter(scores)
    mean = round(sum(scores) / len(scores), 4) if scores else 0.0
    return (len(scores), mean, *(counts[score] for score in _SCORES))


def _fields(subject: Subject) -> Iterator[tuple[str, str]]:
    for field in _TEXTS:
        yield field, subject.text(field)
    requirements = subject.find(_REQUIREMENTS)[1]
    for text in requirements if isinstance(requirements, list) else ():
        yield _REQUIREMENTS, str(text)
    for entry in entries(subject.row, _OBSERVATIONS):
        yield _OBSERVATIONS, str(entry.get("observation"))


def _text(conversation: Row) -> tuple[str, ...]:
    return (conversation["task_context"], *(message["content"] for message in conversation["messages"]))


@functools.lru_cache(maxsize=256)
def _runs_of_conversation(_: str, texts: tuple[str, ...]) -> frozenset[Run]:
    return frozenset(run for text in texts for run in word_runs(text, _RUN))
