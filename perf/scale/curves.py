"""How time and memory grow with the number of memories: audit, freeze and verify, on either engine.

Each case is the command a user would run, in a session of its own. Seconds are those of all its processes' CPU (a
shared machine's clock says little); memory is the largest resident set that one of them ever had. The release's
digests are printed, so that equal ones can be seen to be equal.

    python -m perf.scale.curves build/scale --characters 10 20 40
    python -m perf.scale.curves build/scale --characters 10 --engines local ray --steps audit
    python -m perf.scale.curves build/scale --characters 11 22 44 --steps across approximate   # of all rows
    python -m perf.scale.curves build/scale --characters 100 --steps write verify       # frozen without the gate
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perf.scale.workspaces import BENCHMARK, write_workspace
from schemas.command import whole_number
from schemas.engines.choice import ENGINES
from schemas.errors import MachineError

STEPS = ("audit", "across", "approximate", "freeze", "write", "verify")

_EVERY = 0.1  # seconds between two looks at the processes
_TICKS = os.sysconf("SC_CLK_TCK")
_RELEASE = f"{BENCHMARK.name}@1.0.0"


@dataclass
class Used:
    """What the processes of a session used: seconds of CPU and the largest resident set, each by process."""

    seconds: dict[int, float] = field(default_factory=dict)
    peaks: dict[int, int] = field(default_factory=dict)

    def look(self, session: int) -> None:
        """Note what the processes of a session have used by now."""
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                self._look_at(entry, session)

    def _look_at(self, entry: Path, session: int) -> None:
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(stat[3]) != session:
                return
            status = (entry / "status").read_text()
        except (OSError, IndexError):
            return  # it ended meanwhile
        pid = int(entry.name)
        self.seconds[pid] = (int(stat[11]) + int(stat[12])) / _TICKS
        peak = next((line for line in status.splitlines() if line.startswith("VmHWM:")), "VmHWM: 0 kB")
        self.peaks[pid] = max(self.peaks.get(pid, 0), int(peak.split()[1]))


def measured(command: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a command printed as JSON, and what it used. Raises MachineError where it failed."""
    used, started = Used(), time.monotonic()
    words = [sys.executable, "-m", *command, "--json", "--quiet"]
    with tempfile.TemporaryFile() as out:
        with subprocess.Popen(words, stdout=out, start_new_session=True) as process:
            while process.poll() is None:
                used.look(process.pid)
                time.sleep(_EVERY)
        out.seek(0)
        printed = out.read()
    if process.returncode not in (0, 1):
        raise MachineError("a measured command failed", expected=" ".join(command))
    row = {"cpu_seconds": round(sum(used.seconds.values()), 1), "seconds": round(time.monotonic() - started, 1)}
    return json.loads(printed), {**row, "peak_mib": max(used.peaks.values(), default=0) // 1024}


def commands(folder: Path, engine: str, processes: int) -> dict[str, list[str]]:
    """The command of each step; ``whole`` is the engine that is none: one process holds the table."""
    on = ["--processes", str(processes)] + ([] if engine == "whole" else ["--engine", engine])
    own, frozen = ["--benchmark", str(BENCHMARK)], ["--frozen", str(folder / f"frozen-{engine}")]
    work = ["--workspace", str(folder)]
    return {
        "audit": ["audits", *own, "--table", "memories", *work, *on],
        "across": ["audits.duplicates", *own, *work, "--across", *on],
        "approximate": ["audits.duplicates", *own, *work, "--across", "--approximate", *on],
        "freeze": ["releases", "freeze", _RELEASE, *own, *work, *frozen, *on],
        "write": ["perf.scale.writing", str(folder), *frozen, *on],
        "verify": ["releases", "verify", _RELEASE, *frozen, *on],
    }


def curve(root: Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for every size, engine and step."""
    made = []
    for characters in arguments.characters:
        folder = root / str(characters)
        if not folder.exists():
            write_workspace(folder, characters)
        for engine in arguments.engines:
            for step in arguments.steps:
                shutil.rmtree(folder / BENCHMARK.name / ".audits", ignore_errors=True)  # findings of an earlier step
                document, used = measured(commands(folder, engine, arguments.processes)[step])
                result = document.get("digest") or f"{len(document.get('findings', ()))} findings"
                row = {"memories": characters * 1000, "engine": engine, "step": step, **used, "result": result[:16]}
                print(json.dumps(row), flush=True)
                made.append(row)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a line of JSON for each case."""
    made = argparse.ArgumentParser(prog="python -m perf.scale.curves", description=__doc__)
    made.add_argument("folder", type=Path)
    made.add_argument("--characters", type=whole_number(1, 10**6), nargs="+", default=[10, 20, 40])
    made.add_argument("--engines", choices=("whole", *ENGINES), nargs="+", default=["local"])
    made.add_argument("--steps", choices=STEPS, nargs="+", default=["audit", "freeze", "verify"])
    made.add_argument("--processes", type=whole_number(1, 256), default=os.cpu_count() or 1)
    arguments = made.parse_args(argv)
    curve(arguments.folder, arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
