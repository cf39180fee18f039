"""TF-IDF vectors of a table in shards, weighed over the whole table: in blocks that lie in a scratch folder.

Two passes: the first counts how many texts of each shard have a term, the second weighs them by the sums. The weights
are scikit-learn's (``audits.duplicates.tfidf``). A process holds the vocabulary and one shard.
"""

from __future__ import annotations

import functools
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from audits.duplicates.near_duplicates import Scope
from audits.duplicates.tfidf import Places, counted, inverse_frequency
from audits.shards.windows import Numbered, take_ids
from audits.subjects import subjects
from schemas.derived import completed
from schemas.engines import stores
from schemas.engines.choice import Engine
from schemas.engines.groups import Partitions
from schemas.engines.shards import Shard
from schemas.tables import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCK = 2_048
"""Rows of a block at most: the cosines of two blocks are 16 MiB of single precision."""


@dataclass(frozen=True)
class Block:
    """The vectors of some rows, in a file: ``places`` (rows,) in the table and weights (rows, terms)."""

    places: Places
    weights: csr_matrix


@dataclass(frozen=True)
class Vocabulary:
    """The terms of a table in alphabetical order, how many texts have each, and how many texts there are."""

    terms: Any
    found: Places
    texts: int

    @property
    def common(self) -> npt.NDArray[np.bool_]:
        """Which terms stand in more than one text in twenty-four: quicker as columns of a dense matrix."""
        return self.found * 24 > self.texts


@dataclass(frozen=True)
class Vectors:
    """Where the blocks of a table lie, and how many there are; whatever worker reads them."""

    folder: str
    blocks: int

    def block(self, number: int) -> Block:
        """A block, read; the last ones read stay in memory."""
        return _block(_file(self.folder, number))

    def vocabulary(self) -> Vocabulary:
        """The terms that columns stand for."""
        return _vocabulary(self.folder)


def made_vectors(
    table: Table, scope: Scope, shards: Sequence[Shard], engine: Engine, folder: str, partitions: Partitions
) -> Vectors:
    """The vectors of all rows with text; the ids of rows go to ``partitions``."""
    found: Counter[str] = Counter()
    sizes: list[int] = []
    for texts, terms in engine.map(partial(_count, table, scope, partitions), list(enumerate(shards))):
        found.update(terms)
        sizes.append(texts)
    _write_vocabulary(folder, found, sum(sizes))
    firsts = np.cumsum([0, *(-(-size // BLOCK) for size in sizes)]).tolist()
    for _ in engine.map(partial(_weigh, table, scope, folder), list(zip(firsts, shards, strict=False))):
        pass
    return Vectors(folder, firsts[-1])


def texts_of(table: Table, scope: Scope, shard: Shard) -> Iterator[tuple[int, str]]:
    """The texts of a shard that are compared, with the places of their rows in the table."""
    for place, row in enumerate(completed(table, shard.read()), shard.first + 1):
        if isinstance(row.get(scope.field), str):
            yield place, row[scope.field]


def _count(table: Table, scope: Scope, partitions: Partitions, numbered: Numbered) -> tuple[int, dict[str, int]]:
    """How many texts a shard has, and how many of them have each term."""
    number, shard = numbered
    take_ids(subjects(scope.table, scope.key, completed(table, shard.read()), shard.first), partitions, number)
    texts = [text for _, text in texts_of(table, scope, shard)]
    _, _, starts, terms = counted(texts)
    return len(texts), dict(zip(terms.to_pylist(), np.diff(starts).tolist(), strict=True))


def _weigh(table: Table, scope: Scope, folder: str, placed: tuple[int, Shard]) -> None:
    """Write the blocks of a shard, numbered from ``placed[0]``."""
    first, shard = placed
    read = list(texts_of(table, scope, shard))
    for number, start in enumerate(range(0, len(read), BLOCK), first):
        some = read[start : start + BLOCK]
        made = _weights([text for _, text in some], _vocabulary(folder))
        places = np.array([place for place, _ in some], np.int64)
        stores.write(_file(folder, number), _packed(made, places))


def _weights(texts: Sequence[str], known: Vocabulary) -> csr_matrix:
    """The vectors of some texts, columns in alphabetical order, as scikit-learn computes them."""
    import pyarrow.compute as pc
    from scipy.sparse import csc_matrix
    from sklearn.preprocessing import normalize

    rows, counts, starts, terms = counted(texts)
    columns = np.from_dlpack(pc.index_in(terms, value_set=known.terms)).astype(np.int64)
    of_entries = np.repeat(columns, np.diff(starts))
    idf = inverse_frequency(known.texts, known.found)
    order = np.lexsort((rows, of_entries))
    ends = np.searchsorted(of_entries[order], np.arange(len(known.found) + 1))
    values = (counts * idf[of_entries])[order]
    made = csc_matrix((values, rows[order], ends), shape=(len(texts), len(known.found))).tocsr()
    return normalize(made, copy=False)


def _file(folder: str, number: int) -> str:
    return stores.join(folder, f"vectors/{number:07d}.npz")


def _packed(weights: csr_matrix, places: Places) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, data=weights.data, columns=weights.indices, starts=weights.indptr, places=places)
    return buffer.getvalue()


@functools.lru_cache(maxsize=4)
def _block(path: str) -> Block:
    from scipy.sparse import csr_matrix

    with np.load(io.BytesIO(_read(path))) as file:
        places, starts = file["places"], file["starts"]
        width = _vocabulary(path.rpartition("/vectors/")[0]).found.size
        return Block(places, csr_matrix((file["data"], file["columns"], starts), shape=(len(places), width)))


def _read(path: str) -> bytes:
    system, inside = stores.opened(path)
    with stores.errors_reported(path), system.open_input_stream(inside, compression=None) as stream:
        return bytes(stream.read())


def _write_vocabulary(folder: str, found: Counter[str], texts: int) -> None:
    import pyarrow as pa

    terms = sorted(found)
    table = pa.table({"term": terms, "found": [found[term] for term in terms]}, metadata={"texts": str(texts)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    stores.write(stores.join(folder, "vocabulary.arrow"), sink.getvalue())


@functools.lru_cache(maxsize=1)
def _vocabulary(folder: str) -> Vocabulary:
    import pyarrow as pa

    table = pa.ipc.open_file(pa.py_buffer(_read(stores.join(folder, "vocabulary.arrow")))).read_all()
    found = np.array(table["found"].to_pylist(), np.int64)
    return Vocabulary(table["term"].combine_chunks(), found, int(table.schema.metadata[b"texts"]))
