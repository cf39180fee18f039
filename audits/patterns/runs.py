"""Sets of strings, each known by how it is made, and how often ordinary text holds one of them.

What ``audits.patterns.anchors`` makes of an expression, and chooses its anchors from.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import ahocorasick_rs

MOST = 2_500
"""Strings of one set at most; what would be more is cut in two parts."""

SHORTEST, LONGEST = 3, 14
"""Characters of an anchor; a longer one would only be a little rarer."""


_NONE = (math.inf, None)
_FREQUENT = Path(__file__).parent / "frequent_words.txt"
# How often letters stand in English text, in thousandths; all other signs are rare.
_LETTERS = dict(
    zip(
        "etaoinsrhlducmfwgpyb,vk",
        (102, 75, 65, 61, 57, 57, 52, 49, 49, 33, 33, 23, 22, 20, 18, 17, 16, 15, 14, 12, 12, 8, 5),
        strict=True,
    )
)

Lead = tuple[int, int]
"""Characters before a place, at least and at most."""

Anchors = Mapping[str, Lead]
"""Anchors, and how far behind the beginning of a match each begins."""


@dataclass(frozen=True)
class Run:
    """Strings that follow from each other: one of ``starts``, and behind it one of each of ``tails``.

    An expression has many runs, and one of them is its anchors: of the others no string is ever made.
    """

    starts: Anchors
    tails: tuple[frozenset[str], ...] = ()

    @functools.cached_property
    def size(self) -> int:
        """How many strings there are at most."""
        return len(self.starts) * math.prod(map(len, self.tails))

    @functools.cached_property
    def frequency(self) -> float:
        """How often ordinary text holds one of the strings; without end where one is too short to help."""
        if sum(min(map(len, each)) for each in (self.starts, *self.tails)) < SHORTEST:
            return math.inf
        return _likelihood(frozenset(self.starts)) * math.prod(map(_likelihood, self.tails))

    def behind(self, width: Lead) -> Run:
        """The same behind something as wide as that."""
        starts = {text: (width[0] + least, width[1] + most) for text, (least, most) in self.starts.items()}
        return Run(starts, self.tails)

    def strings(self) -> Anchors:
        """All strings, each with where it begins."""
        strings = self.starts
        for tail in self.tails:
            strings = merged((start + text, lead) for start, lead in strings.items() for text in tail)
        return strings


Runs = tuple[Run, ...]
"""An anchor set: every match contains a string of one of them."""


def from_start(strings: Iterable[str] | None) -> Runs | None:
    return None if strings is None else (Run(dict.fromkeys(strings, (0, 0))),)


def united(sets: Sequence[Runs | None]) -> Runs | None:
    known = [each for each in sets if each is not None]
    return tuple(itertools.chain.from_iterable(known)) if len(known) == len(sets) else None


def merged(strings: Iterable[tuple[str, Lead]]) -> dict[str, Lead]:
    merged: dict[str, Lead] = {}
    for text, lead in strings:
        known = merged.setdefault(text, lead)
        if known is not lead:
            merged[text] = around(known, lead)
    return merged


def around(one: Lead | None, other: Lead) -> Lead:
    return other if one is None else (min(one[0], other[0]), max(one[1], other[1]))


def better(one: Runs | None, other: Runs | None) -> Runs | None:
    """The rarer of two sets; a set with a string too short to help is none."""
    frequency, best = min(((_frequency(each), each) for each in (one, other) if each), key=itemgetter(0), default=_NONE)
    return None if frequency == math.inf else best


def _frequency(runs: Runs) -> float:
    return sum([run.frequency for run in runs])


def least(found: Runs) -> Anchors:
    """As few and as short strings as stand in all of the given ones and are hardly more frequent, in order."""
    every = (run.strings().items() for run in found)
    cut = merged((text[:LONGEST], lead) for text, lead in itertools.chain.from_iterable(every))
    words = sorted(cut)
    automaton = ahocorasick_rs.AhoCorasick(words)
    least: list[tuple[str, Lead]] = []
    for text in words:
        inside = automaton.find_matches_as_indexes(text, overlapping=True)
        number, start, _ = min(inside, key=lambda match: match[2] - match[1])
        least.append((words[number], (cut[text][0] + start, cut[text][1] + start)))
    return dict(sorted(merged(least).items()))


@functools.cache
def _likelihood(strings: frozenset[str]) -> float:
    """How often one of some strings stands at a place of ordinary text."""
    return sum([math.prod([_share(word) for word in text.split(" ")]) for text in strings])


@functools.cache
def _share(word: str) -> float:
    """How often a word, or part of one, stands behind a space: by Zipf's law if it is frequent, else by its letters."""
    rank = _ranks().get(word)
    return 0.1 / rank if rank else math.prod([_LETTERS.get(sign, 1) / 1000 for sign in word])


@functools.cache
def _ranks() -> Mapping[str, int]:
    return {word: rank for rank, word in enumerate(_FREQUENT.read_text("utf-8").split(), 1)}
