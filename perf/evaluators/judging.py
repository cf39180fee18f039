"""A judge of rated turns against a server (another process, 200 ms, 64 in flight): `evaluators judge` and its floor.

``floor`` is what bare sockets need for as many requests. Ours is the whole verb but for imports: reading of rows,
prompts with memories, journal, pacing, reading of replies, score rows with their figures. What is judged are nearly all
recorded replies of the frozen persturn@1.0.1, by the rubric with memory.

    python -m perf.evaluators.judging
    python -m perf.evaluators.judging --latency 0.1 --repeat 5
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perf import harness
from perf.models import dispatch

TURNS, WIDTH, MOST = 6_400, 64, 1.1
_RUBRIC = Path(__file__).resolve().parents[2] / "evaluators/rubrics/persturn/memory_v2.toml"


def judging(arguments: argparse.Namespace) -> harness.Timed:
    """The verb ``judge`` on rows that ``run`` wrote before."""
    import models.running  # noqa: F401  # the imports are not timed
    from evaluators.__main__ import main

    folder = Path(tempfile.mkdtemp(dir=arguments.folder))
    said, out = folder / "said.json", folder / "scores.json"
    words = ["--release", "persturn@1.0.1", "--model", "offline:original", "--limit", str(TURNS), "--quiet"]
    _done(main(["run", *words, "--workspace", str(folder), "--out", str(said)]))
    address = dispatch.server("perf.evaluators.judging:scored", arguments.latency)
    os.environ.update(ANTHROPIC_BASE_URL=address, ANTHROPIC_API_KEY="k")
    asked = ["--judge", "claude-haiku-4-5", "--rubric", str(_RUBRIC), "--concurrency", str(WIDTH), "--quiet"]

    def timed() -> Mapping[str, Any]:
        _done(main(["judge", str(said), *asked, "--workspace", str(folder), "--out", str(out)]))
        states = json.loads(out.read_bytes())["figures"]["judged"][0]["states"]
        if states["scored"] != TURNS:
            raise RuntimeError(f"{states['scored']} of {TURNS} scored")
        return {"scored": TURNS, "bound_s": round(TURNS / WIDTH * arguments.latency, 3)}

    return timed


def floor(arguments: argparse.Namespace) -> harness.Timed:
    """As many requests over bare sockets."""
    return dispatch.floor(WIDTH)(argparse.Namespace(**{**vars(arguments), "requests": TURNS}))


def scored(body: Mapping[str, Any]) -> str:
    """The server's answer, made without effort."""
    return '{"memory_v2": 4}'


def _done(code: int) -> None:
    if code:
        raise RuntimeError(f"exit code {code}")


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--latency", type=float, default=0.2, metavar="S", help="seconds of the server (default: 0.2)")
    made.add_argument("--folder", metavar="DIR", help="where things are put (default: the temporary folder)")


def main() -> int:
    """Let the cases take turns."""
    comparison = harness.Comparison(
        "judging", {"floor": floor, "judge": judging}, "floor", (harness.Promise("judge", "floor", 1 / MOST),)
    )
    return harness.main("perf.evaluators.judging", [comparison], None, _arguments)


if __name__ == "__main__":
    raise SystemExit(main())
