"""A persona reader without a model: infers the Big Five from memories and takes the option that sounds most alike.

How it reads. For each trait it counts the words of ``reader.toml`` for the high and the low pole in a text;
the trait's mark is their difference over their sum, drawn to 0 where both are rare. The marks of what is
remembered are compared with those of all the release's characters at that age (mean and spread), so that a
word everybody uses says nothing; the marks of the four options with one another. An option scores the sum,
over the traits, of the one times the other: the person's lean times the option's. No table with traits is read,
and no key; it is a floor that any claim about inferring a personality has to clear, not a good reader.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.bench import Bench, Question

TRAITS = ("O", "C", "E", "A", "N")
_NO_LETTERS = re.compile(r"[^a-z]+")
_RARE = 6.0  # hits that a mark has to outweigh

Numbers = npt.NDArray[np.float64]


class Reader:
    """A reader of one release."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._hits = {name: _hits([memory.text for memory in own]) for name, own in bench.memories.items()}
        self._by_age: dict[int, tuple[Numbers, Numbers]] = {}
        self._options: dict[str, Numbers] = {}

    def scores(self, question: Question, texts: Sequence[str] | None = None) -> list[float]:
        """A score for each option. ``texts`` is what is remembered; None: all memories up to the age."""
        if texts is None:
            seen = self._hits[question.character_id][: len(self._bench.eligible(question))].sum(axis=0)
        else:
            seen = _hits(texts).sum(axis=0)
        mean, spread = self._others(question.age)
        person = (_marks(seen) - mean) / spread
        options = np.array([_marks(hits) for hits in _hits(question.texts)])
        return [float(score) for score in (options - options.mean(axis=0)) @ person]

    def _others(self, age: int) -> tuple[Numbers, Numbers]:
        """Mean and spread of everybody's marks at an age."""
        if age not in self._by_age:
            marks = []
            for name, own in self._bench.memories.items():
                count = sum(memory.age <= age for memory in own)
                marks.append(_marks(self._hits[name][:count].sum(axis=0)))
            spread = np.std(marks, axis=0)
            self._by_age[age] = np.mean(marks, axis=0), np.where(spread > 0, spread, 1.0)
        return self._by_age[age]


def _hits(texts: Sequence[str]) -> Numbers:
    """Rows of hits: for each text, the traits' high poles, then their low ones."""
    finder, columns = _finder()
    rows = np.zeros((len(texts), 2 * len(TRAITS)))
    for row, text in zip(rows, texts, strict=True):
        plain = f" {_NO_LETTERS.sub(' ', text.casefold())}"
        for place, _, _ in finder.find_matches_as_indexes(plain, overlapping=True):
            row[columns[place]] += 1
    return rows


def _marks(hits: Numbers) -> Numbers:
    high, low = hits[: len(TRAITS)], hits[len(TRAITS) :]
    return (high - low) / (high + low + _RARE)


@functools.cache
def _finder() -> tuple[Any, list[int]]:
    """What finds all stems at once, each at the beginning of a word; and the column each counts in."""
    from ahocorasick_rs import AhoCorasick

    words = tomllib.loads(Path(__file__).with_name("reader.toml").read_text("utf-8"))
    found = [
        (f" {stem}", column)
        for column, (pole, trait) in enumerate((pole, trait) for pole in ("high", "low") for trait in TRAITS)
        for stem in words[trait][pole]
    ]
    return AhoCorasick([stem for stem, _ in found]), [column for _, column in found]
