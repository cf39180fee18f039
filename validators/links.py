"""Links between tables, and expected counts, as the benchmark's file has them.

One pass over the rows of each table in order of dependency: values are looked up at once where the
table they point to has been seen, so that only what dangles is kept, whatever the size of a table.

    python -m validators --benchmark heart
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.findings import Finding
from schemas.tables import Link, Row, Table

_SOURCE = "benchmark file"


@dataclass
class _Looked:
    """What is known of one link: values that wait for the other table, rows that dangle, values that were used."""

    link: Link
    values: int = 0
    waiting: list[tuple[str, str]] = field(default_factory=list)
    dangling: list[tuple[str, str]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)


class Links:
    """Links between tables, checked while the tables go by."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = links
        self._looked = [_Looked(link) for link in links]
        self._targets: dict[tuple[str, str], dict[str, str]] = {}  # (table, column) -> value -> row id
        self._done: set[str] = set()
        for link in links:
            self._targets.setdefault((link.to_table, link.to_column), {})

    def see(self, table: Table, rows: Sequence[tuple[str, Row]]) -> None:
        """Take some rows of a table, each with its id; ``close`` the table after its last row."""
        for (name, column), values in self._targets.items():
            if name == table.name:
                values.update((row[column], row_id) for row_id, row in rows if isinstance(row.get(column), str))
        for looked in self._looked:
            if looked.link.table == table.name:
                self._look(looked, rows)

    def _look(self, looked: _Looked, rows: Sequence[tuple[str, Row]]) -> None:
        link = looked.link
        known = self._targets[link.to_table, link.to_column]
        unknown = looked.dangling if link.to_table in self._done else looked.waiting
        for row_id, row in rows:
            for value in _values(row, link.path):
                looked.values += 1
                if link.both_ways:
                    looked.used.add(value)
                if value not in known:
                    unknown.append((row_id, value))

    def close(self, table: Table) -> None:
        """The table has been seen whole."""
        self._done.add(table.name)
        for looked in self._looked:
            if looked.link.to_table == table.name:
                known = self._targets[looked.link.to_table, looked.link.to_column]
                looked.dangling += [(row_id, value) for row_id, value in looked.waiting if value not in known]
                looked.waiting = []

    def results(self, both_ways: bool = True) -> Iterator[tuple[Link, int, list[Finding]]]:
        """Each link whose two tables were seen: how many values were looked up, and what is wrong.

        ``both_ways`` False leaves the reverse of a link out, for tables that are only parts.
        """
        for looked in self._looked:
            link = looked.link
            if {link.table, link.to_table} <= self._done:
                reverse = self._unreferenced(looked) if both_ways else ()
                yield link, looked.values, [*_dangling(looked), *reverse]

    def skipped(self) -> Iterator[tuple[Link, str]]:
        """Each link that could not be checked, with the table that is not there."""
        for looked in self._looked:
            absent = [name for name in (looked.link.table, looked.link.to_table) if name not in self._done]
            if absent:
                yield looked.link, absent[0]

    def values_of(self, table: str, column: str) -> frozenset[str]:
        """All values that a column links to, empty where it links to nothing that was seen."""
        found = [looked.link for looked in self._looked if (looked.link.table, looked.link.path) == (table, (column,))]
        return frozenset(value for link in found for value in self._targets[link.to_table, link.to_column])

    def _unreferenced(self, looked: _Looked) -> Iterator[Finding]:
        if not looked.link.both_ways:
            return
        link, source = looked.link, f"{looked.link.table}.{'.'.join(looked.link.path)}"
        for value, row_id in self._targets[link.to_table, link.to_column].items():
            if value not in looked.used:
                message = f"is not named by any {source}"
                yield _finding("link.unreferenced", link.to_table, row_id, link.to_column, value, message)


def named(link: Link) -> str:
    """How a link is called in reports: ``memories.character_id -> characters.character_id``."""
    return f"{link.table}.{'.'.join(link.path)} -> {link.to_table}.{link.to_column}"


def counted(
    table: Table, rows: int, per: Mapping[str, Counter[str]], known: Mapping[str, frozenset[str]]
) -> list[Finding]:
    """Findings where a table has other than the expected number of rows, in all or for a value of a column.

    ``per`` are the rows for each value of the columns of ``rows_per``, ``known`` the values those
    columns should have, so that one without any row is found too.
    """
    found = []
    if table.rows is not None and rows != table.rows:
        found.append(_finding("table.row_count", table.name, "", None, str(rows), f"rows, expected {table.rows}"))
    for column, expected in (table.rows_per or {}).items():
        for value in sorted({*per[column], *known[column]}):
            if per[column][value] != expected:
                message = f"rows with {column} {value}, expected {expected}"
                found.append(_finding("table.rows_per", table.name, value, column, str(per[column][value]), message))
    return found


def _dangling(looked: _Looked) -> Iterator[Finding]:
    link = looked.link
    for row_id, value in looked.dangling:
        message = f"is no {link.to_column} of {link.to_table}"
        yield _finding("link.dangling", link.table, row_id, ".".join(link.path), value, message)


def _values(row: Any, path: Sequence[str]) -> Iterator[str]:
    """The strings at a path, through every list on the way; a null points to nothing."""
    if isinstance(row, list):
        for item in row:
            yield from _values(item, path)
    elif path:
        if isinstance(row, dict):
            yield from _values(row.get(path[0]), path[1:])
    elif isinstance(row, str):
        yield row


def _finding(code: str, table: str, row_id: str, column: str | None, text: str, message: str) -> Finding:
    return Finding(code, table, row_id, column, "error", None, text, message, _SOURCE)
