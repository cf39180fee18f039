"""The rows of a workspace in order of key, however many there are.

A table with one working file a character is merged from its files as it is read: files whose keys do
not interleave are read one after the other, the others side by side, so that memory holds a row of
each open file and no table. A file that is out of order in itself is sorted on its own.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from schemas.engines.shards import Shard, of_files
from schemas.errors import RequestError
from schemas.rows import read_jsonl
from schemas.tables import Row, Table
from schemas.workspace import Workspace

Key = tuple[str | int, ...]


@dataclass(frozen=True)
class Stretch:
    """A working file, or a part of one, and the keys it spans; ``shards`` are the parts it can be read in."""

    path: Path
    first: Key
    last: Key
    in_order: bool
    rows: int
    shards: tuple[Shard, ...]


def rows_in_order(workspace: Workspace, table: str) -> Iterator[Row]:
    """All rows of a table, strictly ascending by its key columns.

    Raises RequestError for a table without a file, a row without its key and a key that occurs twice.
    """
    declared = workspace.benchmark.table(table)
    for group in in_groups(survey(path, declared) for path in working_files(workspace, table)):
        yield from merged(group, declared)


def working_files(workspace: Workspace, table: str) -> list[Path]:
    """The files of a table. Raises RequestError where there is none."""
    keys = workspace.keys(table)
    if not keys:
        raise RequestError("missing table", workspace.path(table).parent, fix=f"Build {table} first")
    return [workspace.path(table, key) for key in keys]


def merged(group: Iterable[Stretch], table: Table) -> Iterator[Row]:
    """The rows of files whose keys interleave, strictly ascending. Raises RequestError as ``ascending`` does."""
    files = (_rows(stretch, table) for stretch in group)
    return ascending(heapq.merge(*files, key=lambda row: key_of(row, table)), table)


def ascending(rows: Iterable[Row], table: Table) -> Iterator[Row]:
    """The rows. Raises RequestError for a key that occurs twice, in two rows or in the line of one."""
    before: Key | None = None
    for row in rows:
        key = key_of(row, table)
        if before is not None and key <= before:
            what = "duplicate key" if key == before else "a key that occurs twice in its line"
            raise RequestError(what, table.name, row=table.row_id(row), fix="Remove one of them and freeze again")
        before = key
        yield row


def key_of(row: Row, table: Table) -> Key:
    """The values of a row's key columns. Raises RequestError for a row that lacks one."""
    values = tuple(row.get(column) for column in table.key)
    for column, value in zip(table.key, values, strict=True):
        if not isinstance(value, str | int):
            raise RequestError(
                "row without its key",
                table.name,
                row=table.row_id(row),
                field=column,
                expected="a string or an integer",
            )
    return values  # type: ignore[return-value]


def survey(path: Path, table: Table) -> Stretch | None:
    """What a working file holds; None for one without rows. Raises RequestError for a row without its key."""
    return joined([surveyed_shard(table, shard) for shard in of_files([path])])


def surveyed_shard(table: Table, shard: Shard) -> Stretch:
    """What a part of a working file holds. Raises RequestError for a row without its key."""
    keys = _keys(table, shard)
    in_order = all(before <= after for before, after in pairwise(keys))
    first, last = (keys[0], keys[-1]) if in_order else (min(keys), max(keys))
    return Stretch(Path(shard.path), first, last, in_order, shard.rows, (shard,))


def joined(parts: Sequence[Stretch]) -> Stretch | None:
    """The parts of a working file, in order, together; None where there are none."""
    if not parts:
        return None
    return Stretch(
        parts[0].path,
        min(part.first for part in parts),
        max(part.last for part in parts),
        all(part.in_order for part in parts) and all(one.last <= other.first for one, other in pairwise(parts)),
        sum(part.rows for part in parts),
        tuple(shard for part in parts for shard in part.shards),
    )


def _keys(table: Table, shard: Shard) -> list[Key]:
    """The key of each row: read off, where all lines begin with it as builders write them."""
    columns = (rb'"%s":("[^"\\\n]*"|-?[0-9]+)' % re.escape(column.encode()) for column in table.key)
    found = re.findall(rb"^\{" + b",".join(columns) + rb"[,}]", shard.text(), re.M)
    if len(found) != shard.rows:
        return [key_of(row, table) for row in shard.walk()]
    return [tuple(map(_value, [values] if isinstance(values, bytes) else values)) for values in found]


def _value(written: bytes) -> str | int:
    return written[1:-1].decode() if written.startswith(b'"') else int(written)


def in_groups(stretches: Iterable[Stretch | None]) -> Iterator[list[Stretch]]:
    """Runs of files whose keys interleave, ascending."""
    group: list[Stretch] = []
    reach: Key = ()
    for stretch in sorted(filter(None, stretches), key=lambda stretch: (stretch.first, stretch.path.name)):
        if group and stretch.first > reach:
            yield group
            group = []
        reach = max(reach, stretch.last) if group else stretch.last
        group.append(stretch)
    if group:
        yield group


def _rows(stretch: Stretch, table: Table) -> Iterator[Row]:
    rows = read_jsonl(stretch.path)
    return rows if stretch.in_order else iter(sorted(rows, key=lambda row: key_of(row, table)))
