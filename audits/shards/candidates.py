"""Rows that may be near-duplicates: those which agree in a band of a MinHash of their weighted words.

A word counts as often as its TF-IDF weight has steps of ``_STEP``, so the chance that two rows agree in a place of
the hash is about the weighted overlap of their words: .74 where two texts share .85 of their weight. ``_BANDS``
bands of ``_ROWS`` places bring such a pair together with a probability of 99 %, a pair that shares a tenth with one of
1 in 10^6. One permutation is cut into bins (Li, Owen and Zhang, 2012), empty ones take the value of the next
(Shrivastava and Li, 2014).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from audits.duplicates.tfidf import Places
from audits.shards.vectors import Block, Vectors, Vocabulary
from schemas.engines.choice import Engine
from schemas.engines.groups import Groups, Partitions

Row = tuple[int, int]
"""The number of a block, and of a row in it."""

Candidates = list[tuple[Row, Row]]

_ROWS, _BANDS = 4, 96
_BINS = _ROWS * _BANDS
_STEP = 0.01
_OFTEN = 1_000
_EMPTY = np.uint64(2**64 - 1)
_KIND = "bands"


def candidate_rows(vectors: Vectors, engine: Engine, scratch: str) -> Iterator[Candidates]:
    """The pairs of rows that agree in a band, partition by partition; a pair may come more than once."""
    partitions = Partitions.of(scratch, vectors.vocabulary().texts * _BANDS)
    for _ in engine.map(partial(_take_bands, vectors, partitions), range(vectors.blocks)):
        pass
    yield from partitions.map(engine, _KIND, _pairs, vectors.blocks)


def _take_bands(vectors: Vectors, partitions: Partitions, number: int) -> None:
    bands = signatures(vectors.block(number), _said_everywhere(vectors.vocabulary()))
    named = (
        (f"{band}:{value:016x}", (number, row))
        for row, values in enumerate(bands.tolist())
        for band, value in enumerate(values)
        if value
    )
    partitions.write(_KIND, number, named)


def _pairs(groups: Groups) -> Candidates:
    found: set[tuple[Row, Row]] = set()
    for rows in groups.values():
        ordered: Sequence[Any] = sorted(map(tuple, rows))
        found.update(combinations(ordered, 2))
    return sorted(found)


def _said_everywhere(known: Vocabulary) -> npt.NDArray[np.bool_]:
    """Terms that say nothing of a pair: those of a tenth of the texts, where these are a thousand or more."""
    return known.found > max(_OFTEN, known.texts // 10)


def signatures(block: Block, left_out: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """A number for each band of each row, shape (rows, bands); 0 for a row without any other term."""
    weights = block.weights.multiply(~left_out).tocsr()
    weights.eliminate_zeros()
    steps = np.maximum(1, np.rint(weights.data / _STEP)).astype(np.int64)
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    elements = np.repeat(weights.indices.astype(np.int64) << 12, steps) + _count_up(steps)
    hashed = _mixed(elements.astype(np.uint64))
    bins = np.repeat(rows, steps) * _BINS + (hashed % np.uint64(_BINS)).astype(np.int64)
    least = np.full(weights.shape[0] * _BINS, _EMPTY)
    np.minimum.at(least, bins, hashed // np.uint64(_BINS))
    places = _filled(least.reshape(-1, _BINS))
    made = np.zeros((len(places), _BANDS), np.uint64)
    for place in range(_ROWS):
        made = _mixed(made ^ places[:, place::_ROWS])
    made[(least.reshape(-1, _BINS) == _EMPTY).all(axis=1)] = 0
    return made


def _count_up(sizes: Places) -> Places:
    """0, 1, 2 ... for each size, one after the other."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def _filled(least: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Bins with the value of the next one that has one, told apart by how far that is."""
    made = least.copy()
    for distance in range(1, _BINS):
        empty = made == _EMPTY
        if not empty.any():
            break
        borrowed = np.roll(least, -distance, axis=1)
        found = empty & (borrowed != _EMPTY)
        made[found] = borrowed[found] + _mixed(np.array([distance], np.uint64))
    return made


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64: every bit of the value changes every bit of the result."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
