"""PersonaLens at its full size and ten times that: build, validate and freeze users, tasks and situations.

``whole size`` builds 1,500 users with 120,000 situations, validates and freezes them, each as the command a user
types; ``growth`` builds 1,500 and 15,000 users. A case that is over its seconds or memory fails (the limits of the
project for two cores); building grows no faster than the users do.

    python -m perf.users
    python -m perf.users --only "whole size" --repeat 1
"""

from __future__ import annotations

import argparse
import functools
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perf import harness

USERS, TIMES = 1_500, 10
LIMITS = {"build": 120.0, "validate": 20.0, "freeze": 60.0}
"""Seconds of the clock."""
MEMORY = 2.0
"""GiB."""

_LINEAR = 1.2  # processor time of ten times the users: sorting, and writing under load
_ROOM = 2**20  # ru_maxrss counts KiB: so many are a GiB


def command(words: Sequence[str], limit: float | None) -> dict[str, Any]:
    """Run a command of the project. Raises RuntimeError where it fails or is over a limit."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", *words, "--quiet"], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    gib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / _ROOM
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr[-300:]}")
    if limit is not None and (seconds > limit or gib > MEMORY):
        raise RuntimeError(f"{' '.join(words)}: {seconds:.1f} s and {gib:.2f} GiB, limits {limit} s and {MEMORY} GiB")
    return {"seconds": round(seconds, 2), "gib": round(gib, 2)}


def build(workspace: str, users: int) -> list[str]:
    """The command that builds so many users."""
    return ["builders", "run", "personalens", "--users", str(users), "--workspace", workspace]


def building(users: int, limit: float | None) -> harness.Case:
    """Build from nothing."""

    def case(_: argparse.Namespace) -> harness.Timed:
        workspace = tempfile.mkdtemp()
        return lambda: {**command(build(workspace, users), limit), "situations": _situations(workspace)}

    return case


def on_built(step: str, words: Sequence[str]) -> harness.Case:
    """A command on rows that were built before, untimed."""

    def case(_: argparse.Namespace) -> harness.Timed:
        workspace = tempfile.mkdtemp()
        command(build(workspace, USERS), None)
        filled = [word.replace("{workspace}", workspace) for word in words]
        return functools.partial(command, filled, LIMITS[step])

    return case


def _situations(workspace: str) -> int:
    with (Path(workspace) / "personalens" / "situations" / "all.jsonl").open("rb") as file:
        return sum(1 for _ in file)


_VALIDATE = ("validators", "--benchmark", "personalens", "--workspace", "{workspace}")
_FREEZE = ("releases", "freeze", "personalens@1.0.0", "--workspace", "{workspace}", "--frozen", "{workspace}/frozen")

COMPARISONS = (
    harness.Comparison(
        "whole size",
        {
            "build": building(USERS, LIMITS["build"]),
            "validate": on_built("validate", _VALIDATE),
            "freeze": on_built("freeze", _FREEZE),
        },
        base="build",
    ),
    harness.Comparison(
        "growth",
        {"1,500 users": building(USERS, None), "15,000 users": building(USERS * TIMES, None)},
        base="1,500 users",
        promises=(harness.Promise("15,000 users", "1,500 users", 1 / (TIMES * _LINEAR), "cpu_s"),),
    ),
)

if __name__ == "__main__":
    raise SystemExit(harness.main("perf.users", COMPARISONS))
