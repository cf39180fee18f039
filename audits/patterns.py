"""Find every pattern of many criteria in many texts, in linear time, with true spans.

Hundreds of expressions are not searched one by one. One Aho-Corasick automaton finds the anchors
(words an expression cannot match without) in all texts at once; an expression runs only on the few
characters round an anchor of its own, so that bait for backtracking has nothing to work on. Texts
are folded and joined in batches, which spares a call a text; spans are handed back in the original
text.

HEART-BENCH appendix B.4 (criteria 1, 2 and 6) and our own; ``python -m audits`` runs it and
``python -m perf.audits`` measures it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import ahocorasick_rs

from audits.criteria import Criterion, Pattern, Voice
from audits.folding import BREAK, Folded, fold, lowered
from audits.speech import Quotations

REACH = 200
"""Characters on either side of an anchor that an expression sees."""

_BATCH = 200_000
_OPENING = 2
"""Every text is searched behind a paragraph's end, so that its first word is like any other."""

_STOP = re.compile(f"[.!?{BREAK}]")


class Match(NamedTuple):
    """A pattern found in text number ``text``, at ``start`` to ``end`` of the original."""

    text: int
    start: int
    end: int
    code: str
    name: str


class Matcher:
    """All patterns of some criteria, compiled together."""

    def __init__(self, criteria: Collection[Criterion]) -> None:
        self._patterns = [pattern for criterion in criteria for pattern in criterion.patterns]
        users: dict[str, list[int]] = {}
        for number, pattern in enumerate(self._patterns):
            for anchor in pattern.anchors:
                users.setdefault(anchor, []).append(number)
        self._users = list(users.values())
        self._automaton = ahocorasick_rs.AhoCorasick(list(users), implementation=ahocorasick_rs.Implementation.DFA)

    def scan(self, texts: Sequence[str], quoted: Sequence[Quotations] | None = None) -> list[Match]:
        """Every match in every text, in order of text and place; ``quoted``: the texts' quotations, where at hand."""
        known = quoted if quoted is not None else [Quotations(text) for text in texts]
        found: set[Match] = set()
        for first, last in _batches(texts):
            found.update(self._scan_batch(texts, known, first, last))
        return sorted(found)

    def count(self, quoted: Sequence[Quotations], needed: Mapping[str, tuple[int, float]]) -> list[dict[str, int]]:
        """Matches per code and text, counted up to the number needed from a share of the text's length on."""
        return [self._count(each, needed) for each in quoted]

    def _count(self, quoted: Quotations, needed: Mapping[str, tuple[int, float]]) -> dict[str, int]:
        folded = _opened(quoted.text)
        low = {code: int(share * len(folded.text)) for code, (_, share) in needed.items()}
        seen: dict[str, set[int]] = {code: set() for code in needed}
        for pattern, start, end in self._candidates(folded.text):
            found = seen[pattern.code]
            if len(found) >= needed[pattern.code][0] or end < low[pattern.code]:
                continue
            for match in pattern.expression.finditer(folded.text, max(low[pattern.code], start), end):
                place = folded.at(match.start()) - _OPENING
                if (
                    not _excused(pattern, folded.text, match)
                    and _capital(pattern, match, folded, quoted.text, _OPENING)
                    and hears(pattern.voice, quoted, place, folded.at(match.end()) - _OPENING)
                ):
                    found.add(place)
        return {code: len(found) for code, found in seen.items()}

    def _candidates(self, text: str) -> Iterator[tuple[Pattern, int, int]]:
        """Patterns whose anchor stands in a sentence, with the stretch of text to look at; each sentence once."""
        low = high = -1
        whole = False
        done: set[int] = set()
        for anchor, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if not whole or start >= high:
                low, high, whole = _sentence(text, start, end)
                done.clear()
            users = self._users[anchor]
            for number in users:
                if number not in done:
                    done.add(number)
                    yield self._patterns[number], low, high

    def _scan_batch(self, texts: Sequence[str], quoted: Sequence[Quotations], first: int, last: int) -> Iterator[Match]:
        joined = lowered("\n\n".join(["", *texts[first:last]]))
        if joined is None:
            for number in range(first, last):
                yield from self._in(_opened(texts[number]), quoted, [_OPENING], number)
            return
        starts = [_OPENING]
        for number in range(first, last - 1):
            starts.append(starts[-1] + len(texts[number]) + 2)
        yield from self._in(Folded(joined), quoted, starts, first)

    def _in(self, folded: Folded, quoted: Sequence[Quotations], starts: Sequence[int], first: int) -> Iterator[Match]:
        """Matches in a folded text that holds the texts from ``first`` on, at ``starts``."""
        text = folded.text
        for pattern, low, high in self._candidates(text):
            for found in pattern.expression.finditer(text, low, high):
                if _excused(pattern, text, found):
                    continue
                offset = bisect_right(starts, found.start()) - 1
                number, base = first + offset, starts[offset]
                start, end = folded.at(found.start()) - base, folded.at(found.end()) - base
                if _capital(pattern, found, folded, quoted[number].text, base) and hears(
                    pattern.voice, quoted[number], start, end
                ):
                    yield Match(number, start, end, pattern.code, pattern.name)


def _opened(text: str) -> Folded:
    return fold("\n\n" + text)


def _sentence(text: str, start: int, end: int) -> tuple[int, int, bool]:
    """The sentence round an anchor, its last mark and a sign more included; whether it is all within reach."""
    low, high = max(0, start - REACH), end + REACH
    back = text.rfind
    since = max(back(".", low, start), back("!", low, start), back("?", low, start), back(BREAK, low, start))
    stop = _STOP.search(text, end, high)
    if stop is None:
        return max(low, since), high, False
    return max(low, since), stop.start() + 2, since >= low


def hears(voice: Voice, quoted: Quotations, start: int, end: int) -> bool:
    """Whether words at a place are spoken by whom a pattern listens to."""
    if voice == "any":
        return True
    number = quoted.around(start)
    if number is None:
        number = quoted.around(end - 1)
    if number is None:
        return voice in ("narrator", "self")
    if voice in ("narrator", "speech"):
        return voice == "speech"
    if voice == "self":
        return quoted.mine[number]
    if quoted.mine[number] or voice == "others":
        return not quoted.mine[number]
    return quoted.to_me(number) if voice == "to_me" else not quoted.to_another(number)


def _capital(pattern: Pattern, found: re.Match[str], folded: Folded, text: str, base: int) -> bool:
    if "capital" not in pattern.expression.groupindex or found.start("capital") < 0:
        return True
    return text[folded.at(found.start("capital")) - base].isupper()


def _excused(pattern: Pattern, text: str, found: re.Match[str]) -> bool:
    if pattern.unless_after is not None and pattern.unless_after.match(text, found.end(), found.end() + REACH):
        return True
    if pattern.unless is None:
        return False
    low, _, _ = _sentence(text, found.start(), found.start())
    return pattern.unless.search(text, low, found.start()) is not None


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    first, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= _BATCH:
            yield first, number + 1
            first, size = number + 1, 0
    if first < len(texts):
        yield first, len(texts)
