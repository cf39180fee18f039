"""Every audit of a table of any size: shard by shard on an engine, with the findings of ``audits.audit``.

Every shard is read once: it is judged by itself, and takes from every row what other rows have to know, its id, its
window's text, which columns it has. Ids and windows come together by a group-by (``schemas.engines.groups``): repeated
keys, near-duplicates. Only a shard with an id that another row has too, or without a column that other shards have, is
judged again. A process holds a shard, a partition, or the largest window; the findings and the repeated ids are in the
memory of the one that asked. Audits of a record that compare all its rows (``coverage``: of profiles, priors,
scenarios, turns) read the table into one process, as ``audits.audit`` does.

    python -m audits --benchmark heart --table memories --rows s3://lab/memories --engine ray
    python -m releases freeze personalens@2.0.0 --engine local
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from audits.duplicates.near_duplicates import scope_of
from audits.shards.windows import IDS, Numbered, duplicates, repeated_ids, take_ids, take_windows
from audits.subjects import WHOLE_TABLE, Subject, subjects
from schemas.derived import completed
from schemas.engines.choice import Engine
from schemas.engines.groups import Partitions
from schemas.engines.shards import Shard, where
from schemas.findings import Finding, counts, in_order
from schemas.tables import Row, Table


@dataclass(frozen=True)
class Request:
    """What is audited for what: a table, codes, a file of a user's own patterns, the tables to look things up in.

    With ``errors_only`` findings of other severities are counted and not listed.
    """

    table: Table
    wanted: frozenset[str]
    own: Path | None = None
    related: Mapping[str, tuple[Shard, ...]] | None = None
    errors_only: bool = False

    def rows_beside(self, rows: Sequence[Row]) -> dict[str, list[Row]]:
        """The rows of other tables that these are audited beside: of tables filed alike, those of the same files."""
        made, column = {}, self.table.file
        for name, shards in (self.related or {}).items():
            files = frozenset(row[column] for row in rows if isinstance(row.get(column), str | int)) if column else ()
            alike = bool(column) and bool(shards) and all(column in row for row in shards[0].read()[:1])
            made[name] = where(shards, str(column), files) if alike else list(_whole(shards))
        return made


@dataclass(frozen=True)
class Audited:
    """What was found: rows seen, findings in order, and by code, lines about what was not checked, rows to quote."""

    rows: int
    findings: list[Finding]
    counts: dict[str, int]
    skipped: list[str]
    quoted: list[Row]


@dataclass(frozen=True)
class _Beside:
    """What rows of a shard have to know of all others: ids that several have, columns that none has."""

    twice: frozenset[str]
    absent: frozenset[str]


@dataclass(frozen=True)
class _Judged:
    """What is found in rows of a shard: listed, or counted by code; ``foreign`` counts rows that are not English."""

    findings: list[Finding]
    counted: Counter[str]
    missing: dict[str, Finding]
    foreign: int


@dataclass(frozen=True)
class _Seen:
    """A shard by itself: columns that no row of it has, rows by working file, and what is found if no other has any."""

    absent: frozenset[str]
    files: Counter[Any]
    judged: _Judged


def audit_shards(request: Request, shards: Sequence[Shard], engine: Engine, scratch: str, quote: int = 0) -> Audited:
    """All findings of a table, in order; ``quote`` is of how many findings of a code the rows are wanted."""
    table, parts = request.table, len(shards)
    rows = sum(shard.rows for shard in shards)
    partitions = Partitions.of(scratch, rows)
    seen = list(engine.map(partial(_by_itself, request, partitions), list(enumerate(shards))))
    places = repeated_ids(partitions, engine, parts)
    judged = _beside_others(request, shards, engine, seen, places)
    found = _repeated_keys(table, places) if "repeated" in table.audits else []
    if _compares(request):
        found += duplicates(scope_of(table), partitions, engine, parts, frozenset(places))
    missing = {field: finding for each in judged for field, finding in each.missing.items()}
    foreign = sum(each.foreign for each in judged)
    found += chain.from_iterable(each.findings for each in judged)
    found += _absent(table, missing)
    whole = list(completed(table, list(_walk(shards)))) if _coverages(table) else []
    related = {name: list(_whole(some)) for name, some in (request.related or {}).items()}
    read = subjects(table.record, table.key, whole, 0)
    for module in _coverages(table):
        found += module.coverage(read, related)
    kept = [_named(table, finding) for finding in found if finding.code in request.wanted]
    counted = sum((each.counted for each in judged), Counter(counts(kept)))
    ordered = in_order(_listed(request, kept))
    files: Counter[Any] = sum((each.files for each in seen), Counter())
    skipped = _not_checked(request, whole or _by_file(table, files), related, foreign, rows)
    return Audited(
        rows, ordered, dict(sorted(counted.items())), skipped, _quoted(table, ordered, shards, partitions, quote)
    )


def _walk(shards: Sequence[Shard]) -> Iterator[Row]:
    return (row for shard in shards for row in shard.walk())


@functools.lru_cache(maxsize=16)
def _whole(shards: tuple[Shard, ...]) -> tuple[Row, ...]:
    """All rows of a table that is small beside the one under audit; read once a process."""
    return tuple(_walk(shards))


def _read(table: Table, shard: Shard) -> tuple[Sequence[Row], list[Subject]]:
    rows = completed(table, shard.read())
    return rows, subjects(table.record, table.key, rows, shard.first)


def _by_itself(request: Request, partitions: Partitions, numbered: Numbered) -> _Seen:
    """A shard judged as if its ids were its own, and columns that none of its rows has were no other's."""
    number, shard = numbered
    table = request.table
    rows, read = _read(table, shard)
    take_ids(read, partitions, number)
    if _compares(request):
        take_windows(read, scope_of(table), partitions, number)
    absent = frozenset(field for field in _needed(table) if all(each.find(field)[1] is None for each in read))
    judged = _judged(request, _Beside(frozenset(), absent), shard.first, rows, read)
    return _Seen(absent, Counter(_file_of(table, row) for row in rows), judged)


