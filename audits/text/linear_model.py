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

from audits.text.tokens import QUOTED, Numbers, Read, Sentence, spelling

WEIGHTS = Path(__file__).with_suffix(".npz")
SETTINGS = Path(__file__).with_suffix(".json")

BITS = 18
"""Features are hashed into 2 ** BITS buckets."""

LONGEST_RUN = 4
LETTERS = (2, 3, 4, 5)
LONGEST_WORD = 32
"""Letters of a word that are read; of a longer one the first."""

_RUN, _SPREAD = np.uint32(0x01000193), np.uint32(0x9E3779B1)
_MIX = (np.uint32(15), np.uint32(0x2C1B3C6D), np.uint32(12))
_HALF = 32
"""Bits of a whole number that the weight of one of two codes has: both are looked up, and added up, at once."""

Buckets = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """What the model knows of a code.

    A sentence is a finding from ``threshold`` on (log-odds), and in running text, where nearly all is sound, from
    ``running`` on; what patterns find below ``gate`` does not count. ``scale`` is what one unit of a weight is worth.
    ``sentences`` are read at a time: 1, or 2 where a sentence alone may not show what it is.
    """

    bias: float
    scale: float
    threshold: float
    running: float
    gate: float
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
        self._packed = np.pad(_packed(table), ((0, 1), (0, 0)))  # nothing in the last bucket
        self._known = np.zeros(0, dtype=bool)
        self._hashes = np.zeros(0, dtype=np.uint32)
        self._alone = np.zeros((0, self._packed.shape[1]), dtype=np.int64)

    def scores(self, texts: Read) -> Floats:
        """Log-odds of every sentence (rows) for every code (columns)."""
        if not len(texts.starts):
            return np.zeros((0, len(self.codes)))
        totals = self._totals(texts)
        scores = self._log_odds(totals, texts.sizes)
        follows = np.ones(len(totals), dtype=bool)
        firsts = np.cumsum([0, *texts.counts[:-1]])
        follows[firsts[firsts < len(totals)]] = False
        later = np.flatnonzero(follows)
        if len(later) and self._pairs.any():
            pairs = self._log_odds(totals[later] + totals[later - 1], texts.sizes[later] + texts.sizes[later - 1])
            scores[later] = np.where(self._pairs & (pairs > scores[later]), pairs, scores[later])
        return scores

    def heaviest(self, sentence: Sentence, code: str, most: int = 3) -> list[int]:
        """The places of the words that say most for a code, in order of place."""
        column = self.codes.index(code)
        tokens = sentence.tokens
        weights = [int(self.table[_buckets(token), column].sum(dtype=np.int64)) for token in tokens]
        words = [place for place, token in enumerate(tokens) if token.removeprefix(QUOTED)[:1].isalpha()]
        words = words or list(range(len(tokens)))
        return sorted(sorted(words, key=lambda place: -weights[place])[:most])

    def _log_odds(self, totals: Numbers, sizes: Numbers) -> Floats:
        scores: Floats = self._bias + totals * self._scale / np.sqrt(sizes)[:, None]
        return scores

    def _totals(self, texts: Read) -> Numbers:
        """The sums of the weights of every sentence and code."""
        self._learn(texts.numbers)
        weights = self._alone.take(texts.numbers, axis=0)
        hashes = self._hashes[texts.numbers]
        left = np.repeat(texts.starts + texts.sizes, texts.sizes) - np.arange(len(hashes))
        for size in range(2, LONGEST_RUN + 1):
            places = np.arange(len(hashes) - size + 1)
            found = np.where(left[: len(places)] >= size, runs(hashes, places, size), np.uint32(1 << BITS))
            weights[: len(places)] += self._packed.take(found, axis=0)
        sums = np.add.reduceat(weights, texts.starts, axis=0)
        low = sums.astype(np.int32)
        totals = np.stack((low, (sums - low) >> _HALF), axis=2).reshape(len(sums), -1)
        return totals[:, : len(self.codes)]

    def _learn(self, numbers: Numbers) -> None:
        """Remember the hashes of tokens that were not met before, and the weights of these by themselves."""
        size = int(numbers.max()) + 1
        if size > len(self._known):
            more = max(size, 2 * len(self._known), 1 << 10) - len(self._known)
            self._known = np.pad(self._known, (0, more))
            self._hashes = np.pad(self._hashes, (0, more))
            self._alone = np.pad(self._alone, ((0, more), (0, 0)))
        fresh = np.unique(numbers[~self._known[numbers]])
        if len(fresh):
            hashes = [list(_hashed(spelling(number))) for number in fresh.tolist()]
            starts = np.cumsum([0, *map(len, hashes[:-1])])
            every = np.array([each for several in hashes for each in several], dtype=np.uint32)
            self._known[fresh] = True
            self._hashes[fresh] = every[starts]
            self._alone[fresh] = _packed(np.add.reduceat(self.table[bucket(every)], starts, axis=0, dtype=np.int64))


def _packed(table: npt.NDArray[Any]) -> Numbers:
    """Two columns of weights a row."""
    even, odd = table[:, ::2].astype(np.int64), table[:, 1::2].astype(np.int64)
    odd = np.pad(odd, ((0, 0), (0, even.shape[1] - odd.shape[1])))
    packed: Numbers = even + (odd << _HALF)
    return packed


def features(sentences: Sequence[Sentence]) -> tuple[Buckets, int]:
    """All that is weighed of sentences, as buckets as often as they occur, and how many tokens they have."""
    found: list[Buckets] = []
    count = 0
    for sentence in sentences:
        every = [list(_hashed(spelling(number))) for number in sentence.numbers.tolist()]
        first = np.array([hashes[0] for hashes in every], dtype=np.uint32)
        found.append(bucket(np.array([each for hashes in every for each in hashes], dtype=np.uint32)))
        for size in range(2, min(LONGEST_RUN, len(first)) + 1):
            found.append(runs(first, np.arange(len(first) - size + 1), size))
        count += len(first)
    return np.concatenate(found), count


def runs(hashes: Buckets, places: Numbers, size: int) -> Buckets:
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


def _buckets(token: str) -> Buckets:
    return bucket(np.array(list(_hashed(token)), dtype=np.uint32))


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
