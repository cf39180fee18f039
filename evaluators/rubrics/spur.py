"""``python -m evaluators spur``: criteria of satisfaction learned from raters that train, written as a rubric.

    python -m evaluators spur --release persturn@1.0.1 --model NAME --out spur.toml --max-cost 5
    python -m evaluators judge SAID --judge NAME --rubric spur.toml

The first of SPUR's two steps (PersTurnBench 4.2): of up to 150 satisfied and as many dissatisfied turns a model says
what explains them, and what it says is brought together, 80 at a time, into ten criteria for each. The second step is
``judge`` with the rubric. No turn of an evaluated rater is read. ``offline:reasons`` takes the reasons that raters gave
with their scores instead of a model's.
"""

from __future__ import annotations

import argparse
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from evaluators.running import (
    add_dry_run_argument,
    add_release_arguments,
    asking,
    offline_name,
    print_plan,
    run_chains,
)
from evaluators.satisfaction.turn_fields import RatedTurns, before, reply_of, shown_messages, texts
from models.backends import BackendSettings, add_asking_arguments
from models.prompts import load
from models.request import Chain, Reply, Request
from releases import open_release
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, print_json, say
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.rows import write_whole
from schemas.satisfaction.turns import SATISFIED
from schemas.tables import Row

HELP = "learn criteria of satisfaction from raters that train, and write them as a rubric (SPUR)"
EXAMPLE = "python -m evaluators spur --release persturn@1.0.1 --model offline:reasons --out spur.toml"
OFFLINE = ("reasons",)
LABELS = ("satisfied", "dissatisfied")

_PROMPTS = Path(__file__).parents[1] / "prompts"
_RUBRIC = Path(__file__).with_name("spur_rubric.toml")
_TURNS, _EACH, _CHUNK, _CRITERIA, _WINDOW = 150, 3, 80, 10, 5

