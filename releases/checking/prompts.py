"""Which tables got rows that no question that was there before can show.

A memory more can change what every question retrieves. Rows added to a table that feeds prompts are harmless where
that is shown: they belong to other questions (the columns that they share with questions name none that was there), or
every ready-to-use configuration that reads the table has the same rows for all questions that were there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from releases.comparing import Diff, TableDiff
from releases.opening import Release
from releases.parquet import read_batches
from releases.roles import TableRoles
from schemas.tables import Row


def harmless_additions(found: Diff, before: Release, after: Release, roles: Mapping[str, TableRoles]) -> frozenset[str]:
    """The tables whose added rows are shown to change no prompt of a question that was there."""
    fed = [table for table in found.tables if table.added and table.rows[0] is not None and feeds(roles[table.name])]
    if not fed:
        return frozenset()
    asked = [name for name in before.tables if roles[name].role == "questions"]
    questions = {name: list(before.rows(name)) for name in asked}
    steady = _steady_tables(before, after)
    return frozenset(
        table.name
        for table in fed
        if table.name in steady or (asked and all(_are_of_others(table, after, questions[name]) for name in asked))
    )


def feeds(roles: TableRoles) -> bool:
    """Whether rows of a table stand in prompts, or decide what stands there, without being questions or answers."""
    return roles.role == "shown" and not roles.gold


def _are_of_others(table: TableDiff, after: Release, questions: Collection[Row]) -> bool:
    """Whether the rows that were added name, by columns that questions have too, none that was there."""
    key = after.key(table.name)
    keys = {column for name in after.tables for column in after.key(name)}
    shared = [c for c in after.schema(table.name).names if c in keys and questions and c in next(iter(questions))]
    if not shared:
        return not questions
    there = {tuple(row[column] for column in shared) for row in questions}
    added = {*table.added}
    rows = (row for row in after.rows(table.name) if "/".join(str(row[column]) for column in key) in added)
    return all(tuple(row[column] for column in shared) not in there for row in rows)


def _steady_tables(before: Release, after: Release) -> set[str]:
    """The tables that some configuration reads, and every one that does has its old rows unchanged."""
    old, new = before.manifest.get("configs", {}), after.manifest.get("configs", {})
    steady: set[str] = set()
    moved: set[str] = set()
    for name, entry in old.items():
        same = name in new and all(entry[part] == new[name][part] for part in ("sql", "needs"))
        kept = same and _has_old_rows(_rows(before, entry), _rows(after, new[name]))
        (steady if kept else moved).update(entry["needs"])
    return steady - moved


def _rows(release: Release, entry: Mapping[str, Any]) -> dict[Any, Row]:
    """The rows of a configuration by their first column."""
    batches = read_batches([release.folder / file["path"] for file in entry["files"]])
    return {next(iter(row.values())): row for batch in batches for row in batch.to_pylist()}


def _has_old_rows(old: Mapping[Any, Row], new: Mapping[Any, Row]) -> bool:
    return all(name not in new or new[name] == row for name, row in old.items())
