"""The rows of a workspace in order of key, however many there are.

A table with one working file a character is merged from its files as it is read: files whose keys do
not interleave are read one after the other, the others side by side, so that memory holds a row of
each open file and no table. A file that is out of order in itself is sorted on its own.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import RequestError
from schemas.rows import placed_jsonl, read_jsonl
from schemas.tables import Row, Table
from schemas.workspace import Workspace

Key = tuple[str | int, ...]

MARK = 2_000
"""Rows between the places of a file that are noted, so that parts of it can be read by themselves."""


@dataclass(frozen=True)
class Stretch:
    """A working file and the keys it spans; where it begins, and where every ``MARK``-th row does (bytes)."""

    path: Path
    first: Key
    last: Key
    in_order: bool
    rows: int
    marks: tuple[int, ...]


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
    first: Key | None = None
    last: Key | None = None
    latest: Key | None = None
    in_order, rows, marks = True, 0, []
    for rows, (place, key) in enumerate(_placed_keys(path, table), 1):
        in_order = in_order and (latest is None or latest <= key)
        first = key if first is None or key < first else first
        last = key if last is None or key > last else last
        latest = key
        if (rows - 1) % MARK == 0:
            marks.append(place)
    if first is None or last is None:
        return None
    return Stretch(path, first, last, in_order, rows, (*marks, path.stat().st_size))


def _placed_keys(path: Path, table: Table) -> Iterable[tuple[int, Key]]:
    """Where each row begins (bytes), and its key: read off, where all lines begin with it as builders write them."""
    columns = (rb'"%s":(?:"([^"\\\\]*)"|(-?[0-9]+))' % re.escape(column.encode()) for column in table.key)
    pattern = re.compile(rb"\{" + b",".join(columns) + rb"[,}]")
    keys: list[tuple[int, Key]] = []
    place = 0
    with path.open("rb") as lines:
        for line in lines:
            if found := pattern.match(line):
                pairs = zip(found.groups()[::2], found.groups()[1::2], strict=True)
                keys.append((place, tuple(int(digits) if text is None else text.decode() for text, digits in pairs)))
            elif line.strip():
                return ((place, key_of(row, table)) for place, row in placed_jsonl(path))
            place += len(line)
    return keys


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
