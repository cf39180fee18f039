"""``python -m evaluators dialogues``: dialogues about tasks are measured, and contexts compared.

    python -m evaluators dialogues build/evaluations/personalens@1.0.0/said.*.json --release personalens@1.0.0 \\
        --scores build/evaluations/personalens@1.0.0/scores.*.json --findings findings.json

Reads what `run` wrote, with the scores that `judge` gave to it and the findings of `python -m audits --json`, one file
a run in the same order. The result goes into `report`. PersonaLens 3 and 4.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from evaluators.running import add_release_arguments, default_out
from evaluators.scoring.results import Result, demand_release, head, read_results, write_result
from evaluators.scoring.said_rows import read_said
from evaluators.scoring.score_rows import Scores, read_scores
from evaluators.task_dialogues.clustered import USER, Users
from evaluators.task_dialogues.figures import Run, contexts, corrected, run_figures, score_figures
from evaluators.task_dialogues.users_evenness import evenness_figures
from releases import open_release
from schemas.command import DONE, print_json, say
from schemas.errors import RequestError

HELP = "measure dialogues about tasks: turns, ends, words, findings, and contexts on the same situations"
EXAMPLE = (
    "python -m evaluators dialogues build/evaluations/personalens@1.0.0/said.offline-mixed.json"
    " --release personalens@1.0.0"
)
KIND = "dialogues"

_SAID = ("item", USER, "kind", "ended")
_TURNS = ("dialogue", "role", "text")


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``dialogues``."""
    made.add_argument("said", nargs="+", type=Path, metavar="SAID", help="files that `run` wrote")
    add_release_arguments(made)
    made.add_argument("--scores", nargs="+", type=Path, default=[], metavar="FILE", help="what `judge` made of them")
    made.add_argument(
        "--findings",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="what `python -m audits --table task_turns --json` printed, a file a run in the same order",
    )
    made.add_argument("--out", type=Path, metavar="FILE", help="the result (default: in the workspace's evaluations)")


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    release = open_release(parsed.release, parsed.frozen)
    headers = read_results(parsed.said, "said")
    for header in headers:
        demand_release(release, header)
    runs = _runs(parsed, headers)
    users = Users([name for one in runs for name in one.dialogues[USER].unique()], parsed.seed)
    figures = {
        "runs": [run_figures(one, users) for one in runs],
        "scores": [made for one in runs for made in score_figures(one, users)],
        "corrected": list(corrected(runs, users)),
        "contexts": list(contexts(runs, users)),
        "evenness": evenness_figures(release),
    }
    paths = [*parsed.said, *parsed.scores, *parsed.findings]
    inputs = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(paths)}
    about = {
        "model": ", ".join(sorted({str(header["run"]["model"]) for header in headers})),
        "served_by": sorted({name for header in headers for name in header["run"]["served_by"]}),
        "seed": parsed.seed,
    }
    path = parsed.out or default_out(parsed, release, KIND)
    write_result(path, {**head(release, KIND, about), "inputs": inputs, "figures": figures})
    if parsed.json:
        print_json({"result": str(path), "figures": figures})
    _say_figures(figures, parsed.quiet or parsed.json)
    say(f"wrote {path}", quiet=parsed.quiet or parsed.json)
    return DONE


def _runs(parsed: argparse.Namespace, headers: Sequence[Result]) -> list[Run]:
    if parsed.findings and len(parsed.findings) != len(headers):
        raise RequestError(
            f"{len(parsed.findings)} --findings for {len(headers)} runs", expected="one a run, in the same order",
            fix="Audit each run, or leave --findings out",
        )  # fmt: skip
    scores = _scores(parsed.scores, headers, parsed.said)
    found = list(parsed.findings) or [None] * len(headers)
    made = []
    for path, header, findings, name in zip(parsed.said, headers, found, _names(headers), strict=True):
        dialogues = read_said(path, header, "dialogue")[1].rows
        if not {*_SAID} <= set(dialogues.columns):
            raise RequestError(
                "no dialogues about tasks", path, expected="a run of the protocol task_dialogues", fix="Leave it out"
            )
        turns = read_said(path, header, "message")[1].rows
        rows = None if findings is None else _findings(findings, len(turns))
        made.append(Run(name, header, dialogues.select(_SAID), turns.select(_TURNS), rows, scores[str(path)]))
    return made


