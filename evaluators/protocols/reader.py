"""A persona reader without a model: takes the option that is put in this person's words rather than other people's.

What it reads: the full narratives of what is remembered before a situation, of this person and of the
release's other characters, and the four options. No trait, rule, conclusion, tag or key; no other question's
key either: it learns nothing from answers. What is remembered is what a setting retrieves, as for any model;
without a setting the memories that the release says the situation calls up (at most 50, HEART-BENCH 3.4),
and where it does not say, all up to the scenario's age.

How: a word's weight is the logarithm of how much more often it stands in what this
person remembers than in what the others remember before the same situation (texts that have it, both
shares drawn together where it is rare); so what the situation brings to everybody's mind cancels out. An
option scores the sum over its words, those left out that all four options have. It is a floor that any
claim about inferring a personality has to clear, not a good reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evaluators.protocols.bench import Bench, Question, activated_of

_WORD = re.compile(r"[^\W\d_]{2,}")
_DRAWN = 10.0  # texts' worth of what all share that a share is drawn to

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Remembered = Mapping[tuple[str, str], Sequence[str]]  # by character and scenario


class Reader:
    """A reader of one release. ``retrieved``: what is remembered, by question; None: what the release says."""

    def __init__(self, bench: Bench, retrieved: Mapping[str, Sequence[str]] | None = None) -> None:
        self._bench = bench
        self._columns: dict[str, int] = {}
        for question in bench.questions:
            for text in question.texts:
                for word in _words(text):
                    self._columns.setdefault(word, len(self._columns))
        self._texts: dict[str, Places] = {}
        self._by_age: dict[tuple[str, int], tuple[Numbers, int]] = {}
        remembered = _activated(bench) if retrieved is None else _of_questions(bench, retrieved)
        self._pairs = {pair: (self._tally(texts), len(texts)) for pair, texts in remembered.items()}

    def scores(self, question: Question) -> list[float]:
        """A score for each option."""
        weights = self._weights(question)
        options = np.array([self._tally([text]) for text in question.texts])
        options[:, options.all(axis=0)] = 0
        return [float(score) for score in options @ weights]

    def _weights(self, question: Question) -> Numbers:
        who, scenario = question.character_id, question.scenario_id
        own, count = self._pairs.get((who, scenario)) or self._lived(who, question.age)
        others = [
            found for (name, about), found in self._pairs.items() if about == scenario and name != who and found[1]
        ] or [self._lived(name, question.age) for name in self._bench.memories if name != who]
        theirs = sum((found for found, _ in others), np.zeros(len(self._columns)))
        total = sum(number for _, number in others)
        shared = (own + theirs + 0.5) / (count + total + 1)
        mine, foreign = ((own + _DRAWN * shared) / (count + _DRAWN)), ((theirs + _DRAWN * shared) / (total + _DRAWN))
        return np.asarray(np.log(mine / foreign))

    def _lived(self, who: str, age: int) -> tuple[Numbers, int]:
        """All that a character remembers up to an age."""
        if (who, age) not in self._by_age:
            texts = [memory.text for memory in self._bench.memories.get(who, ()) if memory.age <= age]
            self._by_age[who, age] = self._tally(texts), len(texts)
        return self._by_age[who, age]

    def _tally(self, texts: Iterable[str]) -> Numbers:
        """In how many of the texts each of the options' words stands."""
        found = [self._places(text) for text in texts]
        together = np.concatenate(found) if found else np.zeros(0, np.int64)
        return np.bincount(together, minlength=len(self._columns)).astype(np.float64)

    def _places(self, text: str) -> Places:
        if text not in self._texts:
            known = (self._columns.get(word) for word in _words(text))
            self._texts[text] = np.array([place for place in known if place is not None], np.int64)
        return self._texts[text]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _of_questions(bench: Bench, retrieved: Mapping[str, Sequence[str]]) -> Remembered:
    return {(question.character_id, question.scenario_id): retrieved[question.id] for question in bench.questions}


def _activated(bench: Bench) -> Remembered:
    """The narratives that the release's fine step of activation kept; empty where it has none."""
    texts = {(who, memory.id): memory.text for who, own in bench.memories.items() for memory in own}
    return {
        (who, scenario): [texts[who, one] for one in ids if (who, one) in texts]
        for (who, scenario), ids in activated_of(bench.release).items()
    }
