"""What has been told so far in a life, counted: scenes, lines, people and whole sentences.

A life is told in order, from one plan to the next, so these counts are exact, and the next memory takes
what has been used least, first in the life stage at hand and then in all. That is how a sentence keeps to
at most 0.5 % of a character's memories and no opening comes twice; see ``builders.offline.chronicle``.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence

# A sentence may stand in this share of a character's memories.
SHARE = 0.005


class Uses:
    """Counts over a life of ``total`` memories; a memory is known by its place in it, from 0."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._most = max(1, int(SHARE * total))
        self._stage = ""
        self._in_life: Counter[Hashable] = Counter()
        self._in_stage: Counter[Hashable] = Counter()
        self._sentences: dict[str, list[int]] = {}
        self._openings: dict[str, int] = {}

    def enter(self, stage: str) -> None:
        """Begin a life stage, or go on with it."""
        if stage != self._stage:
            self._stage = stage
            self._in_stage.clear()

    def ranked(self, keys: Sequence[Hashable], rng: random.Random) -> list[int]:
        """The places of ``keys``, the least used first; chance decides between equals."""
        stage, life = self._in_stage, self._in_life
        worn = [(stage.get(key, 0), life.get(key, 0), rng.random()) for key in keys]
        return sorted(range(len(keys)), key=worn.__getitem__)

    def of(self, key: Hashable) -> int:
        """How often something was used in the life so far."""
        return self._in_life[key]

    def spent(self, line: str, wordings: int) -> bool:
        """Whether a line was told as often as its poorest sentence may be, in all its wordings together."""
        return self._in_life[line] >= self._most * wordings

    def share(self, key: Hashable) -> float:
        """In which share of the life's memories something is used so far."""
        return self._in_life[key] / self._total

    def use(self, key: Hashable) -> None:
        """Count one use."""
        self._in_life[key] += 1
        self._in_stage[key] += 1

    def count_sentences(self, sentences: Sequence[str], place: int) -> None:
        """Count the sentences of a memory; the first opens it."""
        for sentence in dict.fromkeys(sentences):
            self._sentences.setdefault(sentence, []).append(place)
        self._openings.setdefault(sentences[0], place)

    def worn(self, sentences: Sequence[str], place: int) -> list[int]:
        """Which of a memory's sentences must not be told at this place of the life, by their number."""
        over = [number for number, each in enumerate(sentences) if self.full(each, place)]
        if 0 not in over and self._openings.get(sentences[0], place) < place:
            over.insert(0, 0)
        return over

    def full(self, sentence: str, place: int) -> bool:
        """Whether a sentence stands in as many memories before a place of the life as it may."""
        places = self._sentences.get(sentence)
        return places is not None and bisect_left(places, place) >= self._limit(place)

    def _limit(self, place: int) -> int:
        """Behind the end a memory of the life is told again, and more than one may be: each leaves some room."""
        return self._most if place < self._total else max(1, self._most - 1)
