"""How time and memory grow with the number of PersonaLens users, some eighty situations each, on an engine.

The builder makes the first 1,500; more are these again under further ids (``perf.scale.workspaces``). Each case is the
command a user would run, in a session of its own, measured as in ``perf.scale.curves``.

    python -m perf.scale.users build/scale-users --users 1500 15000 125000
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perf.scale.curves import measured
from perf.scale.workspaces import copy_users
from schemas.command import whole_number
from schemas.engines.choice import ENGINES
from schemas.workspace import Workspace

_NAME = "personalens"
_RELEASE = f"{_NAME}@9.0.0"  # a version that nobody freezes
_BUILT = 1_500


def commands(folder: Path, engine: str, processes: int) -> dict[str, list[str]]:
    """The command of each step."""
    work = ["--benchmark", _NAME, "--workspace", str(folder)]
    on = ["--engine", engine, "--processes", str(processes)]
    return {
        "validators": ["validators", *work, *on],
        "evenness": ["audits.evenness", *work, "--table", "users", *on],
        "freeze": ["releases", "freeze", _RELEASE, "--workspace", str(folder), "--frozen", str(folder / "frozen"), *on],
    }


def curve(root: Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for every size and step."""
    made = []
    for users in arguments.users:
        folder = root / str(users)
        if not (folder / _NAME).exists():
            built = min(users, _BUILT)
            source = root / f"{built}"
            if not (source / _NAME).exists():
                measured(["builders", "run", _NAME, "--users", str(built), "--workspace", str(source)])
            if users > built:
                copy_users(Workspace(source, _NAME), Workspace(folder, _NAME), users)
        situations = sum(1 for _ in Workspace(folder, _NAME).rows("situations"))
        for step, command in commands(folder, arguments.engine, arguments.processes).items():
            _, used = measured(command)
            row = {"users": users, "situations": situations, "engine": arguments.engine, "step": step, **used}
            print(json.dumps(row), flush=True)
            made.append(row)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a line of JSON for each case."""
    made = argparse.ArgumentParser(prog="python -m perf.scale.users", description=__doc__)
    made.add_argument("folder", type=Path)
    made.add_argument("--users", type=whole_number(1, 10**7), nargs="+", default=[1_500, 15_000])
    made.add_argument("--engine", choices=ENGINES, default="local")
    made.add_argument("--processes", type=whole_number(1, 256), default=os.cpu_count() or 1)
    arguments = made.parse_args(argv)
    curve(arguments.folder, arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
