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
from schemas.rows import read_jsonl
from schemas.tables import Row, Table
from schemas.workspace import Workspace

Key = tuple[str | int, ...]


@dataclass(frozen=True)
class _Stretch:
    """A working file and the keys it spans."""

    path: Path
    first: Key
    last: Key
    in_order: bool


def rows_in_order(workspace: Workspace, table: str) -> Iterator[Row]:
    """All rows of a table, strictly ascending by its key columns.

    Raises RequestError for a table without a file, a row without its key and a key that occurs twice.
    """
    declared = workspace.benchmark.table(table)
    keys = workspace.keys(table)
    if not keys:
        raise RequestError("missing table", workspace.path(table).parent, fix=f"Build {table} first")
    stretches = [found for key in keys if (found := _survey(workspace.path(table, key), declared))]
    stretches.sort(key=lambda stretch: (stretch.first, stretch.path.name))
    before: Key | None = None
    for group in _groups(stretches):
        for row in heapq.merge(*(_rows(stretch, declared) for stretch in group), key=lambda row: key_of(row, declared)):
            key = key_of(row, declared)
            if before is not None and key <= before:
                what = "duplicate key" if key == before else "a key that occurs twice in its line"
                raise RequestError(what, table, row=declared.row_id(row), fix="Remove one of them and freeze again")
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


def _survey(path: Path, table: Table) -> _Stretch | None:
    found = _leading_keys(path, table)
    keys: Iterable[Key] = (key_of(row, table) for row in read_jsonl(path)) if found is None else found
    first: Key | None = None
    last: Key | None = None
    latest: Key | None = None
    in_order = True
    for key in keys:
        in_order = in_order and (latest is None or latest <= key)
        first = key if first is None or key < first else first
        last = key if last is None or key > last else last
        latest = key
    return None if first is None or last is None else _Stretch(path, first, last, in_order)


def _leading_keys(path: Path, table: Table) -> list[Key] | None:
    """The keys of a file whose lines all begin with them, as builders write them: nothing else is parsed."""
    columns = (rb'"%s":(?:"([^"\\\\]*)"|(-?[0-9]+))' % re.escape(column.encode()) for column in table.key)
    pattern = re.compile(rb"\{" + b",".join(columns) + rb"[,}]")
    keys: list[Key] = []
    with path.open("rb") as lines:
        for line in lines:
            if found := pattern.match(line):
                pairs = zip(found.groups()[::2], found.groups()[1::2], strict=True)
                keys.append(tuple(int(digits) if text is None else text.decode() for text, digits in pairs))
            elif line.strip():
                return None
    return keys


def _groups(stretches: list[_Stretch]) -> Iterator[list[_Stretch]]:
    """Runs of files whose keys interleave; the files come sorted by their first key."""
    group: list[_Stretch] = []
    reach: Key = ()
    for stretch in stretches:
        if group and stretch.first > reach:
            yield group
            group = []
        reach = max(reach, stretch.last) if group else stretch.last
        group.append(stretch)
    if group:
        yield group


def _rows(stretch: _Stretch, table: Table) -> Iterator[Row]:
    rows = read_jsonl(stretch.path)
    return rows if stretch.in_order else iter(sorted(rows, key=lambda row: key_of(row, table)))
