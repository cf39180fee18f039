"""A linear model over words, their spelling and runs of words: how much a sentence reads like a fault of each code.

Faults have a thousand phrasings, but words of their own. Every word of a sentence is weighed by itself, by the
two to five letters in a row of its spelling (so that words nobody listed count, too), and with the one to three words
behind it. Weights are those of a logistic regression on TF-IDF, for all codes at once, in buckets that features are
hashed into: whole numbers, so that sums are the same on every machine.

``linear_model.npz`` has the weights and ``linear_model.json`` the numbers of each code (``Settings``);
``python -m perf.quality.sentence_model`` fits them to labelled sentences and says how well they generalise.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from audits.text.tokens import QUOTED, Sentence

WEIGHTS = Path(__file__).with_suffix(".npz")
SETTINGS = Path(__file__).with_suffix(".json")

BITS = 18
"""Features are hashed into 2 ** BITS buckets."""

LONGEST_RUN = 4
LETTERS = (2, 3, 4, 5)
LONGEST_WORD = 32
"""Letters of a word that are read; of a longer one the first."""

_BATCH = 2_000
"""Sentences whose features are looked up at a time; more would leave the cache."""

_START, _END = "(start)", "(end)"
_RUN, _SPREAD = np.uint32(0x01000193), np.uint32(0x9E3779B1)
_MIX = (np.uint32(15), np.uint32(0x2C1B3C6D), np.uint32(12))

Buckets = npt.NDArray[np.uint32]
Totals = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """What the model knows of a code.

    A sentence is a finding from ``threshold`` on (log-odds), and in running text, where nearly all is sound, from
    ``running`` on; below ``gate``, and in running text ``running_gate``, no pattern of the code is looked for.
    ``scale`` is what one unit of a weight is worth. ``sentences`` are read at a time: 1, or 2 where a sentence
    alone may not show what it is.
    """

    bias: float
    scale: float
    threshold: float
    running: float
    gate: float
    running_gate: float
    sentences: int


class Model:
    """Weights of several codes: ``table`` has a row a bucket and a column a code, in the order of ``settings``."""

    def __init__(self, table: npt.NDArray[np.int8], settings: Mapping[str, Settings]) -> None:
        self.table, self.settings = table, settings
        self.codes = tuple(settings)
        self._bias, self._scale = (
            np.array([getattr(each, name) for each in settings.values()]) for name in ("bias", "scale")
        )
        self._pairs = np.array([each.sentences > 1 for each in settings.values()], dtype=bool)
        self._numbers: dict[str, int] = {}
        self._hashes = np.zeros(1024, dtype=np.uint32)
        self._alone = np.zeros((1024, len(settings)), dtype=np.int32)

    def scores(self, texts: Sequence[Sequence[Sentence]]) -> list[npt.NDArray[np.float64]]:
        """Log-odds of every sentence (rows) of every text for every code (columns)."""
        every = [sentence for sentences in texts for sentence in sentences]
        ends = np.cumsum([len(sentences) for sentences in texts])
        if not every:
            return [np.zeros((0, len(self.codes)))] * len(texts)
        parts = [self._totals(every[start : start + _BATCH]) for start in range(0, len(every), _BATCH)]
        totals, sizes = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        scores = self._log_odds(totals, sizes)
        follows = np.ones(len(every), dtype=bool)
        follows[0] = False
        follows[ends[ends < len(every)]] = False
        later = np.flatnonzero(follows)
        if len(later) and self._pairs.any():
            pairs = self._log_odds(totals[later] + totals[later - 1], sizes[later] + sizes[later - 1])
            scores[later] = np.where(self._pairs & (pairs > scores[later]), pairs, scores[later])
        return np.split(scores, ends[:-1])

    def heaviest(self, sentence: Sentence, code: str, most: int = 3) -> list[int]:
        """The places of the words that say most for a code, in order of place."""
        column = self.codes.index(code)
        weights = [int(self._alone[self._number(token), column]) for token in sentence.tokens]
        words = [place for place, token in enumerate(sentence.tokens) if token.removeprefix(QUOTED)[:1].isalpha()]
        words = words or list(range(len(sentence.tokens)))
        return sorted(sorted(words, key=lambda place: -weights[place])[:most])

    def _log_odds(self, totals: Totals, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        scores: npt.NDArray[np.float64] = self._bias + totals * self._scale / np.sqrt(sizes)[:, None]
        return scores

    def _totals(self, several: Sequence[Sentence]) -> tuple[Totals, npt.NDArray[np.int64]]:
        """The sums of the weights of every sentence and code, and how many tokens each has."""
        tokens = [token for each in several for token in (_START, *each.tokens, _END)]
        known = self._numbers
        try:
            numbers = np.array([known[token] for token in tokens])
        except KeyError:
            numbers = np.array([self._number(token) for token in tokens])
        sizes = np.array([len(each.tokens) + 2 for each in several])
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        totals: Totals = np.add.reduceat(self._alone[numbers], starts, axis=0, dtype=np.int64)
        hashes = self._hashes[numbers]
        ends = np.repeat(starts + sizes, sizes)
        for size in range(2, LONGEST_RUN + 1):
            found = np.flatnonzero(np.arange(len(tokens)) + size <= ends)
            weights = np.zeros((len(tokens), len(self.codes)), dtype=np.int8)
            weights[found] = self.table[runs(hashes, found, size)]
            totals += np.add.reduceat(weights, starts, axis=0, dtype=np.int64)
        return totals, sizes

    def _number(self, token: str) -> int:
        """The number of a token, under which its hash and its own weights are remembered."""
        number = self._numbers.get(token)
        if number is None:
            number = self._numbers[token] = len(self._numbers)
            if number == len(self._hashes):
                self._hashes = np.concatenate((self._hashes, np.zeros_like(self._hashes)))
                self._alone = np.concatenate((self._alone, np.zeros_like(self._alone)))
            hashes = np.array(list(_hashes(token)), dtype=np.uint32)
            self._hashes[number] = hashes[0]
            self._alone[number] = self.table[bucket(hashes)].sum(axis=0, dtype=np.int32)
        return number


def features(sentences: Sequence[Sentence]) -> tuple[Buckets, int]:
    """All that is weighed of sentences, as buckets as often as they occur, and how many tokens they have."""
    found: list[Buckets] = []
    count = 0
    for sentence in sentences:
        every = [list(_hashes(token)) for token in (_START, *sentence.tokens, _END)]
        first = np.array([hashes[0] for hashes in every], dtype=np.uint32)
        found.append(bucket(np.array([each for hashes in every for each in hashes], dtype=np.uint32)))
        for size in range(2, min(LONGEST_RUN, len(first)) + 1):
            found.append(runs(first, np.arange(len(first) - size + 1), size))
        count += len(first)
    return np.concatenate(found), count


def runs(hashes: Buckets, places: npt.NDArray[np.int64], size: int) -> Buckets:
    """The buckets of the runs of ``size`` tokens that begin at some places."""
    run = np.zeros(len(places), dtype=np.uint32)
    for step in range(size):
        run = run * _RUN + hashes[places + step]
    first, factor, second = _MIX
    run ^= run >> first
    run *= factor
    run ^= run >> second
    return bucket(run)


def bucket(hashes: Buckets) -> Buckets:
    """The buckets of hashes."""
    return (hashes * _SPREAD) >> np.uint32(32 - BITS)


@functools.lru_cache(maxsize=1 << 14)
def _hashes(token: str) -> tuple[int, ...]:
    return tuple(_hashed(token))


def _hashed(token: str) -> Iterator[int]:
    """The hash of a token and, of a word, those of the letters in a row of its spelling."""
    yield zlib.crc32(token.encode("utf-8", "replace"))
    word = token.removeprefix(QUOTED)
    if word[:1].isalpha():
        inside, edged = b"~~" if token != word else b"~", f"<{word[:LONGEST_WORD]}>"
        for size in LETTERS:
            for start in range(len(edged) - size + 1):
                yield zlib.crc32(inside + edged[start : start + size].encode("utf-8", "replace"))


def save(model: Model, weights: Path = WEIGHTS, settings: Path = SETTINGS) -> None:
    """Write the weights that are not all zero, and the settings."""
    used = np.flatnonzero(model.table.any(axis=1)).astype(np.uint32)
    np.savez_compressed(weights, buckets=used, weights=model.table[used])
    document = {code: vars(each) for code, each in model.settings.items()}
    settings.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@functools.cache
def model() -> Model:
    """The fitted model."""
    document: Mapping[str, Mapping[str, Any]] = orjson.loads(SETTINGS.read_bytes())
    table = np.zeros((1 << BITS, len(document)), dtype=np.int8)
    with np.load(WEIGHTS) as arrays:
        table[arrays["buckets"]] = arrays["weights"]
    return Model(table, {code: Settings(**each) for code, each in document.items()})
