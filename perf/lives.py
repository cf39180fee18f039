"""Rows of the size and shape of HEART, made in seconds: what the comparisons of ``perf`` run on.

Text is sentences of invented words drawn from a pool, so that it compresses about as well as prose and
no two memories are alike. Shape and keys are those of the real tables, meaning is not.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import orjson

from builders.ids import character_number, memory_id, question_id
from builders.memories.stages import memory_stage
from schemas.randomness import rng_for
from schemas.tables import Row, term_ids, vocabulary
from schemas.workspace import Workspace

CHARACTERS, EACH = 11, 1000

_ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr")
_VOWELS = ("a", "e", "i", "o", "u", "ea")
_ENDS = ("l", "n", "r", "s", "t", "nd", "ck")

_MODELS = Path(__file__).resolve().parents[1] / "tests/cases/small_heart.json"


def write_heart(root: Path, characters: int = CHARACTERS, each: int = EACH) -> Workspace:
    """A workspace of ``heart`` with so many characters and memories of each, activations, decisions and questions."""
    workspace = Workspace(root, "heart")
    models: dict[str, list[Row]] = orjson.loads(_MODELS.read_bytes())
    ids = [f"CHAR_{number:02d}" for number in range(1, characters + 1)]
    scenarios = list(_scenarios(models["scenarios"][0]))
    pool = sentences(rng_for(7, "perf", "sentences", "all"))
    with workspace.lock():
        workspace.write("characters", [_character(models["characters"], character) for character in ids])
        workspace.write("scenarios", scenarios)
        for character in ids:
            workspace.write("ledgers", list(_facts(models["ledgers"][0], character)), character)
            workspace.write("memories", memories(character, each, pool), character)
            if character in ids[:CHARACTERS]:
                pairs = [(character, scenario) for scenario in scenarios]
                workspace.write("activations", list(_activations(models["activations"], pairs, each)), character)
                workspace.write(
                    "decisions", [_decision(models["decisions"][0], *pair, pool) for pair in pairs], character
                )
        asked = list(itertools.islice(itertools.product(ids[:CHARACTERS], scenarios), 673))
        workspace.write("mcqs", [_question(models["mcqs"][0], *pair, pool) for pair in asked])
        workspace.write("mcq_keys", [_key(models["mcq_keys"][0], *pair) for pair in asked])
        for name, table in workspace.benchmark.tables.items():
            if not table.optional and not workspace.keys(name):
                workspace.write(name, [])
    return workspace


def sentences(rng: random.Random, words: int = 12_000, count: int = 20_000) -> list[str]:
    """A pool of sentences over a vocabulary in which few words are frequent and most are rare."""
    vocabulary_ = ["".join(map(rng.choice, (_ONSETS, _VOWELS, _ENDS) * rng.randint(1, 2))) for _ in range(words)]
    weights = list(itertools.accumulate(1 / rank for rank in range(1, words + 1)))
    return [
        " ".join(rng.choices(vocabulary_, cum_weights=weights, k=rng.randint(6, 16))).capitalize() + "."
        for _ in range(count)
    ]


def memories(character: str, each: int, pool: list[str]) -> list[Row]:
    """The memories of one character, about 3,300 characters of text each."""
    return [_memory(character, number, each, pool) for number in range(1, each + 1)]


def _memory(character: str, number: int, of: int, pool: list[str]) -> Row:
    rng = rng_for(7, "perf", "memories", character, number)
    age = 6 + 44 * (number - 1) // max(of - 1, 1)
    stage = memory_stage(age)
    return {
        "id": memory_id(character, number),
        "timeline": f"{stage['label']} ({age})",
        "context": rng.choice(pool)[:30],
        "content_summary": rng.choice(pool)[:60],
        "content_full": " ".join(rng.choices(pool, k=45)),
        "triggers": [word[:60] for word in rng.choice(pool).split()[:4]],
        "relevance_tags": [word[:60] for word in rng.choice(pool).split()[:4]],
        "psych_conclusion": rng.choice(pool),
        "behavior_policy": rng.choice(pool),
        "emotion_signature": {"primary": "worry", "secondary": "relief", "intensity": round(rng.uniform(0.2, 0.9), 2)},
        "character_id": character,
        "age": age,
        "stage": stage["id"],
        "domain": rng.choice(term_ids("scenario_domains")),
        "tier": rng.choice(term_ids("intensity_tiers")),
        "ledger_refs": [f"LED_{character_number(character)}_{rng.randint(1, 60):03d}"],
        "provenance": {
            "origin": "built",
            "backend": "offline",
            "model": None,
            "prompt": "memory@1",
            "prompt_digest": "a" * 64,
            "seed": 7,
            "revision": 0,
            "repairs": [],
        },
    }


def _character(models: list[Row], character: str) -> Row:
    number = int(character_number(character))
    return {**models[number % len(models)], "character_id": character, "label": f"Role {number}"}


def _facts(model: Row, character: str) -> Iterator[Row]:
    own = character_number(character)
    for number in range(1, 61):
        yield {**model, "fact_id": f"LED_{own}_{number:03d}", "character_id": character, "linked_to": []}


def _scenarios(model: Row) -> Iterator[Row]:
    for stage in vocabulary("scenario_stages"):
        for number in range(1, 9):
            name = f"SCN_{stage['id'].upper()}_{number}"
            yield {**model, "id": name, "stage": stage["id"], "age": stage["to_age"]}


def _activations(models: list[Row], pairs: list[tuple[str, Row]], each: int) -> Iterator[Row]:
    by_step = {row["step"]: row for row in models}
    for character, scenario in pairs:
        rng = rng_for(7, "perf", "activations", character + scenario["id"])
        for step, size in (("coarse", 89), ("fine", 50)):
            names = sorted(memory_id(character, number) for number in rng.sample(range(1, each + 1), min(size, each)))
            kind = None if step == "coarse" else "BS"
            yield {
                **by_step[step],
                "character_id": character,
                "scenario_id": scenario["id"],
                "scenario_age": scenario["age"],
                "memories": [{"memory_id": name, "type": kind, "cue": None} for name in names],
            }


def _decision(model: Row, character: str, scenario: Row, pool: list[str]) -> Row:
    rng = rng_for(7, "perf", "decisions", character + scenario["id"])
    inner = {part: " ".join(rng.choices(pool, k=9)) for part in model["inner_consciousness"]}
    final = " ".join(rng.choices(pool, k=5))
    named = {"character_id": character, "scenario_id": scenario["id"], "stage": scenario["stage"]}
    return {**model, **named, "inner_consciousness": inner, "final_decision": final}


def _question(model: Row, character: str, scenario: Row, pool: list[str]) -> Row:
    rng = rng_for(7, "perf", "mcqs", character + scenario["id"])
    options = [{"label": label, "content": " ".join(rng.choices(pool, k=5))} for label in "ABCD"]
    named = {"character_id": character, "scenario_id": scenario["id"], "stage": scenario["stage"]}
    return {**model, **named, "question_id": question_id(character, scenario["id"]), "options": options}


def _key(model: Row, character: str, scenario: Row) -> Row:
    answer = rng_for(7, "perf", "mcq_keys", character + scenario["id"]).choice("ABCD")
    others = [f"CHAR_{number:02d}" for number in range(1, CHARACTERS + 1) if f"CHAR_{number:02d}" != character]
    sources = [
        {"label": label, "character_id": character if label == answer else others.pop(), "is_generated": None}
        for label in "ABCD"
    ]
    return {**model, "question_id": question_id(character, scenario["id"]), "answer": answer, "sources": sources}
