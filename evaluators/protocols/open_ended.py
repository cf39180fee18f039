"""Open answers: a decision in the model's own words, with the thoughts that lead there; judged against the gold.

    python -m evaluators run --release heart@2.0.0 --protocol open --setting naive_rag --model NAME
    python -m evaluators judge build/evaluations/heart@2.0.0/said.open.NAME.naive_rag.json --judge NAME
    python -m evaluators open --release heart@2.0.0 --setting vanilla --model offline:other --judge offline:words

The verb ``open`` is the first two in one. Baselines: ``offline:other`` answers with another character's decision in the
same scenario (the floor), ``offline:gold`` with the character's own (the ceiling). HEART-BENCH appendix E.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluators.memory.settings import SETTINGS, Setting, retrieve
from evaluators.protocols.bench import Bench, Question, read_bench
from evaluators.protocols.plan import Plan
from evaluators.protocols.prompting import TEMPERATURE, Excerpts, prompt_of, render, situation
from evaluators.running import asking, details, evaluations, setting_of, used
from evaluators.scoring.said_rows import Said, said_frame, said_state
from models.backends import BackendSettings
from models.request import Chain, Reply, Request
from releases import Release
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import Row

NEEDS = ("mcqs", "mcq_keys", "scenarios", "decisions")
OFFLINE = ("other", "gold")
ARGUMENTS = ("setting", "k", "embedder", "manager", "limit", "max_tokens")

NARRATIVE = ("summary", "emotional_tone", "core_reasoning", "value_orientation")
FIELDS = (*NARRATIVE, "final_decision")
"""The parts of a decision."""

_ROOM = 2048
_GROUPS = ("character_id", "scenario_id", "stage")
_PARTS = tuple(f"{whose}_{name}" for whose in ("gold", "imagined") for name in FIELDS)
_COLUMNS = (
    "item", "state", "reason", "model", *_GROUPS, "situation", "gold", "imagined", *_PARTS,
    "input_tokens", "output_tokens", "cost",
)  # fmt: skip

Decisions = Mapping[tuple[str, str], Row]


def add_arguments(made: argparse.ArgumentParser) -> None:
    """It has no arguments of its own."""


def plan(release: Release, parsed: argparse.Namespace, offline: str | None) -> Plan:
    """The run that the arguments ask for. Raises RequestError for a question without a decision."""
    setting = demand_setting(parsed)
    bench = read_bench(release, parsed.limit, parsed.seed)
    decisions = {(row["character_id"], row["scenario_id"]): row for row in release.rows("decisions")}
    for question in bench.questions:
        if (question.character_id, question.scenario_id) not in decisions:
            raise RequestError("question without a decision", release.name, row=question.id)
    settings = asking(parsed, subject=parsed.model, screen=setting.manager)
    retrieved = retrieve(bench, setting, evaluations(parsed), settings)
    room = parsed.max_tokens or _ROOM
    starts = [
        functools.partial(_answered, _offline(offline, bench, question, decisions, parsed.seed))
        if offline
        else functools.partial(_asked, bench, question, setting.name, retrieved[question.id], room)
        for question in bench.questions
    ]
    return Plan(
        unit="answers",
        starts=starts,
        settings=replace(settings, name="offline") if offline else settings,
        tables=lambda replies: {"answers": _table(bench, decisions, replies, settings, parsed.model)},
        served=lambda replies: {reply.model for reply in replies},
        about={**about_setting(setting, "open", offline), "max_tokens": None if offline else room},
        named=(setting.name, *details(argparse.Namespace(seed=parsed.seed, limit=None, k=parsed.k), setting)),
    )


def demand_setting(parsed: argparse.Namespace) -> Setting:
    """The setting that is asked for. Raises RequestError where none is."""
    if parsed.setting is None:
        raise RequestError("no --setting", expected=f"one of {', '.join(SETTINGS)}", fix="For example --setting recent")
    return setting_of(parsed)


def about_setting(setting: Setting, track: str, offline: str | None) -> dict[str, Any]:
    """What a header says of a setting and of the prompt that goes with it."""
    prompt = None if offline else prompt_of(track, setting.name)
    return {
        **setting.about(),
        "prompt": f"{prompt.id}@{prompt.version}" if prompt else None,
        "prompt_digest": prompt.digest if prompt else None,
        "temperature": None if offline else TEMPERATURE,
    }


def parts_of(decision: Row) -> dict[str, str]:
    """The five parts of a character's own decision."""
    return {**decision["inner_consciousness"], "final_decision": decision["final_decision"]}


def _table(bench: Bench, decisions: Decisions, replies: Sequence[Reply], settings: BackendSettings, model: str) -> Said:
    rows = []
    for question, reply in zip(bench.questions, replies, strict=True):
        gold = parts_of(decisions[question.character_id, question.scenario_id])
        answered = reply.status == "answered"
        state, reason = said_state(reply)
        if reply.status in ("unparsable", "invalid"):
            state, reason = "unreadable", reply.reason
        rows.append(
            {
                "item": question.id,
                "state": state,
                "reason": reason,
                "model": reply.model,
                **{name: getattr(question, name) for name in _GROUPS},
                "situation": situation(bench.scenarios[question.scenario_id]),
                "gold": _whole(gold),
                "imagined": _whole(reply.answer) if answered else reply.text or None,
                **{f"gold_{name}": gold[name] for name in FIELDS},
                **({f"imagined_{name}": reply.answer[name] for name in FIELDS} if answered else {}),
                **used([reply.usage], model, settings),
            }
        )
    return Said("item", _GROUPS, said_frame(rows, _COLUMNS))


def _asked(bench: Bench, question: Question, setting: str, excerpts: Excerpts, room: int) -> Chain[Reply]:
    prompt = prompt_of("open", setting)
    rendered = render(prompt, bench, question, excerpts, {})
    reply: Reply = yield Request(
        id=f"evaluate/open/{bench.release.name}/{setting}/{question.id}",
        role="subject",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=lambda: dict.fromkeys(FIELDS, "A few sentences, as long as they usually are in such an answer. " * 2),
        schema=_schema(),
        max_tokens=room,
        temperature=TEMPERATURE,
    )
    return reply


def _answered(parts: dict[str, str]) -> Chain[Reply]:
    yield from ()
    return Reply("answered", parts)


def _offline(name: str, bench: Bench, question: Question, decisions: Decisions, seed: int) -> dict[str, str]:
    """The character's own decision, or another character's in the same scenario, drawn by the seed."""
    if name == "gold":
        return parts_of(decisions[question.character_id, question.scenario_id])
    here = sorted(who for who, scenario in decisions if scenario == question.scenario_id)
    others = [who for who in here if who != question.character_id]
    if not others:
        return dict.fromkeys(FIELDS, "Nobody else decided here.")
    who = rng_for(seed, bench.release.name.benchmark, "evaluators.other", question.id).choice(others)
    return parts_of(decisions[who, question.scenario_id])


def _schema() -> dict[str, Any]:
    """The JSON Schema of an imagined decision."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(FIELDS),
        "properties": {field: {"type": "string", "minLength": 1} for field in FIELDS},
    }


def _whole(parts: Mapping[str, str]) -> str:
    return "\n\n".join(f"{field}: {parts[field]}" for field in FIELDS)
