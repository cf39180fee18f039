"""LikeBench against the rehearsal server (another process, 200 ms a call), 64 calls in flight, and without a model.

``talk``: 50 dialogues of 10 sessions of 5 turns beside the time that the latency of one dialogue's calls takes by
itself. ``judge``: 2,500 turns beside what their latency takes 64 wide. ``offline``: the whole run and its judging
without a model, in seconds.

    python -m perf.evaluators.likability
    python -m perf.evaluators.likability --only judge
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perf import harness
from perf.models.dispatch import server, stats

_RELEASE = "likebench@1.0.0"
_WIDE, _TURNS = 64, 2500
_CALLS = 102  # of one dialogue: 50 exchanges, the list of what was learned, and its marks
_RUBRIC = "evaluators/rubrics/likebench/likability.toml"
_COMPOSER = "models.rehearsal.speakers:talk"


def waiting(seconds: float) -> harness.Case:
    """So many waits for the server, one after another."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        def timed() -> Mapping[str, Any]:
            asyncio.run(asyncio.sleep(seconds * arguments.latency))
            return {}

        return timed

    return case


def talk(arguments: argparse.Namespace) -> harness.Timed:
    """``evaluators run`` with models on both sides."""
    address, folder = _ready(arguments)
    words = ["--model", "claude-haiku-4-5", "--user", "claude-sonnet-4-6", "--concurrency", str(_WIDE)]

    def timed() -> Mapping[str, Any]:
        _run("run", "--release", _RELEASE, *words, "--workspace", str(folder))
        return {"answered": stats(address)["answered"]}

    return timed


def judge(arguments: argparse.Namespace) -> harness.Timed:
    """``evaluators judge`` by a model, of what an offline assistant said."""
    address, folder = _ready(arguments)
    said = _said(folder)
    words = ["--judge", "claude-sonnet-4-6", "--rubric", _RUBRIC, "--concurrency", str(_WIDE)]

    def timed() -> Mapping[str, Any]:
        _run("judge", str(said), *words, "--workspace", str(folder))
        return {"answered": stats(address)["answered"]}

    return timed


def offline(_: argparse.Namespace) -> harness.Timed:
    """The whole of it without a model."""
    folder = Path(tempfile.mkdtemp())

    def timed() -> Mapping[str, Any]:
        _run("judge", str(_said(folder)), "--judge", "offline:noisy", "--workspace", str(folder))
        return {"turns": _TURNS}

    return timed


def _said(folder: Path) -> Path:
    _run("run", "--release", _RELEASE, "--model", "offline:ceiling", "--workspace", str(folder))
    return folder / "evaluations" / _RELEASE / "said.offline-ceiling.json"


def _run(verb: str, *words: str) -> None:
    from evaluators.__main__ import main

    code = main([verb, *words, "--quiet"])
    if code not in (0, 1):
        raise RuntimeError(f"evaluators {verb} ended with exit code {code}")


def _ready(arguments: argparse.Namespace) -> tuple[str, Path]:
    import evaluators.__main__  # noqa: F401
    import models.running  # noqa: F401  # the imports are not timed

    address = server(_COMPOSER, arguments.latency)
    os.environ.update({"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "k"})
    return address, Path(tempfile.mkdtemp())


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--latency", type=float, default=0.2, metavar="S", help="seconds of the server (default: 0.2)")


_COMPARISONS = (
    harness.Comparison(
        "talk",
        {"latency": waiting(_CALLS), "ours": talk},
        base="latency",
        promises=(harness.Promise("ours", "latency", 1 / 1.05),),
    ),
    harness.Comparison(
        "judge",
        {"latency": waiting(math.ceil(_TURNS / _WIDE)), "ours": judge},
        base="latency",
        promises=(harness.Promise("ours", "latency", 1 / 1.1),),
    ),
    harness.Comparison("offline", {"ours": offline}, base="ours"),
)

if __name__ == "__main__":
    raise SystemExit(harness.main("perf.evaluators.likability", _COMPARISONS, add_arguments=_arguments))
