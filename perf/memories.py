"""How fast memories are written, audited and repaired, and that the time grows no faster than their number.

Characters beyond the eleven are the eleven again under other ids: other lives, plans and words.

    python -m perf.memories --repeat 1
    python -m perf.memories --only throughput
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from builders import personas
from builders.memories import step as memories
from perf import harness
from perf.harness import Comparison, Promise, Timed
from schemas.command import DONE, FINDINGS
from schemas.tables import Row
from schemas.workspace import Workspace

# Ten times as many memories take at most this many times as long.
_GROWTH = 11.5


def corpus(characters: int, workers: int, parsed: argparse.Namespace) -> Timed:
    """Write so many characters of 1,000 memories each, from an empty workspace, with the command."""
    return partial(_write, characters, workers)


def _write(characters: int, workers: int) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        space = Workspace(Path(folder), "heart")
        with space.lock():
            personas.write_characters(space, [_character(number) for number in range(1, characters + 1)])
        began = time.perf_counter()
        code = memories.main(["--workspace", folder, "--workers", str(workers), "--quiet"])
        took = time.perf_counter() - began
        written = sum(len(path.read_bytes().splitlines()) for path in space.path("memories").parent.glob("*.jsonl"))
    if written != characters * memories.TOTAL.default or code not in (DONE, FINDINGS):
        raise RuntimeError(f"{written} memories written, exit code {code}")
    return {"memories": written, "per second and core": round(written / took / workers)}


def _character(number: int) -> Row:
    shipped = personas.load_characters()
    row = shipped[(number - 1) % len(shipped)]
    return row if number <= len(shipped) else {**row, "character_id": f"CHAR_{number:02d}", "label": f"Role {number}"}


_CORES = os.cpu_count() or 1
_ONE, _ALL = partial(corpus, 11, 1), partial(corpus, 11, _CORES)
COMPARISONS = (
    Comparison("throughput", {"11,000 on one core": _ONE, f"11,000 on {_CORES} cores": _ALL}, "11,000 on one core"),
    Comparison(
        "growth",
        {"10,000": partial(corpus, 10, _CORES), "100,000": partial(corpus, 100, _CORES)},
        "10,000",
        (Promise("100,000", "10,000", 1 / _GROWTH),),
    ),
)


def main() -> int:
    """Run the comparisons; see ``--help``."""
    return harness.main("perf.memories", COMPARISONS)


if __name__ == "__main__":
    raise SystemExit(main())
