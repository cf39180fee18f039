"""How much a memory reads like those told before it in a life stage, by its content words.

The measure is TF-IDF cosine (HEART-BENCH appendix B.4, criterion 4) without function words, which say nothing of
what is told, with the weights of words as they stand so far: the stage is not over. Memories come near each other by
their scene or by the people in them, so only those that share one are compared.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import repeat
from operator import mul

from builders.offline.banks import bank

FUNCTION_WORDS = frozenset(bank("function_words")["words"].split())
_WORD = re.compile(r"\b\w\w+\b")
_NONE = repeat(0.0)


class Likeness:
    """The memories of one life stage, by what they share: a scene, somebody."""

    def __init__(self) -> None:
        self._having: Counter[str] = Counter()
        self._told: list[dict[str, float]] = []
        self._with: dict[Hashable, list[int]] = {}

    def nearest(self, keys: Iterable[Hashable], text: str) -> float:
        """The largest cosine with a memory that shares one of ``keys``; 0 where there is none."""
        before = sorted({place for key in keys for place in self._with.get(key, ())})
        if not before:
            return 0.0
        own = self._vector(_words(text))
        told = [self._told[place] for place in before]
        return max(math.fsum(map(mul, own.values(), map(other.get, own, _NONE))) for other in told)

    def add(self, keys: Iterable[Hashable], text: str) -> None:
        """Count a memory in."""
        words = _words(text)
        for key in keys:
            self._with.setdefault(key, []).append(len(self._told))
        self._having.update(words.keys())
        self._told.append(self._vector(words))

    def _vector(self, words: Mapping[str, int]) -> dict[str, float]:
        """Words by weight, of length 1."""
        size, having = 2 + len(self._told), self._having
        weighted = {word: count * (math.log(size / (1 + having[word])) + 1) for word, count in words.items()}
        norm = math.sqrt(sum(value * value for value in weighted.values()))
        return {word: value / norm for word, value in weighted.items()}


def _words(text: str) -> Counter[str]:
    """The content words of a text, counted."""
    return Counter(word for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS)
