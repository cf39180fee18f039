"""Profiles: who the simulated users are, half of them social, half anti-social.

LikeBench 4.2. Facets, style, archetype and circumstances are drawn (``draw``); interests and the remaining tiers
are written by a model or offline (``writing``).

    python -m builders.profiles --benchmark likebench
    python -m builders.profiles --benchmark likebench --profiles 6 --bias-strength 0
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

from builders.pipeline.command import COUNT, StepCommand
from builders.pipeline.run import Done, Option, Run
from builders.pipeline.staleness import current_outcome, inputs_digest, write_built
from builders.profiles.draw import draw_profiles
from builders.profiles.requests import PROMPTS
from builders.profiles.writing import written
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure
from schemas.errors import RequestError

MAKES = ("profiles",)
PROFILES = Option("--profiles", "how many profiles", default=50, read=COUNT, metavar="N")
STRENGTH = Option("--bias-strength", "0 to 1, for all archetypes (default: each its own)", read=float, metavar="P")
OPTIONS = (PROFILES, STRENGTH)


def build(run: Run) -> Done:
    """Bring the table up to date; what a model failed to write is returned and left out."""
    space, settings = run.space, run.settings
    count, strength = PROFILES.of(run), STRENGTH.of(run)
    if strength is not None and not 0 <= strength <= 1:
        raise RequestError("impossible bias strength", expected=f"0 to 1, not {strength}", fix="Give another")
    digest = inputs_digest(
        space,
        (),
        profiles=count,
        strength=strength,
        seed=run.seed,
        backend=settings.name,
        model=None if settings.name == "offline" else settings.roles["profile"].name,
        prompts=[load(PROMPTS / f"{name}.md").digest for name in ("profile_interests", "profile")],
    )
    current = current_outcome(space, "profiles", "all", digest, run.fresh)
    if current:
        return Done([current])
    benchmark = space.benchmark.name
    drawn = draw_profiles(benchmark, count, run.seed, strength)
    starts = [functools.partial(written, benchmark, each, run.seed, settings.name) for each in drawn]
    # One process: composing a profile takes less than starting another.
    results = list(run_chains(starts, settings, workers=1, rows=count))
    rows = [result for result in results if not isinstance(result, Failure)]
    failures = [result for result in results if isinstance(result, Failure)]
    return Done([write_built(space, "profiles", "all", digest, rows)], failures)


def main(argv: Sequence[str] | None = None) -> int:
    """Build the profiles; see ``--help``."""
    return StepCommand(
        name="profiles",
        description="Draw simulated users and write their profiles.",
        example="python -m builders.profiles --benchmark likebench --profiles 6",
        build=build,
        options=OPTIONS,
        lines=_lines,
    ).main(argv)


def _lines(run: Run) -> Sequence[str]:
    rows = list(run.space.rows("profiles"))
    counted = Counter((row["type"], row["archetype"]) for row in rows)
    return [f"    {kind:<11} {archetype:<23}{count:>4}" for (kind, archetype), count in sorted(counted.items())]
