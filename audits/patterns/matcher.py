"""Find the patterns of criteria in a text: plain ``re``, a sentence at a time, where a word that it needs stands.

One pass over a text finds the words of which expressions need one (``audits.patterns.needed_words``), and an expression
is only tried on the sentences that have one of its words: so hundreds of expressions cost little, and none is compiled
that is not needed. What is found of a code that the linear model knows only counts in sentences that the model does
not rule out (``Settings.gate``). Windows are bounded (``Passage.windows``), so that bait for backtracking has nothing
to work on and time is linear in the length of a text. Spans are handed back in the original text.

HEART-BENCH appendix B.4 (criteria 1, 2 and 6) and our own; ``python -m audits`` runs it.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import ahocorasick_rs

from audits.patterns.criteria import Criterion, Expression, Pattern, criteria
from audits.text.linear_model import model
from audits.text.names import given_names
from audits.text.passage import OVERLAP, Passage, Window
from audits.text.quotations import Span


class Match(NamedTuple):
    """A pattern found at ``start`` to ``end`` of the original text."""

    start: int
    end: int
    code: str
    name: str


Hit = tuple[int, int, int]
"""The number of a word, and where it begins and ends in the folded text."""


class Found(NamedTuple):
    """What a pattern finds in a window: a span of the original text."""

    window: Window
    pattern: Pattern
    span: Span


class Finder:
    """The expressions of several criteria, and an automaton of the words that they need."""

    def __init__(self, several: Sequence[Criterion]) -> None:
        self._tried: list[tuple[Pattern, Expression]] = []
        self._everywhere: dict[Criterion, list[int]] = {criterion: [] for criterion in several}
        self._by_word: dict[Criterion, dict[int, list[int]]] = {criterion: {} for criterion in several}
        self._criteria: list[dict[Criterion, None]] = []  # those that have expressions which need a word
        numbers: dict[str, int] = {}
        for criterion, pattern in ((each, pattern) for each in several for pattern in each.patterns):
            for expression in pattern.expressions:
                for word in expression.words or ():
                    number = numbers.setdefault(word, len(numbers))
                    if number == len(self._criteria):
                        self._criteria.append({})
                    self._criteria[number][criterion] = None
                    self._by_word[criterion].setdefault(number, []).append(len(self._tried))
                if expression.words is None:
                    self._everywhere[criterion].append(len(self._tried))
                self._tried.append((pattern, expression))
        self._automaton = ahocorasick_rs.AhoCorasick(list(numbers)) if numbers else None

    def may_find(self, criterion: Criterion, passage: Passage) -> bool:
        """Whether anything of a criterion may stand in a text."""
        return bool(self._everywhere[criterion] or self._hits(passage)[criterion])

    def found(self, criterion: Criterion, passage: Passage, windows: Iterable[Window]) -> Iterator[Found]:
        """What is found in some windows of a text, one after another."""
        hits, text = self._hits(passage)[criterion], passage.folded.text
        ends = [hit[2] for hit in hits]
        everywhere, by_word = self._everywhere[criterion], self._by_word[criterion]
        for window in windows:
            tried: dict[int, list[Hit]] = {each: [] for each in everywhere}
            for hit in hits[bisect_right(ends, window[0]) : bisect_right(ends, window[1])]:
                for each in by_word[hit[0]] if hit[1] >= window[0] else ():
                    tried.setdefault(each, []).append(hit)
            for each, near in tried.items():
                pattern, expression = self._tried[each]
                for narrow in _narrowed(window, near):
                    for found in expression.compiled.finditer(text, narrow[0], narrow[1]):
                        span = passage.original(*_pointed_at(found))
                        if _counts(pattern, found, passage, span, narrow):
                            yield Found(narrow, pattern, span)

    def _hits(self, passage: Passage) -> Mapping[Criterion, Sequence[Hit]]:
        """Where words that expressions of each criterion need stand in a text, in the order of their ends."""
        known: Mapping[Criterion, Sequence[Hit]] | None = passage.scans.get(self)
        if known is None:
            found: dict[Criterion, list[Hit]] = {criterion: [] for criterion in self._by_word}
            text = passage.folded.text
            for hit in self._automaton.find_matches_as_indexes(text, overlapping=True) if self._automaton else ():
                for criterion in self._criteria[hit[0]]:
                    found[criterion].append(hit)
            passage.scans[self] = known = found
        return known


def matches(criterion: Criterion, passage: Passage) -> list[Match]:
    """What the patterns of a criterion find in a text, in order; of what overlaps the first and longest."""
    finder = _finder_of(criterion)
    if not passage.text or not finder.may_find(criterion, passage):
        return []
    code, known = criterion.code, criterion.code in model().settings
    windows = passage.windows if known else passage.long_windows
    if known and passage.is_weighed:
        possible = passage.possible(code)
        windows = [window for window in windows if possible[window[2]]]
    found: dict[Pattern, list[Match]] = {}
    for window, pattern, span in finder.found(criterion, passage, windows):
        if not known or passage.possible(code)[window[2]]:
            found.setdefault(pattern, []).append(Match(*span, code, pattern.name))
    return sorted(match for several in found.values() for match in _apart(several))


def first_spans(criterion: Criterion, passage: Passage, least: int, likeliest: bool) -> Iterator[Span]:
    """What is found in sentences that end behind a place, whatever the model says, for who needs but a few.

    With ``likeliest`` sentences that the model takes for such come first, where it was asked already.
    """
    finder, stretches = _finder_of(criterion), passage.stretches
    if not finder.may_find(criterion, passage):
        return iter(())
    windows = [window for window in passage.windows if stretches[window[2]][1] > least] if least else passage.windows
    if likeliest and passage.is_weighed:
        scores = passage.scores_of(criterion.code)
        windows = sorted(windows, key=lambda window: -scores[window[2]])
    return (found.span for found in finder.found(criterion, passage, windows))


@functools.lru_cache(maxsize=64)
def _finder_of(criterion: Criterion) -> Finder:
    """That of all criteria of a table, so that a text is passed over once; of a user's criterion its own."""
    return _finder(criterion.table) if criteria().get(criterion.code) is criterion else Finder((criterion,))


@functools.cache
def _finder(table: str) -> Finder:
    return Finder([criterion for criterion in criteria().values() if criterion.table == table])


def _counts(pattern: Pattern, found: re.Match[str], passage: Passage, span: Span, window: Window) -> bool:
    """Whether what an expression matches is what its pattern is for; ``span`` is what is pointed at."""
    if span[0] >= span[1] or not _named(found, passage) or not _heard(pattern, passage, span):
        return False
    return not _excused(pattern, found, window[0], window[1])


def _narrowed(window: Window, near: Sequence[Hit]) -> Sequence[Window]:
    """Of a long window with few words what is so near one that a match of up to ``OVERLAP`` reaches it."""
    low, high, sentence = window
    if high - low <= 2 * OVERLAP * max(len(near), 1) or not near:
        return (window,)
    return [(max(low, start - OVERLAP), min(high, end + OVERLAP), sentence) for _, start, end in near]


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
