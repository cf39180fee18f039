"""All pairs of texts with a TF-IDF cosine above a threshold: exact, in tiles, on one machine.

A term in many texts is cheap as a column of a dense matrix, a rare one as a list of the texts that
have it. So each tile of the cosine matrix is a dense product over the common terms plus a sparse one
over the rest, in single precision; what comes near the threshold is computed again in double, and
what lies on it is decided by scikit-learn's own arithmetic, so that the pairs are those of
``cosine_similarity(TfidfVectorizer().fit_transform(texts)) > threshold``, to the last one.
HEART-BENCH appendix B.4, criterion 4.

    python -c "from audits.duplicates.neighbours import cosine_pairs; print(cosine_pairs(['one good day'] * 2, 0.85))"
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from audits.duplicates.tfidf import Made, Places, spread, weights
from schemas.errors import RequestError

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix, csr_matrix

Values = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

MOST_PAIRS = 2_000_000

_TILE = 2048  # texts on a side: 16 MiB of single precision
_COMMON = 24  # a term in more than one text in so many gets a column of its own; 16 to 32 are fastest
ROUNDING = 1e-4  # far more than what single precision loses over the terms of a text
ON_THE_LINE = 1e-9  # far more than what the order of summation changes in double precision
_CHECKED = 1 << 15  # candidates computed again at a time


def cosine_pairs(texts: Sequence[str], threshold: float, workers: int = 1) -> list[tuple[int, int, float]]:
    """The pairs ``(i, j, cosine)``, i < j, whose cosine is above the threshold (0 to 1), in order.

    TF-IDF is fitted on these texts. Raises RequestError past ``MOST_PAIRS`` pairs.
    """
    if not 0 <= threshold < 1:
        raise RequestError("bad threshold", expected=f"0 or more and below 1, found {threshold}")
    with one_blas_thread():
        first, second, cosine = _pairs(weights(texts, workers), texts, threshold, workers)
    order = np.lexsort((second, first))
    return list(zip(first[order].tolist(), second[order].tolist(), cosine[order].tolist(), strict=True))


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread: products here are small, and its own threads cost more than they bring.

    Measured on windows of 200 texts: 19 times the time with two threads. Held by ``cosine_pairs`` too;
    whoever calls that from several threads holds it around them, as the last to leave undoes it.
    """
    return _blas().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@functools.cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def cosines(texts: Sequence[str], workers: int = 1) -> Values:
    """The cosines of all pairs of texts, to six digits: row by row, the matrix above its diagonal."""
    count = len(texts)
    found = np.empty(count * (count - 1) // 2)

    def keep(values: Singles, top: int, left: int) -> None:
        for row, cosine in enumerate(values, top):
            start = max(row + 1, left)
            place = row * (2 * count - row - 1) // 2 + start - row - 1
            found[place : place + left + len(cosine) - start] = cosine[start - left :]

    with one_blas_thread():
        for _ in _tiles(weights(texts, workers), keep, workers):
            pass
    return found


def _pairs(matrix: csc_matrix, texts: Sequence[str], threshold: float, workers: int) -> tuple[Places, Places, Values]:
    found: list[tuple[Places, Places, Values]] = []
    total = 0
    for first, second in _tiles(matrix, functools.partial(_candidates, least=threshold - ROUNDING), workers):
        for start in range(0, len(first), _CHECKED):
            some = slice(start, start + _CHECKED)
            kept = _above(matrix, texts, threshold, first[some], second[some])
            found.append(kept)
            total += len(kept[0])
            if total > MOST_PAIRS:
                raise RequestError(
                    f"more than {MOST_PAIRS:,} near-duplicate pairs among {len(texts):,} texts",
                    fix="Drop the rows that repeat one text first, or raise the threshold",
                )
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    firsts, seconds, values = zip(*found, strict=True)
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(values)


def _tiles(matrix: csc_matrix, use: Callable[[Singles, int, int], Made], workers: int) -> Iterator[Made]:
    """What ``use`` makes of each tile on and above the diagonal, given its cosines and its first row and column."""
    count = matrix.shape[0]
    common, rare = _split(matrix)
    strips = [slice(start, start + _TILE) for start in range(0, count, _TILE)]
    rows = [rare[strip] for strip in strips]
    columns = [strip.T.tocsr() for strip in rows]
    dense = [common[strip] for strip in strips]

    def tile(place: tuple[int, int]) -> Made:
        at, to = place
        values = dense[at].toarray() @ dense[to].toarray().T
        values += (rows[at] @ columns[to]).toarray()
        return use(values, at * _TILE, to * _TILE)

    return spread(tile, [(at, to) for at in range(len(strips)) for to in range(at, len(strips))], workers)


def _candidates(values: Singles, top: int, left: int, least: float) -> tuple[Places, Places]:
    """The pairs i < j of a tile whose cosine in single precision is above ``least``."""
    first, second = np.nonzero(values > least)
    first, second = first + top, second + left
    above = first < second
    return first[above], second[above]


def _split(matrix: csc_matrix) -> tuple[csr_matrix, csr_matrix]:
    """The weights in single precision, by text: common terms, dense only a tile at a time, and rare ones."""
    found = np.diff(matrix.indptr)
    many = found * _COMMON > matrix.shape[0]
    rare = ~many & (found > 1)  # a term of a single text adds to no cosine but its own
    return _terms(matrix, many), _terms(matrix, rare)


def _terms(matrix: csc_matrix, wanted: npt.NDArray[np.bool_]) -> csr_matrix:
    """Some columns of the matrix, in single precision, by text."""
    from scipy.sparse import csc_matrix

    found = np.diff(matrix.indptr)
    entries = np.repeat(wanted, found)
    ends = np.concatenate([[0], np.cumsum(found[wanted])])
    values = matrix.data[entries].astype(np.float32)
    return csc_matrix((values, matrix.indices[entries], ends), shape=(matrix.shape[0], len(ends) - 1)).tocsr()


def _above(
    matrix: csc_matrix, texts: Sequence[str], threshold: float, first: Places, second: Places
) -> tuple[Places, Places, Values]:
    """The candidates whose cosine really is above the threshold, with it."""
    by_text = _rows_of(matrix, np.union1d(first, second))
    cosine = np.asarray(by_text[first].multiply(by_text[second]).sum(axis=1)).ravel()
    near = np.flatnonzero(np.abs(cosine - threshold) <= ON_THE_LINE)
    if len(near):
        cosine[near] = _sklearn_cosines(texts, first[near], second[near])
    above = cosine > threshold
    return first[above], second[above], cosine[above]


def _rows_of(matrix: csc_matrix, wanted: Places) -> csr_matrix:
    """The matrix by text, filled for the wanted texts only."""
    from scipy.sparse import csc_matrix

    asked = np.zeros(matrix.shape[0], bool)
    asked[wanted] = True
    entries = asked[matrix.indices]
    starts = np.concatenate([[0], np.cumsum(entries)])[matrix.indptr]
    return csc_matrix((matrix.data[entries], matrix.indices[entries], starts), shape=matrix.shape).tocsr()


def _sklearn_cosines(texts: Sequence[str], first: Places, second: Places) -> Values:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    matrix = TfidfVectorizer().fit_transform(texts)
    return np.array(
        [cosine_similarity(matrix[one], matrix[other])[0, 0] for one, other in zip(first, second, strict=True)]
    )
