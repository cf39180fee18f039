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

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import ahocorasick_rs

from audits.criteria import Criterion, Pattern, Voice
from audits.folding import BREAK, Folded, fold, lowered
from audits.speech import Span, inside, spans

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
        self._voices: dict[str, Voice] = {criterion.code: criterion.voice for criterion in criteria}
        users: dict[str, list[Pattern]] = {}
        for criterion in criteria:
            for pattern in criterion.patterns:
                for anchor in pattern.anchors:
                    users.setdefault(anchor, []).append(pattern)
        self._users = list(users.values())
        self._automaton = ahocorasick_rs.AhoCorasick(list(users), implementation=ahocorasick_rs.Implementation.DFA)

    def scan(self, texts: Sequence[str]) -> list[Match]:
        """Every match in every text, in order of text and place."""
        found: set[Match] = set()
        for first, last in _batches(texts):
            found.update(self._scan_batch(texts, first, last))
        return sorted(found)

    def _scan_batch(self, texts: Sequence[str], first: int, last: int) -> Iterator[Match]:
        joined = lowered("\n\n".join(texts[first:last]))
        if joined is None:
            for number in range(first, last):
                yield from self._in(fold(texts[number]), texts, [0], number)
            return
        starts = [0]
        for number in range(first, last - 1):
            starts.append(starts[-1] + len(texts[number]) + 2)
        yield from self._in(Folded(joined), texts, starts, first)

    def _in(self, folded: Folded, texts: Sequence[str], starts: Sequence[int], first: int) -> Iterator[Match]:
        """Matches in a folded text that holds the texts from ``first`` on, at ``starts``."""
        text = folded.text
        quoted: dict[int, list[Span]] = {}
        for anchor, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            low, high = max(0, start - REACH), end + REACH
            for pattern in self._users[anchor]:
                for match in pattern.expression.finditer(text, low, high):
                    if pattern.unless is not None and _excused(pattern, text, match.start()):
                        continue
                    offset = bisect_right(starts, match.start()) - 1
                    number = first + offset
                    place = Match(
                        number,
                        folded.at(match.start()) - starts[offset],
                        folded.at(match.end()) - starts[offset],
                        pattern.code,
                        pattern.name,
                    )
                    if number not in quoted:
                        quoted[number] = spans(texts[number])
                    if self._heard(place, quoted[number]):
                        yield place

    def _heard(self, match: Match, quoted: Sequence[Span]) -> bool:
        voice = self._voices[match.code]
        if voice == "any":
            return True
        within = inside(quoted, match.start) or inside(quoted, match.end - 1)
        return within == (voice == "speech")


def _excused(pattern: Pattern, text: str, start: int) -> bool:
    assert pattern.unless is not None
    low = max(0, start - REACH)
    since = max(text.rfind(end, low, start) for end in _SENTENCE_ENDS) + 1
    return pattern.unless.search(text, max(since, low), start) is not None


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    first, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= _BATCH:
            yield first, number + 1
            first, size = number + 1, 0
    if first < len(texts):
        yield first, len(texts)
