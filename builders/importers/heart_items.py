"""One published HEART-BENCH item <-> one row, in both directions.

Ids lose the archetype they carry and activation types that are none of the six become null; what
was published stands in the row's ``published`` list. Each reader passes odd values on as they are:
the record schema judges them, not the reader.

    python -m builders.importers heart --from PATH
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builders.ids import anonymous_memory_id, character_number
from builders.importers.documents import text
from builders.importers.staging import PROVENANCE, WHOLE, pick, published_value
from schemas.tables import Row, record_schema, term_ids

COARSE_FIELDS = {
    "character_id": "character_id",
    "scenario_id": "scenario_id",
    "scenario_age": "scenario_age",
    "eligible_memory_count": "eligible",
    "stage1_ratio": "ratio",
    "activated_count": "activated",
    "activated_memories": "memories",
}
FINE_FIELDS = {
    "character_id": "character_id",
    "scenario_id": "scenario_id",
    "scenario_age": "scenario_age",
    "stage1_activated_count": "offered",
    "final_activated_count": "activated",
    "skipped_finalize": "skipped",
    "compact": "compact",
    "activated_memories": "memories",
}

# Fields of the coarse records that have no column: they describe the run, not the row.
COARSE_EXTRAS = ("age_batches", "fast_path", "batch_errors")

# Fields of a scenario that the paper describes and the release lacks.
UNRELEASED = ("diamonds_dimension", "diamonds", "assessed_dimensions", "annotation_reference")


def scenario_row(item: Any) -> Row:
    """A row of ``scenarios``; what the release lacks is null."""
    fields = record_schema("scenarios")["properties"]
    row = pick(item, [name for name in fields if name not in ("requires", "published", "provenance")])
    if not isinstance(row, dict):
        return row  # type: ignore[no-any-return]
    if "setting" in row:
        row["setting"] = pick(row["setting"], list(fields["setting"]["properties"]))
    if "trigger_event" in row:
        event = pick(row["trigger_event"], list(fields["trigger_event"]["properties"]))
        row["trigger_event"] = (
            {**event, "action_required": event.get("action_required")} if isinstance(event, dict) else event
        )
    return {**dict.fromkeys(UNRELEASED), **row, "requires": [], "published": [], "provenance": PROVENANCE}


def scenario_item(row: Row) -> Any:
    """The published scenario of a row."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    event = {name: value for name, value in row["trigger_event"].items() if value is not None}
    item = {name: value for name, value in row.items() if name not in ("requires", "published", "provenance")}
    return {name: value for name, value in {**item, "trigger_event": event}.items() if value is not None}


def activation_row(item: Any, step: str) -> Row:
    """A row of ``activations`` from a record of the coarse (``step1``) or fine (``step2``) file."""
    row = pick(item, COARSE_FIELDS if step == "coarse" else FINE_FIELDS)
    if not isinstance(row, dict):
        return row  # type: ignore[no-any-return]
    published = [
        {"field": name, "value": text(item[name])} for name in COARSE_EXTRAS if step == "coarse" and name in item
    ]
    memories = row.get("memories")
    if isinstance(memories, list) and all(isinstance(memory, dict) for memory in memories):
        row["memories"], noted = _memories(memories)
        published += noted
    absent = ("offered", "skipped", "compact") if step == "coarse" else ("eligible", "ratio")
    return {
        **_plain(row),
        "step": step,
        **dict.fromkeys(absent),
        "topped_up": 0,
        "dropped_ids": [],
        "batches": [],
        "published": published,
        "provenance": PROVENANCE,
    }


