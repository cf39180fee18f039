"""Find the patterns of a criterion in a text: plain ``re``, a sentence at a time.

Patterns of a code that the linear model knows are only looked for in sentences that the model does not rule out
(``Settings.gate``), which are few: so hundreds of expressions cost little, and none is compiled that is not needed.
Windows are bounded (``Passage.windows``), so that bait for backtracking has nothing to work on and time is linear in
the length of a text. Spans are handed back in the original text.

HEART-BENCH appendix B.4 (criteria 1, 2 and 6) and our own; ``python -m audits`` runs it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from audits.patterns.criteria import Criterion, Pattern
from audits.text.names import given_names
from audits.text.passage import Passage
from audits.text.quotations import Span


class Match(NamedTuple):
    """A pattern found at ``start`` to ``end`` of the original text."""

    start: int
    end: int
    code: str
    name: str


def matches(criterion: Criterion, passage: Passage) -> list[Match]:
    """What the patterns of a criterion find in a text, in order; of what overlaps the first and longest."""
    if not passage.text:
        return []
    windows = list(passage.windows(criterion.code))
    found: list[Match] = []
    for pattern in criterion.patterns if windows else ():
        if not pattern.words or any(word in passage.folded.text for word in pattern.words):
            found += _apart([Match(*span, criterion.code, pattern.name) for span in _spans(pattern, passage, windows)])
    return sorted(found)


def first_spans(criterion: Criterion, passage: Passage, stretch: Span) -> Iterator[Span]:
    """What the patterns of a criterion find in a stretch of a text, one after another, for who needs but a few."""
    windows = list(passage.stretches([stretch]))
    for pattern in criterion.patterns:
        yield from _spans(pattern, passage, windows)


def _spans(pattern: Pattern, passage: Passage, windows: Collection[Span]) -> Iterator[Span]:
    text = passage.folded.text
    for start, end in windows:
        for expression in pattern.compiled:
            for found in expression.finditer(text, start, end):
                span = passage.original(*_pointed_at(found))
                counts = span[0] < span[1] and _named(found, passage) and _heard(pattern, passage, span)
                if counts and not _excused(pattern, found, start, end):
                    yield span


def _pointed_at(found: re.Match[str]) -> Span:
    """The group ``words``, else all of the match."""
    return found.span("words" if "words" in found.re.groupindex and found["words"] else 0)


def _named(found: re.Match[str], passage: Passage) -> bool:
    """Whether the group ``capital`` begins with one in the original, and ``given`` is a given name; where they are."""
    groups = found.groupdict()
    if groups.get("given") is not None and groups["given"] not in given_names():
        return False
    if groups.get("capital") is None:
        return True
    return passage.text[passage.original(*found.span("capital"))[0]].isupper()


def _excused(pattern: Pattern, found: re.Match[str], start: int, end: int) -> bool:
    """Whether something right before or after a match in its sentence excuses it."""
    after, before = pattern.excuse_after, pattern.excuse_before
    if after is not None and after.match(found.string, found.end(), end):
        return True
    return before is not None and before.search(found.string, start, found.start()) is not None


def _heard(pattern: Pattern, passage: Passage, span: Span) -> bool:
    """Whether the words are spoken by whom the pattern listens to."""
    return pattern.voice == "any" or (passage.around(span[0]) is None) == (pattern.voice == "narrator")


def _apart(found: Collection[Match]) -> list[Match]:
    apart: list[Match] = []
    for match in sorted(found, key=lambda match: (match.start, -match.end)):
        if not apart or match.start >= apart[-1].end:
            apart.append(match)
    return apart
