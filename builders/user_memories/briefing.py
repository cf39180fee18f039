"""What a model is asked for a memory: the published evidence, within its published limits.

PersTurnBench H.1 and the released code: at most 8 conversations, as many of each source task family as fit, replies
cut to 200 characters, the background to 150, user messages to 120, three examples a score. The statistics are exact
all the same, since they are computed and only shown.
"""

from __future__ import annotations

import functools
from pathlib import Path

from builders.pipeline.streams import Streams
from builders.user_memories.prose import prose_of
from builders.user_memories.sources import Sources, SourceTurn
from builders.user_memories.statistics import SCORES, statistics_of
from models.prompts import load
from models.request import Request
from schemas.tables import Row

PROMPT = Path(__file__).parents[1] / "prompts" / "user_memory.md"

_CONVERSATIONS, _EXAMPLES = 8, 3
_REPLY, _CONTEXT, _USER = 200, 150, 120
_TEMPERATURE = 0.3
_TEXTS = (
    "scoring_style",
    "four_vs_five_distinction",
    "three_vs_four_distinction",
    "preferred_response_format",
    "evidence_notes",
)


def memory_request(sources: Sources, profile: str, streams: Streams) -> Request:
    """The request for the prose of a memory."""
    prompt, figures = load(PROMPT), statistics_of(sources)
    counts = figures["score_distribution"]
    rendered = prompt.render(
        profile=profile,
        turns=figures["n_history_turns"],
        average=f"{figures['avg_satisfaction_score']:.2f}",
        distribution=", ".join(f"score {score} x {counts[f'score_{score}']}" for score in SCORES),
        tasks=", ".join(sources.tasks),
        history=_history(sources),
        examples=_examples(sources),
    )
    return Request(
        id=f"{streams.benchmark}/user_memories/{sources.rater_id}/{sources.target_task}",
        role="memory",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=functools.partial(prose_of, sources),
        schema=_schema(sources),
        max_tokens=2048,
        temperature=_TEMPERATURE,
    )


def _schema(sources: Sources) -> Row:
    text = {"type": "string", "minLength": 1}
    observed = {
        "type": "object",
        "additionalProperties": False,
        "required": ["task_name", "observation"],
        "properties": {"task_name": {"type": "string", "enum": sources.tasks}, "observation": text},
    }
    fields: Row = dict.fromkeys(_TEXTS, text)
    fields["user_specific_requirements"] = {"type": "array", "items": text}
    fields["task_specific_observations"] = {"type": "array", "items": observed}
    return {"type": "object", "additionalProperties": False, "required": list(fields), "properties": fields}


def _history(sources: Sources) -> str:
    each = max(1, _CONVERSATIONS // len(sources.tasks))
    parts = []
    for task in sources.tasks:
        for conversation in [row for row in sources.of_tasks() if row["task"] == task][:each]:
            lines = [f"[{task}] {_cut(conversation['task_context'], _CONTEXT)}"]
            lines += [_line(turn) for turn in sources.turns_of(conversation)]
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _examples(sources: Sources) -> str:
    turns = list(sources.turns())
    groups = []
    for score in reversed(SCORES):
        own = [turn for turn in turns if turn.score == score][:_EXAMPLES]
        groups.append("\n".join([f"Score {score}:", *(map(_line, own) if own else ["(none)"])]))
    return "\n\n".join(groups)


def _line(turn: SourceTurn) -> str:
    reason = f", {turn.reason}" if turn.score <= 3 else ""
    return f"User: {_cut(turn.user, _USER)}\nAssistant (score {turn.score}{reason}): {_cut(turn.reply, _REPLY)}"


def _cut(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
