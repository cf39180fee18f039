"""Which memories a question calls up: the latest, or the nearest.

Candidates are the character's memories up to the scenario's age. ``recent`` takes the last ``k`` of
them by age and id; ``naive_rag`` the ``k`` most similar to the situation, embedding the full narrative
only (HEART-BENCH 4.1; the query's parts as in the published runner). Equal scores go by id, so the
same release gives the same list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.memory.embedding import Embedder
from evaluators.protocols.bench import Bench, Memory, Question, activated_of
from evaluators.protocols.prompting import Excerpt
from schemas.errors import RequestError
from schemas.tables import Row

_BLOCK = 128  # questions whose scores are in memory at once


def recent(bench: Bench, question: Question, k: int) -> list[Excerpt]:
    """The last ``k`` memories before the situation, oldest first."""
    return [excerpt(memory) for memory in bench.eligible(question)[-k:]]


def nearest(bench: Bench, embedder: Embedder, k: int) -> dict[str, list[Excerpt]]:
    """Question -> its ``k`` nearest memories, nearest first."""
    everyone = [memory for name in sorted(bench.memories) for memory in bench.memories[name]]
    vectors = embedder.fit([memory.text for memory in everyone])
    starts = _starts(bench)
    found: dict[str, list[Excerpt]] = {}
    for block in _blocks(bench.questions):
        queries = embedder.vectors([query(bench.scenarios[question.scenario_id]) for question in block])
        for row, question in enumerate(block):
            eligible = bench.eligible(question)
            start = starts.get(question.character_id, 0)
            scores = similarities(vectors[start : start + len(eligible)], queries[row : row + 1])
            best = top(scores, [memory.id for memory in eligible], k)
            found[question.id] = [excerpt(eligible[place], float(scores[place])) for place in best]
    return found


def called_up(bench: Bench) -> dict[str, Sequence[Excerpt]]:
    """Question -> the memories that the release says its situation calls up, oldest first.

    Raises RequestError for a release that does not say."""
    activated = activated_of(bench.release)
    if not activated:
        raise RequestError(
            "no activations", bench.release.name, expected="what each situation calls up", fix="Take another setting"
        )
    found: dict[str, Sequence[Excerpt]] = {}
    for question in bench.questions:
        ids = set(activated.get((question.character_id, question.scenario_id), ()))
        found[question.id] = [excerpt(memory) for memory in bench.eligible(question) if memory.id in ids]
    return found


def everything(bench: Bench) -> dict[str, Sequence[Excerpt]]:
    """Question -> all memories up to the scenario's age, oldest first."""
    return {question.id: [excerpt(memory) for memory in bench.eligible(question)] for question in bench.questions}


def query(scenario: Row) -> str:
    """What memories are compared with: description, background, message and the decision asked for."""
    trigger = scenario["trigger_event"]
    parts = [scenario["description_for_agent"], scenario["context_text"], trigger["message_content"]]
    return "\n".join([*parts, *([trigger["action_required"]] if trigger["action_required"] else [])])


def similarities(rows: Any, one: Any) -> Any:
    """The cosine of every row with one vector, as a flat array; sparse or dense."""
    if not rows.shape[0]:
        return np.zeros(0, np.float32)
    product = rows @ one.T
    return np.asarray(product.todense() if hasattr(product, "todense") else product).ravel()


def top(scores: Any, ids: Sequence[str], k: int) -> list[int]:
    """The places of the ``k`` highest scores, highest first; equal ones in order of id."""
    order = np.lexsort((np.array(ids), -np.asarray(scores)))
    return [int(place) for place in order[:k]]


def excerpt(memory: Memory, score: float | None = None) -> Excerpt:
    """A memory as a prompt shows it: the full narrative under its id and time."""
    return Excerpt(memory.id, memory.timeline, memory.text, score)


def _starts(bench: Bench) -> Mapping[str, int]:
    """Where each character's memories begin when all are laid end to end."""
    starts, reached = {}, 0
    for name in sorted(bench.memories):
        starts[name] = reached
        reached += len(bench.memories[name])
    return starts


def _blocks(questions: Sequence[Question]) -> Iterator[Sequence[Question]]:
    for start in range(0, len(questions), _BLOCK):
        yield questions[start : start + _BLOCK]
