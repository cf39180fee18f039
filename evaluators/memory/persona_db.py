"""Statements per persona field, made from memories, and the retrieval that knows which fields a situation is about.

Two layers, as PersonaDB has them (HEART-BENCH 4.1): the narratives, and two or three short statements
made from each of them, filed under the fields of ``persona_fields.toml``. A situation is matched with
both; statements under a field that the situation is about weigh more. A memory is taken once, by its
best unit, and shown as that unit. A statement comes from one memory and has its age, so the age filter
holds for it too: the published filter by stage label lets the future through.

Statements are written by a model (``--manager NAME``, through the journal, 10 memories a request) or,
without one, taken from the narrative: its most telling sentences, word for word.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.memory.embedding import Embedder
from evaluators.memory.retrieval import query, similarities, top
from evaluators.protocols.bench import Bench, Memory, Question
from evaluators.protocols.prompting import PROMPTS, Excerpt
from models.backends import BackendSettings, run
from models.prompts import load
from models.remedies import Failure, Kept, ask_pieces
from models.request import Chain, Reply, Request
from schemas.command import say

PER_MEMORY = 3
ATTRIBUTE_WEIGHT = 0.15  # what a match of fields adds to a cosine, at most
_LONGEST = 20  # words of a statement
_BATCH = 10  # memories a request
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’]?\s+")
_WORD = re.compile(r"[a-z']+")


@dataclass(frozen=True)
class Statement:
    """Something lasting about the person, from one memory, under one field."""

    field: str
    text: str


@dataclass(frozen=True)
class _Unit:
    memory: Memory
    field: str | None
    text: str


Made = tuple[dict[str, list[Statement]], list[Failure]]


def retrieved(
    bench: Bench, embedder: Embedder, statements: Mapping[str, Sequence[Statement]], k: int
) -> dict[str, list[Excerpt]]:
    """Question -> ``k`` memories, each as its narrative or as its best statement, best first."""
    found: dict[str, list[Excerpt]] = {}
    units = {name: _units(bench.memories[name], statements) for name in sorted(bench.memories)}
    vectors = embedder.fit([unit.text for name in units for unit in units[name]])
    reached = 0
    for name, own in units.items():
        rows = vectors[reached : reached + len(own)]
        reached += len(own)
        for question in bench.questions:
            if question.character_id == name:
                found[question.id] = _best(bench, embedder, question, own, rows, k)
    return {question.id: found.get(question.id, []) for question in bench.questions}


def _best(
    bench: Bench, embedder: Embedder, question: Question, own: Sequence[_Unit], rows: Any, k: int
) -> list[Excerpt]:
    """Units are in order of age, so those up to the scenario's age come first."""
    eligible = [unit for unit in own if unit.memory.age <= question.age]
    asked = query(bench.scenarios[question.scenario_id])
    weights = field_weights(asked)
    scores = similarities(rows[: len(eligible)], embedder.vectors([asked]))
    scores = scores + np.array([ATTRIBUTE_WEIGHT * weights.get(unit.field or "", 0.0) for unit in eligible])
    made: dict[str, Excerpt] = {}
    for place in top(scores, [unit.memory.id for unit in eligible], len(eligible)):
        unit = eligible[place]
        if unit.memory.id not in made and len(made) < k:
            told = f"{fields()[unit.field].title}: {unit.text}" if unit.field else unit.text
            made[unit.memory.id] = Excerpt(unit.memory.id, unit.memory.timeline, told, float(scores[place]))
    return list(made.values())


def _units(memories: Sequence[Memory], statements: Mapping[str, Sequence[Statement]]) -> list[_Unit]:
    return [
        unit
        for memory in memories
        for unit in (
            _Unit(memory, None, memory.text),
            *(_Unit(memory, said.field, said.text) for said in statements.get(memory.id, ())),
        )
    ]


@dataclass(frozen=True)
class Field:
    """A persona field: its title, and the words that are about it."""

    title: str
    cues: frozenset[str]


@functools.cache
def fields() -> Mapping[str, Field]:
    """The persona fields, in their order."""
    return {name: Field(one["title"], frozenset(one["cues"])) for name, one in _file()["field"].items()}


