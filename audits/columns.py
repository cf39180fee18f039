"""Dotted paths to the columns of a table: checked against its record schema, followed through lists.

``sources.character_id`` of ``mcq_keys`` is the character of each of a question's four sources. For
the audits that measure any column: ``audits.evenness`` and ``audits.diversity``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.errors import unknown
from schemas.tables import Row


@dataclass(frozen=True)
class Column:
    """A column that ends in values: its path, its node in the record schema, whether lists lie on the way."""

    path: str
    node: Mapping[str, Any]
    in_list: bool

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        """The closed list its values come from, if there is one."""
        return tuple(term for term in self.node["enum"] if term is not None) if "enum" in self.node else None

    def values(self, row: Row) -> Iterator[Any]:
        """The column's values in a row: one, or as many as the lists on the way hold."""
        return _values(row, self.path.split("."))


def columns(schema: Mapping[str, Any]) -> dict[str, Column]:
    """The columns of a record schema by path."""
    return {column.path: column for column in _leaves(schema, "", False)}


def column(path: str, schema: Mapping[str, Any]) -> Column:
    """One column; an unknown path, and one that ends in an object, raises with the nearest columns."""
    known = columns(schema)
    if path not in known:
        raise unknown("column", path, known, f"table {schema['$id']}")
    return known[path]


def _leaves(node: Mapping[str, Any], path: str, in_list: bool) -> Iterator[Column]:
    while "items" in node:
        node, in_list = node["items"], True
    if "properties" not in node:
        yield Column(path, node, in_list)
    for name, child in node.get("properties", {}).items():
        yield from _leaves(child, f"{path}.{name}" if path else name, in_list)


def _values(value: Any, parts: Sequence[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _values(item, parts)
    elif not parts or value is None:
        yield value
    elif isinstance(value, Mapping):
        yield from _values(value.get(parts[0]), parts[1:])
    else:
        yield None  # of another type than the record schema says
