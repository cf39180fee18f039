"""The questionnaire by choice: how accurately does a statement describe you, 1 to 5, answered as each character.

One request a character, statement, wording and order of the options. The model sees what it sees of a character
elsewhere (pseudonym, occupation, memories that the setting retrieves for the statement) and never the vector. What it
answers is a row; ``judge --judge offline:stated`` takes the number for the score.

    python -m evaluators run --release heart@2.0.0 --protocol questionnaire --setting recent --model NAME
    python -m evaluators run --release heart@2.0.0 --protocol questionnaire --setting recent --model offline:faithful
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluators.memory.settings import retrieve
from evaluators.protocols.bench import Bench, Question
from evaluators.protocols.open_ended import about_setting, demand_setting
from evaluators.protocols.plan import Plan
from evaluators.protocols.prompting import TEMPERATURE, Excerpts, prompt_of, render
from evaluators.psychometrics import statements, subjects
from evaluators.psychometrics.statements import WORDINGS, Asked, asked, bench_of
from evaluators.running import asking, details, evaluations, used
from evaluators.scoring.said_rows import Said, said_frame, said_state
from models.backends import BackendSettings
from models.request import Chain, Reply, Request
from releases import Release
from schemas.command import whole_number

NEEDS = statements.NEEDS
OFFLINE = subjects.SUBJECTS
ARGUMENTS = ("setting", "k", "embedder", "manager", "limit", "max_tokens", "wordings", "orders")

SCALE = ("very inaccurate", "rather inaccurate", "neither accurate nor inaccurate", "rather accurate", "very accurate")
"""The options 1 to 5."""

GROUPS = ("character_id", "archetype", "trait", "truth", "keyed", "statement_id", "wording", "order")
_COLUMNS = (
    "item", "state", "reason", "model", *GROUPS, "statement", "stated", "answer", "planted", "planted_state",
    "input_tokens", "output_tokens", "cost",
)  # fmt: skip
_ROOM = 64
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["answer"],
    "properties": {"answer": {"enum": list(range(1, len(SCALE) + 1))}},
}

Answer = tuple[Reply, int | None]
"""What came, and the agreement that an offline subject planted in it."""


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of questionnaires and interviews."""
    made.add_argument(
        "--wordings",
        type=whole_number(1, WORDINGS),
        default=1,
        metavar="N",
        help="ask each statement in so many wordings, 1 to 3 (default: 1)",
    )
    made.add_argument(
        "--orders",
        type=whole_number(1, 2),
        default=1,
        metavar="N",
        help="2: list the options from either end (default: 1)",
    )


def plan(release: Release, parsed: argparse.Namespace, offline: str | None) -> Plan:
    """The run that the arguments ask for."""
    return planned(release, parsed, offline, "questionnaire", _ROOM)


def planned(release: Release, parsed: argparse.Namespace, offline: str | None, track: str, room: int) -> Plan:
    """A questionnaire or an interview (``track``), its replies ``room`` tokens long at most."""
    setting = demand_setting(parsed)
    bench = bench_of(release, setting.name, parsed.seed)
    orders = parsed.orders if track == "questionnaire" else 1
    items = asked(release, parsed.wordings, orders, parsed.limit, parsed.seed)
    settings = asking(parsed, subject=parsed.model, screen=setting.manager)
    most = parsed.max_tokens or room
    starts: list[Any]
    if offline:
        starts = [functools.partial(_without_model, track, offline, one, parsed.seed) for one in items]
    else:
        found = retrieve(bench, setting, evaluations(parsed), settings)
        named = {question.id: question for question in bench.questions}
        starts = [
            functools.partial(_asked, track, bench, (one, named[one.memories]), setting.name, found[one.memories], most)
            for one in items
        ]
    return Plan(
        unit="answers",
        starts=starts,
        settings=replace(settings, name="offline") if offline else settings,
        tables=lambda answers: {"answers": _table(items, answers, settings, parsed.model)},
        served=lambda answers: {reply.model for reply, _ in answers},
        about={
            **about_setting(setting, track, offline),
            "max_tokens": None if offline else most,
            "wordings": parsed.wordings,
            "orders": orders,
        },
        named=(
            setting.name,
            *details(argparse.Namespace(seed=parsed.seed, limit=None, k=parsed.k, orders=orders), setting),
            f"wordings{parsed.wordings}" if parsed.wordings > 1 else "",
        ),
    )


def options(order: int) -> str:
    """The options as they are listed: from 1 up, or from 5 down."""
    lines = [f"{number}: {words}" for number, words in enumerate(SCALE, 1)]
    return "\n".join(lines if order == 0 else reversed(lines))


def _asked(
    track: str, bench: Bench, about: tuple[Asked, Question], setting: str, excerpts: Excerpts, room: int
) -> Chain[Answer]:
    one, question = about
    prompt = prompt_of(track, setting)
    filled = {"statement": one.statement.said(one.wording), "options": options(one.order)}
    rendered = render(prompt, bench, question, excerpts, filled)
    reply: Reply = yield Request(
        id=f"evaluate/{track}/{bench.release.name}/{setting}/{one.id}",
        role="subject",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=lambda: _answer(track, "faithful", one, 0)[0].answer,
        schema=_SCHEMA if track == "questionnaire" else None,
        max_tokens=room,
        temperature=TEMPERATURE,
    )
    return reply, None


def _without_model(track: str, subject: str, one: Asked, seed: int) -> Chain[Answer]:
    yield from ()
    return _answer(track, subject, one, seed)


def _answer(track: str, subject: str, one: Asked, seed: int) -> Answer:
    text, level = subjects.interview(subject, one, seed)
    return Reply("answered", {"answer": level} if track == "questionnaire" else text), level


def _table(items: Sequence[Asked], answers: Sequence[Answer], settings: BackendSettings, model: str) -> Said:
    rows = [
        {**_about(one), **_reply(reply), **_planted(level), **used([reply.usage], model, settings)}
        for one, (reply, level) in zip(items, answers, strict=True)
    ]
    return Said("item", GROUPS, said_frame(rows, _COLUMNS))


def _about(one: Asked) -> dict[str, str]:
    return {
        "item": one.id,
        "character_id": one.character_id,
        "archetype": one.archetype,
        "trait": one.statement.trait,
        "truth": f"{one.truth:g}",
        "keyed": f"{one.statement.keyed}",
        "statement_id": one.statement.id,
        "wording": f"{one.wording}",
        "order": f"{one.order}",
        "statement": one.statement.said(one.wording),
    }


def _reply(reply: Reply) -> dict[str, str | None]:
    """State, and what was stated by choice or answered in words."""
    state, reason = said_state(reply)
    if reply.status in ("unparsable", "invalid"):
        state, reason = "unreadable", reply.reason
    stated = reply.answer["answer"] if isinstance(reply.answer, dict) else None
    words = reply.answer if reply.status == "answered" else reply.text or None
    return {
        "state": state,
        "reason": reason,
        "model": reply.model,
        "stated": None if stated is None else f"{stated}",
        "answer": words if stated is None else f"{stated}: {SCALE[stated - 1]}",
    }


def _planted(level: int | None) -> dict[str, Any]:
    return {} if level is None else {"planted": float(level), "planted_state": "scored"}
