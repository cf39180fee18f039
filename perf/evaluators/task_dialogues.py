"""Dialogues about tasks at the size of the paper: held against a server, and measured and reported.

``held`` runs 4,096 dialogues (the paper's sample of 50 users) of 6 turns against the rehearsal server (another
process, 50 ms a call), 256 wide, journal on, as the command a user types, in one process and in two, beside a bare
aiohttp loop that makes as many calls and keeps histories in lists, and beside the time that latency alone takes.
``measured`` reads, measures and reports 120,000 planted dialogues with their scores.

    python -m perf.evaluators.task_dialogues --repeat 1
    python -m perf.evaluators.task_dialogues --only measured
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perf import harness
from perf.models.dialogues import loop
from perf.models.dispatch import server, stats

DIALOGUES, TURNS, WIDE = 4_096, 6, 256
MANY = 120_000
MOST_SECONDS, MOST_GIB = 60.0, 2.0

_NAME = "personalens@1.0.0"
_MODEL = "claude-sonnet-4-6"
_CALLS = DIALOGUES * (2 * TURNS + 1)
_USERS = 20
_FLOOR = (2 * TURNS) / (2 * TURNS + 1) / 1.15  # the loop has no last word: a call less a dialogue
_DISTINCT = 0.999  # of the requests; the same one again is answered from the journal


def floor(arguments: argparse.Namespace) -> harness.Timed:
    """The time that the latency of all calls takes, 256 at a time."""

    def timed() -> Mapping[str, Any]:
        time.sleep(_CALLS * arguments.latency / WIDE)
        return {"calls": _CALLS}

    return timed


def held(processes: int) -> harness.Case:
    """``python -m evaluators run`` on the release in the repository."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        import evaluators.__main__ as evaluators
        import models.running  # noqa: F401  # the imports are not timed

        address = server("models.rehearsal.speakers:react", arguments.latency)
        os.environ.update({"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "k"})
        workspace = tempfile.mkdtemp()
        words = ["run", "--release", _NAME, "--model", _MODEL, "--user", _MODEL, "--limit", str(DIALOGUES)]
        # With the user's past in it hardly two requests are the same; those are answered from the journal.
        words += ["--context", "interactions", "situation", "--processes", str(processes)]
        words += ["--max-turns", str(TURNS), "--concurrency", str(WIDE), "--workspace", workspace, "--quiet"]

        def timed() -> Mapping[str, Any]:
            if evaluators.main(words):
                raise RuntimeError("the run failed")
            counted = stats(address)
            if counted["answered"] < _CALLS * _DISTINCT or counted["answered_twice"]:
                raise RuntimeError(f"of {_CALLS} calls {counted['answered']} answered by the server, some twice")
            return {"calls": counted["answered"], "server_cpu_s": round(counted["cpu_seconds"], 1)}

        return timed

    return case


def measured(arguments: argparse.Namespace) -> harness.Timed:
    """``dialogues`` and ``report`` on planted dialogues, each user many times under another name."""
    import evaluators.__main__ as evaluators

    workspace = tempfile.mkdtemp()
    said, scores = _many(Path(workspace))
    common = ["--workspace", workspace, "--quiet"]
    result, page = f"{workspace}/dialogues.json", f"{workspace}/report.html"

    def timed() -> Mapping[str, Any]:
        started = time.perf_counter()
        words = ["dialogues", str(said), "--release", _NAME, "--scores", str(scores), "--out", result, *common]
        for verb in (words, ["report", result, str(scores), "--out", page, *common]):
            if evaluators.main(verb):
                raise RuntimeError(f"{verb[0]} failed")
        seconds = time.perf_counter() - started
        gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        if seconds > MOST_SECONDS or gib > MOST_GIB:
            raise RuntimeError(f"{seconds:.1f} s and {gib:.2f} GiB, limits {MOST_SECONDS} s and {MOST_GIB} GiB")
        return {"dialogues": MANY, "gib": round(gib, 2)}

    return timed


def _many(workspace: Path) -> tuple[Path, Path]:
    """Rows of 120,000 dialogues and their scores, made in another process so that memory is the reader's alone."""
    from multiprocessing import get_context

    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_write_many, (workspace,))


def _write_many(workspace: Path) -> tuple[Path, Path]:
    import polars as pl

    import evaluators.__main__ as evaluators
    from evaluators.scoring.metrics import metric_of
    from evaluators.scoring.results import read_result
    from evaluators.scoring.said_rows import Said, read_said, write_said
    from evaluators.scoring.score_rows import rows_beside, write_scores

    small = workspace / "small"
    run = ["run", "--release", _NAME, "--model", "offline:mixed", "--users", str(_USERS), "--workspace", str(small)]
    with contextlib.redirect_stderr(io.StringIO()):
        evaluators.main([*run, "--out", str(small / "said.json")])
        judge = ["judge", str(small / "said.json"), "--judge", "offline:noisy", "--workspace", str(small)]
        evaluators.main([*judge, "--out", str(small / "scores.json")])
    header, judged = read_result(small / "said.json"), read_result(small / "scores.json")
    tables = {entry["unit"]: name for name, entry in header["tables"].items()}
    read = {unit: read_said(small / "said.json", header, unit)[1] for unit in ("message", "dialogue")}
    names = read["dialogue"].rows["item"].sort()
    times = -(-MANY // len(names))

    def again(frame: pl.DataFrame, item: str, *columns: str) -> pl.DataFrame:
        made = pl.concat(
            [
                frame.with_columns((pl.lit(f"{copy:03}.") + pl.col(column)).alias(column) for column in columns)
                for copy in range(times)
            ]
        )
        kept = pl.concat([pl.Series([f"{copy:03}."]) + names for copy in range(times)]).head(MANY)
        return made.filter(pl.col(item).is_in(kept.implode()))

    said = {
        tables["message"]: again(read["message"].rows, "dialogue", "item", "dialogue", "user_id"),
        tables["dialogue"]: again(read["dialogue"].rows, "item", "item", "dialogue", "user_id"),
    }
    frames = {
        name: Said(read[unit].unit, read[unit].groups, said[name]) for unit, name in tables.items() if unit in read
    }
    about = {key: value for key, value in header.items() if key not in ("tables", "figures")}
    written = write_said(workspace / "said.json", about, frames)
    rows = pl.read_parquet(rows_beside(small / "scores.json")).unnest("groups")
    rows = again(rows, "item", "item", "dialogue", "user_id")
    groups = [name for name in rows.columns if name in header["tables"][tables["dialogue"]]["groups"]]
    rows = rows.with_columns(pl.struct(groups).alias("groups")).drop(groups)
    digests = {name: entry["sha256"] for name, entry in written["tables"].items()}
    top = {key: value for key, value in judged.items() if key not in ("metrics", "rows", "figures", "used")}
    top["said"] = {**judged["said"], "tables": digests}
    write_scores(workspace / "scores.json", top, [metric_of(one) for one in judged["metrics"]], rows)
    return workspace / "said.json", workspace / "scores.json"


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--latency", type=float, default=0.05, metavar="S", help="seconds of the server (default: 0.05)")


_COMPARISONS = (
    harness.Comparison(
        "held",
        {"latency": floor, "loop": loop(DIALOGUES, TURNS, WIDE), "ours": held(1), "two processes": held(2)},
        base="loop",
        promises=(harness.Promise("two processes", "loop", _FLOOR),),
    ),
    harness.Comparison("measured", {"ours": measured}, base="ours"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparisons and print them."""
    return harness.main("perf.evaluators.task_dialogues", _COMPARISONS, argv, add_arguments=_arguments)


if __name__ == "__main__":
    raise SystemExit(main())
