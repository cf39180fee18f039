"""Audit memories: the six criteria of HEART-BENCH appendix B.4 and what its constraints imply.

Criteria 1, 2 and 6 (perspective, vocabulary) and the identity criteria are patterns; 3 and 5
(lengths) are here; 4 (duplicates) compares rows and is ``audits.duplicates``. Limits are in
characters, as the paper counts them.

    python -m audits --benchmark heart --table memories
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

from audits.criteria import Criterion, criteria
from audits.patterns import Matcher
from audits.reading import Subject, at_row, at_words, subjects
from schemas.findings import Finding
from schemas.tables import Row

KEY = ("id",)
SHORTEST, LONGEST = 2_000, 4_500
FIELD_LIMITS = {"context": 60, "content_summary": 100}
FIELD_TARGETS = {"context": (15, 30), "content_summary": (20, 40)}

_LENGTHS = "HEART-BENCH appendix B.4 (5), Table 6"
_FIELDS = "HEART-BENCH appendix B.4 (3)"
_AGE = re.compile(r"\((?:age )?(\d{1,3})(?: years old)?\)")


def audit(rows: Sequence[Row], related: Mapping[str, Sequence[Row]], first: int = 0) -> list[Finding]:
    """Findings of each row by itself; ``first`` is the number of the first row, for rows without an id."""
    read = subjects("memories", KEY, rows, first)
    found = list(_by_pattern(read))
    for subject in read:
        found += _lengths(subject)
    return found


def age_of(subject: Subject) -> int | None:
    """The age in years: of the column, else of the timeline."""
    age = subject.number("age")
    if age is None and (told := _AGE.search(subject.text("timeline"))):
        return int(told[1])
    return None if age is None else int(age)


@functools.cache
def _matchers() -> Mapping[str, Matcher]:
    """One matcher a field, of all criteria that read it."""
    by_field: dict[str, list[Criterion]] = {}
    for criterion in criteria().values():
        if criterion.table == "memories":
            for field in criterion.fields:
                by_field.setdefault(field, []).append(criterion)
    return {field: Matcher(wanted) for field, wanted in by_field.items()}


def _by_pattern(read: Sequence[Subject]) -> Iterator[Finding]:
    known = criteria()
    for field, matcher in _matchers().items():
        for match in matcher.scan([subject.text(field) for subject in read]):
            subject, criterion = read[match.text], known[match.code]
            if _judges(criterion, subject):
                message = f"{criterion.message} ({match.name})"
                span = (match.start, match.end)
                yield at_words(subject, match.code, criterion.severity, field, span, message, criterion.source)


def _judges(criterion: Criterion, subject: Subject) -> bool:
    if criterion.max_age is not None:
        age = age_of(subject)
        return age is not None and age <= criterion.max_age
    if criterion.below_intensity is not None:
        intensity = subject.number("emotion_signature.intensity")
        return intensity is not None and intensity < criterion.below_intensity
    return True


def _lengths(subject: Subject) -> Iterator[Finding]:
    size = len(subject.text("content_full"))
    if 0 < size < SHORTEST:
        message = f"{size:,} characters, at least {SHORTEST:,} needed"
        yield at_row(subject, "length.short", "error", message, "content_full", size, _LENGTHS)
    if size > LONGEST:
        message = f"{size:,} characters, at most {LONGEST:,} allowed"
        yield at_row(subject, "length.long", "error", message, "content_full", size, _LENGTHS)
    for field, limit in FIELD_LIMITS.items():
        text = subject.text(field)
        low, high = FIELD_TARGETS[field]
        if len(text) > limit:
            message = f"{len(text)} characters, at most {limit} allowed: narrative leaks into the field"
            yield at_words(subject, "fields.inverted", "error", field, (limit, len(text)), message, _FIELDS)
        elif text and not low <= len(text) <= high:
            message = f"{len(text)} characters, {low} to {high} aimed at"
            yield at_row(subject, "fields.target", "note", message, field, len(text), "HEART-BENCH Table 6")
