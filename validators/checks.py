"""All checks of a benchmark's tables, in one pass over the rows of each.

Table by table, in order of dependency: rows against the record schema, links looked up as they go
by, the columns that rules and figures need gathered; then rules, crossings, expected counts. Rows
are read in chunks and let go, so a table has to fit into memory only by those columns. Rows that
break their schema are reported for that, and take no further part, except that links may point to
them.

    report = check(benchmark("heart"), {"characters": rows, "memories": more_rows})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from schemas.benchmarks import Benchmark
from schemas.findings import Finding, in_order
from schemas.tables import Row, Table
from validators import separation as apart
from validators.links import Links, counted
from validators.records import examine, row_name
from validators.report import Check, Report, Skipped

if TYPE_CHECKING:
    import polars as pl

    from validators.frames import Crossing, Rule

_CHUNK = 2048


def check(
    benchmark: Benchmark,
    tables: Mapping[str, Iterable[Row]],
    only: Collection[str] | None = None,
    *,
    separation: float = apart.THRESHOLD,
    partial: bool = False,
) -> Report:
    """Run every check on the tables given, or on those in ``only`` (the others are what they link to).

    Each iterable is read once. ``separation`` is the least l-infinity distance of two Big Five
    vectors. ``partial`` says that the tables are parts, of themselves and of the benchmark: expected
    counts do not apply, and tables that are not given are not missed.
    Raises RequestError for a table that the benchmark does not have.
    """
    for name in (*tables, *(only or ())):
        benchmark.table(name)
    wanted = only if only is not None else tables if partial else benchmark.tables
    run = _Run(benchmark, frozenset(wanted), frozenset(tables), partial)
    for table in benchmark.tables.values():
        if table.name in tables and table.name in run.needed():
            run.read(table, tables[table.name])
    run.missing()
    run.links_and_counts()
    run.rules()
    run.crossings()
    run.figures(separation)
    findings = tuple(in_order(run.findings))
    return Report(benchmark.name, run.seen, tuple(run.checks), tuple(run.skipped), findings, run.reports)


@dataclass
class _Run:
    """One validation on its way."""

    benchmark: Benchmark
    wanted: frozenset[str]
    present: frozenset[str]
    partial: bool
    seen: dict[str, int] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    reports: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from validators.distributions import distributions
        from validators.rules import crossings_of, rules_of

        mine = [table for name, table in self.benchmark.tables.items() if name in self.wanted]
        self._links = Links([link for link in self.benchmark.links if link.table in self.wanted])
        self._rules: dict[str, tuple[Rule, ...]] = {table.name: rules_of(table) for table in mine}
        # A part of a table says nothing about what another table lacks.
        about = self.wanted if self.partial else frozenset(self.benchmark.tables)
        self._crossings: list[Crossing] = [
            crossing
            for table in mine
            for crossing in crossings_of(table)
            if crossing.table in about and crossing.reads.keys() <= self.benchmark.tables.keys()
        ]
        self._distributions = [
            each
            for each in distributions()
            if next(iter(each.reads)) in self.wanted and set(each.reads) <= self.present
        ]
        self._reads = [each.reads for each in self._crossings] + [each.reads for each in self._distributions]
        self._frames: dict[str, pl.DataFrame] = {}
        self._per: dict[str, dict[str, Counter[str]]] = {}

    def needed(self) -> set[str]:
        """The tables to read: those wanted, and those that their links and crossings name."""
        linked = {link.to_table for link in self._links.links}
        crossed = {name for reads in self._reads for name in reads}
        return {*self.wanted, *linked, *crossed}

    def _columns(self, table: Table) -> set[str]:
        own = {column for rule in self._rules.get(table.name, ()) for column in rule.columns}
        read = {column for reads in self._reads for column in reads.get(table.name, ())}
        return own | read | ({"big_five"} if table.name == "characters" else set())

    def read(self, table: Table, rows: Iterable[Row]) -> None:
        """Rows against their schema; links and columns on the way."""
        from validators.frames import Columns

        columns = Columns(table, self._columns(table))
        per = self._per[table.name] = {column: Counter() for column in table.rows_per or {}}
        total = failed = 0
        for chunk in _chunks(rows):
            broken = dict(examine(table, chunk, total + 1))
            good = [row for index, row in enumerate(chunk) if index not in broken]
            columns.add(good)
            named_rows = [
                (row_name(table, row, total + 1 + index), row)
                for index, row in enumerate(chunk)
                if isinstance(row, dict)
            ]
            self._links.see(table, named_rows)
            for column, values in per.items():
                values.update(str(row.get(column)) for _, row in named_rows)
            total, failed = total + len(chunk), failed + len(broken)
            if table.name in self.wanted:
                self.findings += [finding for found in broken.values() for finding in found]
        self._links.close(table)
        self._frames[table.name] = columns.frame()
        if table.name in self.wanted:
            self.seen[table.name] = total
            self.checks.append(Check("schema", table.name, "a row does not fit its record schema", total, failed))

    def missing(self) -> None:
        """Tables that are asked for and not there, but for those the benchmark is whole without."""
        for name, table in self.benchmark.tables.items():
            if name in self.wanted - self.present and not table.optional:
                about = "the table is not there"
                self.checks.append(Check("table.missing", name, about, 0, 1))
                message = f"is a table of {self.benchmark.name} and is not there"
                source = "benchmark file"
                self.findings.append(Finding("table.missing", name, "", None, "error", None, None, message, source))

    def links_and_counts(self) -> None:
        """What points nowhere, and tables with other than the expected number of rows."""
        for link, values, found in self._links.results(both_ways=not self.partial):
            self.checks.append(Check("link.dangling", link.table, str(link), values, len(found)))
            self.findings += found
        for link, absent in self._links.skipped():
            if link.table in self.present:
                self.skipped.append(Skipped("link.dangling", link.table, str(link), f"{absent} is not there"))
        for name, rows in self.seen.items():
            table = self.benchmark.table(name)
            if self.partial or (table.rows is None and not table.rows_per):
                continue
            known = {column: self._links.values_of(name, column) for column in table.rows_per or {}}
            found = counted(table, rows, self._per[name], known)
            self.checks.append(
                Check("table.row_count", name, "the number of rows is not the expected one", rows, len(found))
            )
            self.findings += found

    def rules(self) -> None:
        """The rules of each table, and the distance of the characters."""
        from validators.frames import breaches

        for name in self.seen:
            rules, frame = self._rules[name], self._frames[name]
            for rule, found in zip(rules, breaches(self.benchmark.table(name), frame, rules), strict=True):
                self.checks.append(Check(rule.code, name, rule.about, frame.height, len(found)))
                self.findings += found

    def crossings(self) -> None:
        """What rows have to keep beside the rows they name."""
        from validators.frames import crossed

        for crossing in self._crossings:
            absent = sorted(set(crossing.reads) - self.present)
            if crossing.table not in self.present:
                continue
            if absent:
                why = f"{' and '.join(absent)} not there"
                self.skipped.append(Skipped(crossing.code, crossing.table, crossing.about, why))
                continue
            found = crossed(crossing, self._frames)
            rows = self._frames[crossing.table].height
            self.checks.append(Check(crossing.code, crossing.table, crossing.about, rows, len(found)))
            self.findings += found

    def figures(self, threshold: float) -> None:
        """Figures of the tables asked for; of characters, their separation."""
        if "characters" in self.seen:
            vectors = dict(self._frames["characters"].select("character_id", "big_five").iter_rows())
            pairs = apart.distances(vectors)
            found = apart.too_near(pairs, threshold)
            about = f"big_five: is nearer than {threshold} to another character in every trait"
            self.checks.append(Check("table.separation", "characters", about, len(pairs), len(found)))
            self.findings += found
            self.reports["characters.separation"] = apart.figures(pairs, threshold)
        for each in self._distributions:
            self.reports[each.name] = each.figures(self._frames)


def _chunks(rows: Iterable[Row]) -> Iterator[Sequence[Row]]:
    going = iter(rows)
    while chunk := list(islice(going, _CHUNK)):
        yield chunk
