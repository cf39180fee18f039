"""Two releases beside each other, by table, row and field.

Two tables whose content digests agree are equal and are not read. The others are read side by side
in order of key, a row group of each in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from releases.content import columns
from releases.opening import Release
from schemas.tables import Row

Key = tuple[Any, ...]


@dataclass
class TableDiff:
    """A table in two releases; ids join the key columns with ``/``. ``rows`` is None where there is no such table."""

    name: str
    rows: tuple[int | None, int | None]
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)
    columns: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    rekeyed: bool = False

    @property
    def same(self) -> bool:
        """Nothing differs."""
        return not (self.added or self.removed or self.changed or self.columns or self.rekeyed)

    def by_field(self) -> dict[str, int]:
        """Changed rows by the field that changed, most first."""
        return dict(Counter(name for names in self.changed.values() for name in names).most_common())


@dataclass(frozen=True)
class Diff:
    """All tables of two releases."""

    tables: tuple[TableDiff, ...]

    @property
    def same(self) -> bool:
        """The two say the same."""
        return all(table.same for table in self.tables)


def diff(before: Release, after: Release) -> Diff:
    """What ``after`` says that ``before`` does not, and the other way round."""
    names = [*before.tables, *(name for name in after.tables if name not in before.tables)]
    return Diff(tuple(_table(before, after, name) for name in names))


def compare_rows(made: TableDiff, key: tuple[str, ...], before: Iterator[Row], after: Iterator[Row]) -> None:
    """Put the differences of two streams of rows, both strictly ascending by ``key``, into ``made``."""
    old, new = next(before, None), next(after, None)
    while old is not None or new is not None:
        old_key = None if old is None else tuple(old[column] for column in key)
        new_key = None if new is None else tuple(new[column] for column in key)
        if new is None or (old_key is not None and new_key is not None and old_key < new_key):
            made.removed.append(_id(old_key))
            old = next(before, None)
        elif old is None or (old_key is not None and new_key is not None and new_key < old_key):
            made.added.append(_id(new_key))
            new = next(after, None)
        else:
            if old != new:
                shared = [name for name in old if name in new and old[name] != new[name]]
                if shared:
                    made.changed[_id(new_key)] = shared
            old, new = next(before, None), next(after, None)


def _table(before: Release, after: Release, name: str) -> TableDiff:
    made = TableDiff(name, (before.tables.get(name), after.tables.get(name)))
    if name not in before.tables or name not in after.tables:
        present = after if name in after.tables else before
        ids = [_id(tuple(row[column] for column in present.key(name))) for row in present.keys_of(name)]
        (made.added if present is after else made.removed).extend(ids)
        return made
    old, new = before.manifest["tables"][name], after.manifest["tables"][name]
    if all(old[part] == new[part] for part in ("key", "schema_digest", "content_digest")):
        return made
    made.columns = _columns(columns(before.schema(name)), columns(after.schema(name)))
    made.rekeyed = old["key"] != new["key"]
    if made.rekeyed:
        made.removed.extend(_id(tuple(row.values())) for row in before.keys_of(name))
        made.added.extend(_id(tuple(row.values())) for row in after.keys_of(name))
    else:
        compare_rows(made, after.key(name), before.rows(name), after.rows(name))
    return made


def _columns(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    names = [*old, *(name for name in new if name not in old)]
    return {name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)}


def _id(key: Key | None) -> str:
    return "/".join(str(part) for part in key or ())
