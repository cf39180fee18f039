"""Raters: profiles that a judge may see, and the planted scales that their scores are made by.

PersTurnBench appendix B (profiles are chosen tags, nothing free) and 4.1 (112 raters have conversations in two task
families or more). Nothing is asked of a model. Figures and tags: ``seeds/raters.toml``, ``seeds/rater_profiles.toml``.

    python -m builders.raters --benchmark persturn
    python -m builders.raters --benchmark persturn --raters 24
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from builders.pipeline.command import COUNT, StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Option, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from builders.pipeline.streams import Streams
from builders.raters.parameters import planted_scale, settings
from schemas.tables import Row

RATERS = Option("--raters", "how many raters", default=112, read=COUNT, metavar="N")

MAKES = ("raters",)
OPTIONS = (RATERS,)

_SEEDS = Path(__file__).parents[1] / "seeds" / "rater_profiles.toml"


def rater_name(number: int) -> str:
    """1 -> ``R001``."""
    return f"R{number:03d}"


def rater_rows(count: int, streams: Streams) -> list[Row]:
    """So many raters, in order of id."""
    return [_row(rater_name(number), streams) for number in range(1, count + 1)]


def build(run: Run) -> Done:
    """Write the raters."""
    count = RATERS.of(run)
    digest = inputs_digest(run.space, (), seed=run.seed, raters=count, planted=settings(), profiles=_profiles())
    make = functools.partial(rater_rows, count, run.streams)
    return Done([write_if_stale(run.space, "raters", digest, make, run.fresh)])


def _row(rater_id: str, streams: Streams) -> Row:
    return {
        "rater_id": rater_id,
        **_profile(streams.rng("profiles", rater_id)),
        "planted": asdict(planted_scale(streams, rater_id)),
        "published": [],
        "provenance": computed(streams.seed),
    }


def _profile(rng: Random) -> Row:
    given = _profiles()
    work = rng.choice(given["work"])
    profile = {
        "gender": rng.choice(given["gender"]),
        "age": rng.choice(given["ages"]),
        "occupation": work["occupation"],
        "background": rng.choice(work["backgrounds"]),
    }
    tags = {field: rng.sample(own, rng.randint(*given["counts"][field])) for field, own in given["tags"].items()}
    return {**profile, **tags}


@functools.cache
def _profiles() -> Mapping[str, Any]:
    return tomllib.loads(_SEEDS.read_text("utf-8"))


def main(argv: Sequence[str] | None = None) -> int:
    """Write raters; see ``--help``."""
    return StepCommand(
        "raters",
        "Write raters with a planted scale.",
        "python -m builders.raters --benchmark persturn",
        build,
        OPTIONS,
        asks=False,
    ).main(argv)
