"""``--engine`` and ``--scratch`` of a command."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from schemas.engines import stores

Item = TypeVar("Item")
Made = TypeVar("Made")

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Maps a function over items, results in order."""

    @property
    def name(self) -> str: ...

    @property
    def processes(self) -> int: ...

    def map(self, task: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]: ...


def add_engine(made: argparse.ArgumentParser, scratch: bool = True) -> None:
    """The arguments; ``--processes`` is the command's own. ``scratch`` is whether it has anything to lay down."""
    made.add_argument(
        "--engine",
        choices=ENGINES,
        metavar="E",
        help="work shard by shard, so that no process holds the table: local (processes of this machine) or "
        "ray (the cluster at RAY_ADDRESS, or one started here); docs/scale.md",
    )
    if not scratch:
        return
    made.add_argument(
        "--scratch", metavar="DIR|URL", help="with --engine: where partitions lie meanwhile, for every worker to reach"
    )


def engine(name: str, processes: int) -> Engine:
    """The engine of that name. Raises RequestError where it is not installed, MachineError for a missing cluster."""
    if name == "ray":
        from schemas.engines.on_ray import OnRay

        return OnRay(processes)
    from schemas.engines.local import Local

    return Local(processes)


@contextlib.contextmanager
def scratch(location: str | None) -> Iterator[str]:
    """A folder of its own for partitions, under the location or of this machine; removed in the end."""
    if location is None:
        with tempfile.TemporaryDirectory(prefix="anamnesis-") as folder:
            yield folder
        return
    folder = stores.fresh_folder(location)
    try:
        yield folder
    finally:
        stores.remove_folder(folder)
