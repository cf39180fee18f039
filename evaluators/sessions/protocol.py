"""LikeBench as a protocol: a talk a profile, over all its sessions, with a simulated user who has a hidden agenda.

LikeBench 3, 4 and Algorithm 1: the user sees profile, prior and history, the assistant the history; the history
carries over from session to session, and there is no early end. Afterwards the assistant lists what it learned.

    python -m evaluators run --release likebench@1.0.0 --model NAME --user NAME --memory full
    python -m evaluators run --release likebench@1.0.0 --model offline:ceiling
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from itertools import groupby

from evaluators.dialogues.rows import Planted
from evaluators.protocols.dialogue import Talk, add_user_argument, dialogue_plan, limited
from evaluators.protocols.plan import Plan
from evaluators.running import OFFLINE as _OFFLINE
from evaluators.sessions.learned import learned
from evaluators.sessions.portrait import agenda, portrait
from evaluators.sessions.speakers import (
    MAX_TOKENS,
    MEMORIES,
    Case,
    Memory,
    prompt,
    said_so_far,
    speakers,
)
from evaluators.sessions.summaries import renewed
from evaluators.subjects import users
from evaluators.subjects.assistants import ASSISTANTS
from evaluators.subjects.counterfactuals import flipped
from evaluators.subjects.truth import planted_scores
from evaluators.subjects.wishes import wishes
from models.dialogue import Dialogue, StopRule
from releases import Release
from schemas.tables import Row

NEEDS = ("profiles", "priors")
OFFLINE = tuple(ASSISTANTS)
ARGUMENTS = ("user", "memory", "flip", "limit", "max_tokens")


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of its own."""
    add_user_argument(made)
    made.add_argument(
        "--memory",
        choices=MEMORIES,
        default="full",
        help="what the assistant sees of earlier sessions: nothing, everything (default), or everything and a summary"
        " of preferences that it renews after each turn (sessions)",
    )
    made.add_argument(
        "--flip",
        metavar="OPTION",
        help="the same people with one thing changed: an option of style as formality.always_casual, or a facet at a"
        " level as cheerfulness=low (sessions)",
    )


def plan(release: Release, parsed: argparse.Namespace, offline: str | None) -> Plan:
    """The run that the arguments ask for; ``offline`` names a subject without a model."""
    memory: Memory = parsed.memory
    played = offline or parsed.model, parsed.user
    room = parsed.max_tokens or MAX_TOKENS
    cases = [
        Case(flipped(profile, parsed.flip), priors, *played, memory, parsed.seed, room)
        for profile, priors in _cases(release)
    ]
    files = {name: prompt(name) for name in ("user", "assistant", "learned", "mark")}
    if memory == "dup":
        files["summary"] = prompt("summary")
    about = {
        "memory": memory,
        "flip": parsed.flip,
        "sessions": max(len(case.priors) for case in cases),
        "turns": _turns(cases),
        "prompts": {name: {"id": f"{file.id}@{file.version}", "digest": file.digest} for name, file in files.items()},
        "max_tokens": room,
    }
    prefix = f"evaluate/dialogue/{release.name}"
    talks = [_talk(case, f"{prefix}/{case.persona}", about["turns"]) for case in limited(cases, parsed, release)]
    named = ("" if memory == "full" else f"memory-{memory}", f"flip-{parsed.flip}" if parsed.flip else "")
    return dialogue_plan(release, parsed, talks, about, extra="learned", named=named, offline_users=tuple(users.USERS))


def _cases(release: Release) -> list[tuple[Row, list[Row]]]:
    """Profiles with their priors in order of session."""
    rows = sorted(release.rows("priors"), key=lambda row: (row["persona_id"], row["session"]))
    priors = {persona: list(own) for persona, own in groupby(rows, key=lambda row: row["persona_id"])}
    return [(profile, priors[profile["persona_id"]]) for profile in release.rows("profiles")]


def _turns(cases: Sequence[Case]) -> int:
    """How many turns a session has: as many as the longest plan."""
    return max(int(step["turn"]) for case in cases for prior in case.priors for step in prior["plan"])


def _talk(case: Case, name: str, turns: int) -> Talk:
    profile = case.profile
    groups = {name: str(profile[name]) for name in ("type", "archetype", "priority_metric")}
    return Talk(
        id=case.persona,
        groups={"persona": case.persona, **groups},
        speakers=functools.partial(speakers, case),
        rule=StopRule(turns, len(case.priors)),
        fields={"name": profile["name"], "profile": portrait(profile)},
        sessions={prior["session"]: {"agenda": agenda(prior), "category": prior["category"]} for prior in case.priors},
        between=functools.partial(renewed, case, name) if case.memory == "dup" else None,
        afterwards=functools.partial(learned, case, name),
        planted=functools.partial(_planted, case) if _known(case) else None,
    )


def _known(case: Case) -> bool:
    """Whether both sides are offline, so that it is known how good each turn was."""
    return case.subject in ASSISTANTS and case.user.startswith(_OFFLINE)


def _planted(case: Case, found: Dialogue) -> Planted:
    """The true scores of each turn, by what was done in it and what the person wants."""
    by_session = {prior["session"]: prior for prior in case.priors}
    scores, shared = {}, False
    said: list[users.Said] = []
    for asked, answered in zip(found.turns[::2], found.turns[1::2], strict=True):
        session = asked.session
        here = [one for one in said if one.session == session]
        last = next((one.text for one in reversed(here) if one.speaker == users.ASSISTANT), "")
        own = [one.text for one in here if one.speaker == users.USER]
        wish = wishes(case.profile, by_session[session], [*own, asked.text], last)
        planted = planted_scores(wish, asked.answer, answered.answer.moves, shared)
        scores[session, asked.number] = {**planted, "user_in_character": asked.answer.fits}
        shared = shared or "seed" in asked.answer.acts
        said += said_so_far([asked, answered])
    return Planted(turns=scores)
