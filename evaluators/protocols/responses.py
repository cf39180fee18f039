"""Responses of personas: a model is assigned each persona and writes what each probe asks for.

One request a target persona, probe and sample: the instruction is the system prompt, the probe the user's. Responses
are split into sentences, which is what is judged. A response that was declined or did not come stays as one row
without text, so that declining shows in every denominator. "Spotting Out-of-Character Behavior", 4 and appendix A.

    python -m evaluators run --release fidelity@0.1.0 --model NAME --samples 5
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluators.protocols import planted
from evaluators.protocols.plan import Plan
from evaluators.protocols.prompting import PROMPTS
from evaluators.protocols.sentences import split
from evaluators.running import asking, used
from evaluators.scoring.said_rows import Said, said_frame, said_state
from models.backends import BackendSettings
from models.prompts import Prompt, load
from models.request import Chain, Reply, Request
from releases import Release
from schemas.randomness import rng_for
from schemas.tables import Row

NEEDS = ("target_personas", "probes")
OFFLINE = planted.SUBJECTS
ARGUMENTS = ("samples", "limit", "max_tokens")
MAX_TOKENS = 1024

_GROUPS = ("persona", "dimension", "level", "task", "probe", "prompt", "run")
_TELLING = ("item", "state", "reason", "model", *_GROUPS, "trait", "about", "low", "high", "question")
_USED = ("input_tokens", "output_tokens", "cost")
RESPONSE = (*_TELLING, "text", *_USED)
SENTENCE = (*_TELLING, "response", "sentence", "planted", "planted_state", *_USED)


@dataclass(frozen=True)
class Asked:
    """One response that is asked for: who, what, and which sample of it, from 1."""

    target: Row
    probe: Row
    sample: int

    @property
    def id(self) -> str:
        """Unique within a run."""
        return f"{self.target['target_id']}/{self.probe['probe_id']}/{self.sample}"


@dataclass(frozen=True)
class Answer:
    """What came; ``levels`` are the planted scores of its sentences, None for a model's."""

    reply: Reply
    levels: tuple[int | None, ...] | None = None


def add_arguments(made: argparse.ArgumentParser) -> None:
    """It has no arguments of its own."""


def plan(release: Release, parsed: argparse.Namespace, offline: str | None) -> Plan:
    """The run that the arguments ask for; ``offline`` names a subject without a model."""
    items = asked(release, parsed.samples, parsed.limit, parsed.seed)
    settings = asking(parsed, subject=parsed.model)
    room = parsed.max_tokens or MAX_TOKENS
    file = None if offline else prompt()
    return Plan(
        unit="responses",
        starts=chains(release, items, offline or parsed.model, parsed.seed, room),
        settings=replace(settings, name="offline") if offline else settings,
        tables=lambda answers: tables(items, answers, settings, parsed.model),
        served=lambda answers: {answer.reply.model for answer in answers},
        about={
            "prompt": f"{file.id}@{file.version}" if file else None,
            "prompt_digest": file.digest if file else None,
            "max_tokens": None if offline else room,
            "samples": parsed.samples,
        },
    )


def prompt() -> Prompt:
    """The prompt file of responses."""
    return load(PROMPTS / "response.md")


def asked(release: Release, samples: int, limit: int | None, seed: int) -> list[Asked]:
    """Everything that is asked, in order of persona, probe and sample; ``limit`` takes a seeded sample of it."""
    probes = list(release.rows("probes"))
    found = [
        Asked(target, probe, sample)
        for target in release.rows("target_personas")
        for probe in probes
        if probe["dimension"] in (None, target["dimension"])
        for sample in range(1, samples + 1)
    ]
    if limit is None or limit >= len(found):
        return found
    chosen = rng_for(seed, release.name.benchmark, "evaluators", "limit").sample(range(len(found)), limit)
    return [found[place] for place in sorted(chosen)]


def chains(
    release: Release, items: Sequence[Asked], model: str, seed: int, room: int
) -> list[Callable[[], Chain[Answer]]]:
    """A chain a response; an offline subject's asks nobody."""
    if model in OFFLINE:
        return [functools.partial(_written, release.name.benchmark, model, seed, one) for one in items]
    return [functools.partial(_requested, f"evaluate/responses/{release.name}", one, room) for one in items]


def tables(items: Sequence[Asked], answers: Sequence[Answer], settings: BackendSettings, model: str) -> dict[str, Said]:
    """The rows of what was said: responses, and their sentences."""
    responses, sentences = [], []
    for one, answer in zip(items, answers, strict=True):
        row = _telling(one, answer.reply)
        spent = used([answer.reply.usage], model, settings)
        text = answer.reply.answer if answer.reply.status == "answered" else answer.reply.text
        responses.append({**row, "text": text or None, **spent})
        sentences += list(_sentences(one, row, text, answer))
    return {
        "responses": Said("item", _GROUPS, said_frame(responses, RESPONSE)),
        "sentences": Said("sentence", _GROUPS, said_frame(sentences, SENTENCE)),
    }


def _requested(name: str, one: Asked, room: int) -> Chain[Answer]:
    file = prompt()
    rendered = file.render(instruction=one.target["instruction"], question=one.probe["question"])
    reply = yield Request(
        id=f"{name}/{one.id}",
        role="subject",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        compose=lambda: _compose(one),
        max_tokens=room,
        sample=one.sample,
    )
    return Answer(reply)


def _compose(one: Asked) -> str:
    """A text of the usual length, for estimates."""
    chance = rng_for(0, "evaluators", "estimate", one.id)
    target = one.target
    return planted.response("steady", target["dimension"], target["level"], one.probe["task"], chance).text


def _written(benchmark: str, subject: str, seed: int, one: Asked) -> Chain[Answer]:
    chance = rng_for(seed, benchmark, f"evaluators.{subject}", one.id)
    target = one.target
    made = planted.response(subject, target["dimension"], target["level"], one.probe["task"], chance)
    yield from ()
    return Answer(Reply("answered", made.text), made.levels)


def _telling(one: Asked, reply: Reply) -> dict[str, Any]:
    target, probe = one.target, one.probe
    state, reason = said_state(reply)
    return {
        "item": one.id,
        "state": state,
        "reason": reason,
        "model": reply.model,
        "persona": target["persona"],
        "dimension": target["dimension"],
        "level": target["level"],
        "task": probe["task"],
        "probe": probe["probe_id"],
        "prompt": str(target["prompt"]),
        "run": f"{target['prompt']}.{one.sample}",
        **{name: target[name] for name in ("trait", "about", "low", "high")},
        "question": probe["question"],
    }


def _sentences(one: Asked, row: Mapping[str, Any], text: str, answer: Answer) -> Iterator[dict[str, Any]]:
    """The sentences of a response; one row without text for a response that is not there."""
    nothing = {"response": one.id, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}
    # Of a text without a word no sentence is found; it is judged whole.
    found = (split(text) or [text]) if row["state"] == "said" else []
    if not found:
        yield {**row, **nothing, "item": f"{one.id}/000"}
        return
    levels = answer.levels
    if levels is not None and len(levels) != len(found):
        raise AssertionError(f"{len(found)} sentences of {len(levels)} planted in {one.id}")
    for place, sentence in enumerate(found):
        rendered: dict[str, Any] = {"item": f"{one.id}/{place + 1:03d}", "sentence": sentence}
        if levels is not None:
            level = levels[place]
            rendered["planted"] = None if level is None else float(level)
            rendered["planted_state"] = "not_applicable" if level is None else "scored"
        yield {**row, **nothing, **rendered}
