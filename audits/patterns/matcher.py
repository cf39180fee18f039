"""Find every pattern of many criteria in many texts, in linear time, with true spans.

Hundreds of expressions are not searched one by one. One Aho-Corasick automaton finds the anchors
(words an expression cannot match without) in all texts at once; an expression runs only on the
sentence round an anchor of its own, and of a sentence without end on short stretches, so that
bait for backtracking has nothing to work on. Texts are joined in batches, which spares a call a text,
and only the sentences looked at are folded; spans are handed back in the original text.

HEART-BENCH appendix B.4 (criteria 1, 2 and 6) and our own; ``python -m audits`` runs it and
``python -m perf.audits`` measures it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import ahocorasick_rs

from audits.patterns.criteria import Criterion, Pattern, Voice, given_names
from audits.patterns.expressions import Expression
from audits.patterns.runs import Lead
from audits.text.normalisation import BREAK, ODD_BLANKS, Folded, fold, has_wrapped_lines, plain, unwrapped
from audits.text.quotations import Quotations

REACH = 200
"""Characters on either side of an anchor that an expression sees, at least, where its sentence is as long."""

_LEAD = 16
"""Characters before a sentence that an expression may look back at."""

_BATCH = 100_000  # with its copies it stays in the cache
_IN_CACHE = 5_000
"""Anchors up to which an automaton with all its transitions is the quickest: it stays in the cache."""

_OPENING = 2
"""Every text is searched behind a paragraph's end, so that its first word is like any other."""

_STOP = re.compile(f"[.!?{BREAK}]")

Anchor = tuple[int, int, int]
Counts = Callable[[str, int], bool]
"""Whether a match of a code round a place of the searched text is still of interest."""


class Match(NamedTuple):
    """A pattern found in text number ``text``, at ``start`` to ``end`` of the original."""

    text: int
    start: int
    end: int
    code: str
    name: str


class Use(NamedTuple):
    """What an anchor is one of: an expression of a pattern; and how far behind a match's beginning it stands."""

    pattern: Pattern
    expression: Expression
    lead: Lead


class Matcher:
    """The patterns of some criteria, or those ``wanted`` of them, compiled together.

    Raises RequestError for an expression that cannot be.
    """

    def __init__(
        self, criteria: Collection[Criterion], wanted: Callable[[Pattern], bool] = lambda pattern: True
    ) -> None:
        uses: dict[bytes, list[Use]] = {}
        every = (each for criterion in criteria for each in criterion.anchored if wanted(each[0]))
        for pattern, expression, anchors in every:
            for anchor, lead in anchors.items():
                uses.setdefault(_coded(anchor), []).append(Use(pattern, expression, lead))
        self._uses = list(uses.values())
        self._codes = [tuple({use.pattern.code for use in each}) for each in self._uses]
        words = [*uses, *map(_coded, ODD_BLANKS)]
        kind = (
            ahocorasick_rs.Implementation.DFA if len(words) <= _IN_CACHE else None
        )  # None: as the library thinks best
        self._automaton = ahocorasick_rs.BytesAhoCorasick(words, implementation=kind)

    def scan(self, texts: Sequence[str], quoted: Sequence[Quotations] | None = None) -> list[Match]:
        """Every match in every text, in order of text and place; ``quoted``: the texts' quotations, where at hand."""
        known = quoted if quoted is not None else [Quotations(text) for text in texts]
        found: set[Match] = set()
        for first, last in _batches(texts):
            found.update(self._scan_batch(texts, known, first, last))
        return _apart(found)

    def count(self, quoted: Sequence[Quotations], needed: Mapping[str, tuple[int, float]]) -> list[dict[str, int]]:
        """Matches per code and text, counted up to the number needed from a share of the text's length on."""
        return [self._count(each, needed) for each in quoted]

    def _count(self, quoted: Quotations, needed: Mapping[str, tuple[int, float]]) -> dict[str, int]:
        folded = fold("\n\n" + quoted.text)
        least = {code: int(share * len(quoted.text)) for code, (_, share) in needed.items()}
        seen: dict[str, set[Match]] = {code: set() for code in needed}
        enough: set[str] = set()

        def counts(code: str, anchor: int) -> bool:
            return code not in enough and folded.at(anchor) + REACH >= least[code]

        for found in self._find(folded.text, _coded(folded.text), counts=counts):
            pattern, code = found.pattern, found.pattern.code
            start, end = _place(found, folded, _OPENING)
            if start < least[code] or not hears(pattern.voice, quoted, start, end):
                continue
            seen[code].add(Match(0, start, end, code, pattern.name))
            if len(seen[code]) >= needed[code][0] and len(_apart(seen[code])) >= needed[code][0]:
                enough.add(code)
                if len(enough) == len(needed):
                    break
        return {code: len(_apart(found)) for code, found in seen.items()}

    def _scan_batch(self, texts: Sequence[str], quoted: Sequence[Quotations], first: int, last: int) -> Iterator[Match]:
        joined = plain("\n\n".join(["", *texts[first:last]]))
        coded = _coded(joined)
        if has_wrapped_lines(coded):
            joined = unwrapped(joined)
            coded = _coded(joined)
        anchors = self._anchors(coded)
        if anchors and max(anchors)[0] >= len(self._uses):
            for number in range(first, last):
                folded = fold("\n\n" + texts[number])
                found = self._find(folded.text, _coded(folded.text))
                yield from _matches(found, folded, quoted[number : number + 1], number)
            return
        yield from _matches(self._find(joined, coded, anchors), Folded(joined), quoted[first:last], first)

    def _find(
        self, text: str, coded: bytes, anchors: Sequence[Anchor] | None = None, counts: Counts | None = None
    ) -> Iterator[Found]:
        """What the expressions find round their anchors, each within its sentence.

        Anchors at places where their code does not count are passed over.
        """
        # Lower case is cheap for all of an ASCII text, and dear for others: of those only sentences are lowered.
        lower = coded.decode("ascii") if text.isascii() else None
        window: _Window | None = None
        for anchor, start, end in self._anchors(coded) if anchors is None else anchors:
            if anchor >= len(self._uses) or (counts and not any(counts(code, start) for code in self._codes[anchor])):
                continue
            if window is None or end > window.until:
                window = _window(text, lower, start, end)
            for pattern, expression, lead in self._uses[anchor]:
                low, high = window.start, window.end
                for match in expression.matches_at(window.text, low, high, start - window.base, lead):
                    if not _excused(pattern, match, window):
                        yield Found(pattern, match, window)

    def _anchors(self, coded: bytes) -> list[Anchor]:
        return self._automaton.find_matches_as_indexes(coded, overlapping=True)


