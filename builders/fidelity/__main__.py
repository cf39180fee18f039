"""``python -m builders.fidelity``: write the tables of the benchmark of persona fidelity.

python -m builders.fidelity
python -m releases freeze fidelity@0.1.0
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from builders.fidelity import probes, target_personas
from schemas.command import DONE, parser, print_json, run, say
from schemas.workspace import Workspace

BENCHMARK = "fidelity"


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see the module's docstring."""
    made = parser(
        "builders.fidelity", "Write target personas and probes of persona fidelity.", "python -m builders.fidelity"
    )
    return run(_write, made, argv)


def _write(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, BENCHMARK)
    with space.lock():
        counts = {step.TABLE: step.write(space, parsed.seed) for step in (target_personas, probes)}
        space.write_recipe(["builders.fidelity", "--seed", str(parsed.seed)], parsed.seed, {})
    if parsed.json:
        print_json({"benchmark": BENCHMARK, "workspace": str(space.folder), "tables": counts})
    told = ", ".join(f"{table} {count}" for table, count in counts.items())
    say(f"{told} in {space.folder}", quiet=parsed.quiet or parsed.json)
    return DONE


if __name__ == "__main__":
    raise SystemExit(main())
