"""``python -m evaluators report``: one page about the runs of one release.

    python -m evaluators report build/evaluations/heart@0.1.0/choice.*.json --out report.html
    python -m evaluators report build/evaluations/fidelity@0.1.0/scores.*.json --out fidelity.html
    python -m evaluators report build/evaluations/persturn@1.0.0/satisfaction.reference_cdf.json --out persturn.html

Sections follow from what the results hold: choices, or scores of judged texts. Of choices, texts come from the release
itself, verified, found by the name in the results or given with ``--release``.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from evaluators.memory.settings import SETTINGS
from evaluators.protocols.bench import read_bench
from evaluators.reporting.page import page, satisfaction_page, scored_page
from evaluators.reporting.parts import Report
from evaluators.reporting.scored import ScoredReport
from evaluators.scoring.comparing import comparison
from evaluators.scoring.ranking import names_of, ranked
from evaluators.scoring.results import demand_release, names, read_result, read_results
from evaluators.scoring.score_rows import read_scores
from releases import open_release
from schemas.command import DONE, print_json, say
from schemas.errors import RequestError
from schemas.release_names import FROZEN
from schemas.rows import write_whole

HELP = "make one self-contained HTML page of runs on the same release"
EXAMPLE = "python -m evaluators report build/evaluations/heart@0.1.0/choice*.json --out report.html"


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``report``."""
    made.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULT",
        help="files that `choice` wrote, files that `judge` wrote, or one that `calibrate` wrote",
    )
    made.add_argument("--out", type=Path, required=True, metavar="FILE", help="the page")
    made.add_argument("--release", metavar="NAME@X.Y.Z", help="the release (default: the one named in the results)")
    made.add_argument(
        "--frozen", type=Path, default=FROZEN, metavar="DIR", help="frozen releases (default: releases/frozen)"
    )


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    kinds = {read_result(path)["kind"] for path in parsed.results[:1]}
    if kinds == {"scores"}:
        return _scored(parsed)
    if kinds == {"satisfaction"}:
        return _satisfaction(parsed)
    results = read_results(parsed.results)
    release = open_release(parsed.release or results[0]["release"]["name"], parsed.frozen)
    demand_release(release, results[0])
    results.sort(key=lambda result: (SETTINGS.index(result["run"]["setting"]), -result["figures"]["overall"]["rate"]))
    report = Report(read_bench(release), results, names(results), comparison(results, parsed.seed))
    text = page(report).encode()
    write_whole(parsed.out, [text])
    if parsed.json:
        print_json({"report": str(parsed.out), "runs": len(results), "bytes": len(text)})
    say(f"wrote {parsed.out}: {len(results)} runs, {len(text):,} bytes", quiet=parsed.quiet or parsed.json)
    return DONE


def _scored(parsed: argparse.Namespace) -> int:
    """The page about results of scores."""
    results = read_results(parsed.results, "scores")
    called = names_of(results)
    scores = {
        name: read_scores(path, result) for name, path, result in zip(called, parsed.results, results, strict=True)
    }
    report = ScoredReport(results, called, ranked(scores, parsed.seed))
    text = scored_page(report).encode()
    write_whole(parsed.out, [text])
    if parsed.json:
        ranks = [asdict(one) for one in report.ranks]
        print_json({"report": str(parsed.out), "runs": len(results), "bytes": len(text), "ranking": ranks})
    say(f"wrote {parsed.out}: {len(results)} runs, {len(text):,} bytes", quiet=parsed.quiet or parsed.json)
    return DONE


def _satisfaction(parsed: argparse.Namespace) -> int:
    """The page about a result of `calibrate`."""
    results = read_results(parsed.results, "satisfaction")
    if len(results) > 1:
        raise RequestError(
            f"{len(results)} results of `calibrate`", parsed.results[1], expected="one a page",
            fix="Make a page of each, or calibrate all score files together",
        )  # fmt: skip
    text = satisfaction_page(results[0]).encode()
    write_whole(parsed.out, [text])
    if parsed.json:
        ranking = results[0]["figures"]["ranking"]
        print_json({"report": str(parsed.out), "runs": 1, "bytes": len(text), "ranking": ranking})
    say(f"wrote {parsed.out}: {len(text):,} bytes", quiet=parsed.quiet or parsed.json)
    return DONE
