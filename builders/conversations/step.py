"""Conversations and their ratings: planned first, then put into words, offline or by a model.

PersTurnBench appendix B and Table 5: four task families, about 16 conversations a rater, 4.4 replies a conversation.
Scores follow from the plan (``plan``), so they are the same whoever writes the words. One request a conversation.

    python -m builders.conversations --benchmark persturn
    python -m builders.conversations --benchmark persturn --char R001 --backend messages --max-cost 5
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.conversations.composer import Setting, closing_words, composed_turns, setting_of
from builders.conversations.plan import PlannedConversation, planned_conversations, settings
from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import built, computed
from builders.pipeline.run import Done, Outcome, Run
from builders.pipeline.staleness import current_outcome, inputs_digest, write_built
from builders.pipeline.streams import Streams
from builders.raters.parameters import REASONS, scale_of
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure, ask, failure
from models.request import Chain, Request
from schemas.errors import unknown
from schemas.tables import Row, vocabulary
from schemas.workspace import Workspace

READS = ("raters",)
MAKES = ("conversations", "ratings")

PROMPT = Path(__file__).parents[1] / "prompts" / "rated_conversation.md"

_OFFLINE = "offline composer"
_TEMPERATURE = 0.9
_WORDS_OF_A_TURN = 700  # tokens

Found = tuple[list[Row], list[Failure]]


def of_rater(rater: Row, planned: Sequence[PlannedConversation], streams: Streams, backend: str) -> Chain[Found]:
    """The chain of one rater: a row for every conversation."""
    rows: list[Row] = []
    failures: list[Failure] = []
    for conversation in planned:
        setting = setting_of(conversation, rater, streams)
        request = _request(conversation, rater, setting, streams)
        reply = yield from ask(request, check=functools.partial(_wrong, len(conversation.turns)))
        if reply.status == "answered":
            provenance = built(request, reply, streams.seed, backend)
            closing = closing_words(conversation, streams) if conversation.closing else None
            rows.append(_row(conversation, setting, reply.answer["turns"], closing, provenance))
        else:
            failures.append(failure(request, reply))
    return rows, failures


def rating_rows(planned: Sequence[PlannedConversation], seed: int) -> list[Row]:
    """The gold of these conversations, a row a reply."""
    return [
        {
            "sample_id": turn.sample_id,
            "conversation_id": conversation.conversation_id,
            "rater_id": conversation.rater_id,
            "task": conversation.task,
            "turn": place,
            "score": turn.score,
            "reason": turn.reason,
            "planted": {"levels": dict(turn.levels), "worth": turn.worth},
            "published": [],
            "provenance": computed(seed),
        }
        for conversation in planned
        for place, turn in enumerate(conversation.turns)
    ]


def selected_raters(space: Workspace, ids: Sequence[str]) -> list[Row]:
    """The raters named, in order of id; all when none is. An unknown one raises with the nearest."""
    rows = {row["rater_id"]: row for row in space.rows("raters")}
    for name in ids:
        if name not in rows:
            raise unknown("rater", name, rows, space.path("raters"))
    return [row for name, row in sorted(rows.items()) if not ids or name in ids]


def build(run: Run) -> Done:
    """Bring conversations and ratings of the selected raters up to date; a rater with failures keeps what it had."""
    space, backend = run.space, run.settings.name
    model = None if backend == "offline" else run.settings.roles["user"].name
    digest = inputs_digest(
        space, READS, seed=run.seed, backend=backend, model=model, prompt=load(PROMPT).digest, counts=settings()
    )
    scales = {row["rater_id"]: scale_of(row["planted"]) for row in space.rows("raters")}
    planned: dict[str, list[PlannedConversation]] = {name: [] for name in scales}
    for conversation in planned_conversations(scales, run.streams):
        planned[conversation.rater_id].append(conversation)
    outcomes: list[Outcome] = []
    waiting = []
    for rater in selected_raters(space, run.selection):
        name = rater["rater_id"]
        current = [current_outcome(space, table, name, digest, run.fresh) for table in MAKES]
        outcomes += [outcome for outcome in current if outcome]
        if not all(current):
            waiting.append((name, functools.partial(of_rater, rater, planned[name], run.streams, backend)))
    failures: list[Failure] = []
    count = sum(len(planned[name]) for name, _ in waiting)
    results = run_chains([start for _, start in waiting], run.settings, workers=run.workers, rows=count)
    for (name, _), (rows, failed) in zip(waiting, results, strict=True):
        failures += failed
        if not failed:
            outcomes.append(write_built(space, "conversations", name, digest, rows))
            outcomes.append(write_built(space, "ratings", name, digest, rating_rows(planned[name], run.seed)))
    return Done(outcomes, failures)


def _row(
    planned: PlannedConversation, setting: Setting, turns: Sequence[Mapping[str, str]], closing: str | None,
    provenance: Row,
) -> Row:  # fmt: skip
    messages = [{"role": role, "content": turn[role]} for turn in turns for role in ("user", "assistant")]
    return {
        "conversation_id": planned.conversation_id,
        "rater_id": planned.rater_id,
        "task": planned.task,
        "number": planned.number,
        "task_context": setting.context,
        "chat_model": provenance["model"] or _OFFLINE,
        "messages": [*messages, *([{"role": "user", "content": closing}] if closing else [])],
        "published": [],
        "provenance": provenance,
    }


def _request(planned: PlannedConversation, rater: Row, setting: Setting, streams: Streams) -> Request:
    prompt = load(PROMPT)
    labels = {term["id"]: term["label"] for term in vocabulary("planning_tasks")}
    rendered = prompt.render(
        profile=profile_text(rater), task=labels[planned.task], context=setting.context, plan=_plan_text(planned)
    )
    turn = {role: {"type": "string", "minLength": 1} for role in ("user", "assistant")}
    item = {"type": "object", "additionalProperties": False, "required": list(turn), "properties": turn}
    return Request(
        id=f"{streams.benchmark}/conversations/{planned.conversation_id}",
        role="user",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=functools.partial(_composed, planned, setting, streams),
        schema={
            "type": "object",
            "additionalProperties": False,
            "required": ["turns"],
            "properties": {"turns": {"type": "array", "items": item}},
        },
        max_tokens=_WORDS_OF_A_TURN * (1 + len(planned.turns)),
        temperature=_TEMPERATURE,
    )


def profile_text(rater: Row) -> str:
    """A rater's profile in words."""
    tags = [tag for field in ("personality", "daily_interests", "travel_habits", "dining_preferences",
                              "spending_habits", "other_aspects") for tag in rater[field]]  # fmt: skip
    return f"{rater['gender']}, {rater['age']}, {rater['occupation']} ({rater['background']}); {', '.join(tags)}"


def _composed(planned: PlannedConversation, setting: Setting, streams: Streams) -> dict[str, Any]:
    return {"turns": composed_turns(planned, setting, streams)}


def _plan_text(planned: PlannedConversation) -> str:
    return "\n".join(
        f"{place}. " + ", ".join(f"{reason} {turn.levels[reason]}" for reason in REASONS)
        for place, turn in enumerate(planned.turns, 1)
    )


def _wrong(due: int, answer: Row) -> str | None:
    return None if len(answer["turns"]) == due else f"{len(answer['turns'])} turns where {due} were planned"


def main(argv: Sequence[str] | None = None) -> int:
    """Write conversations and ratings; see ``--help``."""
    return StepCommand(
        "conversations",
        "Write the conversations of planted raters, and what they gave each reply.",
        "python -m builders.conversations --benchmark persturn --char R001",
        build,
        selects=True,
        parallel=True,
    ).main(argv)
