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
from dataclasses import dataclass

import ahocorasick_rs

from audits.criteria import Criterion, Pattern, Voice
from audits.folding import BREAK, Folded, fold, lowered
from audits.speech import Quotations

REACH = 200
"""Characters on either side of an anchor that an expression sees."""

_BATCH = 200_000
_SENTENCE_ENDS = (".", "!", "?", BREAK)


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """A pattern found in text number ``text``, at ``start`` to ``end`` of the original."""

    text: int
    start: int
    end: int
    code: str
    name: str


class Matcher:
    """All patterns of some criteria, compiled together."""

    def __init__(self, criteria: Collection[Criterion]) -> None:
        users: dict[str, list[Pattern]] = {}
        for criterion in criteria:
            for pattern in criterion.patterns:
                for anchor in pattern.anchors:
                    users.setdefault(anchor, []).append(pattern)
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
        text = quoted.text
        folded = fold(text)
        low = {code: int(share * len(folded.text)) for code, (_, share) in needed.items()}
        seen: dict[str, set[int]] = {code: set() for code in needed}
        for anchor, start, end in self._automaton.find_matches_as_indexes(folded.text, overlapping=True):
            for pattern in self._users[anchor]:
                found, (enough, _) = seen[pattern.code], needed[pattern.code]
                if len(found) >= enough or end < low[pattern.code]:
                    continue
                for match in self._matches(pattern, folded, max(low[pattern.code], start - REACH), end + REACH):
                    place = Match(0, folded.at(match.start()), folded.at(match.end()), pattern.code, pattern.name)
                    if _capital(pattern, match, folded, text, 0) and hears(
                        pattern.voice, quoted, place.start, place.end
                    ):
                        found.add(place.start)
        return {code: len(found) for code, found in seen.items()}

    @staticmethod
    def _matches(pattern: Pattern, folded: Folded, low: int, high: int) -> Iterator[re.Match[str]]:
        for found in pattern.expression.finditer(folded.text, low, high):
            if pattern.unless is None or not _excused(pattern.unless, folded.text, found.start()):
                yield found

    def _scan_batch(self, texts: Sequence[str], quoted: Sequence[Quotations], first: int, last: int) -> Iterator[Match]:
        joined = lowered("\n\n".join(texts[first:last]))
        if joined is None:
            for number in range(first, last):
                yield from self._in(fold(texts[number]), quoted, [0], number)
            return
        starts = [0]
        for number in range(first, last - 1):
            starts.append(starts[-1] + len(texts[number]) + 2)
        yield from self._in(Folded(joined), quoted, starts, first)

    def _in(self, folded: Folded, quoted: Sequence[Quotations], starts: Sequence[int], first: int) -> Iterator[Match]:
        """Matches in a folded text that holds the texts from ``first`` on, at ``starts``."""
        for anchor, start, end in self._automaton.find_matches_as_indexes(folded.text, overlapping=True):
            for pattern in self._users[anchor]:
                for found in self._matches(pattern, folded, max(0, start - REACH), end + REACH):
                    offset = bisect_right(starts, found.start()) - 1
                    number, base = first + offset, starts[offset]
                    if not _capital(pattern, found, folded, quoted[number].text, base):
                        continue
                    match = Match(
                        number,
                        folded.at(found.start()) - base,
                        folded.at(found.end()) - base,
                        pattern.code,
                        pattern.name,
                    )
                    if hears(pattern.voice, quoted[number], match.start, match.end):
                        yield match


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


def _excused(unless: re.Pattern[str], text: str, start: int) -> bool:
    low = max(0, start - REACH)
    since = max(text.rfind(end, low, start) for end in _SENTENCE_ENDS) + 1
    return unless.search(text, max(since, low), start) is not None


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    first, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= _BATCH:
            yield first, number + 1
            first, size = number + 1, 0
    if first < len(texts):
        yield first, len(texts)