Start = Callable[[], Chain[Reply]]


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``spur``."""
    add_release_arguments(made)
    made.add_argument("--model", required=True, metavar="NAME", help="a model, or without one: offline:reasons")
    made.add_argument("--out", type=Path, required=True, metavar="FILE.toml", help="the rubric")
    add_dry_run_argument(made)
    add_asking_arguments(made.add_argument_group("asking"))


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    offline = offline_name(parsed.model, OFFLINE) is not None
    release = open_release(parsed.release, parsed.frozen)
    known = RatedTurns(release, parsed.seed)
    settings = asking(parsed, judge=parsed.model)
    name = f"evaluate/spur/{release.name}"
    sampled = {label: _sampled(known, label, parsed.seed) for label in LABELS}
    if parsed.dry_run:
        starts = [start for label in LABELS for start in _extractions(name, known, label, sampled[label])]
        print_plan([(starts, settings)], parsed.json)
        return DONE
    criteria, lost, failed = {}, 0, 0
    for label in LABELS:
        replies = run_chains(_extractions(name, known, label, sampled[label]), settings, offline=offline)
        lost += sum(reply.status != "answered" for reply in replies)
        failed += sum(reply.status == "failed" for reply in replies)
        reasons = [text for reply in replies if reply.status == "answered" for text in reply.answer["reasons"]]
        if not reasons:
            raise RequestError(f"no reasons why users were {label}", parsed.model, fix="Ask another model")
        criteria[label] = summarised(name, label, reasons, settings, offline)
    write_whole(parsed.out, [rubric_text(criteria, f"{release.name}, {parsed.model}").encode()])
    if parsed.json:
        print_json({"rubric": str(parsed.out), "criteria": criteria, "turns": _counts(sampled), "lost": lost})
    quiet = parsed.quiet or parsed.json
    counted = ", ".join(f"{len(criteria[label])} of {len(sampled[label])} {label} turns" for label in LABELS)
    say(f"wrote {parsed.out}: criteria {counted}; {lost} replies without reasons", quiet=quiet)
    return MACHINE_FAILED if failed else FINDINGS if lost else DONE


def summarised(name: str, label: str, reasons: Sequence[str], settings: BackendSettings, offline: bool) -> list[str]:
    """Reasons brought together into criteria: chunks first, then what came of them.

    Raises RequestError where a model gives none.
    """
    chunks = [reasons[start : start + _CHUNK] for start in range(0, len(reasons), _CHUNK)]
    if len(chunks) > 1:
        starts = [
            functools.partial(_summary, f"{name}/{label}/chunk/{place}", label, own, 2 * _CRITERIA)
            for place, own in enumerate(chunks)
        ]
        reasons = list(_criteria(run_chains(starts, settings, offline=offline)))
    last = [functools.partial(_summary, f"{name}/{label}/all", label, reasons, _CRITERIA)]
    found = list(_criteria(run_chains(last, settings, offline=offline)))[:_CRITERIA]
    if not found:
        raise RequestError(f"no criteria why users were {label}", name, fix="Run it again, or ask another model")
    return found


def rubric_text(criteria: Mapping[str, Sequence[str]], source: str) -> str:
    """The rubric file of learned criteria."""
    lists = {label: "\n".join(f"- {_escaped(text)}" for text in criteria[label]) for label in LABELS}
    return Template(_RUBRIC.read_text("utf-8")).substitute(source=source, **lists)


def _sampled(known: RatedTurns, label: str, seed: int) -> list[Row]:
    """Turns of raters that train with this label, at most 150 of them. Raises RequestError for none."""
    rows = [
        row
        for _, row in sorted(known.ratings.items())
        if known.split.get(row["rater_id"]) == "train" and (row["score"] >= SATISFIED) == (label == "satisfied")
    ]
    if not rows:
        raise RequestError(f"no {label} turn of raters that train", "ratings", fix="Draw another split")
    return rng_for(seed, known.benchmark, "evaluators.spur", label).sample(rows, min(_TURNS, len(rows)))


def _extractions(name: str, known: RatedTurns, label: str, rows: Sequence[Row]) -> list[Start]:
    return [functools.partial(_reasons, f"{name}/{label}/{row['sample_id']}", known, label, row) for row in rows]


def _reasons(name: str, known: RatedTurns, label: str, row: Row) -> Chain[Reply]:
    conversation = known.conversations[row["conversation_id"]]
    fields = {
        "context": shown_messages(before(conversation, row["turn"])[-_WINDOW:]),
        "reply": reply_of(conversation, row["turn"]),
        "label": label,
    }
    offline = functools.partial(_offline_reasons, label, row)
    reply: Reply = yield _request(name, "spur_extract", fields, _list_of("reasons", _EACH), offline, 512)
    return reply


def _summary(name: str, label: str, reasons: Sequence[str], most: int) -> Chain[Reply]:
    fields = {"label": label, "most": most, "reasons": "\n".join(f"- {text}" for text in reasons)}
    offline = functools.partial(_commonest, reasons, most)
    reply: Reply = yield _request(name, "spur_summarise", fields, _list_of("criteria", most), offline, 2048)
    return reply


def _request(
    name: str, prompt: str, fields: Mapping[str, Any], schema: Mapping[str, Any], offline: Callable[[], Any], room: int
) -> Request:
    """A prompt file filled in, answered by ``schema``; ``offline`` answers it without a model."""
    file = load(_PROMPTS / f"{prompt}.md")
    rendered = file.render(**fields)
    return Request(
        id=name,
        role="judge",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        compose=offline,
        schema=dict(schema),
        max_tokens=room,
        temperature=0.0,
    )


def _commonest(reasons: Sequence[str], most: int) -> dict[str, list[str]]:
    return {"criteria": [text for text, _ in Counter(reasons).most_common(most)]}


def _criteria(replies: Sequence[Reply]) -> Iterator[str]:
    for reply in replies:
        if reply.status == "answered":
            yield from reply.answer["criteria"]


def _offline_reasons(label: str, row: Row) -> dict[str, list[str]]:
    """What the rater's own reason says; of a satisfied rater, who gives none, what is best in the planted reply."""
    phrases = texts()["spur"][label]
    if label == "dissatisfied":
        return {"reasons": [phrases[row["reason"]]]}
    levels = row["planted"]["levels"] if row["planted"] else dict.fromkeys(phrases, 0)
    best = max(levels.values())
    return {"reasons": [phrases[reason] for reason in sorted(levels) if levels[reason] == best][:_EACH]}


def _list_of(name: str, most: int) -> dict[str, Any]:
    items = {"type": "array", "minItems": 1, "maxItems": most, "items": {"type": "string", "minLength": 1}}
    return {"type": "object", "additionalProperties": False, "required": [name], "properties": {name: items}}


def _counts(sampled: Mapping[str, Sequence[Row]]) -> dict[str, int]:
    return {label: len(rows) for label, rows in sampled.items()}


def _escaped(text: str) -> str:
    """A line of a text in a TOML file that no rubric takes for a variable."""
    plain = " ".join(text.replace("\x7f", " ").split()).replace("{{", "{ {")
    return plain.replace("\\", "\\\\").replace('"', '\\"')
