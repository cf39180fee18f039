"""``python -m evaluators import``: the released responses and scores of persona fidelity as rows like our own.

    python -m evaluators import --from ../shared/data/atomic --release fidelity@0.1.0
    python -m evaluators judge build/evaluations/fidelity-published@1.0.0/said.gpt-3-5-turbo-0125.json --judge NAME

Responses become rows of what was said, split into sentences as released, so that any judge can score them; scores
become score rows of the judge ``released``, whose figures must be the released ones to 1e-12. Scores cannot be matched
to sentences: their iterations are in the order in which files happened to be listed. Words about each dimension and
questions that were not released come from ``--release``, whose own rows take no part.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluators.protocols import released, responses
from evaluators.rubrics.compatibility import verdict_of
from evaluators.rubrics.loading import Rubric, rubrics_of
from evaluators.running import add_release_arguments, evaluations, slug
from evaluators.scoring.golden import released_figures
from evaluators.scoring.results import RESULT_VERSION
from evaluators.scoring.said_rows import Said, said_frame, write_said
from evaluators.scoring.score_rows import frame_of, write_scores
from releases import Release, open_release
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.errors import RequestError
from schemas.version import package_version

HELP = "import the released responses and scores of persona fidelity as rows"
EXAMPLE = "python -m evaluators import --from ../shared/data/atomic --release fidelity@0.1.0"

NAME, JUDGE = "fidelity-published@1.0.0", "released"

_UNKNOWN = "A statement of a personality questionnaire; which one was not released."
_TASKS = {"smp": "social_media"}
_GROUPS = ("persona", "dimension", "level", "task", "probe", "prompt", "run")


@dataclass(frozen=True)
class _Words:
    """What a release says of a dimension, and what it asks in a task without a released question."""

    poles: Mapping[str, Mapping[str, Any]]
    questions: Mapping[tuple[str, str | None], str]


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``import``."""
    made.add_argument(
        "--from", dest="source", type=Path, required=True, metavar="DIR", help="folder of the released files"
    )
    add_release_arguments(made)


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    release = open_release(parsed.release, parsed.frozen)
    responses_found = list(released.responses(parsed.source))
    scored = released.settings_of(parsed.source, released.SCORES)
    words, digest = _words(release), _digest(parsed.source)
    (rubric,) = [one for one in rubrics_of(NAME.partition("@")[0]) if "responses" in one.protocols]
    folder = evaluations(parsed) / NAME
    written: list[dict[str, Any]] = []
    for model in sorted({one.setting.model for one in responses_found} | {setting.model for setting, _ in scored}):
        head = _head(model, digest)
        own = [one for one in responses_found if one.setting.model == model]
        if own:
            path = folder / f"said.{slug(model)}.json"
            tables = write_said(path, {**head, "kind": "said"}, _said(own, words))["tables"]
            written.append({"result": str(path), "rows": {name: entry["count"] for name, entry in tables.items()}})
        rows = [row for setting, at in scored if setting.model == model for row in _scores(setting, at)]
        if rows:
            path = folder / f"scores.{slug(model)}.by.{JUDGE}.json"
            header = _write_scores(path, head, rubric, rows)
            written.append({"result": str(path), "rows": {"scores": header["rows"]["count"]}})
    figures = released_figures(parsed.source)
    wrong = [one for one in figures if not one.agrees]
    if parsed.json:
        print_json({"written": written, "figures": len(figures), "differing": [asdict(one) for one in wrong]})
    for entry in written:
        counted = ", ".join(f"{count:,} {name}" for name, count in entry["rows"].items())
        say(f"wrote {entry['result']}: {counted}", quiet=parsed.quiet or parsed.json)
    for one in wrong:
        say(f"{one.where}, {one.metric}: released {one.theirs!r}, the scores come to {one.ours!r}", quiet=parsed.quiet)
    matched = f"{len(figures) - len(wrong)} of {len(figures)} released figures follow from the released scores"
    say(matched, quiet=parsed.quiet or parsed.json)
    return FINDINGS if wrong else DONE


