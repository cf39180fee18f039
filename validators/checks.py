"""All checks of a benchmark's tables, in one pass over the rows of each.

Table by table, in order of dependency: rows against the record schema, links looked up as they go
by, the columns that rules and figures need gathered; then rules, crossings, expected counts. Rows
are read in parts (``validators.parts``), here or on an engine, and let go, so a table has to fit into memory
only by those columns. Rows that
break their schema are reported for that, and take no further part, except that links may point to
them.

    report = check(benchmark("heart"), {"characters": rows, "memories": more_rows})
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from schemas.benchmarks import Benchmark
from schemas.findings import Finding, in_order
from schemas.tables import Row, Table
from validators.binding import columns_by_table, tables_by_record
from validators.links import Links, counted
from validators.own_rows import OwnRows
from validators.parts import Part, Reading, read_rows, read_shard, sums
from validators.report import Check, Report, Skipped

if TYPE_CHECKING:
    import polars as pl

    from schemas.engines.choice import Engine
    from schemas.engines.shards import Shard
    from validators.distributions import Distribution
    from validators.frames import Crossing, Rule

_CHUNK = 2048


def check(
    benchmark: Benchmark,
    tables: Mapping[str, Iterable[Row]],
    only: Collection[str] | None = None,
    *,
    separation: float | None = None,
    partial: bool = False,
    own_rows: OwnRows | None = None,
    engine: Engine | None = None,
    shards: Mapping[str, Sequence[Shard]] | None = None,
) -> Report:
    """Run every check on the tables given, or on those in ``only`` (the others are what they link to).

    Each iterable is read once. ``separation`` is the least distance of two characters (default: that of
    ``validators.rules.separation``). ``partial`` says that the tables are parts, of themselves and of the
    benchmark: expected counts do not apply, and tables that are not given are not missed. ``own_rows`` is what
    the rows of the one table in ``only`` lack, where a user brings them along. With an ``engine`` rows come from
    ``shards`` by table, read there, and ``tables`` only says which there are.
    Raises RequestError for a table that the benchmark does not have.
    """
    for name in (*tables, *(only or ())):
        benchmark.table(name)
    wanted = only if only is not None else tables if partial else benchmark.tables
    run = _Run(benchmark, frozenset(wanted), frozenset(tables), partial, separation, own_rows, engine, shards or {})
    for table in benchmark.tables.values():
        if table.name in tables and table.name in run.needed():
            run.read(table, tables[table.name])
    run.missing()
    run.links_and_counts()
    run.rules()
    run.crossings()
    run.figures()
    findings = tuple(in_order(run.findings))
    return Report(benchmark.name, run.seen, tuple(run.checks), tuple(run.skipped), findings, run.reports)


@dataclass(frozen=True)
class _Crossed:
    """A crossing of a table, and which tables it is about: a name for each record it reads."""

    crossing: Crossing
    names: Mapping[str, str]

    @property
    def table(self) -> str:
        """The table whose rows it finds."""
        return self.names[self.crossing.record]


@dataclass(frozen=True)
class _Figured:
    """A figure of a table, and which tables it is about."""

    name: str
    distribution: Distribution
    names: Mapping[str, str]


@dataclass
class _Run:
    """One validation on its way."""

    benchmark: Benchmark
    wanted: frozenset[str]
    present: frozenset[str]
    partial: bool
    separation: float | None
    own_rows: OwnRows | None
    engine: Engine | None
    shards: Mapping[str, Sequence[Shard]]
    seen: dict[str, int] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    reports: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from validators.rules import rules_of

        mine = [table for name, table in self.benchmark.tables.items() if name in self.wanted]
        self._links = Links([link for link in self.benchmark.links if link.table in self.wanted])
        self._rules: dict[str, tuple[Rule, ...]] = {table.name: rules_of(table) for table in mine}
        self._crossings = list(self._crossings_of(mine))
        self._figures = list(self._figures_of(mine))
        bound = [(each.names, each.crossing.reads) for each in self._crossings]
        bound += [(each.names, each.distribution.reads) for each in self._figures]
        self._reads = [columns_by_table(names, reads) for names, reads in bound]
        self._frames: dict[str, pl.DataFrame] = {}
        self._per: dict[str, dict[str, Counter[str]]] = {}

    def _crossings_of(self, tables: Sequence[Table]) -> Iterator[_Crossed]:
        from validators.rules import crossings_of, separation

        threshold = separation.THRESHOLD if self.separation is None else self.separation
        # A part of a table says nothing about what another table lacks.
        about = self.wanted if self.partial else frozenset(self.benchmark.tables)
        for table in tables:
            for crossing in crossings_of(table, threshold):
                names = tables_by_record(self.benchmark, table, crossing.reads)
                if names is not None and names[crossing.record] in about:
                    yield _Crossed(crossing, names)

    def _figures_of(self, tables: Sequence[Table]) -> Iterator[_Figured]:
        from validators.distributions import distributions_of

        for table in tables:
            for each in distributions_of(table, self.separation):
                names = tables_by_record(self.benchmark, table, each.reads)
                if names is not None and self.present.issuperset(names.values()):
                    yield _Figured(f"{table.name}.{each.name}", each, names)

    def needed(self) -> set[str]:
        """The tables to read: those wanted, and those that their links and crossings name."""
        linked = {link.to_table for link in self._links.links}
        crossed = {name for reads in self._reads for name in reads}
        return {*self.wanted, *linked, *crossed}

    def _lacking(self, table: str) -> OwnRows:
        """What the rows of a table lack; nothing where a user did not bring them along."""
        return self.own_rows if self.own_rows and table in self.wanted else OwnRows()

    def _columns(self, table: Table) -> set[str]:
        own = {column for rule in self._rules.get(table.name, ()) for column in rule.columns}
        read = {column for reads in self._reads for column in reads.get(table.name, ())}
        return own | read

    def read(self, table: Table, rows: Iterable[Row]) -> None:
        """Rows against their schema; links and columns on the way."""
        from validators.frames import frame_of

        reading = Reading(
            table,
            frozenset(self._columns(table)),
            self._links.lookups(table),
            self._lacking(table.name).may_lack,
            table.name in self.wanted,
        )
        nothing = read_rows(reading, [], 1)
        columns, per = [nothing.columns], [nothing.per]
        total = failed = 0
        for part in self._parts(reading, rows):
            columns.append(part.columns)
            per.append(part.per)
            self._links.see(table, part.seen)
            total, failed = total + part.rows, failed + part.failed
            self.findings += part.findings
        self._links.close(table)
        self._frames[table.name], self._per[table.name] = frame_of(table, columns), sums(per)
        if table.name in self.wanted:
            self.seen[table.name] = total
            self.checks.append(Check("schema", table.name, "a row does not fit its record schema", total, failed))

    def _parts(self, reading: Reading, rows: Iterable[Row]) -> Iterator[Part]:
        if self.engine is not None:
            yield from self.engine.map(functools.partial(read_shard, reading), self.shards[reading.table.name])
            return
        first = 1
        for chunk in _chunks(rows):
            yield read_rows(reading, chunk, first)
            first += len(chunk)

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
        """The rules of each table."""
        from validators.frames import breaches

        for name in self.seen:
            frame, lacking, rules = self._frames[name], self._lacking(name), []
            for rule in self._rules[name]:
                if absent := sorted(rule.columns & lacking.absent):
                    self.skipped.append(Skipped(rule.code, name, rule.about, f"no row has {' and '.join(absent)}"))
                else:
                    rules.append(rule)
            breached = breaches(self.benchmark.table(name), frame, rules, lacking.may_lack)
            for rule, found in zip(rules, breached, strict=True):
                self.checks.append(Check(rule.code, name, rule.about, frame.height, len(found)))
                self.findings += found

    def crossings(self) -> None:
        """What rows have to keep beside the rows they name."""
        from validators.frames import crossed

        for each in self._crossings:
            crossing = each.crossing
            if each.table not in self.present:
                continue
            tables = sorted(set(each.names.values()) - self.present)
            columns = self._absent_columns(each.names, crossing.reads)
            if tables or columns:
                why = f"{' and '.join(tables)} not there" if tables else f"no row has {' and '.join(columns)}"
                self.skipped.append(Skipped(crossing.code, each.table, crossing.about, why))
                continue
            found = crossed(crossing, each.table, self._by_record(each.names))
            rows = self._frames[each.table].height
            self.checks.append(Check(crossing.code, each.table, crossing.about, rows, len(found)))
            self.findings += found

    def figures(self) -> None:
        """Figures of the tables asked for."""
        for each in self._figures:
            reads = each.distribution.reads
            rows = self._frames[each.names[next(iter(reads))]].height
            if self._absent_columns(each.names, reads) or (self.own_rows and rows < 2):
                continue  # one row has no distribution
            self.reports[each.name] = each.distribution.figures(self._by_record(each.names))

    def _absent_columns(self, names: Mapping[str, str], reads: Mapping[str, tuple[str, ...]]) -> list[str]:
        """The columns that are read and that no row of a user has."""
        return sorted(
            column
            for record, columns in reads.items()
            for column in columns
            if column in self._lacking(names[record]).absent
        )

    def _by_record(self, names: Mapping[str, str]) -> Mapping[str, pl.DataFrame]:
        return {record: self._frames[name] for record, name in names.items()}


def _chunks(rows: Iterable[Row]) -> Iterator[Sequence[Row]]:
    going = iter(rows)
    while chunk := list(islice(going, _CHUNK)):
        yield chunk
