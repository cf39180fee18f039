"""Findings as lines for people: by code, with the words in their sentence, the rule and whose it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audits.subjects import WHOLE_TABLE, counted, subjects
from schemas.findings import Finding
from schemas.tables import Row, Table

SHOWN = 5
"""Findings shown of each code; the count is always given."""

_AROUND = 40
_MOST_COLUMNS = 12
_ORDER = {"error": 0, "warning": 1, "note": 2}


def lines(findings: Sequence[Finding], rows: Sequence[Row], table: Table, total: int | None = None) -> Iterator[str]:
    """A report: codes from errors to notes, the first few findings of each, and the totals.

    ``total`` is the number of rows where ``rows`` are only those to quote from.
    """
    named = by_id(rows, table)
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    for code in sorted(by_code, key=lambda code: (min(_ORDER[f.severity] for f in by_code[code]), code)):
        those = by_code[code]
        worst = min((finding.severity for finding in those), key=lambda severity: _ORDER[severity])
        in_rows = {finding.row_id for finding in those} - {WHOLE_TABLE}
        where = f" in {counted(len(in_rows), 'row')}" if in_rows else ""
        yield f"{code}  {worst}, {counted(len(those), 'finding')}{where}"
        yield f"  {those[0].source}"
        for finding in those[:SHOWN]:
            yield f"  {_line(finding, named)}"
        if len(those) > SHOWN:
            yield f"  … {len(those) - SHOWN:,} more; --json lists all of them"
        if code == "format.missing":
            yield from _alien(those, rows, named, table)
        yield ""
    if any(finding.row_id.startswith("#") for finding in findings):
        yield f"Rows without {' or '.join(table.key)} are named by their place: #1 is the first row of the table"
    yield _summary(findings, len(rows) if total is None else total, table.name)


def _alien(missing: Sequence[Finding], rows: Sequence[Row], named: Mapping[str, Row], table: Table) -> Iterator[str]:
    """The columns that rows without their text have instead: one of them may well be it."""
    ids = {finding.row_id for finding in missing if finding.field == table.text}
    without = rows if WHOLE_TABLE in ids else [named.get(row_id, {}) for row_id in ids]
    known = table.schema["properties"]
    odd = sorted({str(name) for row in without for name in row if name not in known})
    if odd:
        shown = ", ".join(repr(one_line(name, _AROUND)) for name in odd[:_MOST_COLUMNS])
        more = f" and {len(odd) - _MOST_COLUMNS:,} more" if len(odd) > _MOST_COLUMNS else ""
        yield f"  unknown columns: {shown}{more}. The text is read from {table.text}: rename the column that holds it"


def by_id(rows: Sequence[Row], table: Table) -> Mapping[str, Row]:
    """The rows by the ids that findings name them with, without those whose id another row has too."""
    read = subjects(table.record, table.key, rows, 0)
    times = Counter(subject.id for subject in read)
    return {subject.id: dict(subject.row) for subject in read if times[subject.id] == 1}


def _line(finding: Finding, rows: Mapping[str, Row]) -> str:
    where = _flat(f"{finding.row_id} {finding.field}" if finding.field else finding.row_id)
    words = _context(finding, rows) or _offending(finding)
    also = f" (also {', '.join(finding.also)})" if finding.also else ""
    return f"{where}: {words + '  ' if words else ''}{finding.message}{also}"


def _offending(finding: Finding) -> str:
    """What offends, where no words in a text do and neither the message nor the row's id says it anyway."""
    text = finding.text or ""
    number = f"{int(text):,}" if text.isascii() and text.isdigit() else text
    said = text == finding.row_id or re.search(rf"(?<!\w){re.escape(number)}(?!\w)", finding.message)
    return "" if said else one_line(text)


def _context(finding: Finding, rows: Mapping[str, Row]) -> str:
    """The words between brackets, with a little of what stands round them."""
    if finding.span is None or finding.field is None:
        return ""
    text: Any = rows.get(finding.row_id)
    for part in finding.field.split("."):
        if isinstance(text, list) and part.isdigit() and int(part) < len(text):
            text = text[int(part)]
        else:
            text = text.get(part) if isinstance(text, Mapping) else None
    if not isinstance(text, str):
        return ""
    start, end = finding.span
    before, words, after = text[max(0, start - _AROUND) : start], text[start:end], text[end : end + _AROUND]
    left = "…" if start > _AROUND else ""
    right = "…" if end + _AROUND < len(text) else ""
    return f"“{left}{_flat(before)}[{one_line(words)}]{_flat(after)}{right}”"


def one_line(text: str, most: int = 3 * _AROUND) -> str:
    """Text on one line of a terminal, its middle left out where it is long."""
    cut = text if len(text) <= most else f"{text[: 2 * most // 3]} … {text[-most // 3 :]}"
    return _flat(cut)


def _flat(text: str) -> str:
    """Text that a terminal shows on one line, whatever is in it."""
    flat = "".join(sign if sign.isprintable() else " " for sign in text)
    return flat.encode("utf-8", "replace").decode()


def _summary(findings: Sequence[Finding], total: int, table: str) -> str:
    if not findings:
        return f"{counted(total, 'row')} of {table}: nothing found"
    counts = Counter(str(finding.severity) for finding in findings)
    shown = ", ".join(counted(counts[kind], kind) for kind in _ORDER if counts[kind])
    bad = len({finding.row_id for finding in findings if finding.severity != "note"} - {WHOLE_TABLE})
    return f"{counted(total, 'row')} of {table}: {shown}; {counted(bad, 'row')} to fix. Codes: docs/codes.md"
