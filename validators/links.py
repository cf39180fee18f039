"""Links between tables, and expected counts, as the benchmark's file has them.

One pass over the rows of each table in order of dependency. ``Lookups`` takes from some rows what links look up and
what they point to, in any process; ``Links`` looks it up, at once where the table pointed to has been seen, so that
only what dangles is kept, whatever the size of a table.

    python -m validators --benchmark heart
"""

from __future__ import annotations

import functools
from array import array
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from schemas.findings import Finding
from schemas.tables import Link, Row, Table

_SOURCE = "benchmark file"
_TEXT = {str}


Value = tuple[Any, ...]
"""What a link looks up: a value for each of its columns."""


Columns = tuple[str, ...]
Paths = tuple[Columns, ...]


@dataclass(frozen=True)
class Found:
    """Values in order: different ones, and for each value which of them it is and the id of its row."""

    different: list[Value] = field(default_factory=list)
    numbers: array[int] = field(default_factory=lambda: array("L"))
    rows: list[str] = field(default_factory=list)

    def without(self, known: Container[Value]) -> list[tuple[str, Value]]:
        """The values that are not among the known ones, each with the id of its row."""
        unknown = {number for number, value in enumerate(self.different) if value not in known}
        if not unknown:
            return []
        pairs = zip(self.rows, self.numbers, strict=True)
        return [(row_id, self.different[number]) for row_id, number in pairs if number in unknown]


@dataclass(frozen=True)
class Seen:
    """What some rows of a table hold: the values of linked columns; for each link of the table the values it looks up.

    ``unread`` is by link the first row whose columns hold something, none of which can be looked up.
    """

    targets: Mapping[Columns, Mapping[Value, str]]
    values: Sequence[Found]
    unread: Sequence[str | None]


@dataclass(frozen=True)
class Lookups:
    """What is taken from the rows of a table: the columns that links point to, and its own links."""

    targets: tuple[Columns, ...]
    links: tuple[Link, ...]

    def seen(self, rows: Sequence[tuple[str, Row]]) -> Seen:
        """What some rows hold, given with their ids."""
        targets = {
            columns: {
                value: row_id for row_id, row in rows for value in _values(row, tuple((column,) for column in columns))
            }
            for columns in self.targets
        }
        values, unread = [], []
        for link in self.links:
            found, first = _looked_up(link, rows)
            values.append(found)
            unread.append(first)
        return Seen(targets, values, unread)


def _looked_up(link: Link, rows: Sequence[tuple[str, Row]]) -> tuple[Found, str | None]:
    found = Found()
    numbers: dict[tuple[Any, ...], int] = {}
    unread: str | None = None
    for row_id, row in rows:
        values = _values(row, link.paths)
        for value in values:
            are_text = type(value[0]) is str and type(value[-1]) is str
            name = value if are_text else (value, *map(type, value))  # 1 and 1.0 are equal, and shown as they are
            number = numbers.get(name)
            if number is None:
                number = numbers[name] = len(found.different)
                found.different.append(value)
            found.numbers.append(number)
        found.rows.extend([row_id] * len(values))
        if not values and unread is None and all(_holds(row, path) for path in link.paths):
            unread = row_id
    return found, unread


@dataclass
class _Looked:
    """What is known of one link: values that wait for the other table, rows that dangle, values that were used.

    ``unread`` is the first row whose columns hold something, none of which can be looked up.
    """

    link: Link
    values: int = 0
    waiting: list[tuple[str, Value]] = field(default_factory=list)
    dangling: list[tuple[str, Value]] = field(default_factory=list)
    used: set[Value] = field(default_factory=set)
    unread: str | None = None


