"""Near-duplicates of a table in shards: rows of one window come together, and ids that several rows carry are known.

What is compared, and what is found, is ``audits.duplicates.near_duplicates``' alone.

    python -m audits.duplicates --benchmark heart --rows s3://lab/memories --engine local
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from audits.duplicates.near_duplicates import THRESHOLD, Scope, of_windows, slim, window_of
from audits.subjects import Subject, subjects
from schemas.derived import completed
from schemas.engines.choice import Engine
from schemas.engines.groups import Groups, Partitions
from schemas.engines.shards import Shard
from schemas.findings import Finding, in_order
from schemas.tables import Table

IDS, WINDOWS = "ids", "windows"

Numbered = tuple[int, Shard]
"""A part of a table, and which part it is."""


def find_duplicates(
    table: Table, scope: Scope, shards: Sequence[Shard], engine: Engine, scratch: str, threshold: float = THRESHOLD
) -> tuple[int, list[Finding]]:
    """How many rows have text, and a finding for each row to drop, in order."""
    partitions = Partitions.of(scratch, sum(shard.rows for shard in shards))
    compared = sum(engine.map(partial(_take, table, scope, partitions), list(enumerate(shards))))
    twice = frozenset(repeated_ids(partitions, engine, len(shards)))
    return compared, in_order(duplicates(scope, partitions, engine, len(shards), twice, threshold))


def take_ids(read: Sequence[Subject], partitions: Partitions, number: int) -> None:
    """Put the ids of rows, with their places, to their partitions."""
    partitions.write(IDS, number, ((each.id, each.place) for each in read))


def take_windows(read: Sequence[Subject], scope: Scope, partitions: Partitions, number: int) -> int:
    """Put what is compared of rows to its partitions; how many rows have text."""
    slimmed = [(each, row) for each in read if (row := slim(each, scope)) is not None]
    named = (("\n".join(window_of(each, scope)), [each.place, each.id, row]) for each, row in slimmed)
    partitions.write(WINDOWS, number, named)
    return len(slimmed)


def repeated_ids(partitions: Partitions, engine: Engine, parts: int) -> dict[str, list[int]]:
    """The ids that several rows carry, each with the places of these rows."""
    return dict(pair for some in partitions.map(engine, IDS, _repeated, parts) for pair in some)


def duplicates(
    scope: Scope,
    partitions: Partitions,
    engine: Engine,
    parts: int,
    twice: frozenset[str],
    threshold: float = THRESHOLD,
) -> list[Finding]:
    """The findings of all windows."""
    task = partial(_duplicates, scope, twice, threshold)
    return [finding for some in partitions.map(engine, WINDOWS, task, parts) for finding in some]


def _take(table: Table, scope: Scope, partitions: Partitions, numbered: Numbered) -> int:
    number, shard = numbered
    read = subjects(scope.table, scope.key, completed(table, shard.read()), shard.first)
    take_ids(read, partitions, number)
    return take_windows(read, scope, partitions, number)


def _repeated(groups: Groups) -> list[tuple[str, list[int]]]:
    return [(row_id, places) for row_id, places in groups.items() if len(places) > 1]


def _duplicates(scope: Scope, twice: frozenset[str], threshold: float, groups: Groups) -> list[Finding]:
    windows = [[Subject(scope.table, row_id, row, place) for place, row_id, row in rows] for rows in groups.values()]
    return of_windows([window for window in windows if len(window) > 1], scope, twice, threshold=threshold)
