"""``python -m evaluators leaderboard``: all results in one list, a table for each content of a release.

    python -m evaluators leaderboard build/evaluations/*/*.json
    python -m evaluators leaderboard build/evaluations/*/*.json --json > leaderboard.json

Results of different content are never in one table: the digest of the release's content is the key. In a table runs
that did the same (the same kind, setting, limit or rubric) are ranked together, and share a rank where the interval of
their paired difference leaves 0 in.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from evaluators.reporting.ranking import ranked_by
from evaluators.scoring.ranking import Ranked, choices_ranked, ranked
from evaluators.scoring.results import Result, read_result
from evaluators.scoring.run_names import names_of
from evaluators.scoring.score_rows import read_scores
from schemas.command import DONE, print_json, say
from schemas.errors import RequestError

HELP = "list all results, ranked, a table for each content of a release"
EXAMPLE = "python -m evaluators leaderboard build/evaluations/*/*.json"

_RANKED = ("choice", "scores")

Named = tuple[Path, Result]


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``leaderboard``."""
    made.add_argument("results", nargs="+", type=Path, metavar="RESULT", help="files of `choice` and `judge`")


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    read = [(path, read_result(path, scores_follow=True)) for path in parsed.results]
    found = [one for one in read if one[1]["kind"] in _RANKED]
    if not found:
        raise RequestError("no result to rank", parsed.results[0], expected="files that `choice` or `judge` wrote")
    document = leaderboard(found, parsed.seed)
    if parsed.json:
        print_json(document)
    for table in document:
        for line in _lines(table):
            say(line, quiet=parsed.quiet or parsed.json)
    return DONE


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    """A table for people: runs that are ranked together under what they are ranked by."""
    yield f"{', '.join(table['releases'])}, content {table['content_digest'][:16]}"
    for metric, own in groupby(table["runs"], key=lambda one: str(one["metric"])):
        yield f"  {ranked_by(metric)}"
        for one in own:
            yield f"  {one['rank']:>5}{'=' if one['tied'] else ' '} {one['value']:.3f}  {one['name']}"
    if any(one["tied"] for one in table["runs"]):
        yield "  = the difference from another run of the same list is not clear (--json names it)"


def leaderboard(found: Sequence[Named], seed: int) -> list[dict[str, Any]]:
    """A table for each content digest, in order of it: releases of that content, and runs with ranks."""
    tables: dict[str, list[Named]] = {}
    for one in found:
        tables.setdefault(one[1]["release"]["content_digest"], []).append(one)
    return [
        {
            "content_digest": digest,
            "releases": sorted({result["release"]["name"] for _, result in own}),
            "runs": [asdict(one) for one in _ranked(own, seed)],
        }
        for digest, own in sorted(tables.items())
    ]


def _ranked(own: Sequence[Named], seed: int) -> list[Ranked]:
    made: list[Ranked] = []
    groups: dict[tuple[Any, ...], dict[str, Named]] = {}
    for name, one in zip(names_of([result for _, result in own]), own, strict=True):
        groups.setdefault(_group(one[1]), {})[name] = one
    for (kind, *_), members in sorted(groups.items(), key=lambda item: str(item[0])):
        if kind == "choice":
            made += choices_ranked({name: result for name, (_, result) in members.items()}, seed)
        else:
            made += ranked({name: read_scores(*one) for name, one in members.items()}, seed)
    return made


def _group(result: Mapping[str, Any]) -> tuple[Any, ...]:
    """What runs must have in common to be ranked together."""
    run = result["run"]
    if result["kind"] == "choice":
        return ("choice", run["setting"], run["limit"], run["seed"] if run["limit"] else None)
    rubrics = tuple(metric["rubric"] for metric in result["metrics"])
    return ("scores", rubrics, run.get("limit"), run["judged"]["limit"])
