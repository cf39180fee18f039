"""A report as text for people: what was checked, what was not, what is wrong, and the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from schemas.findings import Finding
from validators.report import Report

_SHOWN = 10  # findings of a code that are written out


def lines(report: Report, place: Callable[[Finding], str] = lambda finding: finding.table) -> Iterator[str]:
    """The report, line by line; ``place`` says where a finding's row is (default: its table)."""
    yield f"{report.benchmark}: {sum(report.rows.values()):,} rows in {len(report.rows)} tables"
    yield ""
    columns = [
        {"check": c.name, "table": c.table, "rows": c.rows, "failures": c.failures, "a failure is": c.about}
        for c in report.checks
    ]
    yield from _table(columns)
    for skipped in report.skipped:
        yield f"not checked: {skipped.name} in {skipped.table} ({skipped.about}): {skipped.why}"
    for name, figures in report.reports.items():
        yield ""
        yield name
        yield from _table(figures) if isinstance(figures, list) else _record(figures)
    yield ""
    yield from _findings(report.findings, place)


def _findings(findings: Sequence[Finding], place: Callable[[Finding], str]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.code] += 1
        if seen[finding.code] <= _SHOWN:
            yield described(finding, place(finding))
    for code, count in sorted(seen.items()):
        if count > _SHOWN:
            yield f"{code}: {count - _SHOWN:,} more; --json lists all"
    severities = Counter(finding.severity for finding in findings)
    found = ", ".join(f"{count:,} {severity}{'s' * (count != 1)}" for severity, count in sorted(severities.items()))
    yield found or "no findings"


def described(finding: Finding, place: str) -> str:
    """One finding: ``error schema.maximum in memories, row MEM_04_0001, field age: 51 is above …``."""
    line = f"{finding.severity} {finding.code} in {place}"
    line += f", row {finding.row_id}" if finding.row_id else ""
    line += f", field {finding.field}" if finding.field else ""
    return f"{line}: {finding.text + ' ' if finding.text else ''}{finding.message} ({finding.source})"


def _record(figures: Mapping[str, Any]) -> Iterator[str]:
    for name, value in figures.items():
        if isinstance(value, list):
            yield f"  {name}: {len(value)}"
            for item in value:
                yield f"    {' and '.join(item['pair'])} {item['distance']:.2f}"
        else:
            yield f"  {name}: {value}"


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Records in columns: numbers to the right, the rest to the left."""
    if not rows:
        return
    cells = [[_cell(row[name]) for name in rows[0]] for row in rows]
    widths = [max(len(name), *(len(row[i]) for row in cells)) for i, name in enumerate(rows[0])]
    right = [isinstance(value, int | float) for value in rows[0].values()]
    for row in [list(rows[0]), *cells]:
        aligned = (cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True))
        yield f"  {'  '.join(aligned)}".rstrip()


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_cell, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else "-" if value is None else str(value)
