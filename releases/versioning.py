"""What a difference between two releases calls for: a new major, minor or patch version, and new scores.

Gold or a question changed, or anything removed: major. Rows, columns or tables added: minor. Card and
metadata: patch. There is no looser rule below 1.0.0. ``releases.roles`` says which columns are what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from releases.comparing import Diff, TableDiff
from releases.opening import Release
from releases.roles import ColumnRole, TableRoles
from schemas.errors import RequestError
from schemas.release_names import Name, Version

Level = Literal["major", "minor", "patch"]


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
    def of(cls, found: Diff, before: Release, after: Release, roles: Mapping[str, TableRoles]) -> Effect:
        """The effect of a difference between two releases."""
        tables = {table.name: table for table in found.tables}
        asked = [table for name, table in tables.items() if roles[name].role == "questions"]
        answering = [table for name, table in tables.items() if roles[name].gold_of]
        gold = {row_id for table in answering for row_id in _ids(table, roles, "gold")}
        added = {row_id for table in asked for row_id in table.added}
        removed = {row_id for table in asked for row_id in table.removed}
        worded = {row_id for table in asked for row_id in _ids(table, roles, "question")} - gold
        left = sum(before.tables.get(table.name, 0) for table in asked) - len(removed)
        others = [table for table in found.tables if table not in asked and table not in answering]
        return cls(
            before=sum(before.tables.get(table.name, 0) for table in asked),
            after=sum(after.tables.get(table.name, 0) for table in asked),
            added=len(added),
            removed=len(removed),
            gold_changed=len(gold),
            question_changed=len(worded),
            comparable=left - len(gold) - len(worded),
            context=tuple(table.name for table in others if _changes_questions(table, roles)),
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
        summary = [
            f"evaluation: {self.before:,} -> {self.after:,} questions "
            f"({self.added:,} added, {self.removed:,} removed); {self.gold_changed:,} with another gold, "
            f"{self.question_changed:,} worded otherwise, {self.comparable:,} unchanged"
        ]
        if self.context:
            summary.append(f"also changed is what models are shown with them: {', '.join(self.context)}")
        return summary


def required(found: Diff, roles: Mapping[str, TableRoles]) -> Change:
    """The least change of version for a difference; a patch when the tables are equal."""
    reasons: list[tuple[Level, str]] = [
        reason for table in found.tables for reason in _reasons(table, roles[table.name])
    ]
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
            fix=f"Freeze it as {Name(name.benchmark, least)}",
        )


def _least(parent: Version, level: Level) -> Version:
    if level == "major":
        return Version(parent.major + 1, 0, 0)
    if level == "minor":
        return Version(parent.major, parent.minor + 1, 0)
    return Version(parent.major, parent.minor, parent.patch + 1)


def _reasons(table: TableDiff, roles: TableRoles) -> list[tuple[Level, str]]:
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
        step = "minor" if roles.role == "record" else "major"
        made.append((step, f"{name}: {len(table.removed):,} rows removed"))
    if table.added:
        made.append(("minor", f"{name}: {len(table.added):,} rows added"))
    for column, count in table.by_field().items():
        role = roles.of(column)
        made.append(("patch" if role == "metadata" else "major", f"{name}.{column} ({role}): {count:,} rows changed"))
    order = {"major": 0, "minor": 1, "patch": 2}
    return sorted(made, key=lambda reason: order[reason[0]])


def _ids(table: TableDiff, roles: Mapping[str, TableRoles], role: ColumnRole) -> list[str]:
    own = roles[table.name]
    return [row_id for row_id, fields in table.changed.items() if own.with_role(fields, role)]


def _changes_questions(table: TableDiff, roles: Mapping[str, TableRoles]) -> bool:
    if roles[table.name].role == "record":
        return False
    changed = table.added or table.removed or table.columns or table.rekeyed or _ids(table, roles, "question")
    return bool(changed)
