"""What checks need of some rows of a table, taken from the rows and let go: the part that any process can do.

Rows against their record schema, the values of links and of linked columns, the columns that rules and figures read,
rows for each value of a counted column. ``validators.checks`` puts the parts of a table together again, in order.

    python -m validators --benchmark heart --engine local --processes 8
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.engines.shards import Shard
from schemas.findings import Finding
from schemas.tables import Row, Table
from validators.links import Lookups, Seen
from validators.records import examine, row_name

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Reading:
    """What is wanted of a table's rows: columns, links, columns whose values are counted.

    ``may_lack`` are columns a row may be without; ``judged`` is whether rows that break their schema are findings.
    """

    table: Table
    columns: frozenset[str]
    lookups: Lookups
    may_lack: frozenset[str]
    judged: bool


@dataclass(frozen=True)
class Part:
    """What some rows hold: how many there are and break their schema; of the others the columns, of all the links."""

    rows: int
    failed: int
    findings: list[Finding]
    columns: pa.Table
    seen: Seen
    per: Mapping[str, Counter[str]]


def read_shard(reading: Reading, shard: Shard) -> Part:
    """The part of a shard."""
    return read_rows(reading, shard.read(), shard.first + 1)


def read_rows(reading: Reading, rows: Sequence[Row], first: int) -> Part:
    """The part of some rows, the first of which stands at ``first``, from 1, in its table."""
    from validators.frames import columns_of

    table = reading.table
    broken = dict(examine(table, rows, first, reading.may_lack))
    named = [(row_name(table, row, place), row) for place, row in enumerate(rows, first) if isinstance(row, dict)]
    return Part(
        rows=len(rows),
        failed=len(broken),
        findings=[finding for found in broken.values() for finding in found] if reading.judged else [],
        columns=columns_of(table, reading.columns, [row for at, row in enumerate(rows) if at not in broken]),
        seen=reading.lookups.seen(named),
        per={column: Counter(str(row.get(column)) for _, row in named) for column in table.rows_per or {}},
    )


def sums(parts: Iterable[Mapping[str, Counter[str]]]) -> dict[str, Counter[str]]:
    """The counts of several parts together."""
    made: dict[str, Counter[str]] = {}
    for part in parts:
        for column, values in part.items():
            made.setdefault(column, Counter()).update(values)
    return made
