"""Activations: which memories a situation calls up in a character, coarse to fine.

HEART-BENCH 3.4 and appendix D.1. Coarse: everything lived up to the scenario's age, by age and never by
label, is screened in batches of one year; fine: at most 50 are ranked. What a ranker says is checked: ids
that were not offered and ids named twice are dropped and kept by name, a shortfall is topped up from the
coarse list and counted.

    python -m builders.activations --char CHAR_04
    python -m builders.activations
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence

from builders import personas
from builders.activations.recall import of_character
from builders.activations.recollection import REFINE, SCREEN
from builders.memories.command import COUNT
from builders.pipeline.staleness import Outcome, as_record, keep, made_from, made_from_file, standing, told
from models.backends import BackendSettings, add_backend_arguments, backend_settings
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure, write_failures
from schemas.command import DONE, MACHINE_FAILED, parser, print_json, run, say
from schemas.tables import Row
from schemas.workspace import Workspace


def settle(
    space: Workspace,
    characters: Sequence[Row],
    seed: int,
    settings: BackendSettings,
    fresh: bool,
    workers: int | None = None,
) -> tuple[list[Outcome], list[Failure]]:
    """Bring the files of some characters up to date; a character with failures keeps what it had."""
    roles = () if settings.name == "offline" else (settings.roles["screen"].name, settings.roles["refine"].name)
    shared = made_from(
        space,
        ("scenarios", "exclusions"),
        seed=seed,
        backend=settings.name,
        models=roles,
        prompts=[load(p).digest for p in (SCREEN, REFINE)],
    )
    excluded = {(row["character_id"], row["scenario_id"]) for row in space.rows("exclusions")}
    scenarios = list(space.rows("scenarios"))
    outcomes, waiting = [], []
    for character in characters:
        who = character["character_id"]
        digest = made_from_file(space, "memories", who, shared)
        stands = standing(space, "activations", who, digest, fresh)
        if stands:
            outcomes.append(stands)
        else:
            open_pairs = [s for s in scenarios if (who, s["id"]) not in excluded]
            start = functools.partial(
                of_character, character, open_pairs, list(space.rows("memories", who)), seed, settings.name
            )
            waiting.append((who, digest, start))
    failures: list[Failure] = []
    results = run_chains([start for _, _, start in waiting], settings, workers, rows=2 * len(scenarios) * len(waiting))
    for (who, digest, _), (rows, failed) in zip(waiting, results, strict=True):
        failures += failed
        if not failed:
            outcomes.append(keep(space, "activations", who, digest, rows))
    return outcomes, failures


def main(argv: Sequence[str] | None = None) -> int:
    """Find activated memories; see ``--help``."""
    made = parser(
        "builders.activations",
        "Find the memories that each scenario calls up in each character: screen by year, rank the best 50.",
        "python -m builders.activations --char CHAR_04",
    )
    made.add_argument("--benchmark", default="heart", choices=["heart"], help="(default: heart)")
    made.add_argument("--char", action="append", metavar="ID", help="character, may be given again (default: all)")
    made.add_argument("--workers", type=COUNT, metavar="N", help="processes of the offline writer (default: cores)")
    made.add_argument("--fresh", action="store_true", help="build anew, also what a person has changed")
    add_backend_arguments(made)
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    settings = backend_settings(parsed, parsed.benchmark)
    with space.lock():
        chosen = personas.chosen(space, parsed.char)
        outcomes, failures = settle(space, chosen, parsed.seed, settings, parsed.fresh, parsed.workers)
        write_failures(space.folder / "failed-activations.jsonl", failures)
    if parsed.json:
        print_json({"outcomes": as_record(outcomes), "failed": len(failures)})
    else:
        for line in [*told(outcomes), *_lines(space, [row["character_id"] for row in chosen])]:
            say(line, quiet=parsed.quiet)
    return MACHINE_FAILED if failures else DONE


def _lines(space: Workspace, characters: Sequence[str]) -> list[str]:
    lines = ["", "  character   pairs   coarse mean   fine mean   topped up   dropped ids"]
    for who in characters:
        rows = list(space.rows("activations", who)) if space.path("activations", who).is_file() else []
        steps = {step: [row for row in rows if row["step"] == step] for step in ("coarse", "fine")}
        if not rows:
            continue
        means = {step: sum(len(row["memories"]) for row in found) / len(found) for step, found in steps.items()}
        topped = sum(row["topped_up"] for row in rows)
        dropped = sum(len(row["dropped_ids"]) for row in rows)
        lines.append(
            f"  {who:<10} {len(steps['fine']):>6} {means['coarse']:>13.1f} {means['fine']:>11.1f}"
            f" {topped:>11} {dropped:>13}"
        )
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
