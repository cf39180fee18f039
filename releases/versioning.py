"""What a difference between two releases calls for: a new major, minor or patch version, and new scores.

``RULES`` are all there are, and the table of ``docs/releases.md`` is written from them. There is no looser rule below
1.0.0. ``releases.roles`` says which columns are what, ``releases.checking.prompts`` which added rows are harmless.

    python -m releases.versioning
    python -m releases.versioning --check
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from releases.checking.prompts import feeds, harmless_additions
from releases.comparing import Diff, TableDiff, diff
from releases.opening import Release
from releases.roles import ColumnRole, TableRoles, roles_of_both
from schemas.docs.generated import command as generated
from schemas.docs.generated import markdown_table
from schemas.errors import RequestError
from schemas.release_names import Name, Version

Level = Literal["major", "minor", "patch"]

PAGE = Path("docs/releases.md")
_BEGIN, _END = "<!-- python -m releases.versioning -->", "<!-- end -->"


@dataclass(frozen=True)
class Rule:
    """A kind of difference, and the least step in version that it calls for."""

    level: Level
    what: str


RULES = {
    "gold": Rule("major", "gold changed (`mcq_keys.answer`, `decisions.final_decision`, …)"),
    "question": Rule("major", "anything changed that a model is shown, or that decides what it is shown"),
    "feeds": Rule("major", "rows added to a table that feeds prompts: a memory more can change what is retrieved"),
    "removed": Rule("major", "rows of questions, keys or shown tables removed"),
    "gone": Rule("major", "a table or a column removed, a column retyped, another key"),
    "harmless": Rule(
        "minor",
        "rows added to a table that feeds prompts, where they belong to other questions than were there, or the "
        "ready-to-use configurations show the same for all of these",
    ),
    "added": Rule("minor", "questions, keys or gold added, rows of records added or removed"),
    "new": Rule("minor", "a table or a column added"),
    "metadata": Rule("patch", "provenance, review status, annotators' references"),
    "card": Rule("patch", "card, licence, date: the tables are equal"),
}


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


def required(found: Diff, roles: Mapping[str, TableRoles], harmless: Collection[str] = ()) -> Change:
    """The least change of version for a difference; a patch when the tables are equal.

    ``harmless`` are the tables whose added rows are shown to change no prompt (``harmless_additions``).
    """
    reasons = [reason for table in found.tables for reason in _reasons(table, roles[table.name], harmless)]
    for level in ("major", "minor"):
        if any(RULES[rule].level == level for rule, _ in reasons):
            return Change(level, tuple(text for _, text in reasons))
    return Change(
        RULES["card"].level, tuple(text for _, text in reasons) or ("tables are equal; card or metadata only",)
    )


def required_between(before: Release, after: Release) -> Change:
    """The least change of version from one release to another."""
    found, roles = diff(before, after), roles_of_both(before, after)
    return required(found, roles, harmless_additions(found, before, after, roles))


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


def _reasons(table: TableDiff, roles: TableRoles, harmless: Collection[str]) -> list[tuple[str, str]]:
    """The rules that a table's differences fall under, each with the difference in words; the largest step first."""
    name = table.name
    if table.rows[1] is None:
        return [("gone", f"table {name} is gone")]
    if table.rows[0] is None:
        return [("new", f"table {name} is new, {table.rows[1]:,} rows")]
    if table.rekeyed:
        return [("gone", f"{name} has another key")]
    made: list[tuple[str, str]] = []
    for column, (old, new) in table.columns.items():
        made.append(("new" if old is None else "gone", f"{name}.{column}: {old or 'absent'} -> {new or 'absent'}"))
    if table.removed:
        made.append(("added" if roles.role == "record" else "removed", f"{name}: {len(table.removed):,} rows removed"))
    if table.added:
        made.append(_added(table, roles, harmless))
    for column, count in table.by_field().items():
        role = roles.of(column)
        made.append((role, f"{name}.{column} ({role}): {count:,} rows changed"))
    order = {"major": 0, "minor": 1, "patch": 2}
    return sorted(made, key=lambda reason: order[RULES[reason[0]].level])


def _added(table: TableDiff, roles: TableRoles, harmless: Collection[str]) -> tuple[str, str]:
    words = f"{table.name}: {len(table.added):,} rows added"
    if not feeds(roles):
        return "added", words
    if table.name in harmless:
        return "harmless", f"{words}; prompts of the questions that were there are the same"
    return "feeds", f"{words}, which can change what the questions that were there show"


def _ids(table: TableDiff, roles: Mapping[str, TableRoles], role: ColumnRole) -> list[str]:
    own = roles[table.name]
    return [row_id for row_id, fields in table.changed.items() if own.with_role(fields, role)]


def _changes_questions(table: TableDiff, roles: Mapping[str, TableRoles]) -> bool:
    if roles[table.name].role == "record":
        return False
    changed = table.added or table.removed or table.columns or table.rekeyed or _ids(table, roles, "question")
    return bool(changed)


def document() -> str:
    """The page of releases with its table of rules as they are."""
    before, _, rest = PAGE.read_text("utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    lines = markdown_table(("what changes", "at least"), [(rule.what, rule.level) for rule in RULES.values()])
    return "\n".join([f"{before}{_BEGIN}", "", *lines, "", f"{_END}{after}"])


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the table of ``docs/releases.md``; returns the exit code."""
    return generated("releases.versioning", "Write the table of versions in docs/releases.md.", PAGE, document, argv)


if __name__ == "__main__":
    raise SystemExit(main())
