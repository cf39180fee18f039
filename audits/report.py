"""Findings as lines for people: by code, with the words in their sentence, the rule and whose it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audits.subjects import TEXT_OF, counted, subjects
from schemas.findings import Finding
from schemas.tables import Row, record_schema

SHOWN = 5
"""Findings shown of each code; the count is always told."""

_AROUND = 40
_MOST_COLUMNS = 12
_ORDER = {"error": 0, "warning": 1, "note": 2}


def lines(findings: Sequence[Finding], rows: Mapping[str, Row], total: int, table: str) -> Iterator[str]:
    """A report: codes from errors to notes, the first few findings of each, and the totals."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    for code in sorted(by_code, key=lambda code: (min(_ORDER[f.severity] for f in by_code[code]), code)):
        those = by_code[code]
        in_rows = len({finding.row_id for finding in those})
        yield f"{code}  {those[0].severity}, {counted(len(those), 'finding')} in {counted(in_rows, 'row')}"
        yield f"  {those[0].source}"
        for finding in those[:SHOWN]:
            yield f"  {_line(finding, rows)}"
        if len(those) > SHOWN:
            yield f"  … {len(those) - SHOWN:,} more; --json has them all"
        if code == "format.missing":
            yield from _alien(those, rows, table)
        yield ""
    yield from _nameless(findings, table)
    yield _summary(findings, total, table)


def _alien(missing: Sequence[Finding], rows: Mapping[str, Row], table: str) -> Iterator[str]:
    """The columns that rows without their text have instead: one of them may well be it."""
    field = TEXT_OF.get(table)
    ids = {finding.row_id for finding in missing if finding.field == field}
    known = record_schema(table)["properties"]
    odd = list(dict.fromkeys(str(name) for row_id in ids for name in rows.get(row_id, ()) if name not in known))
    if odd:
        named = ", ".join(repr(one_line(name, _AROUND)) for name in sorted(odd)[:_MOST_COLUMNS])
        more = f" and {len(odd) - _MOST_COLUMNS:,} more" if len(odd) > _MOST_COLUMNS else ""
        yield f"  unknown columns: {named}{more}. The text is read from {field}: rename the column that holds it"


def _nameless(findings: Sequence[Finding], table: str) -> Iterator[str]:
    from audits import keys

    if any(finding.row_id.startswith("#") for finding in findings):
        yield f"Rows without {' or '.join(keys(table))} go by their place: #1 is the first row of the table"


def by_id(table: str, rows: Sequence[Row]) -> Mapping[str, Row]:
    """The rows by the ids that findings name them with; an id that two rows carry tells neither."""
    from audits import keys

    read = subjects(table, keys(table), rows, 0)
    times = Counter(subject.id for subject in read)
    return {subject.id: dict(subject.row) for subject in read if times[subject.id] == 1}


def _line(finding: Finding, rows: Mapping[str, Row]) -> str:
    where = _flat(f"{finding.row_id} {finding.field}" if finding.field else finding.row_id)
    words = _context(finding, rows) or _offending(finding)
    return f"{where}: {words + '  ' if words else ''}{finding.message}"


def _offending(finding: Finding) -> str:
    """What offends, where no words in a text do and the message or the row's id does not tell it anyway."""
    text = finding.text or ""
    number = f"{int(text):,}" if text.isascii() and text.isdigit() else text
    told = text == finding.row_id or re.search(rf"(?<!\w){re.escape(number)}(?!\w)", finding.message)
    return "" if told else one_line(text)


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
    counts = {kind: sum(1 for f in findings if f.severity == kind) for kind in _ORDER}
    if not findings:
        return f"{counted(total, 'row')} of {table}: nothing found"
    told = ", ".join(counted(count, kind) for kind, count in counts.items() if count)
    bad = len({finding.row_id for finding in findings if finding.severity != "note"})
    return f"{counted(total, 'row')} of {table}: {told}; {counted(bad, 'row')} to mend. Codes: docs/codes.md"
