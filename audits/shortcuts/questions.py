"""Multiple-choice questions with their keys put in, and who is the opposite of whom.

HEART-BENCH keeps the key apart from the question so that no prompt can leak it; audits need both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.errors import RequestError
from schemas.tables import Row

Poles = Mapping[str, tuple[str, str]]
Opposites = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Question:
    """A question: option texts in the order shown, whose decisions they are, and the place of the right one.

    ``offered`` are the other characters with a decision for the scenario: the candidates for distractors.
    """

    id: str
    character: str
    scenario: str
    labels: tuple[str, ...]
    texts: tuple[str, ...]
    sources: tuple[str, ...]
    answer: int
    offered: frozenset[str]

    @property
    def distractors(self) -> tuple[str, ...]:
        """Whose decisions the wrong options are."""
        return self.sources[: self.answer] + self.sources[self.answer + 1 :]


def questions(mcqs: Iterable[Row], keys: Iterable[Row], decisions: Iterable[Row] = ()) -> list[Question]:
    """Rows of ``mcqs`` and ``mcq_keys`` joined by question, in order of id.

    Candidates are the characters with a row in ``decisions`` for the scenario; without decisions,
    those with a question about it. Raises RequestError for a question without a key, or a key whose
    labels are not those of the options.
    """
    asked = sorted(mcqs, key=lambda row: str(row["question_id"]))
    by_id = {row["question_id"]: row for row in keys}
    decided: dict[str, set[str]] = defaultdict(set)
    for row in list(decisions) or asked:
        decided[row["scenario_id"]].add(row["character_id"])
    return [_question(row, by_id, decided[row["scenario_id"]]) for row in asked]


def _question(row: Row, keys: Mapping[str, Row], decided: Iterable[str]) -> Question:
    name = row["question_id"]
    if name not in keys:
        raise RequestError(
            "question without a key", "the table of keys", row=name, fix="Build or import both tables together"
        )
    key = keys[name]
    labels = tuple(option["label"] for option in row["options"])
    sources = {source["label"]: source["character_id"] for source in key["sources"]}
    if set(labels) != sources.keys() or key["answer"] not in sources:
        raise RequestError(
            "key of another question",
            "the table of keys",
            row=name,
            expected=f"answer and sources for {', '.join(labels)}",
        )
    offered = {*decided, *sources.values()} - {row["character_id"]}
    return Question(
        id=name,
        character=row["character_id"],
        scenario=row["scenario_id"],
        labels=labels,
        texts=tuple(option["content"] for option in row["options"]),
        sources=tuple(sources[label] for label in labels),
        answer=labels.index(key["answer"]),
        offered=frozenset(offered),
    )


def poles(people: Iterable[Mapping[str, Any]], key: str = "character_id") -> Poles:
    """Trait and pole ("high", "low") of each person that has an extreme one; ``key`` is what names the person."""
    return {each[key]: (each["trait"], each["pole"]) for each in people if each["trait"] and each["pole"]}


def opposites(known: Poles) -> Opposites:
    """For each character with a pole, the characters at the other pole of the same trait."""
    found: dict[str, set[str]] = {character: set() for character in known}
    for one, (trait, pole) in known.items():
        found[one] = {other for other, (same, end) in known.items() if same == trait and end != pole}
    return {character: frozenset(others) for character, others in found.items()}


def texts_of(asked: Sequence[Question]) -> dict[str, tuple[Question, int]]:
    """Every distinct option text, and where it stands: as an answer where it is one, else where it comes first."""
    places: dict[str, tuple[Question, int]] = {}
    for question in asked:
        places.setdefault(question.texts[question.answer], (question, question.answer))
    for question in asked:
        for place, text in enumerate(question.texts):
            places.setdefault(text, (question, place))
    return places
