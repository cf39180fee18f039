"""Every audit of a table over its rows, those of single rows side by side in processes (``audits.audit``).

Which audits a table gets, its benchmark says (``audits.tables``). Modules that only some audits need are
imported where they are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from audits.audit_cache import AuditCache, Group
from audits.subjects import Subject, subjects
from schemas.collector import calm_collector
from schemas.derived import completed
from schemas.findings import Finding, in_order
from schemas.tables import Row, Table

if TYPE_CHECKING:
    from audits.patterns.criteria import Criterion

Related = Mapping[str, Sequence[Row]]
Own = Mapping[str, "Criterion"]
Judge = Callable[[Related, Sequence[Row], int], list[Finding]]

_CHUNK = 500


def audit_table(
    table: Table | str,
    rows: Sequence[Row],
    related: Related,
    only: Collection[str] | None,
    processes: int,
    own: Own,
    cache: AuditCache | None = None,
) -> list[Finding]:
    """As ``audits.audit``."""
    from audits.checks.row_format import absent_columns
    from audits.codes import select, stretches
    from audits.overlaps import merged
    from audits.tables import audited

    chosen = audited(table)
    wanted = select(chosen, only, own)
    full = completed(chosen, rows)
    run = partial(_run, full, partial(judge, chosen, wanted, own), processes)
    if cache is None or own:
        by_row = list(chain.from_iterable(run([Group(range(len(full)), related)])))
    else:
        by_row = cache.findings(chosen, full, related, wanted, run)
    found = [finding for finding in by_row if finding.code in wanted]
    read = subjects(chosen.record, chosen.key, full, 0)
    found = absent_columns(found, read, chosen.text)
    twice = {row_id for row_id, times in Counter(each.id for each in read).items() if times > 1}
    found = merged(found, twice, stretches())
    found += [finding for finding in _of_table(chosen, read, related, wanted, processes) if finding.code in wanted]
    if chosen.record != chosen.name:
        found = [replace(finding, table=chosen.name) for finding in found]
    return in_order(found)


def not_checked(table: Table | str, rows: Sequence[Row], related: Related, wanted: Collection[str]) -> list[str]:
    """As ``audits.not_checked``."""
    from audits.tables import audited, of_record
    from audits.text import language

    chosen = audited(table)
    rows = completed(chosen, rows)
    lines: list[str] = []
    if "language" in chosen.audits and chosen.text and language.CODE not in wanted:
        others = language.sorted_out(subjects(chosen.record, chosen.key, rows, 0), chosen.text)[1]
        if others:
            lines.append(f"words not checked: {len(others):,} of {len(rows):,} rows are not English")
    for module in of_record(chosen):
        if hasattr(module, "not_checked"):
            lines += module.not_checked(rows, related, wanted)
    return lines


def _of_table(
    table: Table, read: Sequence[Subject], related: Related, wanted: frozenset[str], processes: int
) -> Iterator[Finding]:
    """What rows are found for beside one another."""
    from audits.checks.row_format import repeated_keys
    from audits.tables import of_record

    if "repeated" in table.audits:
        yield from repeated_keys(read)
    if "duplicates" in table.audits and "duplicate.semantic" in wanted:
        from audits.duplicates import near_duplicates

        yield from near_duplicates.findings(
            [dict(each.row) for each in read], near_duplicates.scope_of(table), processes
        )
    for module in of_record(table):
        if hasattr(module, "coverage"):
            yield from module.coverage(read, related)


def _run(rows: Sequence[Row], task: Judge, processes: int, groups: Sequence[Group]) -> list[list[Finding]]:
    """What is found in the rows of each group by themselves."""
    from audits.processes import in_order as results

    parts, owner = [], []
    for number, group in enumerate(groups):
        for start in range(0, len(group.places), _CHUNK):
            places = group.places[start : start + _CHUNK]
            parts.append(partial(task, group.related, [rows[place] for place in places], places[0]))
            owner.append(number)
    found: list[list[Finding]] = [[] for _ in groups]
    for number, more in zip(owner, results(parts, processes, prepare=partial(task, {}, [], 0)), strict=True):
        found[number] += more
    return found


def judge(
    table: Table, wanted: frozenset[str], own: Own, related: Related, rows: Sequence[Row], first: int
) -> list[Finding]:
    """What is found in rows by themselves; ``first`` is how many rows of the table stand before them."""
    with calm_collector():
        return _judged(table, wanted, own, related, subjects(table.record, table.key, rows, first))


def _judged(table: Table, wanted: frozenset[str], own: Own, related: Related, read: Sequence[Subject]) -> list[Finding]:
    from audits.checks import pattern_criteria, row_format
    from audits.tables import of_record
    from audits.text import language

    judged, found = read, []
    if "format" in table.audits and any(code.startswith("format.") for code in wanted):
        fields = row_format.fields_of(table)
        found += [finding for subject in read for finding in row_format.audit(subject, fields, table.text)]
    if "language" in table.audits and table.text:
        judged, others = language.sorted_out(read, table.text)
        found += others.values()
    if "patterns" in table.audits:
        found += pattern_criteria.findings(table.record, judged, wanted)
    if own:
        found += pattern_criteria.findings(table.record, judged, frozenset(), own=own)
    for module in of_record(table):
        found += module.audit(read, judged, related, wanted)
    return found