def _beside_others(
    request: Request,
    shards: Sequence[Shard],
    engine: Engine,
    seen: Sequence[_Seen],
    places: Mapping[str, Sequence[int]],
) -> list[_Judged]:
    """What is found in each shard, those judged again of which other rows change the outcome."""
    absent = frozenset.intersection(*(each.absent for each in seen)) if seen else frozenset()
    firsts = [shard.first for shard in shards]
    again = {_shard_of(firsts, place) for those in places.values() for place in those}
    again |= {number for number, each in enumerate(seen) if each.absent != absent}
    numbers = sorted(again)
    task = partial(_judged_again, request, _Beside(frozenset(places), absent))
    fresh = dict(zip(numbers, engine.map(task, [shards[number] for number in numbers]), strict=True))
    return [fresh.get(number, each.judged) for number, each in enumerate(seen)]


def _judged_again(request: Request, beside: _Beside, shard: Shard) -> _Judged:
    return _judged(request, beside, shard.first, *_read(request.table, shard))


def _judged(request: Request, beside: _Beside, first: int, rows: Sequence[Row], read: Sequence[Subject]) -> _Judged:
    from audits.codes import stretches
    from audits.overlaps import merged
    from audits.table_audit import judge
    from audits.text import language

    table = request.table
    every = judge(table, request.wanted, _own(request.own), request.rows_beside(rows), rows, first)
    found, missing = [], {}
    for finding in every:
        if finding.code == "format.missing" and finding.field in beside.absent:
            missing[str(finding.field)] = finding
        elif finding.code in request.wanted:
            found.append(finding)
    foreign = len(language.sorted_out(read, table.text or "")[1]) if _counts_foreign(request) else 0
    found = merged(found, beside.twice, stretches())
    listed = _listed(request, found)
    counted = Counter(counts(found)) - Counter(counts(listed))
    return _Judged(listed, counted, missing, foreign)


def _listed(request: Request, found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.severity == "error"] if request.errors_only else found


@functools.lru_cache(maxsize=1)
def _own(path: Path | None) -> Mapping[str, Any]:
    from audits.patterns.user_patterns import user_criteria

    return {} if path is None else user_criteria(path)


def _needed(table: Table) -> list[str]:
    """The columns whose absence from every row is one finding."""
    from audits.checks.row_format import fields_of

    return [field.name for field in fields_of(table) if field.needed] if "format" in table.audits else []


def _compares(request: Request) -> bool:
    return "duplicates" in request.table.audits and "duplicate.semantic" in request.wanted


def _counts_foreign(request: Request) -> bool:
    from audits.text import language

    return "language" in request.table.audits and bool(request.table.text) and language.CODE not in request.wanted


def _repeated_keys(table: Table, places: Mapping[str, Sequence[int]]) -> list[Finding]:
    from audits.checks.row_format import repeated_keys

    read = [Subject(table.record, row_id, {}, place) for row_id, those in places.items() for place in those]
    return list(repeated_keys(read))


def _absent(table: Table, missing: Mapping[str, Finding]) -> list[Finding]:
    from audits.checks.row_format import absent_column

    return [absent_column(finding, table.text) for finding in missing.values()]


def _coverages(table: Table) -> list[Any]:
    from audits.tables import of_record

    return [module for module in of_record(table) if hasattr(module, "coverage")]


def _named(table: Table, finding: Finding) -> Finding:
    return finding if table.record == table.name else replace(finding, table=table.name)


def _file_of(table: Table, row: Row) -> Any:
    value = row.get(table.file) if table.file else None
    return value if isinstance(value, str | int) else None


def _by_file(table: Table, files: Counter[Any]) -> list[Row]:
    """As many rows as there are, with nothing in them but the column that names their working file."""
    return [row for value, times in files.items() for row in [{str(table.file): value}] * times]


def _not_checked(
    request: Request, rows: Sequence[Row], related: Mapping[str, Sequence[Row]], foreign: int, total: int
) -> list[str]:
    from audits.tables import of_record

    lines = [f"words not checked: {foreign:,} of {total:,} rows are not English"] if foreign else []
    for module in of_record(request.table):
        if hasattr(module, "not_checked"):
            lines += module.not_checked(rows, related, request.wanted)
    return lines


def _quoted(
    table: Table, findings: Sequence[Finding], shards: Sequence[Shard], partitions: Partitions, most: int
) -> list[Row]:
    """The rows that the first findings of each code are about, but for those whose id another row has."""
    shown: Counter[str] = Counter()
    ids: set[str] = set()
    for finding in findings:
        shown[finding.code] += 1
        if shown[finding.code] <= most and finding.row_id != WHOLE_TABLE:
            ids.add(finding.row_id)
    places = partitions.find(IDS, ids, len(shards))
    firsts = [shard.first for shard in shards]
    wanted = {_shard_of(firsts, those[0]) for those in places.values() if len(those) == 1}
    quoted = [row for number in sorted(wanted) for row in shards[number].walk() if _id(table, row) in ids]
    return quoted or (list(shards[0].read()[:1]) if shards else [])


def _shard_of(firsts: Sequence[int], place: int) -> int:
    """The shard that has the row at a place of the table, from 1."""
    return bisect_right(firsts, place - 1) - 1


def _id(table: Table, row: Row) -> str:
    return subjects(table.record, table.key, [row], 0)[0].id
