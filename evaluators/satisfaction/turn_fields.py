"""What a judge may be shown of a rated turn, as the text fields that rubrics name. No gold of the turn is among them.

PersTurnBench 3.3 and appendix H: the five messages before the reply, the reply, the rater's memory for the task; for
the generic judges worked examples and criteria of the task family. Examples come from raters that train. What a
built release knows of its turns (planted quality, and the score its rater would give most likely) stands beside the
fields as numbers: offline judges go by them, and a prompt cannot hold them.

    context task_context reply          the turn
    examples criteria                   for few-shot and task rubrics
    memory_v2 memory_v3                 of the turn's rater and task, from other tasks only
"""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from releases import Release
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.satisfaction.planted import PlantedTurns, best_scores, planted_turns, quality_of
from schemas.tables import Row, vocabulary

NEEDS = ("raters", "conversations", "ratings", "splits")
MEMORIES = ("v2", "v3")
FIELDS = ("context", "task_name", "task_context", "reply", "examples", "criteria", "memory_v2", "memory_v3")
NUMBERS = ("quality", "memory_mean", "planted")

NO_MEMORY = "Nothing is known of this user."

_TEXTS = Path(__file__).with_name("turn_texts.toml")
_WINDOW = 5
_SHOWN = 700
"""Characters of a message of a worked example."""


class RatedTurns:
    """The turns of a release, and what may be shown of each.

    Raises RequestError for a release without the tables that judging needs.
    """

    def __init__(self, release: Release, seed: int) -> None:
        missing = [name for name in NEEDS if not release.tables.get(name)]
        if missing:
            raise RequestError(
                f"no {' and '.join(missing)}", release.name, expected=f"tables {', '.join(NEEDS)}",
                fix="Take a release of rated turns, such as persturn",
            )  # fmt: skip
        self.benchmark, self.seed = release.name.benchmark, seed
        self.raters = {row["rater_id"]: row for row in release.rows("raters")}
        self.split = {row["rater_id"]: str(row["split"]) for row in release.rows("splits")}
        self.conversations = {row["conversation_id"]: row for row in release.rows("conversations")}
        self.ratings = {row["sample_id"]: row for row in release.rows("ratings")}
        memories = release.rows("user_memories") if release.tables.get("user_memories") else ()
        self.memories = {(row["rater_id"], row["target_task"], row["memory_version"]): row for row in memories}

    def fields(self, conversation: Row, turn: int, reply: str) -> dict[str, Any]:
        """The fields of one reply of a conversation, the n-th from 0; ``memory_mean`` None without a memory."""
        known = [self._memory(conversation, version) for version in MEMORIES]
        return {
            "context": shown_messages(before(conversation, turn)[-_WINDOW:]),
            "task_name": _labels()[conversation["task"]],
            "task_context": conversation["task_context"] or "No background was given.",
            "reply": reply,
            "examples": self.examples,
            "criteria": texts()["criteria"][conversation["task"]].strip(),
            **{f"memory_{name}": memory_text(one) for name, one in zip(MEMORIES, known, strict=True)},
            "memory_mean": next((one["avg_satisfaction_score"] for one in known if one), None),
        }

    def truth(self, names: Sequence[str], levels: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float]]:
        """Planted quality of replies, and the median of the scores that the turn's rater would give; by sample id.

        ``levels`` are those of the replies; empty where nothing was planted (imported ratings).
        """
        known = self.planted
        if known is None or not names:
            return {}
        place = {name: number for number, name in enumerate(known.sample_id)}
        turns = dataclasses.replace(
            known,
            sample_id=tuple(names),
            rater=known.rater[[place[name] for name in names]],
            levels=np.array([[levels[name][reason] for reason in _reasons()] for name in names], np.float64),
        )
        found = zip(names, quality_of(turns.levels), best_scores(turns), strict=True)
        return {name: {"quality": float(quality), "planted": float(best)} for name, quality, best in found}

    @functools.cached_property
    def planted(self) -> PlantedTurns | None:
        """The answer key of built rows; None for imported ones."""
        bare = any(row["planted"] is None for row in (*self.raters.values(), *self.ratings.values()))
        return None if bare else planted_turns(list(self.raters.values()), list(self.ratings.values()))

    @functools.cached_property
    def examples(self) -> str:
        """A worked example of every score, from raters that train."""
        ordered = [row for _, row in sorted(self.ratings.items()) if self.split.get(row["rater_id"]) == "train"]
        rng, made = rng_for(self.seed, self.benchmark, "evaluators", "examples"), []
        for score in sorted({row["score"] for row in ordered}):
            row = rng.choice([row for row in ordered if row["score"] == score])
            conversation = self.conversations[row["conversation_id"]]
            messages = before(conversation, row["turn"])[-1:]
            told = shown_messages(messages, _SHOWN), reply_of(conversation, row["turn"])[:_SHOWN]
            made.append(f"{told[0]}\n\nAssistant's reply: {told[1]}\n\nScore of that user: {score}")
        return "\n\n---\n\n".join(made) or "No examples."

    def _memory(self, conversation: Row, version: str) -> Row | None:
        return self.memories.get((conversation["rater_id"], conversation["task"], version))


