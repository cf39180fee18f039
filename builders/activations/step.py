"""Activations: which memories a situation calls up in a character, coarse to fine.

HEART-BENCH 3.4 and appendix D.1. Coarse: everything lived up to the scenario's age, by age and never by
label, is screened in batches of one year; fine: at most 50 are ranked. What a ranker says is checked: ids
that were not offered and ids named twice are dropped and kept by name, a shortfall is topped up from the
coarse list and counted.

    python -m builders.activations --char CHAR_04
    python -m builders.activations
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from builders import personas
from builders.activations.recall import of_character
from builders.activations.recollection import REFINE, SCREEN
from builders.pipeline.command import StepCommand
from builders.pipeline.run import Done, Run
from builders.pipeline.staleness import current_outcome, digest_with_file, inputs_digest, write_built
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure

READS = ("characters", "memories", "scenarios", "exclusions")
MAKES = ("activations",)


def build(run: Run) -> Done:
    """Bring the files of the selected characters up to date; a character with failures keeps what it had."""
    space, settings = run.space, run.settings
    roles = () if settings.name == "offline" else (settings.roles["screen"].name, settings.roles["refine"].name)
    shared = inputs_digest(
        space,
        ("scenarios", "exclusions"),
        seed=run.seed,
        backend=settings.name,
        models=roles,
        prompts=[load(p).digest for p in (SCREEN, REFINE)],
    )
    excluded = {(row["character_id"], row["scenario_id"]) for row in space.rows("exclusions")}
    scenarios = list(space.rows("scenarios"))
    outcomes, waiting = [], []
    for character in personas.selected_characters(space, run.selection):
        who = character["character_id"]
        digest = digest_with_file(space, "memories", who, shared)
        current = current_outcome(space, "activations", who, digest, run.fresh)
        if current:
            outcomes.append(current)
        else:
            open_pairs = [s for s in scenarios if (who, s["id"]) not in excluded]
            memories = list(space.rows("memories", who))
            start = functools.partial(of_character, character, open_pairs, memories, run.streams, settings.name)
            waiting.append((who, digest, start))
    failures: list[Failure] = []
    starts = [start for _, _, start in waiting]
    results = run_chains(starts, settings, run.workers, rows=2 * len(scenarios) * len(waiting))
    for (who, digest, _), (rows, failed) in zip(waiting, results, strict=True):
        failures += failed
        if not failed:
            outcomes.append(write_built(space, "activations", who, digest, rows))
    return Done(outcomes, failures)


def main(argv: Sequence[str] | None = None) -> int:
    """Find activated memories; see ``--help``."""
    return StepCommand(
        "activations",
        "Find the memories that each scenario calls up in each character: screen by year, rank the best 50.",
        "python -m builders.activations --char CHAR_04",
        build,
        selects=True,
        parallel=True,
        lines=_lines,
    ).main(argv)


def _lines(run: Run) -> list[str]:
    space = run.space
    characters = [row["character_id"] for row in personas.selected_characters(space, run.selection)]
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
