"""A release written without the gate's checks: pieces, files, manifest, and what was written read back.

python -m perf.scale.writing build/scale/100 --frozen build/scale/frozen --engine local --json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from perf.scale.workspaces import BENCHMARK
from releases.freeze import Plan, freeze
from schemas.command import add_processes
from schemas.engines.choice import add_engine, engine
from schemas.release_names import parse_name
from schemas.workspace import Workspace

_NOTHING_CHECKED = {
    "validators": {"rows": 0, "ran": [], "findings": {}, "figures": []},
    "audits": {},
    "allowed": [],
    "unaudited": ["ledgers", "memories"],
}


def main(argv: Sequence[str] | None = None) -> int:
    """Write the release and print its digest."""
    made = argparse.ArgumentParser(prog="python -m perf.scale.writing", description=__doc__)
    made.add_argument("folder", type=Path)
    made.add_argument("--frozen", type=Path, required=True)
    made.add_argument("--json", action="store_true", help="always so")
    made.add_argument("--quiet", action="store_true", help="always so")
    add_processes(made)
    add_engine(made)
    arguments = made.parse_args(argv)
    chosen = engine(arguments.engine, arguments.processes) if arguments.engine else None
    name = parse_name(f"{BENCHMARK.name}@1.0.0")
    release = freeze(
        Plan(name, Workspace(arguments.folder, BENCHMARK), arguments.frozen, engine=chosen), _NOTHING_CHECKED
    )
    print(json.dumps({"digest": release.digest, "tables": dict(release.tables)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
