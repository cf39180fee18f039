"""A frozen LikeBench of a few profiles and sessions, and running ``evaluators`` on it."""

import functools
from pathlib import Path

import polars as pl
from likability_samples import priors_of, profiles
from release_samples import frozen_once

from builders.rubrics import rubrics
from evaluators.__main__ import main

SPEC = "likebench@0.1.0"


@functools.cache
def tables(people=3, sessions=3):
    chosen = sorted(profiles(50), key=lambda row: row["persona_id"])[:people]
    return {
        "profiles": chosen,
        "priors": [row for profile in chosen for row in priors_of(profile, sessions=sessions)],
        "rubrics": sorted(rubrics(7), key=lambda row: row["metric"]),
    }


def small_release(root: Path, people: int = 3, sessions: int = 3):
    """A release under ``root/frozen``."""
    return frozen_once(root, SPEC, tables(people, sessions))


def evaluators(root: Path, verb: str, *words: object) -> int:
    """A verb on that release; results go to ``root/evaluations``."""
    release = ["--release", SPEC] if verb == "run" else []
    where = ["--frozen", str(root / "frozen")] if verb in ("run", "report") else []
    return main([verb, *release, *where, "--workspace", str(root), *map(str, words)])


def folder(root: Path) -> Path:
    """Where results are."""
    return root / "evaluations" / SPEC


def said_rows(root: Path, name: str, table: str) -> pl.DataFrame:
    """A table of what was said in a run."""
    return pl.read_parquet(folder(root) / f"said.{name}.{table}.parquet")
