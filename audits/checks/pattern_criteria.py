"""Run the pattern criteria of a table over its rows: what memories, scenarios and decisions have in common."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from audits.patterns.criteria import Criterion, criteria
from audits.patterns.matcher import Match, Matcher
from audits.subjects import Subject, at_words
from audits.text.quotations import Quotations
from schemas.findings import Finding

Applies = Callable[[Criterion, Subject], bool]
Judges = Callable[[Subject, str, Match], bool]


def findings(
    table: str,
    read: Sequence[Subject],
    wanted: frozenset[str],
    applies: Applies = lambda criterion, subject: True,
    judges: Judges = lambda subject, field, match: True,
    quoted: Mapping[str, Sequence[Quotations]] | None = None,
    own: Mapping[str, Criterion] | None = None,
) -> Iterator[Finding]:
    """The findings of the table's wanted criteria, and of a user's own ones (``user_patterns.user_criteria``).

    ``applies`` says whether a criterion judges a row at all, ``judges`` whether a match in a field of it counts.
    ``quoted`` are the quotations of fields that were looked through already.
    """
    known = {**criteria(), **(own or {})}
    matcher, fields = _of(tuple((own or {}).values())) if own else _matcher(table, wanted)
    for field in fields:
        texts = [subject.text(field) for subject in read]
        for match in matcher.scan(texts, (quoted or {}).get(field)):
            subject, criterion = read[match.text], known[match.code]
            if field in criterion.fields and applies(criterion, subject) and judges(subject, field, match):
                message = f"{criterion.message} ({match.name})"
                span = (match.start, match.end)
                yield at_words(subject, match.code, criterion.severity, field, span, message, criterion.source)


@functools.cache
def _matcher(table: str, wanted: frozenset[str]) -> tuple[Matcher, tuple[str, ...]]:
    """One matcher of the wanted criteria for all fields, as it takes long to make, and the fields they read."""
    return _of([c for c in criteria().values() if c.table == table and c.at_least is None and c.code in wanted])


def _of(chosen: Sequence[Criterion]) -> tuple[Matcher, tuple[str, ...]]:
    return Matcher(chosen), tuple(dict.fromkeys(field for criterion in chosen for field in criterion.fields))
