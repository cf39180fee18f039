"""From memories to audited questions: how long each step of all pairs takes, offline.

``activations`` finds the memories of all pairs of eleven characters and 64 scenarios; ``questions`` goes from
the same workspace through activation, decisions and questions to their audits. The memories are those of
``--from`` (a built workspace), or made by the offline writer first, untimed, ``--count`` a character.
Processor seconds are those of all processes of a step, its workers included.
Targets on two cores with 11,000 memories: 20 s and 60 s; a target passed makes the exit code 1.

    python -m perf.questions --from build
    python -m perf.questions --count 200
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from schemas.workspace import Workspace

ACTIVATION_TARGET, WHOLE_TARGET = 20.0, 60.0  # seconds

_CHILD_SUBREAPER = 36  # of prctl(2)
_MEMORIES = ("characters", "ledgers", "memories")
_STEPS = (
    ("scenarios", ("builders.scenarios",)),
    ("compatibility", ("builders.compatibility",)),
    ("activations", ("builders.activations",)),
    ("decisions", ("builders.decisions",)),
    ("questions", ("builders.mcqs",)),
    ("audit of scenarios", ("audits", "--benchmark", "heart", "--table", "scenarios")),
    ("audit of decisions", ("audits", "--benchmark", "heart", "--table", "decisions")),
    ("audit of questions", ("audits.shortcuts", "--benchmark", "heart")),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the steps in a copy of the memories and print what they took."""
    made = argparse.ArgumentParser(prog="python -m perf.questions", description=__doc__.splitlines()[0])
    made.add_argument("--from", dest="source", type=Path, metavar="DIR", help="a workspace with memories of heart")
    made.add_argument("--count", type=int, default=1000, metavar="N", help="memories a character, made (default: 1000)")
    made.add_argument("--json", action="store_true", help="print one JSON document")
    parsed = made.parse_args(argv)
    _adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if parsed.source:
            for table in _MEMORIES:
                shutil.copytree(parsed.source / "heart" / table, root / "heart" / table)
        else:
            _run(root, ("builders.memories", "--count", str(parsed.count)))
        memories = sum(1 for _ in Workspace(root, "heart").rows("memories"))
        took = {name: _run(root, words) for name, words in _STEPS}
        space = Workspace(root, "heart")
        questions = sum(1 for _ in space.rows("mcqs"))
    return _report(memories, questions, took, parsed.json)


@dataclass(frozen=True)
class Took:
    """Seconds of one step, its start included: on the clock, and of the processors."""

    wall: float
    cpu: float


def _run(root: Path, words: Sequence[str]) -> Took:
    """Time one command. Raises RuntimeError when it fails (findings are no failure)."""
    started, before = time.perf_counter(), os.times()
    command = [sys.executable, "-m", *words, "--workspace", str(root), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    _wait_for_orphans()
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Took(time.perf_counter() - started, used)


def _adopt_orphans() -> None:
    """Have what a command leaves behind become ours (Linux): the processes that start its workers outlive it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans() -> None:
    """Wait for them, so that what their workers used is counted."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def _report(memories: int, questions: int, took: Mapping[str, Took], as_json: bool) -> int:
    whole = Took(sum(each.wall for each in took.values()), sum(each.cpu for each in took.values()))
    held = took["activations"].wall <= ACTIVATION_TARGET and whole.wall <= WHOLE_TARGET
    if as_json:
        steps = {name: asdict(each) for name, each in {**took, "all": whole}.items()}
        print(json.dumps({"memories": memories, "questions": questions, "seconds": steps, "held": held}, indent=2))
    else:
        print(f"{memories} memories, {questions} questions")
        print(f"  {'step':<22}{'clock s':>9}{'cpu s':>9}")
        for name, each in {**took, "all": whole}.items():
            print(f"  {name:<22}{each.wall:>9.1f}{each.cpu:>9.1f}")
        print(f"targets on the clock: activations {ACTIVATION_TARGET:.0f} s, all {WHOLE_TARGET:.0f} s")
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
