"""All checks of a benchmark's tables, in one pass over the rows of each.

Table by table, in order of dependency: rows against the record schema, links looked up as they go
by, the columns that rules and figures need gathered; then rules, crossings, expected counts. Rows
are read in parts (``validators.parts``), here or on an engine, and let go; with an engine the columns of
large tables lie on disk in partitions (``validators.gathered``). Rows that break their schema are reported for
that, and take no further part, except that links may point to them.

    report = check(benchmark("heart"), {"characters": rows, "memories": more_rows})
"""

from __future__ import annotations

import functools
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.benchmarks import Benchmark
from schemas.findings import Finding, in_order
from schemas.tables import Row, Table
from validators.links import Links, counted
from validators.own_rows import OwnRows
from validators.parts import Part, Reading, read_rows, read_shard, sums
from validators.report import Check, Report, Skipped

if TYPE_CHECKING:
    import polars as pl

    from schemas.engines.choice import Engine
    from schemas.engines.shards import Shard
    from validators.gathered import Gathered
    from validators.planning import PlannedCrossing, PlannedFigure, PlannedRule

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
    wanted = frozenset(only if only is not None else tables if partial else benchmark.tables)
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as folder:
        run = _Run(
            benchmark, wanted, frozenset(tables), partial, separation, own_rows, engine, shards or {}, Path(folder)
        )
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


@dataclass
class _Run:
    """One validation on its way; ``folder`` is for what does not fit into memory."""

    benchmark: Benchmark
    wanted: frozenset[str]
    present: frozenset[str]
    partial: bool
    separation: float | None
    own_rows: OwnRows | None
    engine: Engine | None
    shards: Mapping[str, Sequence[Shard]]
    folder: Path
    seen: dict[str, int] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    reports: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from validators.gathered import partitions
        from validators.planning import plan

        self._links = Links([link for link in self.benchmark.links if link.table in self.wanted])
        self._plan = plan(self.benchmark, self.wanted, self.present, self.partial, self.separation)
        self._partitions = partitions(max((_rows(shards) for shards in self.shards.values()), default=0))
        self._gathered: dict[str, Gathered] = {}
        self._per: dict[str, dict[str, Counter[str]]] = {}

    def needed(self) -> set[str]:
        """The tables to read: those wanted, and those that their links, crossings and figures name."""
        return {*self.wanted, *self._plan.columns, *(link.to_table for link in self._links.links)}

    def _lacking(self, table: str) -> OwnRows:
        """What the rows of a table lack; nothing where a user did not bring them along."""
        return self.own_rows if self.own_rows and table in self.wanted else OwnRows()

    def read(self, table: Table, rows: Iterable[Row]) -> None:
        """Rows against their schema; links and columns on the way."""
        from validators.gathered import Gathered

        wanted = self._plan.columns.get(table.name, {})
        reading = Reading(
            table,
            frozenset(column for columns in wanted.values() for column in columns),
            self._links.lookups(table),
            self._lacking(table.name).may_lack,
            table.name in self.wanted,
        )
        gathered = self._gathered[table.name] = Gathered(table, wanted, self.folder, self._partitions)
        per = [read_rows(reading, [], 1).per]
        total = failed = 0
        for part in self._parts(reading, rows):
            gathered.add(part.columns)
            per.append(part.per)
            self._links.see(table, part.seen)
            total, failed = total + part.rows, failed + part.failed
            self.findings += part.findings
        gathered.close()
        self._links.close(table)
        self._per[table.name] = sums(per)
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
        for name in self.seen:
            lacking, rules = self._lacking(name), []
            for each in self._plan.rules[name]:
                rule = each.rule
                if absent := sorted(rule.columns & lacking.absent):
                    self.skipped.append(Skipped(rule.code, name, rule.about, f"no row has {' and '.join(absent)}"))
                else:
                    rules.append(each)
            breached = self._breached(name, rules, lacking.may_lack)
            for each, found in zip(rules, breached, strict=True):
                rows = self._gathered[name].rows
                self.checks.append(Check(each.rule.code, name, each.rule.about, rows, len(found)))
                self.findings += found

    def _breached(self, name: str, rules: Sequence[PlannedRule], may_lack: frozenset[str]) -> list[list[Finding]]:
        """The findings of each rule, partition by partition of what its table is parted by."""
        from validators.frames import breaches

        found: list[list[Finding]] = [[] for _ in rules]
        for by in dict.fromkeys(each.by for each in rules):
            places = [place for place, each in enumerate(rules) if each.by == by]
            some = [rules[place].rule for place in places]
            for frame in self._gathered[name].frames(by):
                more = breaches(self.benchmark.table(name), frame, some, may_lack)
                for place, listed in zip(places, more, strict=True):
                    found[place] += listed
        return found

    def crossings(self) -> None:
        """What rows have to keep beside the rows they name."""
        for each in self._plan.crossings:
            crossing = each.crossing
            if each.table not in self.present:
                continue
            tables = sorted(set(each.names.values()) - self.present)
            columns = self._absent_columns(each.names, crossing.reads)
            if tables or columns:
                why = f"{' and '.join(tables)} not there" if tables else f"no row has {' and '.join(columns)}"
                self.skipped.append(Skipped(crossing.code, each.table, crossing.about, why))
                continue
            found = list(self._crossed(each))
            rows = self._gathered[each.table].rows
            self.checks.append(Check(crossing.code, each.table, crossing.about, rows, len(found)))
            self.findings += found

    def _crossed(self, each: PlannedCrossing) -> Iterator[Finding]:
        from validators.frames import crossed

        for frames in self._by_record(each):
            yield from crossed(each.crossing, each.table, frames)

    def figures(self) -> None:
        """Figures of the tables asked for."""
        import polars as pl

        for each in self._plan.figures:
            figure = each.distribution
            rows = self._gathered[each.names[figure.record]].rows
            if self._absent_columns(each.names, figure.reads) or (self.own_rows and rows < 2):
                continue  # one row has no distribution
            partitions = self._by_record(each)
            if figure.counted is None:
                frames = next(partitions)
            else:
                counts = []
                for frames in partitions:
                    counts.append(figure.counted(frames))
                frames = {**frames, figure.record: pl.concat(counts)}
            self.reports[each.name] = figure.figures(frames)

    def _by_record(self, each: PlannedCrossing | PlannedFigure) -> Iterator[Mapping[str, pl.DataFrame]]:
        """The rows of all records, for each partition of those that are parted."""
        parted = any(each.by(record) for record in each.names)
        for partition in range(self._partitions if parted else 1):
            yield {
                record: self._gathered[name].frame(each.by(record), partition) for record, name in each.names.items()
            }

    def _absent_columns(self, names: Mapping[str, str], reads: Mapping[str, tuple[str, ...]]) -> list[str]:
        """The columns that are read and that no row of a user has."""
        return sorted(
            column
            for record, columns in reads.items()
            for column in columns
            if column in self._lacking(names[record]).absent
        )


def _rows(shards: Sequence[Shard]) -> int:
    return sum(shard.rows for shard in shards)


def _chunks(rows: Iterable[Row]) -> Iterator[Sequence[Row]]:
    going = iter(rows)
    while chunk := list(islice(going, _CHUNK)):
        yield chunk
