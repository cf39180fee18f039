"""Group-by over shards: rows that belong together come together, a partition in memory at a time.

Every shard is cut into partitions by the digest of the group's name; then each partition is read whole, its groups in
the order in which they first stand in the table. Memory holds a partition, or the largest group where that is larger.
The same code runs on every engine: a comparison with engines' own group-by is in ``docs/scale.md``.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from schemas.engines import stores
from schemas.engines.choice import Engine

Named = tuple[str, Any]
"""The name of a group, and something of it that JSON can carry."""

Groups = dict[str, list[Any]]

_IN_A_PARTITION = 50_000
_LEVEL = 1  # of compression: partitions are read once


@dataclass(frozen=True)
class Partitions:
    """A folder of partitions: ``<kind>-<partition>/<part of the table>.z``."""

    folder: str
    count: int

    @classmethod
    def of(cls, folder: str, rows: int) -> Partitions:
        """As many as so many rows need."""
        return cls(folder, rows // _IN_A_PARTITION + 1)

    def write(self, kind: str, number: int, named: Iterable[Named]) -> None:
        """Put what was taken from part ``number`` of the table into its partitions."""
        lines: dict[int, list[bytes]] = defaultdict(list)
        for pair in named:
            lines[_partition(pair[0], self.count)].append(orjson.dumps(pair, option=orjson.OPT_APPEND_NEWLINE))
        for partition, block in lines.items():
            stores.write(self._file(kind, partition, number), zlib.compress(b"".join(block), _LEVEL))

    def map(self, engine: Engine, kind: str, task: Callable[[Groups], Any], parts: int) -> Iterator[Any]:
        """What the task makes of the groups of each partition; ``parts`` is how many parts the table had."""
        yield from engine.map(partial(_of_partition, self, kind, task, parts), range(self.count))

    def read(self, kind: str, partition: int, parts: int) -> Groups:
        """The groups of a partition."""
        groups: Groups = defaultdict(list)
        for number in range(parts):
            for line in _lines(self._file(kind, partition, number)):
                name, value = orjson.loads(line)
                groups[name].append(value)
        return groups

    def find(self, kind: str, names: Collection[str], parts: int) -> Groups:
        """The groups of these names."""
        wanted = sorted({_partition(name, self.count) for name in names})
        read = (self.read(kind, partition, parts).items() for partition in wanted)
        return {name: values for groups in read for name, values in groups if name in names}

    def _file(self, kind: str, partition: int, number: int) -> str:
        return stores.join(self.folder, f"{kind}-{partition:05d}/{number:07d}.z")


def _of_partition(partitions: Partitions, kind: str, task: Callable[[Groups], Any], parts: int, partition: int) -> Any:
    return task(partitions.read(kind, partition, parts))


def _partition(name: str, count: int) -> int:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % count


def _lines(path: str) -> list[bytes]:
    system, inside = stores.opened(path)
    try:
        with stores.errors_reported(path), system.open_input_stream(inside, compression=None) as stream:
            return zlib.decompress(stream.read()).splitlines()
    except FileNotFoundError:
        return []
