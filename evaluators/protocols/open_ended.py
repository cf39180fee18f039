"""The second track: a decision in the model's own words, with the thoughts that lead there, judged against the gold.

    python -m evaluators open --release heart@0.1.0 --setting naive_rag --model NAME --judge NAME
    python -m evaluators open --release heart@0.1.0 --setting vanilla --model offline:other --judge offline:words

Scored when all five parts were judged; unscored when a reply came that cannot be used, from either; failed
when none came. Baselines: ``offline:other`` answers with another character's decision in the same
scenario (the floor), ``offline:gold`` with the character's own (the ceiling). People's ratings
(``--ratings FILE``, CSV: question_id, field, rater, score) show how far the judge can be trusted.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.memory.settings import Setting, retrieve
from evaluators.protocols import judging
from evaluators.protocols.bench import Bench, Question, read_bench
from evaluators.protocols.choice import run_of
from evaluators.protocols.choosing import memory_record
from evaluators.protocols.prompting import TEMPERATURE, Excerpts, prompt_of, render
from evaluators.rubrics.judging import judge_request
from evaluators.rubrics.verdicts import read_reply
from evaluators.running import (
    add_model_arguments,
    add_release_arguments,
    add_setting_arguments,
    asking,
    default_out,
    details,
    evaluations,
    offline_name,
    setting_of,
)
from evaluators.scoring.parsing import State
from evaluators.scoring.results import Result, head, write_result
from models.backends import BackendSettings
from models.backends import run as run_chains
from models.request import Chain, Reply, Request
from releases import open_release
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, print_json, say
from schemas.errors import RequestError, unknown
from schemas.randomness import rng_for
from schemas.tables import Row

HELP = "ask for decisions in the model's own words, judged against the gold"
EXAMPLE = "python -m evaluators open --release heart@0.1.0 --setting naive_rag --model NAME --judge NAME"

MODELS = ("other", "gold")
_ROOM = 2048

Decisions = Mapping[tuple[str, str], Row]


@dataclass(frozen=True)
class Judged:
    """What came of one question."""

    state: State
    reason: str
    answer: dict[str, str] | None
    scores: dict[str, int] | None
    served_by: str | None = None


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``open``."""
    add_release_arguments(made)
    add_setting_arguments(made)
    add_model_arguments(made, ", ".join(f"offline:{name}" for name in MODELS))
    made.add_argument(
        "--judge", default="offline:words", metavar="NAME", help="who judges (default: offline:words, words in common)"
    )
    made.add_argument("--ratings", type=Path, metavar="FILE", help="people's ratings as CSV, to hold the judge against")


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    setting = setting_of(parsed)
    offline_name(parsed.model, MODELS)
    offline_name(parsed.judge, judging.OFFLINE)
    bench = read_bench(open_release(parsed.release, parsed.frozen), parsed.limit, parsed.seed)
    ratings = judging.read_ratings(parsed.ratings, judging.rubric_for(bench.release)) if parsed.ratings else None
    _demand_known(bench, ratings or (), parsed.ratings)
    result = evaluate(bench, setting, parsed, ratings)
    path = parsed.out or default_out(
        parsed, bench.release, "open", setting.name, parsed.model, parsed.judge, *details(parsed, setting)
    )
    write_result(path, result)
    if parsed.json:
        print_json({"result": str(path), **{key: result[key] for key in ("release", "run", "figures")}})
    else:
        _tell(result, parsed.quiet)
        say(f"wrote {path}", quiet=parsed.quiet)
    states = result["figures"]["states"]
    if states["failed"]:
        say(f"error: {states['failed']} questions have no reply. Run the same command again to ask those")
        return MACHINE_FAILED
    return FINDINGS if states["unscored"] else DONE


def _demand_known(bench: Bench, ratings: Sequence[Mapping[str, Any]], path: Path | None) -> None:
    """Raises RequestError for a rating of a question that the release does not ask."""
    known = set(bench.release.table("mcqs", ["question_id"])["question_id"].to_pylist())
    for rating in ratings:
        if rating["question_id"] not in known:
            raise unknown("question", rating["question_id"], sorted(known), str(path))


def evaluate(
    bench: Bench, setting: Setting, parsed: argparse.Namespace, ratings: list[dict[str, Any]] | None
) -> Result:
    """Retrieve, ask, judge: the result of a run. Raises RequestError for a release without decisions."""
    if not bench.release.tables.get("decisions"):
        raise RequestError("no decisions", bench.release.name, fix="Take a release that has them")
    decisions = {(row["character_id"], row["scenario_id"]): row for row in bench.release.rows("decisions")}
    for question in bench.questions:
        if (question.character_id, question.scenario_id) not in decisions:
            raise RequestError("question without a decision", bench.release.name, row=question.id)
    models = asking(parsed, subject=parsed.model, judge=parsed.judge, screen=setting.manager)
    retrieved = retrieve(bench, setting, evaluations(parsed), models)
    judged = _judged(bench, setting, parsed, decisions, retrieved, models)
    texts = {memory.id: memory.text for own in bench.memories.values() for memory in own}
    items = [
        {
            "question_id": question.id,
            "character_id": question.character_id,
            "scenario_id": question.scenario_id,
            "stage": question.stage,
            "state": judged[question.id].state,
            "reason": judged[question.id].reason,
            "answer": judged[question.id].answer,
            "scores": judged[question.id].scores,
            "memories": [memory_record(excerpt, texts) for excerpt in retrieved[question.id]],
        }
        for question in bench.questions
    ]
    served = sorted({one.served_by for one in judged.values() if one.served_by})
    about = {**run_of(parsed, setting, "open", served), "judge": parsed.judge, "max_tokens": parsed.max_tokens or _ROOM}
    rubric = judging.rubric_for(bench.release)
    about |= {"rubric": rubric.name, "rubric_digest": rubric.digest}
    figures = judging.figures(items, ratings, rubric.scale.most)
    return {**head(bench.release, "open", about), "figures": figures, "items": items}


