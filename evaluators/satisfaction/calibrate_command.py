"""``python -m evaluators calibrate``: judges of satisfaction are calibrated to raters, measured, and rank candidates.

    python -m evaluators calibrate build/evaluations/persturn@1.0.1/scores.*.json --release persturn@1.0.1
    python -m evaluators calibrate SCORES... --release persturn@1.0.1 --calibration ordinal --ties average

Reads what `judge` wrote of recorded replies (`run --model offline:original`) and of candidates. Every judge is measured
raw and under every calibration; ``--calibration`` is the one that ranks judges and scores candidates, the same for all
of them. Gold of a target task is read to measure, and by no calibration. PersTurnBench 3.4, 4 and 5.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evaluators.running import add_release_arguments, default_out
from evaluators.satisfaction.baselines import baseline_predictions
from evaluators.satisfaction.calibrating import METHODS, OFFICIAL, Raters
from evaluators.satisfaction.judged_turns import Entry, entries
from evaluators.satisfaction.meta_evaluation import Choices, Evaluated, agreement, evaluated, personalization, ranking
from evaluators.satisfaction.replay_figures import replayed
from evaluators.satisfaction.turn_fields import RatedTurns
from evaluators.scoring.results import Result, demand_release, head, read_result, write_result
from evaluators.scoring.score_rows import read_scores
from releases import Release, open_release
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.errors import RequestError, unknown
from schemas.satisfaction.turns import gold_turns

HELP = "calibrate judges of satisfaction to raters, measure them, and compare candidates in replay"
EXAMPLE = "python -m evaluators calibrate build/evaluations/persturn@1.0.1/scores.*.json --release persturn@1.0.1"
KIND = "satisfaction"

_BASE = "zero_shot"


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``calibrate``."""
    made.add_argument("scores", nargs="+", type=Path, metavar="SCORES", help="files that `judge` wrote")
    add_release_arguments(made)
    made.add_argument(
        "--calibration", choices=METHODS, default=OFFICIAL, metavar="NAME",
        help=f"ranks judges and scores candidates: {', '.join(METHODS)} (default: {OFFICIAL}, the official one)",
    )  # fmt: skip
    made.add_argument(
        "--ties", choices=("id", "average"), default="id", metavar="NAME",
        help="how equal raw scores are ranked: by sample id as published (id, default), or by their average rank",
    )  # fmt: skip
    made.add_argument(
        "--base", default=_BASE, metavar="RUBRIC", help=f"what gain is measured against (default: {_BASE})"
    )
    made.add_argument("--no-baselines", action="store_true", help="leave out the baselines of history and neighbours")
    made.add_argument("--out", type=Path, metavar="FILE", help="the result (default: in the workspace's evaluations)")


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    release = open_release(parsed.release, parsed.frozen)
    results = [_scores(path, release) for path in parsed.scores]
    found = entries([read_scores(path, result) for path, result in zip(parsed.scores, results, strict=True)])
    metrics = sorted({entry.metric for entry in found})
    if parsed.base != _BASE and parsed.base not in metrics:
        raise unknown("rubric", parsed.base, metrics, "--base")
    known = RatedTurns(release, parsed.seed)
    raters = Raters(gold_turns(list(known.ratings.values())), _evaluated(known, release.name))
    choices = Choices(parsed.calibration, parsed.ties, parsed.seed)
    baselines = {} if parsed.no_baselines else baseline_predictions(known, raters)
    judged = [evaluated(entry, raters, choices) for entry in found]
    for one in judged:
        one.figures["without_memory"] = _without_memory(one.entry, known)
    figures = _figures(judged, baselines, raters, choices, parsed.base)
    inputs = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(parsed.scores)}
    document = {**head(release, KIND, _about(parsed, found, results)), "inputs": inputs, "figures": figures}
    path = parsed.out or default_out(parsed, release, KIND, parsed.calibration, _seeded(parsed))
    write_result(path, document)
    if parsed.json:
        print_json({"result": str(path), "figures": figures})
    _say_figures(figures, parsed.quiet or parsed.json)
    say(f"wrote {path}", quiet=parsed.quiet or parsed.json)
    return FINDINGS if any(_missing(one) for one in found) else DONE


