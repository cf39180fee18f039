"""One published PersTurnBench file <-> rows, in both directions.

A file is a conversation: ``history`` with role, content and, at assistant messages, ``satisfaction`` and ``reason``;
beside it the rater's ``profile``, ``task_context`` and ``chat_model``. It becomes a row of ``conversations``, one of
``ratings`` for each rated message, and one of ``raters`` for the rater's first file. A score of 4 or more has the
reason "satisfied", a lower one with no reason or none of the list has "other"; what was published stays in the row's
``published`` list. Text in any script passes as it is.

    python -m builders.importers persturn --from PATH
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from builders.importers.documents import text
from builders.importers.staging import PROVENANCE, WHOLE, published_value
from schemas.tables import Row, vocabulary

SATISFIED_FROM = 4

PROFILE_FIELDS = (
    "gender", "age", "occupation", "background", "personality", "daily_interests", "travel_habits",
    "dining_preferences", "spending_habits", "other_aspects",
)  # fmt: skip
_GENDERS = {"Female": "female", "Male": "male"}
_RATED = ("satisfaction", "reason")
CONVERSATION_FIELDS = ("task_context", "chat_model")


@functools.cache
def folders() -> Mapping[str, str]:
    """Task families by the name of their published folder."""
    return {term["published"]: term["id"] for term in vocabulary("planning_tasks")}


@functools.cache
def reasons() -> Mapping[str, str]:
    """Reasons by their published label."""
    return {term["published"]: term["id"] for term in vocabulary("dissatisfaction_reasons")}


def rater_row(profile: Any, rater_id: str) -> Row:
    """A row of ``raters`` from a ``profile``."""
    if not isinstance(profile, dict):
        return profile  # type: ignore[no-any-return]
    row: Row = {"rater_id": rater_id, **{field: profile[field] for field in PROFILE_FIELDS if field in profile}}
    published = []
    if "gender" in row and not known_gender(row["gender"]):
        published.append({"field": "gender", "value": text(row["gender"])})
    if "gender" in row:
        row["gender"] = "female" if row["gender"] == "Female" else "male"
    if "age" in row and not isinstance(row["age"], str):
        published.append({"field": "age", "value": text(row["age"])})
        row["age"] = text(row["age"])
    return {**row, "planted": None, "published": published, "provenance": PROVENANCE}


def rater_item(row: Row) -> Any:
    """The published profile of a row."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    item = {field: row[field] for field in PROFILE_FIELDS}
    item["gender"] = {ours: theirs for theirs, ours in _GENDERS.items()}[row["gender"]]
    for field in ("gender", "age"):
        if (original := published_value(row, field)) is not None:
            item[field] = original
    return item


def known_gender(value: Any) -> bool:
    """Whether a published gender is one that the released code names."""
    return isinstance(value, str) and value in _GENDERS


def conversation_row(item: Mapping[str, Any], rater_id: str, task: str, number: int) -> Row:
    """A row of ``conversations``; ``item`` is the file without profile and ratings (``conversation_part``)."""
    return {
        "conversation_id": f"{rater_id}__{task}__{number}",
        "rater_id": rater_id,
        "task": task,
        "number": number,
        **{field: item[field] for field in CONVERSATION_FIELDS if field in item},
        "messages": item["history"],
        "published": [],
        "provenance": PROVENANCE,
    }


def conversation_item(row: Row) -> Any:
    """The published file of a row, without profile and ratings."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    return {"history": row["messages"], **{field: row[field] for field in CONVERSATION_FIELDS}}


def rating_row(item: Mapping[str, Any], conversation: Row, turn: int) -> Row:
    """A row of ``ratings``; ``item`` is an assistant message without role and content."""
    row: Row = {
        "sample_id": f"{conversation['conversation_id']}.json__turn_{turn}",
        **{field: conversation[field] for field in ("conversation_id", "rater_id", "task")},
        "turn": turn,
        "score": item.get("satisfaction"),
        "reason": normalised_reason(item.get("satisfaction"), item.get("reason")),
        "planted": None,
        "published": [],
        "provenance": PROVENANCE,
    }
    if item != rating_item(row) and set(item) <= set(_RATED):
        row["published"] = [{"field": "reason", "value": text(item.get("reason"))}]
    return row


def rating_item(row: Row) -> Any:
    """The published marks of a row's message."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    item: dict[str, Any] = {"satisfaction": row["score"]}
    listed = [entry for entry in row["published"] if entry["field"] == "reason"]
    reason = published_value(row, "reason") if listed else _label(row)
    return item if reason is None else {**item, "reason": reason}


def normalised_reason(score: Any, reason: Any) -> str:
    """The reason that a score may have: "satisfied" from 4, else one of the list, "other" for anything else."""
    if isinstance(score, int) and score >= SATISFIED_FROM:
        return "satisfied"
    found = reasons().get(reason.strip(), "other") if isinstance(reason, str) else "other"
    return "other" if found == "satisfied" else found


def is_valid_pair(score: Any, reason: Any) -> bool:
    """Whether score and reason go together as published: no reason or "satisfied" from 4, another one below."""
    known = reasons().get(reason.strip()) if isinstance(reason, str) else None
    if isinstance(score, int) and score >= SATISFIED_FROM:
        return reason is None or known == "satisfied"
    return known is not None and known != "satisfied"


def _label(row: Row) -> str | None:
    if row["reason"] == "satisfied":
        return None
    return {ours: theirs for theirs, ours in reasons().items()}[row["reason"]]
