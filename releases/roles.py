"""What a column means for whoever evaluates on a release: the right answer, part of the question, or neither.

- gold: the right answer, or what a judge compares an answer with. A change is major
- metadata: how a row came to be; no prompt and no score is made of it. A change is a patch
- question: every other column, what a model is shown or what decides which of it is shown. A change is
  major. Forgetting to list a column errs on the safe side

A benchmark's file says which columns are what, and the manifest of a release keeps it, so that two
releases are compared without the folder of their benchmark. Releases of manifest version 1 do not say it:
theirs is what the shipped benchmark of that name says today.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from releases.manifest import Manifest
from releases.opening import Release
from schemas.benchmarks import benchmark, benchmark_names
from schemas.tables import Table

ColumnRole = Literal["gold", "question", "metadata"]

ALWAYS_METADATA = ("provenance", "published")


@dataclass(frozen=True)
class TableRoles:
    """The role of a table, its columns of gold and of metadata, and the questions its gold belongs to."""

    role: str = "shown"
    gold: frozenset[str] = frozenset()
    metadata: frozenset[str] = frozenset()
    gold_of: str | None = None

    @classmethod
    def of_table(cls, table: Table) -> TableRoles:
        """What a benchmark's file says of a table."""
        return cls(table.role, frozenset(table.gold), frozenset(table.metadata), table.gold_of)

    def of(self, column: str) -> ColumnRole:
        """What a column is."""
        if self.role == "record" or (column in {*self.metadata, *ALWAYS_METADATA} and column not in self.gold):
            return "metadata"
        return "gold" if column in self.gold else "question"

    def with_role(self, columns: Iterable[str], role: ColumnRole) -> list[str]:
        """The columns that have a role."""
        return [column for column in columns if self.of(column) == role]


def as_entry(table: Table) -> dict[str, Any]:
    """What the manifest keeps of a table: its record where that is a shipped one, and what its columns are."""
    return {
        "record": table.record if table.shipped else None,
        "role": table.role,
        "gold": list(table.gold),
        "gold_of": table.gold_of,
        "metadata": list(table.metadata),
    }


def records(manifest: Manifest) -> dict[str, str | None]:
    """The shipped record schema of every table of a release; None for one of the benchmark's own."""
    return {name: entry.get("roles", {"record": name})["record"] for name, entry in manifest["tables"].items()}


def roles_of(release: Release) -> dict[str, TableRoles]:
    """The roles of every table of a release."""
    return {name: _roles(release, name) for name in release.tables}


def roles_of_both(before: Release, after: Release) -> dict[str, TableRoles]:
    """The roles of the tables of two releases. Where they differ a column is what costs the larger step."""
    old, new = roles_of(before), roles_of(after)
    both = {name: _stricter(old[name], new[name]) for name in old.keys() & new.keys()}
    return {**old, **new, **both}


def _roles(release: Release, name: str) -> TableRoles:
    entry: Mapping[str, Any] | None = release.manifest["tables"][name].get("roles")
    if entry is None:
        known = release.name.benchmark in benchmark_names()
        tables = benchmark(release.name.benchmark).tables if known else {}
        return TableRoles.of_table(tables[name]) if name in tables else TableRoles()
    return TableRoles(entry["role"], frozenset(entry["gold"]), frozenset(entry["metadata"]), entry["gold_of"])


def _stricter(one: TableRoles, other: TableRoles) -> TableRoles:
    if "record" in (one.role, other.role) and one.role != other.role:
        return other if one.role == "record" else one
    gold, metadata = one.gold | other.gold, one.metadata & other.metadata
    return TableRoles(other.role, gold, metadata, other.gold_of or one.gold_of)


def carries_canary(roles: Mapping[str, Any]) -> bool:
    """Whether the rows of a table with these roles hold questions, keys or gold."""
    return roles["role"] in ("questions", "keys") or bool(roles["gold"])
