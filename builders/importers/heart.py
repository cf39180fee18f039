"""HEART-BENCH as its authors publish it <-> workspace tables.

Five files: scenarios, questions, gold decisions, and the activations of the coarse and the fine
step. The characters' memories are not among them.

    python -m builders.importers heart --from PATH
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from builders.importers import heart_items as items
from builders.importers.archives import Layout, Published
from builders.importers.documents import parse
from builders.importers.heart_anomalies import find_anomalies
from builders.importers.staging import FILES, Stage, Tables, require, where
from schemas.errors import RequestError
from schemas.tables import Row

BENCHMARK = "heart-published"

SCENARIOS, QUESTIONS, GOLD = "scenarios.json", "mcq.json", "ground_truth.json"
ACTIVATIONS = {"coarse": "activated_memories_step1.json", "fine": "activated_memories_step2.json"}
NAMES = (SCENARIOS, QUESTIONS, GOLD, *ACTIVATIONS.values())

LAYOUT = Layout("HEART-BENCH", re.compile("|".join(re.escape(name) for name in NAMES)), NAMES)


def stage(published: Published) -> Stage:
    """All rows and findings of a published HEART-BENCH.

    Raises RequestError for a missing or malformed file, a file of another shape, and a repeated id.
    """
    require(published, NAMES)
    staged = Stage(BENCHMARK)
    documents = {name: _document(published, name) for name in NAMES}
    outlines = {
        SCENARIOS: {**documents[SCENARIOS], "scenarios": _scenarios(staged, documents[SCENARIOS])},
        QUESTIONS: {**documents[QUESTIONS], "questions": _questions(staged, documents[QUESTIONS])},
        GOLD: {**documents[GOLD], "pairs": _decisions(staged, documents[GOLD])},
    }
    for step, name in ACTIVATIONS.items():
        outlines[name] = {**documents[name], "annotations": _activations(staged, step, name, documents[name])}
    for name, outline in outlines.items():
        staged.add_file(name, published.files[name], outline)
    find_anomalies(staged, documents[QUESTIONS].get("dataset_meta"))
    return staged


def export(tables: Tables) -> Iterator[tuple[str, Any]]:
    """The published files again, by name."""
    for name, file in tables[FILES].items():
        outline = orjson.loads(file["outline"])
        if name == SCENARIOS:
            buckets = outline["scenarios"].items()
            scenarios = {bucket: _items(ids, items.scenario_item, tables["scenarios"]) for bucket, ids in buckets}
            yield name, {**outline, "scenarios": scenarios}
        elif name == QUESTIONS:
            listed = _items(outline["questions"], items.question_item, tables["mcqs"], tables["mcq_keys"])
            yield name, {**outline, "questions": listed}
        elif name == GOLD:
            yield name, {**outline, "pairs": _items(outline["pairs"], items.decision_item, tables["decisions"])}
        else:
            rows = tables["activations"]
            annotations = {
                character: {key: items.activation_item(rows[row_id]) for key, row_id in ids.items() if row_id in rows}
                for character, ids in outline["annotations"].items()
            }
            yield name, {**outline, "annotations": annotations}


def _items(row_ids: list[str], back: Callable[..., Any], *tables: dict[str, Row]) -> list[Any]:
    """The published items of the rows that are in all tables, in the order of the ids."""
    return [back(*(table[row_id] for table in tables)) for row_id in row_ids if all(row_id in t for t in tables)]


def _document(published: Published, name: str) -> dict[str, Any]:
    document = parse(published.files[name], where(published, name))
    if not isinstance(document, dict):
        raise _other_shape(name, "an object")
    return document


def _scenarios(staged: Stage, document: dict[str, Any]) -> dict[str, list[str]]:
    """Stage the scenarios; their ids by bucket."""
    outline: dict[str, list[str]] = {}
    for bucket, listed in _object(document, "scenarios", SCENARIOS).items():
        outline[bucket] = []
        for item in _list(listed, f"scenarios.{bucket}", SCENARIOS):
            row = items.scenario_row(item)
            row_id = staged.add({"scenarios": row}, SCENARIOS, item, items.scenario_item)
            outline[bucket].append(row_id)
            if row_id in staged.rows["scenarios"] and row["stage"] != bucket:
                staged.find("bucket_differs", "scenarios", row_id, "stage", f"it lies under {bucket}", row["stage"])
    return outline


def _questions(staged: Stage, document: dict[str, Any]) -> list[str]:
    """Stage the questions and their keys; the ids in order."""
    outline = []
    for item in _list(document.get("questions"), "questions", QUESTIONS):
        rows = items.question_rows(item)
        row_id = staged.add(rows, QUESTIONS, item, items.question_item)
        outline.append(row_id)
        if row_id in staged.rows["mcqs"]:
            _check_flags(staged, row_id, item)
    return outline


def _check_flags(staged: Stage, row_id: str, item: dict[str, Any]) -> None:
    """What the rows no longer show: flags of the options, and ids that carried the archetype."""
    marked = [option["label"] for option in item["options"] if option.get("is_correct") is True]
    if marked != [item["correct_answer"]]:
        message = f"{', '.join(marked) or 'none'} marked, the key says {item['correct_answer']}"
        staged.find("correct_flag_differs", "mcq_keys", row_id, "answer", message, item["correct_answer"])
    sources = [option["source_character"] for option in item["options"]]
    for value in (item["character_id"], *sources):
        _check_character(staged, "mcqs", row_id, value)


def _decisions(staged: Stage, document: dict[str, Any]) -> list[str]:
    """Stage the gold decisions; their ids in order."""
    outline = []
    for item in _list(document.get("pairs"), "pairs", GOLD):
        row_id = staged.add({"decisions": items.decision_row(item)}, GOLD, item, items.decision_item)
        outline.append(row_id)
        if row_id in staged.rows["decisions"]:
            _check_character(staged, "decisions", row_id, item["character_id"])
    return outline


def _activations(staged: Stage, step: str, name: str, document: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Stage one step's records; their ids by character and scenario."""
    outline: dict[str, dict[str, str]] = {}
    for character, records in _object(document, "annotations", name).items():
        outline[character] = {}
        if not isinstance(records, dict):
            raise _other_shape(name, f"annotations.{character} an object")
        for scenario, item in records.items():
            row = items.activation_row(item, step)
            row_id = staged.add({"activations": row}, name, item, items.activation_item)
            outline[character][scenario] = row_id
            if row_id not in staged.rows["activations"]:
                continue
            _check_character(staged, "activations", row_id, item["character_id"])
            if (item["character_id"], item["scenario_id"]) != (character, scenario):
                staged.find("bucket_differs", "activations", row_id, None, f"it lies under {character}/{scenario}")
    return outline


def _check_character(staged: Stage, table: str, row_id: str, value: str) -> None:
    if items.plain_character(value) != value:
        staged.find("tagged_character_id", table, row_id, "character_id", "carries the archetype", value)


def _object(document: dict[str, Any], field: str, name: str) -> dict[str, Any]:
    if not isinstance(value := document.get(field), dict):
        raise _other_shape(name, f"{field} an object")
    return value


def _list(value: Any, field: str, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise _other_shape(name, f"{field} a list")
    return value


def _other_shape(name: str, expected: str) -> RequestError:
    return RequestError(
        "a file of another shape", name, expected=expected, fix="Give HEART-BENCH as its authors publish it"
    )
