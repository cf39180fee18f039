"""What is wrong with a published HEART-BENCH, across its tables.

Compared are files that should agree (ages, stages, ids, counts) and records with what the paper
promises of them (50 memories, six types, a coarse list to choose from). Texts are the audits' job.

    python -m builders.importers heart --from PATH
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from builders.ids import character_number, question_id
from builders.importers.heart_items import UNRELEASED
from builders.importers.staging import Stage, published_value
from schemas.tables import Row, vocabulary

FINE_COUNT = 50  # memories a fine record should have, appendix G.4.2
COARSE_TARGET, RATIO_LIMIT = 75, 0.5  # the screening budget is min(0.5, 75 / eligible), appendix G.4.1

LABELS = ("A", "B", "C", "D")

_NAMED = 3  # rows that a message lists by name


def find_anomalies(staged: Stage, meta: Any) -> None:
    """Note all anomalies of accepted rows; ``meta`` is what the question file says of itself."""
    for row_id, row in staged.rows["scenarios"].items():
        _scenario(staged, row_id, row)
    _scenario_uses(staged)
    for row_id, row in staged.rows["activations"].items():
        _activation(staged, row_id, row)
        (_coarse if row["step"] == "coarse" else _fine)(staged, row_id, row)
    _decisions(staged)
    for row_id, row in staged.rows["mcqs"].items():
        _question(staged, row_id, row)
    stated = meta.get("total_questions") if isinstance(meta, dict) else None
    if stated is not None and stated != (found := len(staged.rows["mcqs"]) + len(staged.rejected["mcqs"])):
        message = f"dataset_meta.total_questions says {stated}, the file has {found}"
        staged.find("total_differs", "published_files", "mcq.json", "outline", message, str(stated))


def _scenario(staged: Stage, row_id: str, row: Row) -> None:
    if row["trigger_event"]["action_required"] is None:
        staged.find("action_required_missing", "scenarios", row_id, "trigger_event.action_required", "is absent")
    if lacking := [name for name in UNRELEASED if row[name] is None]:
        staged.find("annotation_not_released", "scenarios", row_id, None, f"without {', '.join(lacking)}")
    (stage,) = (term for term in vocabulary("scenario_stages") if term["id"] == row["stage"])
    if not stage["from_age"] <= row["age"] <= stage["to_age"]:
        message = f"{row['age']} is not within {stage['from_age']} to {stage['to_age']} of {stage['id']}"
        staged.find("age_outside_stage", "scenarios", row_id, "age", message, str(row["age"]))


def _scenario_uses(staged: Stage) -> None:
    """Scenarios that other tables use under another age, or that do not exist."""
    scenarios = staged.rows["scenarios"]
    ages: dict[tuple[str, int], list[str]] = defaultdict(list)
    users: dict[str, list[str]] = defaultdict(list)
    for table in ("activations", "decisions", "mcqs"):
        for row_id, row in staged.rows[table].items():
            scenario = scenarios.get(row["scenario_id"])
            if scenario is None:
                users[row["scenario_id"]].append(f"{table} {row_id}")
            elif table == "activations" and row["scenario_age"] != scenario["age"]:
                ages[row["scenario_id"], row["scenario_age"]].append(row_id)
    for (name, age), row_ids in sorted(ages.items()):
        message = f"{scenarios[name]['age']} here, {age} in {_listed(row_ids, 'activation records')}"
        staged.find("scenario_age_differs", "scenarios", name, "age", message, str(age))
    for name, rows in sorted(users.items()):
        staged.find("scenario_absent", "scenarios", name, "id", f"used by {_listed(rows, 'rows')}", name)


def _activation(staged: Stage, row_id: str, row: Row) -> None:
    """What holds for both steps."""
    ids = [memory["memory_id"] for memory in row["memories"]]
    published = published_value(row, "memories.memory_id") or ids
    if tagged := sorted({p.rpartition("_")[0] for p, plain in zip(published, ids, strict=True) if p != plain}):
        message = (
            f"{sum(p != plain for p, plain in zip(published, ids, strict=True))} ids begin with {', '.join(tagged)}"
        )
        staged.find("tagged_memory_id", "activations", row_id, "memories.memory_id", message, published[0])
    for memory_id, times in Counter(ids).items():
        if times > 1:
            message = f"{memory_id} is named {times} times"
            staged.find("duplicate_memory_id", "activations", row_id, "memories.memory_id", message, memory_id)
    own = f"MEM_{character_number(row['character_id'])}_"
    for memory_id in ids:
        if not memory_id.startswith(own):
            message = f"{memory_id} is no memory of {row['character_id']}"
            staged.find("memory_of_another", "activations", row_id, "memories.memory_id", message, memory_id)
    if row["activated"] != len(ids):
        message = f"{row['activated']} reported, {len(ids)} listed"
        staged.find("activated_count_differs", "activations", row_id, "activated", message, str(row["activated"]))


def _coarse(staged: Stage, row_id: str, row: Row) -> None:
    if errors := published_value(row, "batch_errors"):
        staged.find("batch_errors", "activations", row_id, "batch_errors", f"{len(errors)} batches failed")
    if row["eligible"]:
        ratio = round(min(RATIO_LIMIT, COARSE_TARGET / row["eligible"]), 3)
        if row["ratio"] is not None and abs(row["ratio"] - ratio) > 0.0005:
            message = f"{row['ratio']} instead of {ratio} for {row['eligible']} eligible memories"
            staged.find("ratio_differs", "activations", row_id, "ratio", message, str(row["ratio"]))


def _fine(staged: Stage, row_id: str, row: Row) -> None:
    ids = [memory["memory_id"] for memory in row["memories"]]
    if len(ids) != FINE_COUNT:
        staged.find("not_fifty", "activations", row_id, "memories", f"{len(ids)} memories", str(len(ids)))
        if len(ids) < FINE_COUNT < (row["offered"] or 0):
            message = f"{len(ids)} memories of {row['offered']} offered"
            staged.find("short_of_offer", "activations", row_id, "memories", message, str(len(ids)))
    _types(staged, row_id, row)
    coarse = staged.rows["activations"].get(f"{row['character_id']}/{row['scenario_id']}/coarse")
    if coarse is None:
        staged.find("coarse_record_absent", "activations", row_id, None, "the coarse file has no such pair")
        return
    offered = {memory["memory_id"] for memory in coarse["memories"]}
    for memory_id in dict.fromkeys(ids):
        if memory_id not in offered:
            message = f"{memory_id} is not in the coarse list of {len(offered)}"
            staged.find("not_in_coarse", "activations", row_id, "memories.memory_id", message, memory_id)
    if row["offered"] != len(coarse["memories"]):
        message = f"{row['offered']} reported, the coarse record lists {len(coarse['memories'])}"
        staged.find("offered_count_differs", "activations", row_id, "offered", message, str(row["offered"]))


def _types(staged: Stage, row_id: str, row: Row) -> None:
    types = published_value(row, "memories.type") or []
    if empty := types.count(""):
        message = f"{empty} of {len(types)} memories without a type"
        staged.find("activation_type_empty", "activations", row_id, "memories.type", message, "")
    for position, (kind, memory) in enumerate(zip(types, row["memories"], strict=False)):
        if memory["type"] is None and kind != "":
            message = f"{kind!r} of {memory['memory_id']} is none of the six types"
            staged.find(
                "activation_type_unknown", "activations", row_id, f"memories.{position}.type", message, str(kind)
            )


def _decisions(staged: Stage) -> None:
    decisions = staged.rows["decisions"]
    for row in staged.rows["activations"].values():
        pair = f"{row['character_id']}/{row['scenario_id']}"
        if row["step"] == "fine" and pair not in decisions:
            staged.find("decision_absent", "decisions", pair, None, "has activations, and no gold decision")
    for row_id, row in decisions.items():
        _stage(staged, "decisions", row_id, row)
        if question_id(row["character_id"], row["scenario_id"]) not in staged.rows["mcqs"]:
            staged.find("question_absent", "decisions", row_id, None, "has no question")


def _stage(staged: Stage, table: str, row_id: str, row: Row) -> None:
    scenario = staged.rows["scenarios"].get(row["scenario_id"])
    if scenario is not None and scenario["stage"] != row["stage"]:
        message = f"{row['stage']} here, {scenario['stage']} in the scenario"
        staged.find("stage_differs", table, row_id, "stage", message, row["stage"])


def _question(staged: Stage, row_id: str, row: Row) -> None:
    key, decisions = staged.rows["mcq_keys"][row_id], staged.rows["decisions"]
    _stage(staged, "mcqs", row_id, row)
    if row_id != question_id(row["character_id"], row["scenario_id"]):
        message = f"it asks for {row['character_id']} in {row['scenario_id']}"
        staged.find("question_id_differs", "mcqs", row_id, "question_id", message, row_id)
    if (pair := f"{row['character_id']}/{row['scenario_id']}") not in decisions:
        staged.find("gold_absent", "mcqs", row_id, None, f"no gold decision for {pair}")
    if tuple(option["label"] for option in row["options"]) != LABELS:
        labels = ", ".join(option["label"] for option in row["options"])
        staged.find("labels_out_of_order", "mcqs", row_id, "options", f"they run {labels}", labels)
    for what, values in (
        ("source", [source["character_id"] for source in key["sources"]]),
        ("text", [option["content"] for option in row["options"]]),
    ):
        if repeated := sorted(value for value, times in Counter(values).items() if times > 1):
            staged.find("option_repeated", "mcqs", row_id, "options", f"one {what} for two options", repeated[0])
    for option, source in zip(row["options"], key["sources"], strict=True):
        _option(staged, row, key, option, source)


def _option(staged: Stage, row: Row, key: Row, option: Row, source: Row) -> None:
    row_id, label = row["question_id"], option["label"]
    if label == key["answer"] and source["character_id"] != row["character_id"]:
        message = f"{label} is the decision of {source['character_id']}"
        staged.find("answer_not_own", "mcq_keys", row_id, "answer", message, source["character_id"])
    gold = staged.rows["decisions"].get(f"{source['character_id']}/{row['scenario_id']}")
    as_gold = gold is not None and gold["final_decision"] == option["content"]
    if not as_gold:
        message = f"{label} is not the gold decision of {source['character_id']}"
        staged.find("option_differs_from_gold", "mcqs", row_id, f"options.{label}.content", message)
    if source["is_generated"] and as_gold:
        message = f"{label} is flagged, and is the gold decision of {source['character_id']}"
        staged.find("generated_flag", "mcq_keys", row_id, f"sources.{label}.is_generated", message, "true")


def _listed(names: list[str], what: str) -> str:
    shown = ", ".join(names[:_NAMED])
    return f"{len(names)} {what} ({shown}{', …' if len(names) > _NAMED else ''})"