def _scores(path: Path, release: Release) -> Result:
    """The header of a score file of this release. Raises RequestError for any other result."""
    result = read_result(path, scores_follow=True)
    if result["kind"] != "scores":
        raise RequestError(
            f"a result of `{result['kind']}`", path, expected="one that `judge` wrote", fix="Leave it out"
        )
    demand_release(release, result)
    return result


def _evaluated(known: RatedTurns, name: object) -> frozenset[str]:
    raters = frozenset(rater for rater, split in known.split.items() if split == "test")
    if not raters:
        raise RequestError("no rater to evaluate", str(name), field="splits.split", expected="test", fix="Draw a split")
    return raters


def _figures(
    judged: Sequence[Evaluated],
    baselines: Mapping[str, pl.DataFrame],
    raters: Raters,
    choices: Choices,
    base: str,
) -> dict[str, Any]:
    gold = raters.judged
    return {
        "turns": gold.height,
        "raters": gold["rater"].n_unique(),
        "entries": [one.figures for one in judged],
        "baselines": [
            {"name": name, **agreement(gold, frame, choices.seed)} for name, frame in baselines.items() if frame.height
        ],
        "ranking": ranking(judged, baselines, gold, choices),
        "gains": personalization(judged, gold, base, choices),
        "replay": [table for one in judged for table in replayed(one.entry, raters, choices)],
    }


def _about(parsed: argparse.Namespace, found: Sequence[Entry], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "model": ", ".join(sorted({str(result["run"]["model"]) for result in results})),
        "served_by": sorted({name for result in results for name in result["run"]["served_by"]}),
        "judges": sorted({entry.judge for entry in found}),
        "calibration": parsed.calibration,
        "ties": parsed.ties,
        "base": parsed.base,
        "seed": parsed.seed,
    }


def _seeded(parsed: argparse.Namespace) -> str:
    return "ties-average" if parsed.ties == "average" else ""


def _without_memory(entry: Entry, known: RatedTurns) -> int:
    """Scored recorded turns whose rater has no memory for the task, of a judge that is shown memories."""
    assert entry.originals is not None
    there = {(rater, task) for rater, task, _ in known.memories}
    blocks = entry.originals.frame.select("rater", "task").rows()
    return sum(block not in there for block in blocks) if entry.remembers else 0


def _missing(entry: Entry) -> int:
    assert entry.originals is not None
    return entry.originals.missing + sum(one.missing for one in entry.candidates.values())


def _say_figures(figures: Mapping[str, Any], quiet: bool) -> None:
    """The ranking and the replay tables for people."""
    say(f"{figures['turns']:,} turns of {figures['raters']} raters; mean absolute error, 95 % over raters", quiet=quiet)
    for row in figures["ranking"]:
        spread = "" if row["low"] is None else f" [{row['low']:.3f}, {row['high']:.3f}]"
        part = "" if row["turns"] == figures["turns"] else f", on {row['turns']:,} of them"
        say(f"  {row['rank']:>2}  {row['name']:<44}{row['mae']:.3f}{spread}{part}", quiet=quiet)
    for table in figures["replay"]:
        told = f"{table['judge']}, {table['metric']}, {table['calibration']}"
        say(f"replay, {table['selection']} turns, as judged by {told}", quiet=quiet)
        for row in table["candidates"]:
            own = row["figures"]
            line = "no scored turn" if own is None else f"mean {own['micro']:.3f}, satisfied {own['sat_rate']:.1%}"
            say(f"  {row['name']:<44}{line} ({row['turns']:,} turns, {row['missing']:,} missing)", quiet=quiet)
