"""Dialogues as a protocol: talks of a benchmark are held between a simulated user and the model, and written as rows.

Generic over benchmarks. A benchmark's own module makes a ``Talk`` for each dialogue: the speakers with what each of
them sees, when it ends, and what its rows say beside the words. Everything else is here: names of requests, offline
speakers or models by role, what is written of a dialogue that stopped half-way.

    def talks(release, ...) -> list[Talk]: ...
    plan = dialogue_plan(release, parsed, talks, about)           # what that module's ``plan`` returns

Rows: ``turns`` has one row a message (who said what, in which session and turn, by which model, for how much),
``dialogues`` one a dialogue (how it ended, and the texts that judges may be shown), ``sessions`` one a session where
sessions have texts of their own, and one table more where something is asked afterwards (``Afterwards``).
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from evaluators.dialogues.rows import Asked, Planted, dialogue_tables
from evaluators.protocols.plan import Plan
from evaluators.running import OFFLINE, asking, offline_name
from models.dialogue import Between, Cast, Dialogue, StopRule, dialogue
from models.request import Chain, Reply, Role
from releases import Release
from schemas.randomness import rng_for

Item = TypeVar("Item")

SUBJECT: Role = "subject"
USER: Role = "user"
PLANNED = f"{OFFLINE}planned"
"""The simulated user without a model: it does what the plan of its benchmark says."""


@dataclass(frozen=True)
class Talk:
    """One dialogue to be held. ``id`` is unique within a run and names its rows.

    ``groups`` are columns that figures are grouped by; ``fields`` texts that judges may be shown, ``sessions`` those of
    each session. ``between`` runs after each exchange, ``afterwards`` when the dialogue is over (also one that stopped
    half-way, not one of which nothing was said) and returns rows of a table of its own. ``planted`` says how good
    what was said is, where offline speakers said it. All are functions of a module or partial ones: they are pickled.
    """

    id: str
    groups: Mapping[str, str]
    speakers: Cast
    rule: StopRule
    fields: Mapping[str, str] = field(default_factory=dict)
    sessions: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    between: Between | None = None
    afterwards: Callable[[Dialogue], Chain[Sequence[Asked]]] | None = None
    planted: Callable[[Dialogue], Planted] | None = None


class Outcome(NamedTuple):
    """What came of a talk."""

    dialogue: Dialogue
    asked: Sequence[Asked] = ()
    planted: Planted = Planted()


@dataclass(frozen=True)
class Held:
    """A talk and what came of it."""

    talk: Talk
    dialogue: Dialogue
    asked: Sequence[Asked]
    planted: Planted


def add_user_argument(made: argparse.ArgumentParser) -> None:
    """``--user``, which all protocols with a simulated user read."""
    made.add_argument(
        "--user",
        default=PLANNED,
        metavar="NAME",
        help=f"who plays the simulated user of a dialogue: a model, or without one {PLANNED} (the default)",
    )


def dialogue_plan(
    release: Release,
    parsed: argparse.Namespace,
    talks: Sequence[Talk],
    about: Mapping[str, Any],
    *,
    extra: str | None = None,
    named: Sequence[str] = (),
    offline_users: Sequence[str] = (PLANNED.removeprefix(OFFLINE),),
) -> Plan:
    """The plan of a run: ``extra`` names the table of what is asked afterwards, ``about`` goes into the header.

    Raises RequestError for an unknown offline user.
    """
    offline_name(parsed.user, tuple(offline_users), "--user")
    prefix = f"evaluate/dialogue/{release.name}"
    settings = asking(parsed, **{SUBJECT: parsed.model, USER: parsed.user})
    if parsed.model.startswith(OFFLINE) and parsed.user.startswith(OFFLINE):
        settings = replace(settings, name="offline")
    return Plan(
        unit="dialogues",
        starts=[functools.partial(held, f"{prefix}/{talk.id}", talk) for talk in talks],
        settings=settings,
        tables=lambda found: dialogue_tables(_with_talks(talks, found), settings, extra),
        served=lambda found: {reply.model for role, reply in _replies(found) if role == SUBJECT},
        about={"user": parsed.user, **about},
        named=("" if parsed.user == PLANNED else f"user-{parsed.user}", *named),
    )


def held(name: str, talk: Talk) -> Chain[Outcome]:
    """The chain of one talk. What it comes to is without the talk, which no process has to send back."""
    found = yield from dialogue(name, talk.speakers, talk.rule, between=talk.between)
    asked: Sequence[Asked] = ()
    if talk.afterwards is not None and found.turns:
        asked = yield from talk.afterwards(found)
    return Outcome(found, asked, talk.planted(found) if talk.planted else Planted())


def _with_talks(talks: Sequence[Talk], found: Sequence[Outcome]) -> list[Held]:
    return [Held(talk, *outcome) for talk, outcome in zip(talks, found, strict=True)]


def limited(items: Sequence[Item], parsed: argparse.Namespace, release: Release) -> list[Item]:
    """All of what talks are made of, or with ``--limit`` a seeded sample of so many, in order."""
    if parsed.limit is None or parsed.limit >= len(items):
        return list(items)
    rng = rng_for(parsed.seed, release.name.benchmark, "evaluators", "limit")
    return [items[place] for place in sorted(rng.sample(range(len(items)), parsed.limit))]


def _replies(found: Sequence[Outcome]) -> Iterable[tuple[str, Reply]]:
    for one in found:
        for turn in one.dialogue.turns:
            yield turn.role, turn.reply
        for asked in one.asked:
            yield from ((asked.role, reply) for reply in asked.replies)
