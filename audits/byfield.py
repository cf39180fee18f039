"""Run the pattern criteria of a table over its rows: what memories, scenarios and decisions have in common."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from audits.criteria import Criterion, criteria
from audits.patterns import Match, Matcher
from audits.reading import Subject, at_words
from audits.speech import Quotations
from schemas.findings import Finding

Judges = Callable[[Criterion, Subject, Match], bool]


def findings(
    table: str,
    read: Sequence[Subject],
    wanted: frozenset[str],
    judges: Judges,
    quoted: Mapping[str, Sequence[Quotations]] | None = None,
) -> Iterator[Finding]:
    """The findings of the table's wanted criteria; ``judges`` says whether a criterion applies to a row.

    ``quoted`` are the quotations of fields that were looked through already.
    """
    known = criteria()
    for field, matcher in _matchers(table, wanted).items():
        texts = [subject.text(field) for subject in read]
        for match in matcher.scan(texts, (quoted or {}).get(field)):
            subject, criterion = read[match.text], known[match.code]
            if judges(criterion, subject, match):
                message = f"{criterion.message} ({match.name})"
                span = (match.start, match.end)
                yield at_words(subject, match.code, criterion.severity, field, span, message, criterion.source)


@functools.cache
def _matchers(table: str, wanted: frozenset[str]) -> Mapping[str, Matcher]:
    """One matcher a field, of the wanted criteria that read it."""
    by_field: dict[str, list[Criterion]] = {}
    for code, criterion in criteria().items():
        if criterion.table == table and criterion.at_least is None and code in wanted:
            for field in criterion.fields:
                by_field.setdefault(field, []).append(criterion)
    return {field: Matcher(chosen) for field, chosen in by_field.items()}