class Links:
    """Links between tables, checked while the tables go by."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = links
        self._looked = [_Looked(link) for link in links]
        self._targets: dict[tuple[str, tuple[str, ...]], dict[Value, str]] = {}  # (table, columns) -> value -> row id
        self._done: set[str] = set()
        for link in links:
            self._targets.setdefault((link.to_table, link.columns), {})

    def lookups(self, table: Table) -> Lookups:
        """What is to be taken from the rows of a table."""
        targets = tuple(columns for name, columns in self._targets if name == table.name)
        return Lookups(targets, tuple(link for link in self.links if link.table == table.name))

    def see(self, table: Table, seen: Seen) -> None:
        """Take what some rows of a table hold (``lookups``); ``close`` the table after its last row."""
        for columns, targets in seen.targets.items():
            self._targets[table.name, columns].update(targets)
        own = [looked for looked in self._looked if looked.link.table == table.name]
        for looked, values, unread in zip(own, seen.values, seen.unread, strict=True):
            self._look(looked, values, unread)

    def _look(self, looked: _Looked, values: Found, unread: str | None) -> None:
        link = looked.link
        known = self._targets[link.to_table, link.columns]
        unknown = looked.dangling if link.to_table in self._done else looked.waiting
        looked.values += len(values.rows)
        if link.both_ways:
            looked.used.update(values.different)
        unknown += values.without(known)
        looked.unread = looked.unread or unread

    def close(self, table: Table) -> None:
        """The table has been seen whole."""
        self._done.add(table.name)
        for looked in self._looked:
            if looked.link.to_table == table.name:
                known = self._targets[looked.link.to_table, looked.link.columns]
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
                yield link, looked.values, [*_dangling(looked), *_unread(looked), *reverse]

    def skipped(self) -> Iterator[tuple[Link, str]]:
        """Each link that could not be checked, with the table that is not there."""
        for looked in self._looked:
            absent = [name for name in (looked.link.table, looked.link.to_table) if name not in self._done]
            if absent:
                yield looked.link, absent[0]

    def values_of(self, table: str, column: str) -> frozenset[str]:
        """All values that a column links to on its own, as text; empty where it links to nothing that was seen."""
        found = [link for link in self.links if link.table == table and link.paths == ((column,),)]
        return frozenset(str(value) for link in found for (value,) in self._targets[link.to_table, link.columns])

    def _unreferenced(self, looked: _Looked) -> Iterator[Finding]:
        if not looked.link.both_ways:
            return
        link = looked.link
        for value, row_id in self._targets[link.to_table, link.columns].items():
            if value not in looked.used:
                message = f"is not named by any {link.table}.{link.field}"
                yield _finding("link.unreferenced", link.to_table, row_id, link.target, _shown(value), message)


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
        message = f"is no {link.target} of {link.to_table}"
        yield _finding("link.dangling", link.table, row_id, link.field, _shown(value), message)


def _unread(looked: _Looked) -> Iterator[Finding]:
    """A link that found nothing to look up, although its columns are not empty, has checked nothing."""
    if not looked.values and looked.unread is not None:
        message = f"holds no text and no number that could be a {looked.link.target} of {looked.link.to_table}"
        yield _finding("link.unread", looked.link.table, looked.unread, looked.link.field, None, message)


def _values(node: Any, paths: Paths) -> list[Value]:
    """The values at several paths, in the order of the paths, through every list on the way.

    Paths that pass through the same list take their values from the same item of it; where they part,
    every value of one stands with every value of the other. A null points to nothing.
    """
    found: list[Value] = []
    _add_values(node, paths, found)
    return found


def _add_values(node: Any, paths: Paths, found: list[Value]) -> None:
    if isinstance(node, dict) and paths != ((),):
        steps, order, names = _steps(paths)
        if names:  # nearly always, and nearly always texts
            values = tuple(map(node.get, names))
            if {*map(type, values)} == _TEXT:
                found.append(values)
                return
        if len(steps) == 1:
            _add_values(node.get(steps[0][0]), steps[0][1], found)
            return
        for combined in product(*[_values(node.get(step), rest) for step, rest in steps]):
            values = tuple([value for part in combined for value in part])
            found.append(tuple([values[place] for place in order]))
    elif isinstance(node, list):
        for item in node:
            _add_values(item, paths, found)
    elif paths == ((),) and isinstance(node, str | int | float) and not isinstance(node, bool):
        found.append((node,))


@functools.cache
def _steps(paths: Paths) -> tuple[tuple[tuple[str, Paths], ...], tuple[int, ...], Columns]:
    """The first steps of paths, each with the rest of those that take it; where the value of each path then stands.

    Last, the names of the steps where these are the only ones, one for each path.
    """
    parted: dict[str, list[int]] = {}
    for place, path in enumerate(paths):
        parted.setdefault(path[0], []).append(place)
    steps = tuple((step, tuple(paths[place][1:] for place in places)) for step, places in parted.items())
    order = [place for places in parted.values() for place in places]
    are_last = len(steps) == len(paths) and all(rest == ((),) for _, rest in steps)
    return steps, tuple(order.index(place) for place in range(len(paths))), tuple(parted) if are_last else ()


def _holds(node: Any, path: Sequence[str]) -> bool:
    """Whether anything but null stands at a path."""
    if isinstance(node, list):
        return any(_holds(item, path) for item in node)
    if path:
        return isinstance(node, dict) and _holds(node.get(path[0]), path[1:])
    return node is not None


def _shown(value: Value) -> str:
    return "/".join(str(part) for part in value)


def _finding(code: str, table: str, row_id: str, column: str | None, text: str | None, message: str) -> Finding:
    return Finding(code, table, row_id, column, "error", None, text, message, _SOURCE)
