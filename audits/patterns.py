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

from audits.criteria import Criterion, Pattern, Voice
from audits.expressions import Expression
from audits.folding import BREAK, ODD_BLANKS, Folded, fold, has_wrapped_lines, plain, unwrapped
from audits.speech import Quotations

REACH = 200
"""Characters on either side of an anchor that an expression sees, at least, where its sentence is as long."""

_LEAD = 16
"""Characters before a sentence that an expression may look back at."""

_BATCH = 100_000  # with its copies it stays in the cache
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


class Sought(NamedTuple):
    """An expression, and the pattern it is one of."""

    expression: Expression
    pattern: Pattern


class Matcher:
    """All patterns of some criteria, compiled together."""

    def __init__(self, criteria: Collection[Criterion]) -> None:
        patterns = [pattern for criterion in criteria for pattern in criterion.patterns]
        self._sought = [Sought(expression, pattern) for pattern in patterns for expression in pattern.expressions]
        users: dict[bytes, list[int]] = {}
        for number, sought in enumerate(self._sought):
            for anchor in sought.expression.anchors:
                users.setdefault(_coded(anchor), []).append(number)
        self._users = list(users.values())
        self._codes = [frozenset(self._sought[number].pattern.code for number in numbers) for numbers in self._users]
        words = [*users, *map(_coded, ODD_BLANKS)]
        self._automaton = ahocorasick_rs.BytesAhoCorasick(words, implementation=ahocorasick_rs.Implementation.DFA)

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

        for sought, window in self._candidates(folded.text, _coded(folded.text), counts=counts):
            pattern = sought.pattern
            code = pattern.code
            for match in window.matches(sought):
                start, end = _place(match, window, folded, _OPENING)
                if start >= least[code] and hears(pattern.voice, quoted, start, end):
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
        if anchors and max(anchors)[0] >= len(self._users):
            for number in range(first, last):
                folded = fold("\n\n" + texts[number])
                found = self._candidates(folded.text, _coded(folded.text))
                yield from _matches(found, folded, quoted[number : number + 1], number)
            return
        yield from _matches(self._candidates(joined, coded, anchors), Folded(joined), quoted[first:last], first)

    def _candidates(
        self, text: str, coded: bytes, anchors: Sequence[Anchor] | None = None, counts: Counts | None = None
    ) -> Iterator[Candidate]:
        """Expressions whose anchor stands in a sentence, with the sentence; each expression once a sentence.

        Anchors at places where their code does not count are passed over.
        """
        # Lower case is cheap for all of an ASCII text, and dear for others: of those only sentences are lowered.
        lower = coded.decode("ascii") if text.isascii() else None
        window: _Window | None = None
        done: set[int] = set()
        for anchor, start, end in self._anchors(coded) if anchors is None else anchors:
            if anchor >= len(self._users) or (counts and not any(counts(code, start) for code in self._codes[anchor])):
                continue
            if window is None or start >= window.until:
                window = _window(text, lower, start, end)
                done.clear()
            for number in self._users[anchor]:
                sought = self._sought[number]
                if number not in done:
                    done.add(number)
                    yield sought, window

    def _anchors(self, coded: bytes) -> list[Anchor]:
        return self._automaton.find_matches_as_indexes(coded, overlapping=True)


class _Window(NamedTuple):
    """A sentence: ``start`` to ``end`` of a text in lower case, which begins at ``base`` of the searched text.

    Anchors that begin before ``until`` (of the searched text) have all they can reach in it.
    """

    text: str
    base: int
    start: int
    end: int
    until: int

    def matches(self, sought: Sought) -> Iterator[re.Match[str]]:
        """Matches of an expression that nothing before or after them excuses."""
        after, before = sought.pattern.unless_after, sought.pattern.unless
        for found in sought.expression.matches(self.text, self.start, self.end):
            if after is not None and after.match(self.text, found.end(), self.end):
                continue
            if before is None or not before.search(self.text, self.start, found.start()):
                yield found


Candidate = tuple[Sought, _Window]


def _matches(
    candidates: Iterator[Candidate], folded: Folded, quoted: Sequence[Quotations], first: int
) -> Iterator[Match]:
    """Matches in a text that holds those of ``quoted`` one after the other, the first being number ``first``."""
    starts = [_OPENING]
    for each in quoted[:-1]:
        starts.append(starts[-1] + len(each.text) + _OPENING)
    for sought, window in candidates:
        pattern = sought.pattern
        for match in window.matches(sought):
            which = bisect_right(starts, folded.at(window.base + _span(match)[0])) - 1
            start, end = _place(match, window, folded, starts[which])
            if _capital(match, window, folded, quoted[which].text, starts[which]) and hears(
                pattern.voice, quoted[which], start, end
            ):
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
    return kept


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
        until = high = min(high, stop.start() + 2)
    if lower is not None:
        return _Window(lower, 0, low, high, until)
    base = max(0, low - _LEAD)
    return _Window(text[base:high].lower(), base, low - base, high - base, until)


def _span(found: re.Match[str]) -> tuple[int, int]:
    """The group named ``words``, where it is part of the match; else all of the match."""
    pointed = "words" in found.re.groupindex and found.start("words") >= 0
    return found.span("words") if pointed else found.span()


def _place(found: re.Match[str], window: _Window, folded: Folded, base: int) -> tuple[int, int]:
    """What a match points at, in the original text that begins at ``base``."""
    start, end = _span(found)
    return folded.at(window.base + start) - base, folded.at(window.base + end) - base


def _capital(found: re.Match[str], window: _Window, folded: Folded, original: str, base: int) -> bool:
    """Whether a group named ``capital`` begins with one in the original; True without such a group."""
    if "capital" not in found.re.groupindex or found.start("capital") < 0:
        return True
    return original[folded.at(window.base + found.start("capital")) - base].isupper()


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
