"""All tables of a benchmark from one command, in the order in which they depend on each other.

Each step says what it did and why; what is up to date is left alone, so running the command again after a
change builds just what follows from the change (HEART-BENCH figure 1, all four stages).

    python -m builders run heart
    python -m builders run heart --char CHAR_01 --char CHAR_02 --char CHAR_03 --char CHAR_04 --count 100
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from builders import compatibility, decisions, personas
from builders.activations import command as activations
from builders.mcqs import command as mcqs
from builders.memories import overview, runs
from builders.memories.command import COUNT, TOTAL
from builders.memories.plan import PRESETS
from builders.pipeline.staleness import Outcome, as_record, told
from builders.scenarios import command as scenarios
from models.backends import BackendSettings, add_backend_arguments, backend_settings
from models.remedies import Failure, write_failures
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, add_common, parser, print_json, run, say
from schemas.workspace import Workspace


def main(argv: Sequence[str] | None = None) -> int:
    """Build a whole benchmark; see ``--help``."""
    made = parser("builders", "Build all tables of a benchmark.", "python -m builders run heart")
    verbs = made.add_subparsers(dest="verb", required=True, metavar="run")
    verb = verbs.add_parser("run", help="plan and build every table in order", allow_abbrev=False)
    add_common(verb)
    verb.add_argument("benchmark", choices=["heart"], help="the benchmark to build")
    verb.add_argument("--char", action="append", default=[], metavar="ID", help="a character; may be given again")
    verb.add_argument(
        "--count", type=COUNT, default=TOTAL, metavar="N", help=f"memories a character (default: {TOTAL})"
    )
    verb.add_argument(
        "--intensities", choices=PRESETS, default=PRESETS[0], help=f"ranges of the tiers (default: {PRESETS[0]})"
    )
    verb.add_argument("--blueprints", type=Path, metavar="FILE", help="own scenario blueprints")
    verb.add_argument("--block", type=Path, metavar="FILE.csv", help="further pairs to exclude")
    verb.add_argument("--rule", choices=mcqs.RULES, default=mcqs.RULES[0], help="how wrong options are chosen")
    verb.add_argument("--workers", type=COUNT, metavar="N", help="processes of the offline writer (default: cores)")
    verb.add_argument("--fresh", action="store_true", help="build anew, also what a person has changed")
    add_backend_arguments(verb)
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    settings = backend_settings(parsed, parsed.benchmark)
    with space.lock():
        outcomes, failures, unwritten = _build(parsed, space, settings)
        write_failures(space.folder / "failed-run.jsonl", failures)
        space.write_recipe(_recipe(parsed), parsed.seed, {"backend": settings.name, "count": parsed.count})
    left_out = mcqs.left_out(space)
    if parsed.json:
        print_json({"outcomes": as_record(outcomes), "left_out": left_out, "failed": len(failures) + unwritten})
    if failures or unwritten:
        say(
            f"{len(failures) + unwritten} answers are missing: see failed*.jsonl in {space.folder}; run again to ask",
            quiet=parsed.quiet,
        )
        return MACHINE_FAILED
    return FINDINGS if left_out else DONE


def _build(
    parsed: argparse.Namespace, space: Workspace, settings: BackendSettings
) -> tuple[list[Outcome], list[Failure], int]:
    """Every table; stops after the first one in which answers are missing, as the next would build on the gap."""
    outcomes: list[Outcome] = []

    def tell(*done: Outcome) -> None:
        outcomes.extend(done)
        for line in told(done):
            say(line, quiet=parsed.quiet or parsed.json)

    order = runs.Order(parsed.char, (), parsed.count, parsed.intensities, parsed.seed, parsed.fresh)
    memories, unwritten = _memories(parsed, space, settings, order)
    tell(*memories)
    if unwritten:
        return outcomes, [], unwritten
    characters = personas.chosen(space, parsed.char)
    made, failures = scenarios.settle(space, parsed.blueprints, parsed.seed, settings, parsed.fresh)
    tell(made)
    if failures:
        return outcomes, failures, 0
    tell(compatibility.settle(space, parsed.block, parsed.fresh))
    found, failures = activations.settle(space, characters, parsed.seed, settings, parsed.fresh, parsed.workers)
    tell(*found)
    if failures:
        return outcomes, failures, 0
    found, failures = decisions.settle(space, characters, parsed.blueprints, parsed.seed, settings, parsed.fresh)
    tell(*found)
    if failures:
        return outcomes, failures, 0
    found, failures = mcqs.settle(space, space, parsed.rule, parsed.seed, settings, parsed.fresh)
    tell(*found)
    return outcomes, failures, 0


def _memories(
    parsed: argparse.Namespace, space: Workspace, settings: BackendSettings, order: runs.Order
) -> tuple[list[Outcome], int]:
    """Characters, ledgers and memories; how many memories no answer brought."""
    before = {who: _bytes(space.path("memories", who)) for who in space.keys("memories")}
    done = runs.carry_out(space, order, settings, parsed.workers, parsed.quiet or parsed.json)
    outcomes = [_outcome(space, written, before) for written in done]
    return outcomes, sum(written.missing for written in done)


def _outcome(space: Workspace, written: overview.Written, earlier: Mapping[str, bytes | None]) -> Outcome:
    who = str(written.character["character_id"])
    rows, before = written.figures.rows, earlier.get(who)
    if before == _bytes(space.path("memories", who)):
        return Outcome("memories", who, "up to date", "nothing it is made from has changed", rows)
    return Outcome(
        "memories", who, "built", "was not there" if before is None else "what it is made from has changed", rows
    )


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _recipe(parsed: argparse.Namespace) -> list[str]:
    """The words that make the same rows in an empty workspace."""
    words = ["builders", "run", parsed.benchmark, "--seed", str(parsed.seed), "--count", str(parsed.count)]
    words += ["--intensities", parsed.intensities, "--rule", parsed.rule]
    for who in parsed.char:
        words += ["--char", who]
    for option in ("blueprints", "block"):
        if getattr(parsed, option):
            words += [f"--{option}", str(getattr(parsed, option))]
    return words


if __name__ == "__main__":
    raise SystemExit(main())