def _scores(paths: Sequence[Path], headers: Sequence[Result], said: Sequence[Path]) -> dict[str, list[Scores]]:
    """The scores of each run, matched by the digests of what was judged. Raises RequestError for scores of none."""
    digests = {
        str(path): {name: entry["sha256"] for name, entry in header["tables"].items()}
        for path, header in zip(said, headers, strict=True)
    }
    found: dict[str, list[Scores]] = {name: [] for name in digests}
    for path, result in zip(paths, read_results(paths, "scores", scores_follow=True), strict=True):
        owners = [name for name, tables in digests.items() if tables == result["said"]["tables"]]
        if not owners:
            raise RequestError(
                "scores of another run", path, expected="of a SAID that is named", fix="Name its SAID too"
            )
        found[owners[0]].append(read_scores(path, result))
    return found


def _findings(path: Path, messages: int) -> pl.DataFrame:
    """Code and dialogue of each finding. Raises RequestError for what the audit of these messages did not print."""
    try:
        document = orjson.loads(path.read_bytes())
        rows = [(one["code"], one["row_id"].rsplit("/", 3)[0]) for one in document["findings"]]
        count = document["rows"]
    except FileNotFoundError:
        raise RequestError("missing findings", path, fix="Run: python -m audits --table task_turns --json") from None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        expected = "what `python -m audits --json` prints"
        raise RequestError("malformed findings", path, expected=expected, fix="Audit again") from None
    if count != messages:
        raise RequestError(
            "findings of another run", path, expected=f"{messages:,} messages, found {count:,}", fix="Audit this run"
        )
    return pl.DataFrame(rows, schema={"code": pl.String, "dialogue": pl.String}, orient="row")


def _names(headers: Sequence[Result]) -> list[str]:
    """What tells runs apart: the model, and context, user agent and seed where they differ."""
    abouts = [header["run"] for header in headers]
    varying = [name for name in ("context", "user", "ending", "seed") if len({str(one[name]) for one in abouts}) > 1]
    made = [", ".join([str(one["model"]), *(f"{name} {one[name]}" for name in varying)]) for one in abouts]
    return [name if made.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(made, 1)]


def _say_figures(figures: Mapping[str, Any], quiet: bool) -> None:
    for one in figures["runs"]:
        turns = ", ".join(f"{kind} {_described(made['turns'])}" for kind, made in one["kinds"].items())
        say(f"{one['run']}: {one['dialogues']:,} dialogues of {one['users']} users; turns {turns}", quiet=quiet)
        if one["silent"]:
            say(f"  {one['silent']:,} ended before the first message", quiet=quiet)
        for code, kinds in one["findings"].items():
            say(f"  {code:<40}{_described(kinds['all']['found'])}", quiet=quiet)
    for one in figures["scores"]:
        kinds = ", ".join(f"{kind} {_described(figure)}" for kind, figure in one["kinds"].items())
        say(f"  {one['run']}: {one['metric']} by {one['judge']}: {kinds}", quiet=quiet)
    for one in figures["corrected"]:
        say(
            f"  {one['run']}: {one['metric']} by {one['judge']}, corrected for its errors: {_described(one)}",
            quiet=quiet,
        )
    for one in figures["contexts"]:
        described = _described(one["kinds"]["all"])
        say(f"  {one['metric']} by {one['judge']}: {one['second']} over {one['first']} {described}", quiet=quiet)


def _described(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "not defined"
    spread = "" if figure["low"] is None else f" [{figure['low']:.3f}, {figure['high']:.3f}]"
    return f"{figure['value']:.3f}{spread}"
