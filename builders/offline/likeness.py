"""How much a memory reads like those of the same scene told before it in a life stage.

The measure is the audits' (TF-IDF cosine, scikit-learn's defaults; HEART-BENCH appendix B.4, criterion 4),
with the weights of words as they stand so far: the stage is not over. Only memories of one scene can come
near the limit, so only those are compared.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

_WORD = re.compile(r"\b\w\w+\b")


class Likeness:
    """The memories of one life stage, by scene."""

    def __init__(self) -> None:
        self._having: Counter[str] = Counter()
        self._told: dict[str, list[Counter[str]]] = {}
        self._size = 0

    def nearest(self, scene: str, text: str) -> float:
        """The largest cosine with a memory of the scene; 0 where there is none."""
        before = self._told.get(scene)
        if not before:
            return 0.0
        words = _counted(text)
        weight = {word: self._weight(word) for word in words}
        return max(self._cosine(words, weight, other) for other in before)

    def add(self, scene: str, text: str) -> None:
        """Count a memory in."""
        words = _counted(text)
        self._having.update(words.keys())
        self._told.setdefault(scene, []).append(words)
        self._size += 1

    def _cosine(self, words: Mapping[str, int], weight: Mapping[str, float], other: Mapping[str, int]) -> float:
        product = sum(count * other[word] * weight[word] ** 2 for word, count in words.items() if word in other)
        own = sum((count * weight[word]) ** 2 for word, count in words.items())
        their = sum((count * self._weight(word)) ** 2 for word, count in other.items())
        return product / math.sqrt(own * their)

    def _weight(self, word: str) -> float:
        return math.log((2 + self._size) / (1 + self._having[word])) + 1


def _counted(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))
