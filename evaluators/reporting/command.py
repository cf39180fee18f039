"""``python -m evaluators report``: one page about the runs of one release, or of several benchmarks.

    python -m evaluators report build/evaluations/heart@2.0.0/choice.*.json --out report.html
    python -m evaluators report build/evaluations/*/choice.*.json build/evaluations/*/scores.*.json --out report.html
    python -m evaluators report build/evaluations/persturn@1.0.1/satisfaction.reference_cdf.json --out persturn.html

A chapter a release and kind of result (choices, dialogues, scores of judged texts, judges of satisfaction), with the
sections that the results hold something for. Results on one benchmark must be of the same content: figures of
different content are not comparable. Texts of choices come from the release itself, verified, found by the name in the
results or given with ``--release``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from evaluators.reporting.choice.chapter import choice_chapter
from evaluators.reporting.page import page
from evaluators.reporting.parts import Chapter
from evaluators.reporting.satisfaction import satisfaction_chapter
from evaluators.reporting.scored import scored_chapter
from evaluators.reporting.task_dialogues import task_chapter
from evaluators.scoring.results import Result, demand_same_content, read_result
from schemas.command import DONE, print_json, say
from schemas.errors import RequestError
from schemas.release_names import FROZEN
from schemas.rows import write_whole

HELP = "make one self-contained HTML page of runs"
EXAMPLE = "python -m evaluators report build/evaluations/heart@2.0.0/choice*.json --out report.html"

KINDS = ("choice", "dialogues", "scores", "satisfaction")

Read = tuple[Path, Result]


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``report``."""
    made.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULT",
        help="files that `choice`, `open`, `judge`, `dialogues` or `calibrate` wrote",
    )
    made.add_argument("--out", type=Path, required=True, metavar="FILE", help="the page")
    made.add_argument(
        "--release", metavar="NAME@X.Y.Z", help="the release of choices (default: the one named in the results)"
    )
    made.add_argument(
        "--frozen", type=Path, default=FROZEN, metavar="DIR", help="frozen releases (default: releases/frozen)"
    )


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    groups = grouped(parsed.results)
    chapters = [_chapter(parsed, kind, found) for (_, kind, _), found in groups.items()]
    text = page(chapters).encode()
    write_whole(parsed.out, [text])
    count = len(parsed.results)
    if parsed.json:
        about = [
            {"release": one.title, "about": one.about, "ranking": [asdict(rank) for rank in one.ranks]}
            for one in chapters
        ]
        print_json({"report": str(parsed.out), "runs": count, "bytes": len(text), "chapters": about})
    say(f"wrote {parsed.out}: {count} runs, {len(text):,} bytes", quiet=parsed.quiet or parsed.json)
    return DONE


def grouped(paths: Sequence[Path]) -> dict[tuple[str, str, str], list[Read]]:
    """(benchmark, kind, protocol) -> its results: benchmarks in the order given, choices first.

    Raises RequestError for a result of another kind, and for two on one benchmark that are of different content.
    """
    found: dict[tuple[str, str, str], list[Read]] = {}
    for path in dict.fromkeys(paths):
        result = read_result(path, scores_follow=True)
        if result["kind"] not in KINDS:
            raise RequestError(
                f"a result of `{result['kind']}`", path,
                expected="one that `choice`, `open`, `judge`, `dialogues` or `calibrate` wrote",
                fix="Judge it first: python -m evaluators judge",
            )  # fmt: skip
        what = result["run"]["protocol"] if result["kind"] == "scores" else ""
        key = (result["release"]["name"].partition("@")[0], result["kind"], what)
        found.setdefault(key, []).append((path, result))
    for benchmark in {name for name, *_ in found}:
        demand_same_content([one for (name, *_), own in found.items() if name == benchmark for one in own])
    order = list(dict.fromkeys(benchmark for benchmark, *_ in found))
    return dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), KINDS.index(item[0][1]))))


def _chapter(parsed: argparse.Namespace, kind: str, found: Sequence[Read]) -> Chapter:
    paths, results = [path for path, _ in found], [result for _, result in found]
    if kind == "dialogues":
        return task_chapter(paths, results)
    if kind == "satisfaction":
        return satisfaction_chapter(paths, results)
    if kind == "scores":
        return scored_chapter(paths, results, parsed.seed)
    return choice_chapter(found, parsed.release, parsed.frozen, parsed.seed)