def _words(release: Release) -> _Words:
    for table in responses.NEEDS:
        if not release.tables.get(table):
            raise RequestError(f"no {table}", release.name, fix="Name a release of fidelity with --release")
    poles = {row["dimension"]: row for row in release.rows("target_personas")}
    questions = {
        (row["task"], row["dimension"]): row["question"]
        for row in release.rows("probes")
        if row["task"] != "questionnaire"
    }
    return _Words(poles, questions)


def _digest(folder: Path) -> str:
    """The digest of all files that are read, by name and content."""
    digest = hashlib.sha256()
    for kind in (released.RESULTS, released.SCORES, released.FIGURES):
        for path in sorted((folder / kind).rglob("*")):
            if path.is_file():
                digest.update(f"{path.relative_to(folder)}\x1f".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _head(model: str, digest: str) -> dict[str, Any]:
    return {
        "result_version": RESULT_VERSION,
        "release": {"name": NAME, "digest": digest, "content_digest": digest},
        "evaluated_by": package_version(),
        "run": {"model": model, "served_by": [], "protocol": "responses", "limit": None, "seed": 0},
    }


def _said(found: Iterable[released.Response], words: _Words) -> dict[str, Said]:
    """The tables that ``run`` writes, of what was released."""
    texts: list[dict[str, Any]] = []
    sentences: list[dict[str, Any]] = []
    for one in found:
        task, dimension = _TASKS.get(one.setting.task, one.setting.task), one.setting.dimension
        probe = f"{task}-{one.probe}"
        item = f"{dimension}-{one.setting.level}-{one.prompt}/{probe}"
        asked = one.question or words.questions.get((task, dimension)) or words.questions.get((task, None)) or _UNKNOWN
        row = {
            "item": item,
            "state": "said" if one.text.strip() else "refused",
            "reason": None if one.text.strip() else "an empty response",
            "model": one.setting.model,
            **_groups(one.setting, probe, one.prompt),
            **{name: words.poles[dimension][name] for name in ("trait", "about", "low", "high")},
            "question": asked,
            "input_tokens": 0,
            "output_tokens": 0,
            "cost": 0.0,
        }
        texts.append({**row, "text": one.text})
        for place, sentence in enumerate(one.sentences or (None,)):
            sentences.append({**row, "item": f"{item}/{place + 1:03d}", "response": item, "sentence": sentence})
    return {
        "responses": Said("item", _GROUPS, said_frame(texts, responses.RESPONSE)),
        "sentences": Said("sentence", _GROUPS, said_frame(sentences, responses.SENTENCE)),
    }


def _groups(setting: released.Setting, probe: str, run_name: str) -> dict[str, str]:
    return {
        "persona": f"{setting.dimension}-{setting.level}",
        "dimension": setting.dimension,
        "level": setting.level,
        "task": _TASKS.get(setting.task, setting.task),
        "probe": probe,
        "prompt": run_name,
        "run": run_name,
    }


def _scores(setting: released.Setting, at: Path) -> list[dict[str, Any]]:
    """A score row a released score."""
    rows = []
    for run_number, probes in enumerate(released.scores(at)):
        for probe, scores in enumerate(probes):
            for place, score in enumerate(scores):
                verdict = verdict_of(score)
                rows.append(
                    {
                        "item": f"{setting.name}/{run_number}/{probe}/{place + 1:03d}",
                        "judge": JUDGE,
                        "state": verdict.state,
                        "value": verdict.value,
                        "reason": verdict.reason,
                        "input_tokens": 0,
                        "output_tokens": 0,
                        "cost": None,
                        "groups": _groups(setting, f"{setting.task}-{probe}", f"{run_number}"),
                    }
                )
    return rows


def _write_scores(
    path: Path, head: Mapping[str, Any], rubric: Rubric, rows: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    metric = rubric.metrics[0]
    about = {
        **head,
        "kind": "scores",
        "run": {**head["run"], "judges": [JUDGE], "parsing": "released", "judged": {"limit": None, "seed": 0}},
        "said": {"model": head["run"]["model"], "tables": {}},
    }
    named = [{**row, "metric": metric.name} for row in rows]
    return write_scores(path, about, rubric.metrics, frame_of(named, _GROUPS))
