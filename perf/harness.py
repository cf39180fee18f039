"""A small bench: every case in a fresh process, repeated, medians, ratios to one case of the same run.

A module of ``perf`` lists comparisons and hands them to ``main``. A *case* is a function that takes
the parsed arguments, does its untimed set-up (imports, rows) and returns the function to be timed;
what that returns (``{"rows": 11000}``) stands in the table beside the time. A *promise* says how
many times as fast as another case a case has to be; a broken one makes the exit code 1.

    CASES = {"theirs": theirs, "ours": ours}
    COMPARISONS = (Comparison("records", CASES, base="theirs", promises=(Promise("ours", "theirs", 20),)),)

    if __name__ == "__main__":
        raise SystemExit(harness.main("perf.validation", COMPARISONS))

The cases of a comparison take turns, so that a busy spell of the machine falls on all of them.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Timed = Callable[[], Mapping[str, Any]]
Case = Callable[[argparse.Namespace], Timed]

_MIB = 1024  # ru_maxrss counts KiB


@dataclass(frozen=True)
class Promise:
    """``case`` takes at most 1/``times`` of the time of ``than``; below 1 it says how far behind it may be.

    ``clock`` is what is compared: ``wall_s``, or ``cpu_s`` where others may use the machine."""

    case: str
    than: str
    times: float
    clock: str = "wall_s"


@dataclass(frozen=True)
class Comparison:
    """Cases that do the same job; ``base`` is the one that ratios refer to."""

    name: str
    cases: Mapping[str, Case]
    base: str
    promises: tuple[Promise, ...] = ()


def main(
    module: str,
    comparisons: Sequence[Comparison],
    argv: Sequence[str] | None = None,
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda made: None,
) -> int:
    """Run the comparisons and print them; ``module`` is the caller's name for ``python -m``.

    Returns 0, 1 when a promise is broken, 3 when a case fails.
    """
    by_name = {comparison.name: comparison for comparison in comparisons}
    made = argparse.ArgumentParser(
        prog=f"python -m {module}", epilog=f"example:\n  python -m {module} --repeat 5", allow_abbrev=False
    )
    made.add_argument("--only", nargs="+", choices=by_name, metavar="NAME", help=f"comparisons: {', '.join(by_name)}")
    made.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each case (default: 3)")
    made.add_argument("--json", action="store_true", help="print one JSON document")
    made.add_argument("--child", help=argparse.SUPPRESS)
    add_arguments(made)
    words = list(sys.argv[1:] if argv is None else argv)
    arguments = made.parse_args(words)
    if arguments.child:
        comparison, case = arguments.child.split("/")
        print(json.dumps(_measure(by_name[comparison].cases[case](arguments))))
        return 0
    chosen = [by_name[name] for name in arguments.only or by_name]
    try:
        results = {each.name: _compare(module, each, arguments.repeat, words) for each in chosen}
    except subprocess.CalledProcessError as error:
        print(f"error: case {error.cmd[-1]} failed: {error.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return 3
    broken = [line for each in chosen for line in _broken(each, results[each.name])]
    if arguments.json:
        print(json.dumps({"comparisons": results, "broken": broken}, indent=2))
    else:
        for each in chosen:
            _print_table(each, results[each.name])
        promised = sum(len(each.promises) for each in chosen)
        print("\n".join(broken) or f"{promised} of {promised} promises hold")
    return 1 if broken else 0


def _measure(timed: Timed) -> dict[str, Any]:
    """Time one call. ``cpu_s`` includes child processes, ``peak_mib`` the largest of them."""
    gc.collect()
    before, wall = _cpu(), time.perf_counter()
    figures = dict(timed())
    return {
        "wall_s": time.perf_counter() - wall,
        "cpu_s": _cpu() - before,
        "peak_mib": sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        / _MIB,
        "figures": figures,
    }


def _cpu() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _compare(module: str, comparison: Comparison, repeat: int, words: Sequence[str]) -> dict[str, dict[str, Any]]:
    runs: dict[str, list[dict[str, Any]]] = {case: [] for case in comparison.cases}
    for _ in range(repeat):
        for case in runs:
            child = [sys.executable, "-m", module, *words, "--child", f"{comparison.name}/{case}"]
            done = subprocess.run(child, capture_output=True, text=True, check=True)
            runs[case].append(json.loads(done.stdout.splitlines()[-1]))
    results = {case: _median(measured) for case, measured in runs.items()}
    for result in results.values():
        result["times_base"] = results[comparison.base]["wall_s"] / result["wall_s"]
    return results


def _median(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    walls = [run["wall_s"] for run in runs]
    return {
        "wall_s": statistics.median(walls),
        "fastest_s": min(walls),
        "slowest_s": max(walls),
        "cpu_s": statistics.median(run["cpu_s"] for run in runs),
        "peak_mib": max(run["peak_mib"] for run in runs),
        "figures": runs[-1]["figures"],
    }


def _broken(comparison: Comparison, results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = []
    for promise in comparison.promises:
        times = results[promise.than][promise.clock] / results[promise.case][promise.clock]
        if times < promise.times:
            lines.append(
                f"broken: {comparison.name}: {promise.case} is {times:.2f} times as fast as {promise.than}, "
                f"promised {promise.times:.2f}"
            )
    return lines


def _print_table(comparison: Comparison, results: Mapping[str, Mapping[str, Any]]) -> None:
    print(f"{comparison.name}  (x: times as fast as {comparison.base})")
    print(f"  {'case':<34}{'median s':>10}{'fastest':>10}{'slowest':>10}{'cpu s':>9}{'MiB':>8}{'x':>9}  figures")
    for case, result in results.items():
        figures = ", ".join(f"{name} {value}" for name, value in result["figures"].items())
        print(
            f"  {case:<34}{result['wall_s']:>10.4f}{result['fastest_s']:>10.4f}{result['slowest_s']:>10.4f}"
            f"{result['cpu_s']:>9.2f}{result['peak_mib']:>8.0f}{result['times_base']:>9.2f}  {figures}"
        )
    print()
