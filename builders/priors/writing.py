"""Priors written from their plan: one chain a profile, answered by a model or composed offline.

LikeBench 4.3, Tables 15 to 18. A model writes agendas; all else is the plan's, whatever it says.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from builders.offline.sessions.agenda import compose_agendas
from builders.pipeline.provenance import built
from builders.priors.plan import plan_sessions
from builders.profiles.requests import PROMPTS, person, strategy
from models.prompts import load
from models.remedies import Failure, ask, failure
from models.request import Chain, Request
from schemas.randomness import rng_for
from schemas.records import record_schema, vocabulary
from schemas.tables import Row

_TOLD = ("background", "knowledge", "behaviors", "goals", "life_events", "relations", "details", "entities")


def priors(
    benchmark: str, profile: Row, sessions: int, turns: int, seed: int, backend: str
) -> Chain[list[Row] | Failure]:
    """All priors of a profile, or what a model failed to answer."""
    rng = rng_for(seed, benchmark, "priors", f"plan/{profile['persona_id']}")
    planned = plan_sessions(profile, sessions, turns, rng)
    request = _request(benchmark, profile, planned, seed)
    reply = yield from ask(request, functools.partial(_problem, planned))
    if reply.status != "answered":
        return failure(request, reply)
    agendas = {each["session"]: each["agenda"] for each in reply.answer["agendas"]}
    provenance = built(request, reply, seed, backend)
    columns = record_schema("priors")["properties"]
    rows = [{**prior, "agenda": agendas[prior["session"]], "provenance": provenance} for prior in planned]
    return [{column: row[column] for column in columns} for row in rows]


def _request(benchmark: str, profile: Row, planned: Sequence[Row], seed: int) -> Request:
    prompt = load(PROMPTS / "priors.md")
    rendered = prompt.render(
        strategy=strategy("priors", profile["type"]),
        metrics="\n".join(f"- {metric['label']}: {metric['text']}" for metric in vocabulary("likability_metrics")),
        profile=profile_text(profile),
        sessions="\n\n".join(_session_text(prior, planned) for prior in planned),
    )
    return Request(
        id=f"{benchmark}/priors/{profile['persona_id']}",
        role="profile",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=functools.partial(_composed, benchmark, profile, planned, seed),
        schema=_answer_schema(),
        max_tokens=8192,
        rows=len(planned),
    )


def profile_text(profile: Row) -> str:
    """A whole profile in words, for whoever plays the person or plans for them."""
    told = {column: profile[column] for column in _TOLD}
    text = orjson.dumps(told, option=orjson.OPT_INDENT_2).decode()
    return f"{profile['persona_summary']}\n\n{person(profile)}\n\n{text}"


def _session_text(prior: Row, planned: Sequence[Row]) -> str:
    seeded = {hook["hook"]: hook for each in planned for hook in each["hooks_seeded"]}
    called = {call["hook"]: call["seeded_in"] for call in prior["hooks_called"]}
    acts = {term["id"]: term["text"] for term in vocabulary("user_acts")}
    surprise = "; brings a surprise" if prior["surprise"] else ""
    after = f"; builds on {', '.join(map(str, prior['dependencies']))}" if prior["dependencies"] else ""
    lines = [
        f"Session {prior['session']}: {prior['category']}, about {prior['focus']}; mood: {prior['mood']}"
        f"{surprise}{after}. Gives occasion to: {', '.join(prior['metrics_tested'])}"
    ]
    for step in prior["plan"]:
        line = f"  turn {step['turn']}: {acts[step['act']]}"
        if step["note"]:
            line += f' In their words: "{step["note"]}".'
        if step["hook"]:
            hook = seeded[step["hook"]]
            where = f" (session {called[step['hook']]})" if step["act"] == "callback" else f" {hook['text']}"
            line += f" Detail: {hook['mention']}{where}."
        lines.append(line)
    return "\n".join(lines)


def _problem(planned: Sequence[Row], answer: Row) -> str | None:
    """Whether each session has its agenda, and every detail that is called back is named in it."""
    agendas = {each["session"]: each["agenda"] for each in answer["agendas"]}
    sessions = [prior["session"] for prior in planned]
    if sorted(agendas) != sessions or len(answer["agendas"]) != len(sessions):
        return f"agendas: one for each session from 1 to {sessions[-1]} expected"
    seeded = {hook["hook"]: hook for prior in planned for hook in prior["hooks_seeded"]}
    for prior in planned:
        named = [*(hook["hook"] for hook in prior["hooks_seeded"]), *(call["hook"] for call in prior["hooks_called"])]
        for hook in named:
            if seeded[hook]["keyword"].lower() not in agendas[prior["session"]].lower():
                return f"agenda of session {prior['session']}: {seeded[hook]['keyword']!r} is not mentioned"
    return None


def _composed(benchmark: str, profile: Row, planned: Sequence[Row], seed: int) -> Row:
    return compose_agendas(profile, planned, rng_for(seed, benchmark, "priors", f"agendas/{profile['persona_id']}"))


@functools.cache
def _answer_schema() -> Mapping[str, Any]:
    columns = record_schema("priors")["properties"]
    item = {
        "type": "object",
        "additionalProperties": False,
        "required": ["session", "agenda"],
        "properties": {column: columns[column] for column in ("session", "agenda")},
    }
    agendas = {"type": "array", "items": item}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["agendas"],
        "properties": {"agendas": agendas},
    }
