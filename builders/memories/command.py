"""Memories: a thousand autobiographical episodes a character, from one command.

HEART-BENCH 3.2 stages 2 and 3, appendix B.2 to B.6. The plan says how many at which age and how strong,
the ledger what is true when, a writer (offline, or a model) finds the words; audits look for defects, repair
mends them. Windows of a character are written side by side and kept one by one: a run that was interrupted
goes on where it was, and ends with the same bytes.

    python -m builders.memories --char CHAR_04
    python -m builders.memories
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from builders.memories import forecast, overview, runs
from builders.memories.plan import PRESETS
from models.backends import BackendSettings, add_backend_arguments, backend_settings
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, parser, print_json, run, say, whole_number
from schemas.workspace import Workspace

TOTAL = 1000


COUNT = whole_number(1, 10**6)
"""The type of an argument that is a number of memories, or of workers."""


def main(argv: Sequence[str] | None = None) -> int:
    """Write memories; see ``--help``."""
    made = parser(
        "builders.memories",
        "Write autobiographical memories for one character or all: plan, write, audit, repair.",
        "python -m builders.memories --char CHAR_04",
    )
    made.add_argument("--benchmark", default="heart", choices=["heart"], help="(default: heart)")
    made.add_argument(
        "--char", action="append", default=[], metavar="ID", help="a character; may be given again (default: all)"
    )
    made.add_argument(
        "--stage", action="append", default=[], metavar="STAGE", help="a life stage; may be given again (default: all)"
    )
    made.add_argument(
        "--count",
        type=COUNT,
        default=TOTAL,
        metavar="N",
        help=f"memories a character (default: {TOTAL})",
    )
    made.add_argument(
        "--intensities",
        choices=PRESETS,
        default=PRESETS[0],
        help="ranges of the tiers: those the published corpus fits (default), or those the paper's prompt prints",
    )
    made.add_argument("--workers", type=COUNT, metavar="N", help="processes of the offline writer (default: cores)")
    how = made.add_mutually_exclusive_group()
    how.add_argument("--resume", action="store_true", help="go on where an earlier run stopped (the default)")
    how.add_argument("--fresh", action="store_true", help="write anew, built memories that were changed by hand too")
    made.add_argument("--dry-run", action="store_true", help="say what would be written and what it would cost")
    add_backend_arguments(made)
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    settings = backend_settings(parsed, parsed.benchmark)
    order = runs.Order(parsed.char, parsed.stage, parsed.count, parsed.intensities, parsed.seed, parsed.fresh)
    if parsed.dry_run:
        return _foresee(parsed, runs.tasks(space, order, settings), settings)
    with space.lock():
        written = runs.carry_out(space, order, settings, parsed.workers, parsed.quiet or parsed.json)
    return _report(parsed, space, written)


def _foresee(parsed: argparse.Namespace, tasks: Sequence[runs.Task], settings: BackendSettings) -> int:
    asked = [window for task in tasks for window in task.asked]
    due = [window for window in asked if parsed.fresh or runs.is_due(window)]
    foreseen = forecast.forecast(due, settings)
    if parsed.json:
        print_json({"benchmark": parsed.benchmark, "seed": parsed.seed, **foreseen.document()})
    else:
        foreseen.say(settings)
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
            f"answers that are of no use are kept; to have them given anew: python -m models journal prune "
            f"--workspace {parsed.workspace} --failed {failed}",
            quiet=parsed.quiet or parsed.backend == "offline",
        )
        return MACHINE_FAILED
    if document["open"]:
        say(f"for a person to look at: {space.folder / runs.REVIEW}", quiet=parsed.quiet)
        return FINDINGS
    return DONE


if __name__ == "__main__":
    raise SystemExit(main())
