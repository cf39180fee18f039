"""The bench harness: fresh processes, medians and ratios of one run, and promises that can break."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

BENCH = """
from perf.harness import Comparison, Promise, main

def case(loops, fail=False):
    def prepared(arguments):
        def timed():
            if fail:
                raise ValueError("no good")
            return {"sum": sum(range(loops))}
        return timed
    return prepared

COMPARISONS = (
    Comparison("kept", {"slow": case(3_000_000), "quick": case(10)}, "slow", (Promise("quick", "slow", 2),)),
    Comparison("broken", {"slow": case(3_000_000), "quick": case(10)}, "slow", (Promise("slow", "quick", 2),)),
    Comparison("failing", {"bad": case(1, fail=True)}, "bad"),
)

if __name__ == "__main__":
    raise SystemExit(main("bench", COMPARISONS))
"""


def bench(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "bench.py").write_text(BENCH)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "bench", "--repeat", "1", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_cases_are_compared_with_the_base_and_their_figures_shown(tmp_path):
    done = bench(tmp_path, "--only", "kept", "--json")
    assert done.returncode == 0, done.stderr
    cases = json.loads(done.stdout)["comparisons"]["kept"]
    assert cases["slow"]["times_base"] == 1
    assert cases["quick"]["times_base"] == cases["slow"]["wall_s"] / cases["quick"]["wall_s"]
    assert cases["quick"]["figures"] == {"sum": 45}
    assert cases["quick"]["peak_mib"] > 1


def test_a_broken_promise_is_reported_and_makes_the_exit_code_1(tmp_path):
    done = bench(tmp_path, "--only", "broken")
    assert done.returncode == 1
    assert "broken: broken: slow is" in done.stdout
    assert "promised 2.00" in done.stdout


def test_a_case_that_fails_is_named_and_makes_the_exit_code_3(tmp_path):
    done = bench(tmp_path, "--only", "failing")
    assert done.returncode == 3
    assert "error: case failing/bad failed" in done.stderr
    assert "no good" in done.stderr
