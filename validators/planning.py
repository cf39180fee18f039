"""What a validation does: which rules, crossings and figures apply to which tables, and which columns they need.

Every check says which rows it compares (``Rule.within``, ``Crossing.within``); from that follows by which columns a
table can be parted where it does not fit into memory (``validators.gathered``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.benchmarks import Benchmark
from schemas.tables import Table
from validators.binding import tables_by_record
from validators.distributions import Distribution, distributions_of
from validators.frames import Crossing, Rule
from validators.gathered import By
from validators.rules import crossings_of, rules_of, separation


@dataclass(frozen=True)
class PlannedRule:
    """A rule of a table, and by what its rows are parted for it."""

    rule: Rule
    by: By


@dataclass(frozen=True)
class PlannedCrossing:
    """A crossing of a table, and which tables it is about: a name for each record it reads."""

    crossing: Crossing
    names: Mapping[str, str]

    @property
    def table(self) -> str:
        """The table whose rows it finds."""
        return self.names[self.crossing.record]

    def by(self, record: str) -> By:
        """By what the table of a record is parted for it."""
        return (self.crossing.within or {}).get(record)


@dataclass(frozen=True)
class PlannedFigure:
    """A figure of a table, and which tables it is about."""

    name: str
    distribution: Distribution
    names: Mapping[str, str]

    def by(self, record: str) -> By:
        """By what the table of a record is parted for it."""
        return self.distribution.within if record == self.distribution.record else None


@dataclass(frozen=True)
class Plan:
    """All checks of the tables asked for, and the columns that each table needs, by what it is parted by."""

    rules: Mapping[str, Sequence[PlannedRule]]
    crossings: Sequence[PlannedCrossing]
    figures: Sequence[PlannedFigure]
    columns: Mapping[str, Mapping[By, Collection[str]]]


def plan(
    benchmark: Benchmark, wanted: Collection[str], present: Collection[str], partial: bool, least: float | None
) -> Plan:
    """The plan for the tables in ``wanted``; ``present`` are those there are, ``least`` is the distance of characters.

    ``partial`` says that the tables are parts: a part of a table says nothing about what another table lacks.
    """
    mine = [table for name, table in benchmark.tables.items() if name in wanted]
    about = wanted if partial else benchmark.tables.keys()
    crossings = [each for each in _crossings(benchmark, mine, least) if each.table in about]
    figures = [each for each in _figures(benchmark, mine, least) if {*each.names.values()} <= {*present}]
    columns: dict[str, dict[By, set[str]]] = defaultdict(lambda: defaultdict(set))
    for crossing in crossings:
        for record, read in crossing.crossing.reads.items():
            columns[crossing.names[record]][crossing.by(record)].update(read)
    for figure in figures:
        for record, read in figure.distribution.reads.items():
            columns[figure.names[record]][figure.by(record)].update(read)
    rules = {}
    for table in mine:
        rules[table.name] = list(_rules(table, [by for by in columns[table.name] if by]))
        for each in rules[table.name]:
            columns[table.name][each.by].update(each.rule.columns)
    return Plan(rules, crossings, figures, columns)


def _rules(table: Table, taken: list[str]) -> Iterator[PlannedRule]:
    """The rules, each by a column that the table is parted by already (``taken``), where it has one that suits."""
    for rule in rules_of(table):
        suitable = taken if rule.within == () else [column for column in taken if column in (rule.within or ())]
        by = suitable[0] if suitable else (rule.within or (None,))[0]
        if by is not None and by not in taken:
            taken.append(by)
        yield PlannedRule(rule, by)


def _crossings(benchmark: Benchmark, tables: Sequence[Table], least: float | None) -> Iterator[PlannedCrossing]:
    for table in tables:
        for crossing in crossings_of(table, separation.THRESHOLD if least is None else least):
            names = tables_by_record(benchmark, table, crossing.reads)
            if names is not None:
                yield PlannedCrossing(crossing, names)


def _figures(benchmark: Benchmark, tables: Sequence[Table], least: float | None) -> Iterator[PlannedFigure]:
    for table in tables:
        for each in distributions_of(table, least):
            names = tables_by_record(benchmark, table, each.reads)
            if names is not None:
                yield PlannedFigure(f"{table.name}.{each.name}", each, names)