class _Window(NamedTuple):
    """A sentence: ``start`` to ``end`` of a text in lower case, which begins at ``base`` of the searched text.

    Anchors that end before ``until`` (of the searched text) have all they can reach in it.
    """

    text: str
    base: int
    start: int
    end: int
    until: int


class Found(NamedTuple):
    """What an expression of a pattern found in a sentence."""

    pattern: Pattern
    match: re.Match[str]
    window: _Window


def _excused(pattern: Pattern, match: re.Match[str], window: _Window) -> bool:
    """Whether something right before or after a match in its sentence excuses it."""
    after, before = pattern.unless_after, pattern.unless
    if after is not None and after.match(window.text, match.end(), window.end):
        return True
    return before is not None and before.search(window.text, window.start, match.start()) is not None


def _matches(found: Iterator[Found], folded: Folded, quoted: Sequence[Quotations], first: int) -> Iterator[Match]:
    """Matches in a text that holds those of ``quoted`` one after the other, the first being number ``first``."""
    starts = [_OPENING]
    for text in quoted[:-1]:
        starts.append(starts[-1] + len(text.text) + _OPENING)
    for each in found:
        pattern = each.pattern
        which = bisect_right(starts, _place(each, folded, 0)[0]) - 1
        start, end = _place(each, folded, starts[which])
        if _named(each, folded, quoted[which].text, starts[which]) and hears(pattern.voice, quoted[which], start, end):
            yield Match(first + which, start, end, pattern.code, pattern.name)


def _apart(found: Collection[Match]) -> list[Match]:
    """Matches in order; of those of a pattern that overlap the one that begins first, and is the longest."""
    kept: list[Match] = []
    ends: dict[tuple[int, str, str], int] = {}
    for match in sorted(found, key=lambda match: (match.text, match.start, -match.end, match.code, match.name)):
        which = (match.text, match.code, match.name)
        if match.start >= ends.get(which, 0):
            ends[which] = match.end
            kept.append(match)
    return sorted(kept)


def _window(text: str, lower: str | None, start: int, end: int) -> _Window:
    """The sentence round an anchor, with its last mark and a sign more; of a very long one a stretch."""
    low, high = max(0, start - REACH), min(len(text), end + 3 * REACH)
    back = text.rfind
    since = max(back(".", low, start), back("!", low, start), back("?", low, start), back(BREAK, low, start))
    stop = _STOP.search(text, end, high)
    until = high if high == len(text) else high - REACH
    if since > low:
        low = since
    if stop is not None:
        until, high = stop.start(), min(high, stop.start() + 2)
    if lower is not None:
        return _Window(lower, 0, low, high, until)
    base = max(0, low - _LEAD)
    return _Window(text[base:high].lower(), base, low - base, high - base, until)


def _place(found: Found, folded: Folded, base: int) -> tuple[int, int]:
    """What is pointed at, in the original text that begins at ``base``: the group ``words``, else all of the match."""
    match = found.match
    pointed = "words" in match.re.groupindex and match.start("words") >= 0
    start, end = match.span("words") if pointed else match.span()
    return folded.at(found.window.base + start) - base, folded.at(found.window.base + end) - base


def _named(found: Found, folded: Folded, original: str, base: int) -> bool:
    """Whether the group ``capital`` begins with one in the original, and ``given`` is a given name; where they are."""
    match, groups = found.match, found.match.re.groupindex
    if "given" in groups and match["given"] is not None and match["given"] not in given_names():
        return False
    if "capital" not in groups or match.start("capital") < 0:
        return True
    return original[folded.at(found.window.base + match.start("capital")) - base].isupper()


def hears(voice: Voice, quoted: Quotations, start: int, end: int) -> bool:
    """Whether words at a place are spoken by whom a pattern listens to."""
    if voice == "any":
        return True
    number = quoted.around(start)
    if number is None and voice == "self":
        return True
    if number is None:
        number = quoted.around(end - 1)
    if number is None:
        return voice == "narrator"
    if voice in ("narrator", "speech"):
        return voice == "speech"
    if voice == "self":
        return quoted.mine(number)
    if voice == "others" or quoted.mine(number):
        return not quoted.mine(number)
    if voice == "of_me":
        return quoted.of_me(number)
    return quoted.to_me(number) if voice == "to_me" else not quoted.to_another(number)


def _coded(text: str) -> bytes:
    """Lower case, one byte a character: places in it are places in the text. What has no byte is a question mark."""
    if text.isascii():
        return text.lower().encode("ascii")  # quicker than bytes
    return text.encode("latin-1", "replace").lower()


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    first, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= _BATCH:
            yield first, number + 1
            first, size = number + 1, 0
    if first < len(texts):
        yield first, len(texts)
