"""What a difference between two releases calls for: a new major, minor or patch version, and new scores.

Gold or a question changed, or anything removed: major. Rows, columns or tables added: minor. Card and
metadata: patch. There is no looser rule below 1.0.0. Which columns are what stands in ``columns.toml``.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from schemas.errors import RequestError
from schemas.release_names import Name, Version

if TYPE_CHECKING:
    from releases.diff import Diff, TableDiff

Level = Literal["major", "minor", "patch"]
Role = Literal["gold", "question", "metadata"]

_RULES = Path(__file__).with_name("columns.toml")


@dataclass(frozen=True)
class Change:
    """The least step in version that a difference calls for, and why, in words."""

    level: Level
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Effect:
    """What a difference does to an evaluation: its denominators, and which questions can still be compared."""

    before: int
    after: int
    added: int
    removed: int
    gold_changed: int
    question_changed: int
    comparable: int
    context: tuple[str, ...]

    @classmethod
    def of(cls, found: Diff, before: Any, after: Any) -> Effect:
        """The effect of a difference between two releases."""
        tables = {table.name: table for table in found.tables}
        keyed = {*_rules()["questions"], *_rules()["gold_of"]}
        asked = [tables[name] for name in _rules()["questions"] if name in tables]
        gold = {row_id for name in _rules()["gold_of"] if name in tables for row_id in _ids(tables[name], "gold")}
        added = {row_id for table in asked for row_id in table.added}
        removed = {row_id for table in asked for row_id in table.removed}
        worded = {row_id for table in asked for row_id in _ids(table, "question")} - gold
        left = sum(before.tables.get(table.name, 0) for table in asked) - len(removed)
        return cls(
            before=sum(before.tables.get(table.name, 0) for table in asked),
            after=sum(after.tables.get(table.name, 0) for table in asked),
            added=len(added),
            removed=len(removed),
            gold_changed=len(gold),
            question_changed=len(worded),
            comparable=left - len(gold) - len(worded),
            context=tuple(t.name for t in found.tables if t.name not in keyed and _touches(t, "question")),
        )

    def as_dict(self) -> dict[str, Any]:
        """The record that ``--json`` carries."""
        return {
            "questions": {"before": self.before, "after": self.after, "added": self.added, "removed": self.removed},
            "gold_changed": self.gold_changed,
            "question_changed": self.question_changed,
            "comparable": self.comparable,
            "context_changed": list(self.context),
        }

    def lines(self) -> list[str]:
        """The effect in words."""
        told = [
            f"evaluation: {self.before:,} -> {self.after:,} questions "
            f"({self.added:,} added, {self.removed:,} removed); {self.gold_changed:,} with another gold, "
            f"{self.question_changed:,} worded otherwise, {self.comparable:,} unchanged"
        ]
        if self.context:
            told.append(f"also changed is what models are shown with them: {', '.join(self.context)}")
        return told


def roles(table: str, columns: Iterable[str]) -> dict[str, Role]:
    """What each column of a table is: gold, metadata, or else part of the question."""
    rules = _rules()
    if table in rules["records"]:
        return dict.fromkeys(columns, "metadata")
    gold = set(rules["gold"].get(table, ()))
    metadata = {*rules["metadata"]["every"], *rules["metadata"].get(table, ())}
    return {c: "gold" if c in gold else "metadata" if c in metadata else "question" for c in columns}


def required(found: Diff) -> Change:
    """The least change of version for a difference; a patch when the tables are equal."""
    reasons: list[tuple[Level, str]] = [reason for table in found.tables for reason in _reasons(table)]
    for level in ("major", "minor"):
        if any(given == level for given, _ in reasons):
            return Change(level, tuple(text for _, text in reasons))
    return Change("patch", tuple(text for _, text in reasons) or ("tables are equal; card or metadata only",))


def demand(name: Name, parent: Name, change: Change) -> None:
    """Raise RequestError when a version is too small a step from its parent for what changed."""
    least = _least(parent.version, change.level)
    if name.version < least:
        raise RequestError(
            f"{name} is too small a step from {parent}",
            expected=f"a {change.level} version, because {change.reasons[0]}",
            mend=f"Freeze it as {Name(name.benchmark, least)}",
        )


def _least(parent: Version, level: Level) -> Version:
    if level == "major":
        return Version(parent.major + 1, 0, 0)
    if level == "minor":
        return Version(parent.major, parent.minor + 1, 0)
    return Version(parent.major, parent.minor, parent.patch + 1)


def _reasons(table: TableDiff) -> list[tuple[Level, str]]:
    name = table.name
    if table.rows[1] is None:
        return [("major", f"table {name} is gone")]
    if table.rows[0] is None:
        return [("minor", f"table {name} is new, {table.rows[1]:,} rows")]
    if table.rekeyed:
        return [("major", f"{name} has another key")]
    made: list[tuple[Level, str]] = []
    step: Level
    for column, (old, new) in table.columns.items():
        step = "minor" if old is None else "major"
        made.append((step, f"{name}.{column}: {old or 'absent'} -> {new or 'absent'}"))
    if table.removed:
        step = "minor" if name in _rules()["records"] else "major"
        made.append((step, f"{name}: {len(table.removed):,} rows removed"))
    if table.added:
        made.append(("minor", f"{name}: {len(table.added):,} rows added"))
    for column, count in table.by_field().items():
        role = roles(name, [column])[column]
        made.append(("patch" if role == "metadata" else "major", f"{name}.{column} ({role}): {count:,} rows changed"))
    order = {"major": 0, "minor": 1, "patch": 2}
    return sorted(made, key=lambda reason: order[reason[0]])


def _ids(table: TableDiff, role: Role) -> list[str]:
    return [row_id for row_id, fields in table.changed.items() if role in roles(table.name, fields).values()]


def _touches(table: TableDiff, role: Role) -> bool:
    if table.name in _rules()["records"]:
        return False
    return bool(table.added or table.removed or table.columns or table.rekeyed or _ids(table, role))


@functools.cache
def _rules() -> dict[str, Any]:
    return tomllib.loads(_RULES.read_text("utf-8"))
