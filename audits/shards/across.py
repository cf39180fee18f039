"""Near-duplicates among all rows of a table in shards, whatever window they stand in: two blocks in memory at a time.

Exact: every block of vectors (``vectors``) meets every other, and the pairs are scikit-learn's over the whole table.
That is half the square of the number of blocks; past some hundred thousand rows ``approximate`` compares only those
that ``candidates`` brings together, with the same cosines, and says what share of the pairs of some blocks it found.

    python -m audits.duplicates --benchmark heart --rows s3://lab/memories --across --engine local
    python -m audits.duplicates --benchmark heart --rows s3://lab/memories --across --engine ray --approximate
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from audits.duplicates.near_duplicates import Scope, findings_of_pairs, slim
from audits.duplicates.neighbours import MOST_PAIRS, ON_THE_LINE, ROUNDING, one_blas_thread
from audits.duplicates.tfidf import Places
from audits.shards.candidates import Candidates, candidate_rows
from audits.shards.vectors import Block, Vectors, made_vectors
from audits.shards.windows import repeated_ids
from audits.subjects import Subject, subjects
from schemas.derived import completed
from schemas.engines.choice import Engine
from schemas.engines.groups import Partitions
from schemas.engines.shards import Shard
from schemas.errors import RequestError
from schemas.findings import Finding, in_order
from schemas.tables import Table

Pair = tuple[int, int, float]
"""The places of two rows in the table, the first the lower, and their cosine."""

_CHECKED_BLOCKS = 2
"""Blocks whose rows are compared with all others to measure what the candidates miss: some four thousand rows."""


@dataclass(frozen=True)
class Across:
    """What was found among all rows: rows with text, findings in order; with ``approximate`` the recall on a sample."""

    compared: int
    findings: list[Finding]
    recall: Recall | None = None


@dataclass(frozen=True)
class Recall:
    """Of the pairs that ``rows`` sampled rows have with any row, how many there are, and how many were candidates."""

    rows: int
    pairs: int
    found: int

    def as_dict(self) -> dict[str, int]:
        """As JSON."""
        return {"rows": self.rows, "pairs": self.pairs, "found": self.found}


def find_across(
    table: Table,
    scope: Scope,
    shards: Sequence[Shard],
    engine: Engine,
    scratch: str,
    threshold: float,
    approximate: bool = False,
) -> Across:
    """Every row to drop because another of the table is nearly the same.

    Raises RequestError past ``MOST_PAIRS`` pairs.
    """
    partitions = Partitions.of(scratch, sum(shard.rows for shard in shards))
    vectors = made_vectors(table, scope, shards, engine, scratch, partitions)
    twice = frozenset(repeated_ids(partitions, engine, len(shards)))
    recall = None
    if approximate:
        found = _few(_verified(vectors, candidate_rows(vectors, engine, scratch), engine, threshold))
        recall = _recall(vectors, found, engine, threshold)
    else:
        found = _few(_all_pairs(vectors, engine, threshold))
    places = sorted({place for one, other, _ in found for place in (one, other)})
    rows = _rows(table, scope, shards, engine, places)
    number = {place: at for at, place in enumerate(places)}
    pairs = [(number[one], number[other], cosine) for one, other, cosine in found]
    return Across(
        vectors.vocabulary().texts,
        in_order(findings_of_pairs(rows, pairs, scope, threshold, twice, across=True)),
        recall,
    )


def _all_pairs(vectors: Vectors, engine: Engine, threshold: float) -> Iterator[Pair]:
    tiles = [(one, other) for one in range(vectors.blocks) for other in range(one, vectors.blocks)]
    for pairs in engine.map(partial(_of_tile, vectors, threshold), tiles):
        yield from pairs


def _few(pairs: Iterable[Pair]) -> list[Pair]:
    found: list[Pair] = []
    for pair in pairs:
        found.append(pair)
        if len(found) > MOST_PAIRS:
            raise RequestError(
                f"more than {MOST_PAIRS:,} near-duplicate pairs in the table",
                fix="Drop the rows that repeat one text first, or raise the threshold",
            )
    return sorted(found)


def _of_tile(vectors: Vectors, threshold: float, tile: tuple[int, int]) -> list[Pair]:
    """The pairs of a row of one block with a later row of the other."""
    one, other = vectors.block(tile[0]), vectors.block(tile[1])
    common = vectors.vocabulary().common
    with one_blas_thread():
        values = _part(one, common).toarray() @ _part(other, common).toarray().T
    values += (_part(one, ~common) @ _part(other, ~common).T).toarray()
    first, second = np.nonzero(values > threshold - ROUNDING)
    return _above(one, other, first, second, threshold)


def _part(block: Block, columns: npt.NDArray[np.bool_]):  # type: ignore[no-untyped-def]
    """Some columns of a block in single precision."""
    return block.weights[:, columns].astype(np.float32)


def _above(one: Block, other: Block, first: Places, second: Places, threshold: float) -> list[Pair]:
    """Those of some pairs of rows whose cosine really is above the threshold."""
    later = one.places[first] < other.places[second]
    first, second = first[later], second[later]
    if not len(first):
        return []
    cosine = np.asarray(one.weights[first].multiply(other.weights[second]).sum(axis=1)).ravel()
    for at in np.flatnonzero(np.abs(cosine - threshold) <= ON_THE_LINE).tolist():
        cosine[at] = _sklearn_cosine(one, other, first[at], second[at])
    above = cosine > threshold
    firsts, seconds = one.places[first[above]], other.places[second[above]]
    return list(zip(firsts.tolist(), seconds.tolist(), cosine[above].tolist(), strict=True))


def _sklearn_cosine(one: Block, other: Block, first: int, second: int) -> float:
    from sklearn.metrics.pairwise import cosine_similarity

    return float(cosine_similarity(one.weights[first], other.weights[second])[0, 0])


def _verified(vectors: Vectors, candidates: Iterable[Candidates], engine: Engine, threshold: float) -> Iterator[Pair]:
    """The pairs among candidates."""
    tiles: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for some in candidates:
        for (block, row), (other, column) in some:
            tiles[block, other].add((row, column))
    listed = [(tile, sorted(tiles[tile])) for tile in sorted(tiles)]
    for pairs in engine.map(partial(_of_candidates, vectors, threshold), listed):
        yield from pairs


def _of_candidates(
    vectors: Vectors, threshold: float, asked: tuple[tuple[int, int], Sequence[tuple[int, int]]]
) -> list[Pair]:
    (one, other), rows = asked
    first, second = np.array(rows, np.int64).T
    return _above(vectors.block(one), vectors.block(other), first, second, threshold)


def _recall(vectors: Vectors, found: Sequence[Pair], engine: Engine, threshold: float) -> Recall:
    """How many of the pairs that the rows of some blocks have, spread over the table, are among those found."""
    step = max(1, vectors.blocks // _CHECKED_BLOCKS)
    some = range(0, vectors.blocks, step)[:_CHECKED_BLOCKS]
    tiles = sorted({(min(one, other), max(one, other)) for one in some for other in range(vectors.blocks)})
    known = {(one, other) for one, other, _ in found}
    exact = [
        (one, other) for pairs in engine.map(partial(_of_tile, vectors, threshold), tiles) for one, other, _ in pairs
    ]
    rows = sum(len(vectors.block(number).places) for number in some)
    return Recall(rows, len(exact), sum(pair in known for pair in exact))


def _rows(table: Table, scope: Scope, shards: Sequence[Shard], engine: Engine, places: Sequence[int]) -> list[Subject]:
    """What is needed of the rows at these places (from 1, in order), to say which of two stays."""
    ends = [shard.first + shard.rows for shard in shards]
    of_shard: dict[int, list[int]] = defaultdict(list)
    for place in places:
        of_shard[int(np.searchsorted(ends, place))].append(place)
    asked = [(shards[number], of_shard[number]) for number in sorted(of_shard)]
    return [row for rows in engine.map(partial(_slim_rows, table, scope), asked) for row in rows]


def _slim_rows(table: Table, scope: Scope, asked: tuple[Shard, Sequence[int]]) -> list[Subject]:
    shard, places = asked
    read = subjects(scope.table, scope.key, completed(table, shard.read()), shard.first)
    some = [read[place - shard.first - 1] for place in places]
    return [Subject(each.table, each.id, slim(each, scope) or {}, each.place) for each in some]
