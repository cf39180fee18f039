"""Asking a model which option a character chose, and what became of every question.

One request a question, order and sample, all side by side through the journal; items are matched by id. A reply that
holds the asked-for JSON counts by its schema, any other is read strictly (``parsing``); one that was declined, cut off
or never came has a state of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from evaluators.protocols.bench import Bench, Question, activated_of, diamonds_of, poles_of
from evaluators.protocols.prompting import Excerpt, Excerpts, How, choice_request, original, shown
from evaluators.scoring.parsing import State, read_choice
from models.backends import BackendSettings, run
from models.request import Chain, Reply, Usage


@dataclass(frozen=True)
class Outcome:
    """What came of one request: ``choice`` is the released letter of the option, whatever place it was shown in."""

    order: int
    sample: int
    state: State
    choice: str | None
    how: str = ""
    reason: str = ""
    reply: str = ""
    served_by: str | None = None
    usage: Usage = field(default_factory=Usage)


def ask_model(
    bench: Bench, retrieved: Mapping[str, Excerpts], how: How, settings: BackendSettings
) -> dict[str, list[Outcome]]:
    """Question -> its outcomes, by order and sample. Raises as ``models.backends.run``; the journal keeps replies."""
    starts = chains(bench, retrieved, how)
    found: dict[str, list[Outcome]] = {question.id: [] for question in bench.questions}
    for (question, order, sample), reply in zip(
        _asked(bench, how), run(starts, settings, rows=len(starts)), strict=True
    ):
        found[question.id].append(outcome(question, order, sample, reply))
    return found


def chains(bench: Bench, retrieved: Mapping[str, Excerpts], how: How) -> list[Callable[[], Chain[Reply]]]:
    """A chain a question, order and sample."""
    return [
        functools.partial(_one, bench, question, how, retrieved[question.id], order, sample)
        for question, order, sample in _asked(bench, how)
    ]


def _asked(bench: Bench, how: How) -> list[tuple[Question, int, int]]:
    return list(product(bench.questions, range(how.orders), range(how.samples)))


def _one(bench: Bench, question: Question, how: How, excerpts: Excerpts, order: int, sample: int) -> Chain[Reply]:
    reply: Reply = yield choice_request(bench, question, how, excerpts, order, sample)
    return reply


def outcome(question: Question, order: int, sample: int, reply: Reply) -> Outcome:
    """What a reply to a question comes to."""
    if reply.status == "answered":
        chosen, state, how, reason = reply.answer["choice"], "scored", "schema", ""
    elif reply.status in ("unparsable", "invalid"):
        read = read_choice(reply.text, *shown(question, order))
        chosen, state, how, reason = read.letter, "scored" if read.letter else "unscored", read.how, read.reason
    else:
        chosen, state, how = None, reply.status, ""
        reason = f"{reply.status}: {reply.reason}" if reply.reason else reply.status
    choice = original(question, chosen, order) if chosen else None
    return Outcome(order, sample, state, choice, how, reason, reply.text, reply.model, reply.usage)  # type: ignore[arg-type]


def outcomes_of(answers: Mapping[str, str], how: How) -> dict[str, list[Outcome]]:
    """A baseline's answers as outcomes; it reads no order and draws nothing, so that all are the same."""
    return {
        name: [
            Outcome(order, sample, "scored", letter, "offline")
            for order in range(how.orders)
            for sample in range(how.samples)
        ]
        for name, letter in answers.items()
    }


def items(
    bench: Bench,
    keys: Mapping[str, str],
    retrieved: Mapping[str, Excerpts],
    outcomes: Mapping[str, Sequence[Outcome]],
) -> list[dict[str, Any]]:
    """One record a question: what was asked, retrieved and answered, and the key.

    ``correct`` is the first reply's; ``share`` the share of replies that were right, which figures are made of."""
    texts = {memory.id: memory.text for own in bench.memories.values() for memory in own}
    poles, activated = poles_of(bench.release), activated_of(bench.release)
    made = []
    for question in bench.questions:
        first, gold = outcomes[question.id][0], keys[question.id]
        called_up = activated.get((question.character_id, question.scenario_id))
        found = {excerpt.memory_id for excerpt in retrieved[question.id]}
        right = [one.choice == gold for one in outcomes[question.id]]
        made.append(
            {
                "question_id": question.id,
                "character_id": question.character_id,
                "scenario_id": question.scenario_id,
                "stage": question.stage,
                "diamonds": diamonds_of(bench.scenarios[question.scenario_id]),
                "options": len(question.labels),
                "gold": gold,
                "state": first.state,
                "choice": first.choice,
                "correct": first.choice == gold,
                "share": sum(right) / len(right),
                "trait": poles.get(question.character_id, (None, None))[0],
                "pole": poles.get(question.character_id, (None, None))[1],
                "activated": None if called_up is None else len(called_up),
                "recalled": None if called_up is None else len(found.intersection(called_up)),
                "how": first.how,
                "reason": first.reason,
                "reply": first.reply,
                "eligible": len(bench.eligible(question)),
                "memories": [memory_record(excerpt, texts) for excerpt in retrieved[question.id]],
                "replies": [
                    {"order": one.order, "sample": one.sample, "state": one.state, "choice": one.choice}
                    for one in outcomes[question.id]
                ],
            }
        )
    return made


def memory_record(excerpt: Excerpt, texts: Mapping[str, str]) -> dict[str, Any]:
    """What was retrieved; its text only where it is not the released narrative."""
    score = None if excerpt.score is None else round(excerpt.score, 6)
    text = None if texts.get(excerpt.memory_id) == excerpt.text else excerpt.text
    return {"id": excerpt.memory_id, "score": score, "text": text}
