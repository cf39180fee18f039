"""A full PersonaLens evaluation planned, and run at a hundredth: two processes, a journal each, one sum, one merge.

The plan: the dry run of a few users, and the judges of its dialogues, scaled to the paper's 1,500 users. The run: the
same commands with that few users in two processes against the rehearsal server, which share ``--max-cost``; their
journals are merged, and the first command run again on the merged journal has to ask nothing.

    python -m perf.scale.evaluation build/scale-evaluation --users 8
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from models.journal.files import read_only
from schemas.command import whole_number

_RELEASE, _USERS_OF_PAPER = "personalens@1.0.0", 1_500
_SUBJECT, _USER, _JUDGE = "claude-sonnet-4-6", "claude-haiku-4-5", "claude-sonnet-4-6"
_SPEAKER = "models.rehearsal.speakers:talk"
_MOST = "100"
_SEEDS = (7, 8)  # of the two processes: other users

_TOTALS = """
SELECT count(*), coalesce(sum(input_tokens + cache_write_tokens + cache_read_tokens), 0),
       coalesce(sum(output_tokens), 0) FROM replies
"""


def measured(root: Path, users: int) -> dict[str, Any]:
    """The plan, what the run took, and what became of the journals."""
    root.mkdir(parents=True, exist_ok=True)
    plan = _json(_asking(root / "plan", users, _SEEDS[0], "--dry-run"), {})
    with _server() as environment:
        started = time.monotonic()
        folders = [root / str(seed) for seed in _SEEDS]
        budget = ["--max-cost", _MOST, "--budget", str(root / "budget.json"), "--concurrency", "64"]
        asked = [_asking(folder, users, seed, *budget) for folder, seed in zip(folders, _SEEDS, strict=True)]
        _together(asked, environment)
        _together([_judging(folder, *budget) for folder in folders], environment)
        seconds = time.monotonic() - started
        merged = root / "merged.sqlite"
        merged.unlink(missing_ok=True)
        journals = [str(_evaluations(folder) / "journal.sqlite") for folder in folders]
        told = _json(["models", "journal", "merge", str(merged), *journals], environment, codes=(0, 1))
        before = _totals(merged)
        _together([_asking(root / "again", users, _SEEDS[0], "--journal", str(merged))], environment)
    requests, tokens_in, tokens_out = before
    costs = [_json(["models", "journal", "cost", "--journal", journal], {})["cost"] for journal in journals]
    return {
        "plan": plan,
        "requests": sum(_totals(Path(journal))[0] for journal in journals),
        "seconds": round(seconds, 1),
        "merged": {"requests": requests, "tokens_in": tokens_in, "tokens_out": tokens_out},
        "answered_twice": len(told["conflicts"]),
        "asked_again_on_the_merged_journal": _totals(merged)[0] - requests,
        "dollars": round(sum(costs), 4),
        "share_of_the_paper": 2 * users / _USERS_OF_PAPER,
        "budget": json.loads((root / "budget.json").read_text()),
    }


def _asking(folder: Path, users: int, seed: int, *more: str) -> list[str]:
    words = ["evaluators", "run", "--release", _RELEASE, "--model", _SUBJECT, "--user", _USER, "--users", str(users)]
    return [*words, "--workspace", str(folder), "--seed", str(seed), *more]


def _judging(folder: Path, *more: str) -> list[str]:
    (said,) = (_evaluations(folder) / _RELEASE).glob("said.*.json")
    return ["evaluators", "judge", str(said), "--judge", _JUDGE, "--workspace", str(folder), *more]


def _evaluations(folder: Path) -> Path:
    return folder / "evaluations"


def _totals(journal: Path) -> tuple[int, int, int]:
    with read_only(journal) as read:
        ((count, tokens_in, tokens_out),) = read(_TOTALS)
    return count, tokens_in, tokens_out


def _together(commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> None:
    running = [_started(command, environment) for command in commands]
    for process, command in zip(running, commands, strict=True):
        _, said = process.communicate()
        if process.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)}\n{said}")


def _json(command: Sequence[str], environment: Mapping[str, str], codes: tuple[int, ...] = (0,)) -> Any:
    process = _started([*command, "--json"], environment)
    printed, said = process.communicate()
    if process.returncode not in codes:
        raise SystemExit(f"{' '.join(command)}\n{said}")
    return json.loads(printed)


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", *command]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **environment})


@contextlib.contextmanager
def _server() -> Iterator[dict[str, str]]:
    """The rehearsal server, and the environment in which commands find it."""
    words = [sys.executable, "-m", "models.rehearsal", "--composer", _SPEAKER, "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            said = "".join(iter(process.stdout.readline, "}\n")) + "}"
            address = json.loads(said)["address"]
            yield {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "rehearsal"}
        finally:
            process.terminate()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the plan and the run as one JSON document."""
    made = argparse.ArgumentParser(prog="python -m perf.scale.evaluation", description=__doc__)
    made.add_argument("folder", type=Path)
    made.add_argument("--users", type=whole_number(1, 100), default=8)
    arguments = made.parse_args(argv)
    print(json.dumps(measured(arguments.folder, arguments.users), indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
