"""Small published datasets, invented and without a fault; tests of the importers break them in one place."""

from pathlib import Path
from typing import Any

import orjson

from schemas.tables import term_ids, vocabulary

CHARACTERS = ("CHAR_01", "CHAR_02", "CHAR_03", "CHAR_04")
AGES = {"school_age": 9, "adolescence": 15}
SCENARIOS = {stage: f"SCN_{stage.upper()}_1" for stage in AGES}

STEP_1, STEP_2 = "activated_memories_step1.json", "activated_memories_step2.json"

Documents = dict[str, Any]


def encoded(documents: Documents) -> dict[str, bytes]:
    """Parsed documents as the bytes of their files."""
    return {
        name: b"".join(orjson.dumps(line) + b"\n" for line in value) if name.endswith("l") else orjson.dumps(value)
        for name, value in documents.items()
    }


def folder_of(documents: Documents, folder: Path) -> Path:
    """A folder with the files of a dataset."""
    for name, content in encoded(documents).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def read_folder(folder: Path) -> Documents:
    """The parsed files of a folder, by path."""
    found = {}
    for path in sorted(path for path in folder.rglob("*.json*") if path.is_file()):
        content = path.read_bytes()
        lines = path.suffix == ".jsonl"
        value = [orjson.loads(line) for line in content.splitlines()] if lines else orjson.loads(content)
        found[path.relative_to(folder).as_posix()] = value
    return found


def heart() -> Documents:
    """HEART-BENCH with two scenarios and four characters; fresh each time."""
    pairs = [(character, stage) for character in CHARACTERS for stage in AGES]
    return {
        "scenarios.json": {"scenarios": {stage: [_scenario(stage)] for stage in AGES}},
        "mcq.json": {
            "dataset_meta": {"version": "sample", "total_questions": len(pairs)},
            "questions": [_question(*pair) for pair in pairs],
        },
        "ground_truth.json": {"pairs": [_gold(*pair) for pair in reversed(pairs)]},
        STEP_1: {
            "dataset_meta": {"version": "sample"},
            "annotations": {c: {SCENARIOS[s]: _coarse(c, s) for s in AGES} for c in reversed(CHARACTERS)},
        },
        STEP_2: {"annotations": {c: {SCENARIOS[s]: _fine(c, s) for s in AGES} for c in CHARACTERS}},
    }


def _scenario(stage: str) -> Any:
    dimensions, values = term_ids("diamonds"), term_ids("schwartz_values")
    return {
        "id": SCENARIOS[stage],
        "stage": stage,
        "age_range": "some years",
        "age": AGES[stage],
        "name": "The Borrowed Ladder",
        "category": "Trust / Cost",
        "intensity": "High",
        "description_for_agent": "A favour is asked that costs more than it seems.",
        "setting": {"location": "A yard", "time": "Noon", "atmosphere": "dry, still"},
        "context_text": "You lent a ladder last week and need it back today.",
        "trigger_event": {
            "sender": "Neighbour",
            "message_content": "One more day?",
            "action_required": "Say yes or no.",
        },
        "diamonds_dimension": dimensions[0],
        "diamonds": dict.fromkeys(dimensions, 4),
        "assessed_dimensions": {
            "trait_pressures": [{"trait": "A", "dilemma": "give vs keep"}],
            "value_conflicts": [{"value_a": values[0], "value_b": values[1], "dilemma": "one or the other"}],
        },
        "annotation_reference": {
            "trait_archetypes": [{"type": "High_A", "reaction": "gives it"}],
            "value_archetypes": [{"dominant": values[0], "reaction": "takes it"}],
        },
    }


def _decision(character: str, stage: str) -> str:
    return f"I choose what {character} would at {stage}, and say so at once."


def _gold(character: str, stage: str) -> Any:
    return {
        "character_id": character,
        "scenario_id": SCENARIOS[stage],
        "inner_consciousness": {
            "summary": "A lot at once.",
            "emotional_tone": "Calm.",
            "core_reasoning": "It adds up.",
            "value_orientation": "Fairness.",
        },
        "final_decision": _decision(character, stage),
        "stage": stage,
    }


def _question(character: str, stage: str) -> Any:
    options = [
        {
            "label": label,
            "content": _decision(source, stage),
            "is_correct": source == character,
            "source_character": source,
        }
        for label, source in zip("ABCD", CHARACTERS, strict=True)
    ]
    return {
        "question_id": f"Q_{character}_{SCENARIOS[stage]}",
        "character_id": character,
        "scenario_id": SCENARIOS[stage],
        "stage": stage,
        "correct_answer": "ABCD"[CHARACTERS.index(character)],
        "options": options,
    }


