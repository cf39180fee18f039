"""Memories: a thousand autobiographical episodes a character, from one command.

HEART-BENCH 3.2 stages 2 and 3, appendix B.2 to B.6. The plan says how many at which age and how strong,
the ledger what is true when, a writer (offline, or a model) finds the words; audits look for defects, repair
rewrites the fields that have any. Windows of a character are written side by side and stored one by one: a run
that was interrupted continues where it was, and ends with the same bytes.

    python -m builders.memories --char CHAR_04
    python -m builders.memories
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from builders.memories import forecast, overview, runs
from builders.memories.plan import PRESETS
from builders.pipeline.command import COUNT, DEFAULT_BENCHMARK, add_options, add_selection, add_workers, run_of
from builders.pipeline.run import Done, Option, Outcome, Run
from models.backends import add_backend_arguments
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, add_benchmark, parser, print_json, run, say
from schemas.workspace import Workspace

READS = ("characters", "ledgers")
MAKES = ("memories",)

TOTAL = Option("--count", "memories a character", default=1000, read=COUNT, metavar="N")
INTENSITIES = Option(
    "--intensities",
    "ranges of the tiers: those the published corpus fits, or those the paper's prompt prints",
    default=PRESETS[0],
    choices=PRESETS,
)
OPTIONS = (TOTAL, INTENSITIES)


def build(run: Run) -> Done:
    """Bring the memories of the selected characters up to date."""
    earlier = {who: run.space.path("memories", who).read_bytes() for who in run.space.keys("memories")}
    written = runs.build_memories(run.space, _order(run), run.settings, run.workers, run.quiet)
    failures = [failure for one in written for failure in one.failures]
    return Done([_outcome(run.space, one, earlier.get(one.who)) for one in written], failures)


def _order(run: Run, stages: Sequence[str] = ()) -> runs.Order:
    return runs.Order(run.selection, stages, TOTAL.of(run), INTENSITIES.of(run), run.streams, run.fresh)


def _outcome(space: Workspace, written: overview.Written, earlier: bytes | None) -> Outcome:
    rows = written.figures.rows
    if space.path("memories", written.who).read_bytes() == earlier:
        return Outcome("memories", written.who, "up to date", "nothing it is made from has changed", rows)
    why = "was not there" if earlier is None else "what it is made from has changed"
    return Outcome("memories", written.who, "built", why, rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Write memories; see ``--help``."""
    made = parser(
        "builders.memories",
        "Write autobiographical memories for one character or all: plan, write, audit, repair.",
        "python -m builders.memories --char CHAR_04",
    )
    add_benchmark(made, DEFAULT_BENCHMARK)
    add_selection(made)
    made.add_argument(
        "--stage", action="append", default=[], metavar="STAGE", help="a life stage; may be given again (default: all)"
    )
    add_options(made, OPTIONS)
    add_workers(made)
    how = made.add_mutually_exclusive_group()
    how.add_argument("--resume", action="store_true", help="continue where an earlier run stopped (the default)")
    how.add_argument("--fresh", action="store_true", help="rebuild everything, also memories that were edited by hand")
    made.add_argument("--dry-run", action="store_true", help="show the plan by stage and tier, and the cost")
    add_backend_arguments(made)
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    given = run_of(parsed, OPTIONS)
    order = _order(given, parsed.stage)
    if parsed.dry_run:
        return _print_forecast(parsed, given, runs.tasks(given.space, order, given.settings))
    with given.space.lock():
        written = runs.build_memories(given.space, order, given.settings, given.workers, given.quiet)
    return _report(parsed, given.space, written)


def _print_forecast(parsed: argparse.Namespace, given: Run, tasks: Sequence[runs.Task]) -> int:
    asked = [window for task in tasks for window in task.asked]
    due = [window for window in asked if parsed.fresh or runs.is_due(window)]
    expected = forecast.forecast(asked, due, given.settings)
    if parsed.json:
        print_json({"benchmark": parsed.benchmark, "seed": parsed.seed, **expected.document()})
    else:
        expected.say(given.settings)
    return DONE


def _report(parsed: argparse.Namespace, space: Workspace, written: Sequence[overview.Written]) -> int:
    document = overview.overview(written)
    if parsed.json:
        where = {"workspace": str(space.folder), "backend": parsed.backend, "seed": parsed.seed}
        print_json({"benchmark": parsed.benchmark, **where, **document})
    for line in overview.lines(document):
        say(line, quiet=parsed.quiet or parsed.json)
    if document["missing"]:
        failed = space.folder / runs.FAILED
        say(f"see {failed}; run the same command again to ask for them", quiet=parsed.quiet)
        say(
            f"unusable answers stay in the journal; to ask for them again: python -m models journal prune "
            f"--workspace {parsed.workspace} --failed {failed}",
            quiet=parsed.quiet or parsed.backend == "offline",
        )
        return MACHINE_FAILED
    if document["open"]:
        say(f"for a person to look at: {space.folder / runs.REVIEW}", quiet=parsed.quiet)
        return FINDINGS
    return DONE
