"""10,000 answered requests read from the journal again: how fast, and how long a command takes with its start.

    python -m perf.models.replay

``limit`` and ``limit_with_start`` only wait for as long as it may take: half a second, and two with the start of a
process, its imports and the check of the journal.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perf import harness
from perf.models.dispatch import server
from perf.models.peers import PROMPT

_REPLAYED = 10_000
_A_SECOND = 20_000  # replies read from the journal


def replay(apart: bool) -> harness.Case:
    """10,000 answered requests read from a journal again; ``apart``: by a process of its own, its start included."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        os.environ.update(ANTHROPIC_BASE_URL=server("perf.models.dispatch:prose", 0.0), ANTHROPIC_API_KEY="k")
        folder = tempfile.mkdtemp(dir=arguments.folder)
        answered = sum(reply.status == "answered" for reply in run(*replayed(folder)))

        def here() -> Mapping[str, Any]:
            began = time.perf_counter()
            count = sum(reply.status == "answered" for reply in run(*replayed(folder)))
            seconds = time.perf_counter() - began
            return {"replayed": count, "a_second": round(count / seconds), "answered_before": answered}

        def there() -> Mapping[str, Any]:
            code = f"from perf.models.replay import replayed, run; print(len(list(run(*replayed({folder!r})))))"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            return {"replayed": int(done.stdout)}

        return there if apart else here

    return case


def replayed(folder: str) -> tuple[Any, Any]:
    from models.backends import BackendSettings
    from models.prices import read_prices
    from models.remedies import ask
    from models.request import Request
    from models.roles import read_roles

    journal = Path(folder) / "journal.sqlite"
    settings = BackendSettings("messages", read_roles(), read_prices(), journal, concurrency=64, quiet=True)
    requests = [
        Request(f"perf/{n}", "memory", (), f"{PROMPT}{n}", "perf", "0", lambda: "", max_tokens=1024)
        for n in range(_REPLAYED)
    ]
    return [functools.partial(ask, request) for request in requests], settings


def run(starts: Any, settings: Any) -> Any:
    """``models.backends.run``, imported when it is needed."""
    from models.backends import run as run_models

    return run_models(starts, settings)


def waiting(seconds: float) -> harness.Case:
    """So long, for what may take no longer."""

    def timed() -> Mapping[str, Any]:
        time.sleep(seconds)
        return {}

    return lambda arguments: timed


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--folder", metavar="DIR", help="where the journal is put (default: the temporary folder)")


_REPLAY = harness.Comparison(
    "replay",
    {
        "limit": waiting(_REPLAYED / _A_SECOND),
        "replay": replay(False),
        "limit_with_start": waiting(2.0),
        "replay_with_start": replay(True),
    },
    base="limit",
    promises=(
        harness.Promise("replay", "limit", 1.0),
        harness.Promise("replay_with_start", "limit_with_start", 1.0),
    ),
)

if __name__ == "__main__":
    raise SystemExit(harness.main("perf.models.replay", [_REPLAY], add_arguments=_arguments))
