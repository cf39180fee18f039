"""Which conversations there are, how good each reply is, and which score it got: everything but the words.

PersTurnBench appendix B and Table 5. The plan is drawn first and the words follow it, so scores follow from planted
qualities and from nothing a writer happened to do. Counts come from ``seeds/conversations.toml``, scaled to the
number of raters by largest remainder.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.pipeline.streams import Streams
from builders.raters.parameters import Scale, planted_levels, rate
from schemas.tables import term_ids

_SEEDS = Path(__file__).parents[1] / "seeds" / "conversations.toml"


@dataclass(frozen=True)
class PlannedTurn:
    """One reply: planted levels, and what its rater gave it."""

    sample_id: str
    levels: Mapping[str, int]
    worth: float
    score: int
    reason: str


@dataclass(frozen=True)
class PlannedConversation:
    """One conversation of a rater in a task family, its replies, and whether the user has the last word."""

    conversation_id: str
    rater_id: str
    task: str
    number: int
    turns: tuple[PlannedTurn, ...]
    closing: bool


@functools.cache
def settings() -> Mapping[str, Any]:
    """The figures of ``seeds/conversations.toml``."""
    return tomllib.loads(_SEEDS.read_text("utf-8"))


def planned_conversations(raters: Mapping[str, Scale], streams: Streams) -> Iterator[PlannedConversation]:
    """All conversations of these raters, in order of rater, task and number."""
    sessions = session_counts(sorted(raters), streams)
    lengths = iter(_lengths(sum(sessions.values()), streams))
    for (rater_id, task), count in sessions.items():
        for number in range(count):
            yield _planned(rater_id, raters[rater_id], task, number, next(lengths), streams)


def session_counts(rater_ids: Sequence[str], streams: Streams) -> dict[tuple[str, str], int]:
    """How many conversations each rater has in each task family, in order of rater and task."""
    given, counts = settings()["conversations"], {}
    for task in term_ids("planning_tasks"):
        wanted = round(given[task] * len(rater_ids) / _raters_of_seeds())
        each, more = divmod(wanted, len(rater_ids))
        extra = set(streams.rng("sessions", task).sample(list(rater_ids), more))
        counts.update({(rater_id, task): each + (rater_id in extra) for rater_id in rater_ids})
    return dict(sorted(counts.items(), key=lambda item: (item[0][0], term_ids("planning_tasks").index(item[0][1]))))


def conversation_name(rater_id: str, task: str, number: int) -> str:
    """``R001``, ``travel``, 0 -> ``R001__travel__0``."""
    return f"{rater_id}__{task}__{number}"


def sample_name(conversation_id: str, turn: int) -> str:
    """The published form ``user__task__file__turn_index``: ties of equal raw scores are broken by it as text."""
    return f"{conversation_id}.json__turn_{turn}"


def _planned(rater_id: str, scale: Scale, task: str, number: int, length: int, streams: Streams) -> PlannedConversation:
    name = conversation_name(rater_id, task, number)
    rng, turns = streams.rng("ratings", name), []
    for turn in range(length):
        levels = planted_levels(rng)
        score, reason, worth = rate(scale, levels, rng)
        turns.append(PlannedTurn(sample_name(name, turn), levels, round(worth, 4), score, reason))
    return PlannedConversation(
        name, rater_id, task, number, tuple(turns), rng.random() < settings()["closing"]["share"]
    )


def _lengths(conversations: int, streams: Streams) -> list[int]:
    """Rated turns of each conversation, in random order: the shares of the seeds by largest remainder."""
    given = {int(turns): count for turns, count in settings()["turns"].items()}
    whole = sum(given.values())
    exact = {turns: count * conversations / whole for turns, count in given.items()}
    counts = {turns: int(value) for turns, value in exact.items()}
    for turns in sorted(exact, key=lambda each: counts[each] - exact[each])[: conversations - sum(counts.values())]:
        counts[turns] += 1
    lengths = [turns for turns, count in counts.items() for _ in range(count)]
    streams.rng("lengths", str(conversations)).shuffle(lengths)
    return lengths


def _raters_of_seeds() -> int:
    from builders.raters.parameters import settings as rater_settings

    return int(rater_settings()["count"])
