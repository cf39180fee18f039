"""Priors: the hidden agenda of every session of every profile.

LikeBench 4.3. The plan of the sessions is drawn by rule (``plan``); a model, or the offline banks, put it into
words (``writing``).

    python -m builders.priors --benchmark likebench
    python -m builders.priors --benchmark likebench --sessions 3
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

from builders.pipeline.command import COUNT, StepCommand
from builders.pipeline.run import Done, Option, Run
from builders.pipeline.staleness import current_outcome, inputs_digest, write_built
from builders.priors.writing import priors
from builders.profiles.requests import PROMPTS
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure

READS = ("profiles",)
MAKES = ("priors",)
SESSIONS = Option("--sessions", "sessions a profile, at least 3", default=10, read=COUNT, metavar="N")
TURNS = Option("--turns", "turns a session, at least 3", default=5, read=COUNT, metavar="N")
OPTIONS = (SESSIONS, TURNS)


def build(run: Run) -> Done:
    """Bring the table up to date; profiles whose agendas a model failed to write are left out whole."""
    space, settings = run.space, run.settings
    sessions, turns = SESSIONS.of(run), TURNS.of(run)
    digest = inputs_digest(
        space,
        READS,
        sessions=sessions,
        turns=turns,
        seed=run.seed,
        backend=settings.name,
        model=None if settings.name == "offline" else settings.roles["profile"].name,
        prompt=load(PROMPTS / "priors.md").digest,
    )
    current = current_outcome(space, "priors", "all", digest, run.fresh)
    if current:
        return Done([current])
    benchmark = space.benchmark.name
    starts = [
        functools.partial(priors, benchmark, profile, sessions, turns, run.seed, settings.name)
        for profile in space.rows("profiles")
    ]
    # One process: composing ten agendas takes less than starting another.
    results = list(run_chains(starts, settings, workers=1, rows=sessions * len(starts)))
    rows = [row for result in results if not isinstance(result, Failure) for row in result]
    failures = [result for result in results if isinstance(result, Failure)]
    return Done([write_built(space, "priors", "all", digest, rows)], failures)


def main(argv: Sequence[str] | None = None) -> int:
    """Build the priors; see ``--help``."""
    return StepCommand(
        name="priors",
        description="Plan every session of every profile and write its hidden agenda.",
        example="python -m builders.priors --benchmark likebench --sessions 3",
        build=build,
        options=OPTIONS,
        lines=_lines,
    ).main(argv)


def _lines(run: Run) -> Sequence[str]:
    rows = list(run.space.rows("priors"))
    tested = Counter(metric for row in rows for metric in row["metrics_tested"])
    lines = [f"    {metric:<24}{count:>4} sessions" for metric, count in sorted(tested.items())]
    return [*lines, f"    {'with a surprise':<24}{sum(row['surprise'] for row in rows):>4} sessions"]