def before(conversation: Row, turn: int) -> list[Mapping[str, str]]:
    """The messages before the n-th assistant message."""
    return conversation["messages"][: _place(conversation, turn)]  # type: ignore[no-any-return]


def reply_of(conversation: Row, turn: int) -> str:
    """The n-th assistant message."""
    return str(conversation["messages"][_place(conversation, turn)]["content"])


def shown_messages(messages: Sequence[Mapping[str, str]], most: int | None = None) -> str:
    """Messages as text, each cut to ``most`` characters."""
    return "\n\n".join(f"{message['role'].title()}: {message['content'][:most]}" for message in messages) or "(nothing)"


def memory_text(row: Row | None) -> str:
    """A memory as a judge reads it."""
    if row is None:
        return NO_MEMORY
    counts = ", ".join(f"{score} x {row['score_distribution'][f'score_{score}']}" for score in range(1, 6))
    lines = [f"Scores of {row['n_history_turns']} earlier replies in other tasks: mean "
             f"{row['avg_satisfaction_score']:.2f}; {counts}."]  # fmt: skip
    lines += [f"{heading} {text}" for heading, text in _parts(row) if text]
    return "\n".join(lines)


def _parts(row: Row) -> Iterator[tuple[str, str | None]]:
    yield "Style:", row["scoring_style"]
    yield "Between 4 and 5:", row["four_vs_five_distinction"]
    yield "Between 3 and 4:", row["three_vs_four_distinction"]
    yield "Own requirements:", " ".join(row["user_specific_requirements"])
    yield "Preferred form:", row["preferred_response_format"]
    seen = (f"{_labels()[entry['task_name']]}: {entry['observation']}" for entry in row["task_specific_observations"])
    yield "Observed:", " ".join(seen)
    if row["memory_version"] == "v3":
        yield "Overall:", row["calibration_summary"]
        yield "Evidence of low scores:", row["low_score_evidence_level"]
        yield "What the evidence carries:", row["evidence_notes"]


def _place(conversation: Row, turn: int) -> int:
    places = [place for place, message in enumerate(conversation["messages"]) if message["role"] == "assistant"]
    return places[turn]


@functools.cache
def texts() -> Mapping[str, Any]:
    """The texts of ``turn_texts.toml``."""
    return tomllib.loads(_TEXTS.read_text("utf-8"))


@functools.cache
def _labels() -> Mapping[str, str]:
    return {term["id"]: term["label"] for term in vocabulary("planning_tasks")}


def _reasons() -> Sequence[str]:
    from schemas.satisfaction.planted import REASONS

    return REASONS