def activation_item(row: Row) -> Any:
    """The published activation record of a row."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    coarse = row["step"] == "coarse"
    item = {theirs: row[ours] for theirs, ours in (COARSE_FIELDS if coarse else FINE_FIELDS).items()}
    item |= {name: value for name in COARSE_EXTRAS if (value := published_value(row, name)) is not None}
    ids = published_value(row, "memories.memory_id") or [memory["memory_id"] for memory in row["memories"]]
    types = published_value(row, "memories.type") or [memory["type"] for memory in row["memories"]]
    item["activated_memories"] = [
        {"memory_id": memory_id} if coarse else {"memory_id": memory_id, "type": kind}
        for memory_id, kind in zip(ids, types, strict=True)
    ]
    return item


def decision_row(item: Any) -> Row:
    """A row of ``decisions`` from a pair of the gold file."""
    row = pick(item, ("character_id", "scenario_id", "stage", "inner_consciousness", "final_decision"))
    if not isinstance(row, dict):
        return row  # type: ignore[no-any-return]
    if "inner_consciousness" in row:
        fields = record_schema("decisions")["properties"]["inner_consciousness"]["properties"]
        row["inner_consciousness"] = pick(row["inner_consciousness"], list(fields))
    review = {"status": "published", "annotators": None, "digest": None}
    return {**_plain(row), "review": review, "published": [], "provenance": PROVENANCE}


def decision_item(row: Row) -> Any:
    """The published pair of a row."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    return {name: value for name, value in row.items() if name not in ("review", "published", "provenance")}


def question_rows(item: Any) -> Mapping[str, Row]:
    """The rows of ``mcqs`` and ``mcq_keys`` from a question: what a model may see, and what it may not."""
    question = pick(item, ("question_id", "character_id", "scenario_id", "stage", "options"))
    key = pick(item, {"question_id": "question_id", "correct_answer": "answer", "options": "sources"})
    if not isinstance(question, dict):
        return {"mcqs": question, "mcq_keys": key}
    if isinstance(options := question.get("options"), list):
        question["options"] = [pick(option, ("label", "content")) for option in options]
        key["sources"] = [_source(option) for option in options]
    return {
        "mcqs": {**_plain(question), "published": [], "provenance": PROVENANCE},
        "mcq_keys": {**key, "rule": "published", "published": [], "provenance": PROVENANCE},
    }


def question_item(question: Row, key: Row) -> Any:
    """The published question of its two rows."""
    if (whole := published_value(key, WHOLE)) is not None:
        return whole
    options = []
    for option, source in zip(question["options"], key["sources"], strict=True):
        made = {**option, "is_correct": option["label"] == key["answer"], "source_character": source["character_id"]}
        flag = {} if source["is_generated"] is None else {"is_generated": source["is_generated"]}
        options.append(made | flag)
    fields = {name: question[name] for name in ("question_id", "character_id", "scenario_id", "stage")}
    return {**fields, "correct_answer": key["answer"], "options": options}


def plain_character(value: Any) -> Any:
    """A character id without the archetype; anything else as it is."""
    try:
        return f"CHAR_{character_number(value)}"
    except (ValueError, TypeError):
        return value


def plain_memory(value: Any) -> Any:
    """A memory id without the archetype; anything else as it is."""
    try:
        return anonymous_memory_id(value)
    except (ValueError, TypeError):
        return value


def _plain(row: Row) -> Row:
    return {**row, "character_id": plain_character(row["character_id"])} if "character_id" in row else row


def _source(option: Any) -> Any:
    source = pick(option, {"label": "label", "source_character": "character_id", "is_generated": "is_generated"})
    return {"is_generated": None, **_plain(source)} if isinstance(source, dict) else source


def _memories(items: list[Any]) -> tuple[list[Row], list[dict[str, str]]]:
    """The memories of an activation record, and what was published where that differs."""
    ids = [item.get("memory_id") for item in items]
    types = [item.get("type") for item in items]
    plain = [plain_memory(value) for value in ids]
    known = [kind if kind in term_ids("activation_types") else None for kind in types]
    noted = []
    if plain != ids:
        noted.append({"field": "memories.memory_id", "value": text(ids)})
    if known != types:
        noted.append({"field": "memories.type", "value": text(types)})
    rows = [{"memory_id": memory_id, "type": kind, "cue": None} for memory_id, kind in zip(plain, known, strict=True)]
    return rows, noted