def _coarse(character: str, stage: str) -> Any:
    return {
        "character_id": character,
        "scenario_id": SCENARIOS[stage],
        "scenario_age": AGES[stage],
        "eligible_memory_count": 300,
        "stage1_ratio": 0.25,
        "activated_count": 60,
        "age_batches": 4,
        "fast_path": False,
        "batch_errors": [],
        "activated_memories": [{"memory_id": f"MEM_{character[-2:]}_{number:04d}"} for number in range(1, 61)],
    }


def _fine(character: str, stage: str) -> Any:
    ids = [f"MEM_{character[-2:]}_{number:04d}" for number in range(50, 0, -1)]
    return {
        "character_id": character,
        "scenario_id": SCENARIOS[stage],
        "scenario_age": AGES[stage],
        "stage1_activated_count": 60,
        "final_activated_count": 50,
        "skipped_finalize": False,
        "compact": False,
        "activated_memories": [{"memory_id": memory_id, "type": "CB"} for memory_id in ids],
    }


def personalens() -> Documents:
    """PersonaLens with all domains, one task each and one across two, and two users; fresh each time."""
    domains = term_ids("personalens_domains")
    documents: Documents = {
        "res/schema.json": [
            {
                "domain": domain["id"],
                "description": "A domain.",
                "tasks": [{"name": "Do", "description": "Does it."}],
                "affinities": [_affinity(preference) for preference in domain["preferences"]],
            }
            for domain in vocabulary("personalens_domains")
        ],
        "data/task/Multi-Domain/task.jsonl": [{**_task(), "Relevant Domains": ["Books", "Music"]}],
    }
    for domain in vocabulary("personalens_domains"):
        task = {**_task(), "Relevant Affinity Types": [domain["preferences"][0]["id"]]}
        documents[f"data/task/{domain['id']}/task.jsonl"] = [task]
    for number, off in enumerate(("Alarm", "Music")):
        active = [domain for domain in domains if domain != off]
        documents |= {f"data/profile/user{number}/{name}": value for name, value in _user(number, active).items()}
    return documents


def _affinity(preference: Any) -> Any:
    return {
        "name": preference["id"],
        "description": "A preference.",
        "is_categorical": preference["categorical"],
        "has_multiple_values": preference["multiple"],
        "possible_values": [f"value {number}" for number in range(preference["possible"] or 2)],
    }


def _task() -> Any:
    return {
        "Task Number": 1,
        "Task Description": "Somebody needs something.",
        "User Intent": "You need something.",
        "Task Goal": "It is there.",
        "Relevant Affinity Types": ["Genre", "Preferred Genres"],
    }


def _user(number: int, active: list[str]) -> Documents:
    affinities = {
        domain["id"]: {
            preference["id"]: ["value 0", "value 1"] if preference["multiple"] else "value 1"
            for preference in domain["preferences"]
        }
        for domain in vocabulary("personalens_domains")
        if domain["id"] in active
    }
    profile = {
        "affinities": affinities,
        "interactions": dict.fromkeys(active, "They asked, and were answered."),
        "interests": {domain: int(domain in active) for domain in term_ids("personalens_domains")},
        "demographics": {
            "user_id": f"user{number}",
            **dict.fromkeys(("age", "gender", "employment_status", "education", "marital_status"), "some"),
            **dict.fromkeys(("english_proficiency", "ethnicity", "religion"), "some"),
            **dict.fromkeys(("birth_country", "reside_country"), "Chile"),
        },
    }
    first = {domain["id"]: domain["preferences"][0]["id"] for domain in vocabulary("personalens_domains")}
    single = [
        {
            **_task(),
            "task_id": f"SD-{name}-task-1",
            "Relevant Domains": [name],
            "Relevant Affinity Types": [first[name]],
        }
        for name in active
    ]
    multi = [{**_task(), "task_id": "MD-task-1", "Relevant Domains": ["Books", "Music"]}] if "Music" in active else []
    return {"profile.json": profile, "tasks.json": _situated(single), "tasks_md.json": _situated(multi)}


def _situated(tasks: list[Any]) -> Documents:
    situation = {
        "Location": "Valdivia",
        "Device": "Laptop",
        "Time of Day": "Evening",
        "Day of the Week": "Monday",
        "Environment": "Quiet",
    }
    return {
        f"Task {number}": {name: value for name, value in task.items() if name != "Task Number"}
        | {"situations": dict(situation)}
        for number, task in enumerate(tasks, 1)
    }
