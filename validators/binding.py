"""Which tables of a benchmark a crossing or a figure is about: they name records, tables have names of their own.

Where several tables have a record, the one that is meant is the one the table links to.
"""

from __future__ import annotations

from collections.abc import Iterable

from schemas.benchmarks import Benchmark
from schemas.tables import Table


def tables_by_record(benchmark: Benchmark, own: Table, records: Iterable[str]) -> dict[str, str] | None:
    """The table of each record, ``own`` being that of its record; None where the benchmark lacks one of them.

    Where a record has several tables and links do not say which, it counts as lacking.
    """
    found = {own.record: own.name}
    for record in records:
        if record not in found:
            named = _tables(benchmark, own, record)
            if len(named) != 1:
                return None
            found[record] = named[0]
    return found


def _tables(benchmark: Benchmark, own: Table, record: str) -> list[str]:
    named = [table.name for table in benchmark.tables.values() if table.record == record and table.shipped]
    ends = {frozenset((link.table, link.to_table)) for link in benchmark.links}
    return named if len(named) < 2 else [name for name in named if frozenset((name, own.name)) in ends]