@functools.cache
def _file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("persona_fields.toml").read_text("utf-8"))


def field_weights(text: str) -> dict[str, float]:
    """Field -> how much a text is about it, the most about one being 1; empty when about none."""
    words = _WORD.findall(text.casefold())
    counts = {name: sum(word in field.cues for word in words) for name, field in fields().items()}
    most = max(counts.values())
    return {name: count / most for name, count in counts.items() if count}


def extracted(memory: Memory) -> list[Statement]:
    """The sentences of a narrative that say most about the person, word for word, each under its field."""
    ranked = []
    for place, sentence in enumerate(_SENTENCE.split(memory.text)):
        words = _WORD.findall(sentence.casefold())
        if not 4 <= len(words) <= _LONGEST or not {"i", "my", "me"} & set(words):
            continue
        weights = field_weights(sentence)
        lasting = sum(cue in sentence.casefold() for cue in _file()["lasting"]["cues"])
        if weights and lasting:
            ranked.append((-lasting, -sum(weights.values()), place, max(weights, key=weights.__getitem__), sentence))
    best = sorted(ranked)[:PER_MEMORY]
    return [Statement(field, " ".join(sentence.split())) for *_, field, sentence in sorted(best, key=lambda r: r[2])]


def statements_of(bench: Bench, manager: str, settings: BackendSettings | None) -> dict[str, list[Statement]]:
    """Memory -> its statements, for every character of the questions; ``manager`` "offline" or a model's name.

    Memories for which the model gave none count as having none; how many is said on stderr.
    """
    wanted = sorted({question.character_id for question in bench.questions})
    memories = [memory for name in wanted for memory in bench.memories.get(name, ())]
    if manager == "offline" or settings is None:
        return {memory.id: extracted(memory) for memory in memories}
    starts = [
        functools.partial(_written, tuple(memories[start : start + _BATCH]))
        for start in range(0, len(memories), _BATCH)
    ]
    made: dict[str, list[Statement]] = {}
    failures: list[Failure] = []
    for good, bad in run(starts, settings, rows=len(memories)):
        made.update(good)
        failures += bad
    if failures:
        say(f"{len(failures)} memories without statements, the first: {failures[0].item}: {failures[0].reason}")
    return made


def _written(memories: Sequence[Memory]) -> Chain[Made]:
    by_id = {memory.id: memory for memory in memories}

    def make(ids: Sequence[str], reason: str) -> Request:
        prompt = load(PROMPTS / "statements.md")
        told = prompt.render(
            fields="\n".join(f"- {name}: {field.title}" for name, field in fields().items()),
            memories="\n\n".join(f"[{name}]\n{by_id[name].text}" for name in ids),
            reason=f"The last reply could not be used: {reason}" if reason else "",
        )
        return Request(
            id=f"evaluate/statements/{ids[0]}",
            role="screen",
            fixed=told.fixed,
            prompt=told.prompt,
            prompt_id=f"{prompt.id}@{prompt.version}",
            prompt_digest=prompt.digest,
            compose=lambda: {"memories": [_as_answer(by_id[name]) for name in ids]},
            schema=_schema(),
            temperature=0.0,
            rows=len(ids),
        )

    return (yield from ask_pieces(list(by_id), make, _kept, _BATCH))


def _kept(reply: Reply, ids: Sequence[str]) -> Kept[list[Statement]]:
    if reply.status != "answered":
        return Kept({})
    given = {item["id"]: item["statements"] for item in reply.answer["memories"] if item["id"] in ids}
    return Kept({name: [Statement(one["field"], one["text"]) for one in said] for name, said in given.items()})


def _as_answer(memory: Memory) -> dict[str, Any]:
    return {"id": memory.id, "statements": [{"field": s.field, "text": s.text} for s in extracted(memory)]}


def _schema() -> dict[str, Any]:
    statement = {
        "type": "object",
        "additionalProperties": False,
        "required": ["field", "text"],
        "properties": {"field": {"type": "string", "enum": list(fields())}, "text": {"type": "string"}},
    }
    memory = {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "statements"],
        "properties": {"id": {"type": "string"}, "statements": {"type": "array", "items": statement}},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["memories"],
        "properties": {"memories": {"type": "array", "items": memory}},
    }
