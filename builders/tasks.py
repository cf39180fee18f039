"""Tasks: what a user may want from an assistant, in one domain or in several.

PersonaLens 2.2 and appendix A.2. Tasks are written for no user in particular (``seeds/tasks.toml`` and
``seeds/tasks_several.toml``); each names the preference types it draws on, which must exist in its domains.

    python -m builders.tasks --benchmark personalens
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from builders.users.catalogue import catalogue
from schemas.errors import RequestError, unknown
from schemas.tables import Row

READS = ("preferences",)
MAKES = ("tasks",)

_SEEDS = Path(__file__).parent / "seeds"
SINGLE, SEVERAL = _SEEDS / "tasks.toml", _SEEDS / "tasks_several.toml"
_WRITTEN = ("description", "intent", "goal", "types")


@dataclass(frozen=True)
class Task:
    """A task: its row, and the hours and devices that its situation is bound to (empty: any)."""

    row: Row
    times: tuple[str, ...]
    devices: tuple[str, ...]


@functools.cache
def load_tasks(single: Path = SINGLE, several: Path = SEVERAL) -> tuple[Task, ...]:
    """All tasks, single-domain ones first. Raises RequestError naming file, task and field of a faulty one."""
    return (*_single(single), *_several(several))


def _single(path: Path) -> Iterator[Task]:
    for domain, entries in tomllib.loads(path.read_text("utf-8")).items():
        if domain not in catalogue():
            raise unknown("domain", domain, catalogue(), path)
        for number, entry in enumerate(entries["tasks"], 1):
            yield _task(entry, (domain,), number, path)


def _several(path: Path) -> Iterator[Task]:
    for number, entry in enumerate(tomllib.loads(path.read_text("utf-8"))["tasks"], 1):
        for domain in entry["domains"]:
            if domain not in catalogue():
                raise unknown("domain", domain, catalogue(), f"{path}, task {number}")
        yield _task(entry, tuple(entry["domains"]), number, path)


def _task(entry: Mapping[str, Any], domains: tuple[str, ...], number: int, path: Path) -> Task:
    several = len(domains) > 1
    task_id = f"MD-task-{number}" if several else f"SD-{domains[0]}-task-{number}"
    for field in _WRITTEN:
        if not entry.get(field):
            raise RequestError("incomplete task", path, row=task_id, field=field, expected="a value")
    row = {
        "task_id": task_id,
        "kind": "multi" if several else "single",
        "number": number,
        "domains": list(domains),
        "description": entry["description"],
        "intent": entry["intent"],
        "goal": entry["goal"],
        "preferences": [_preference(name, domains, f"{path}, task {task_id}") for name in entry["types"]],
        "published": [],
    }
    return Task(row, tuple(entry.get("times", ())), tuple(entry.get("devices", ())))


def _preference(name: str, domains: Sequence[str], where: str) -> Row:
    """A preference type of a task, resolved to its domains. Raises RequestError where none of them has it."""
    resolved = [{"domain": domain, "preference": name} for domain in domains if name in catalogue()[domain].types]
    if not resolved:
        raise unknown(
            "preference type", name, [each for domain in domains for each in catalogue()[domain].types], where
        )
    return {"name": name, "resolved": resolved}


def build(run: Run) -> Done:
    """Bring the tasks up to date."""
    digest = inputs_digest(run.space, READS, seed=run.seed)

    def make() -> list[Row]:
        return [{**task.row, "provenance": computed(run.seed)} for task in load_tasks()]

    return Done([write_if_stale(run.space, "tasks", digest, make, run.fresh)])


def main(argv: Sequence[str] | None = None) -> int:
    """Write tasks; see ``--help``."""
    return StepCommand(
        "tasks",
        "Write the tasks that users may have, in one domain or in several.",
        "python -m builders.tasks --benchmark personalens",
        build,
        asks=False,
    ).main(argv)


if __name__ == "__main__":
    raise SystemExit(main())