def _judged(
    bench: Bench,
    setting: Setting,
    parsed: argparse.Namespace,
    decisions: Decisions,
    retrieved: Mapping[str, Excerpts],
    models: BackendSettings,
) -> dict[str, Judged]:
    starts = [
        functools.partial(_chain, bench, question, setting.name, parsed, (decisions, retrieved[question.id]))
        for question in bench.questions
    ]
    if parsed.model.startswith("offline:") and parsed.judge.startswith("offline:"):
        found = [_without_models(start()) for start in starts]
    else:
        found = list(run_chains(starts, models, rows=len(starts)))
    return {question.id: one for question, one in zip(bench.questions, found, strict=True)}


def _without_models(chain: Chain[Judged]) -> Judged:
    try:
        next(chain)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("an offline chain asked a model")


def _chain(
    bench: Bench, question: Question, setting: str, parsed: argparse.Namespace, known: tuple[Decisions, Excerpts]
) -> Chain[Judged]:
    """Ask, then have it judged; whichever is offline is not asked."""
    decisions, excerpts = known
    gold = judging.gold_of(decisions[question.character_id, question.scenario_id])
    served = None
    if parsed.model.startswith("offline:"):
        answer = gold if parsed.model == "offline:gold" else _other(bench, question, decisions, parsed.seed)
    else:
        reply = yield _request(bench, question, setting, excerpts, parsed.max_tokens or _ROOM)
        served = reply.model
        if reply.status != "answered":
            return _unusable(reply)
        answer = reply.answer
    rubric = judging.rubric_for(bench.release)
    fields = judging.fields_of(bench.scenarios[question.scenario_id], gold, answer)
    if parsed.judge.startswith("offline:"):
        return Judged("scored", "", answer, judging.by_words(rubric, fields), served)
    name = _name(bench, question, setting)
    verdict = yield judge_request(rubric, name, fields, lambda: judging.by_words(rubric, fields))
    found = read_reply(rubric, verdict, fields)
    unread = [one for one in found.values() if one.state != "scored"]
    if unread:
        state: State = "failed" if verdict.status == "failed" else "unscored"
        return Judged(state, f"judge: {unread[0].reason}", answer, None, verdict.model)
    return Judged("scored", "", answer, {part: int(one.value or 0) for part, one in found.items()}, served)


def _unusable(reply: Reply) -> Judged:
    state: State = "failed" if reply.status == "failed" else "unscored"
    return Judged(state, f"answer {reply.status}: {reply.reason}", None, None, reply.model)


def _other(bench: Bench, question: Question, decisions: Decisions, seed: int) -> dict[str, str]:
    """Another character's decision in the same scenario, drawn by the seed."""
    here = sorted(who for who, scenario in decisions if scenario == question.scenario_id)
    others = [who for who in here if who != question.character_id]
    if not others:
        return dict.fromkeys(judging.FIELDS, "Nobody else decided here.")
    who = rng_for(seed, bench.release.name.benchmark, "evaluators.other", question.id).choice(others)
    return judging.gold_of(decisions[who, question.scenario_id])


def _request(bench: Bench, question: Question, setting: str, excerpts: Excerpts, room: int) -> Request:
    prompt = prompt_of("open", setting)
    told = render(prompt, bench, question, excerpts, {})
    return Request(
        id=_name(bench, question, setting),
        role="subject",
        fixed=told.fixed,
        prompt=told.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=lambda: None,
        schema=judging.answer_schema(),
        max_tokens=room,
        temperature=TEMPERATURE,
    )


def _name(bench: Bench, question: Question, setting: str) -> str:
    return f"evaluate/open/{bench.release.name}/{setting}/{question.id}"


def _tell(result: Result, quiet: bool) -> None:
    figures, about = result["figures"], result["run"]
    say(f"{about['model']}, {about['setting']}, judged by {about['judge']}, {result['release']['name']}", quiet=quiet)
    say(f"  {', '.join(f'{state} {count}' for state, count in figures['states'].items())}", quiet=quiet)
    for field, mean in figures["fields"].items():
        say(f"  {field:<18}{'none' if mean is None else f'{mean:.2f} of 5'}", quiet=quiet)
    if figures["narrative"] is not None:
        say(f"  narrative over 5  {figures['narrative']:.4f}", quiet=quiet)
    for field, people in (figures["people"] or {}).items():
        kappa = "not defined" if people["kappa"] is None else f"{people['kappa']:.3f}"
        say(f"  {field}: kappa with people {kappa} over {people['items']} questions", quiet=quiet)
