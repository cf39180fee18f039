"""Pieces of a table: the rows of a stretch of working files, stored as a release will hold them.

A piece is named by the digest of the bytes it is read from, of its place and of the code, so that a freeze that was
killed finds what it had finished, and never what has changed since. Beside the batches (Arrow, in blocks that end
where row groups of the whole table end) lie the canonical rows, which the content digest covers, and last what is
known of both: a piece without it is not finished.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from releases.content import batch_of_lines, keys_of, to_batch
from releases.parquet import ROWS_PER_GROUP
from releases.provenance import Tally
from releases.source import Stretch, ascending, merged
from schemas.arrow import arrow_schema
from schemas.engines.shards import Shard
from schemas.rows import write_whole
from schemas.tables import Row, Table
from schemas.version import code_digest, environment_digest

if TYPE_CHECKING:
    import pyarrow as pa

Block = tuple["pa.RecordBatch", bytes]
"""Rows of one row group, and their canonical form."""

_CODE = ("schemas", "releases")


@dataclass(frozen=True)
class Piece:
    """Some rows of a table from row ``first`` on (from 0): those of files that are merged, or of a part of one."""

    first: int
    rows: int
    source: tuple[Stretch, ...] | Shard

    @property
    def path(self) -> str:
        """What it is read from, for people."""
        return str(self.source.path if isinstance(self.source, Shard) else self.source[0].path)

    def read(self, table: Table) -> Iterator[Row]:
        """The rows, strictly ascending. Raises RequestError for a key that occurs twice."""
        if isinstance(self.source, Shard):
            return ascending(self.source.walk(), table)
        return merged(self.source, table)


@dataclass(frozen=True)
class Stored:
    """A piece that is finished: its files' name, its keys, rows and bytes of its blocks, and what was counted."""

    name: str
    first: list[Any]
    last: list[Any]
    blocks: list[list[int]]
    tally: dict[str, Any]


def pieces_of(groups: Iterable[list[Stretch]]) -> Iterator[Piece]:
    """The pieces of a table: files that interleave together, others in parts of so many rows as were marked."""
    first = 0
    for group in groups:
        (alone, *others) = group
        if others or not alone.in_order:
            rows = sum(stretch.rows for stretch in group)
            yield Piece(first, rows, tuple(group))
            first += rows
            continue
        for shard in alone.shards:
            yield Piece(first, shard.rows, shard)
            first += shard.rows


def store(table: Table, folder: Path, piece: Piece) -> Stored:
    """Store a piece in a folder, unless it lies there; raises RequestError for rows that the table cannot hold."""
    name = f"{table.name}-{_digest(table, piece)}"
    done = folder / f"{name}.json"
    if done.is_file():
        return Stored(**orjson.loads(done.read_bytes()))
    tally = Tally()
    made = Stored(name, [], [], [], {})
    _write(table, folder, piece, made, tally)
    made.tally.update(tally.counts())
    write_whole(done, [orjson.dumps(made)])
    return made


def _write(table: Table, folder: Path, piece: Piece, made: Stored, tally: Tally) -> None:
    import pyarrow as pa

    schema = arrow_schema(table.schema)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    batches, lines = batches_path(folder, made.name), rows_path(folder, made.name)
    with (
        pa.ipc.new_file(batches, schema, options=options) as out,
        pa.CompressedOutputStream(lines, "lz4") as canon,
    ):
        for batch, text in _by_column(table, schema, piece) or _by_row(table, schema, piece):
            keys = keys_of(batch, table.key)
            out.write_batch(batch)
            canon.write(text)
            tally.count(table.name, batch)
            made.first[:] = made.first or keys[0]
            made.last[:] = keys[-1]
            made.blocks.append([batch.num_rows, len(text)])


def _by_column(table: Table, schema: pa.Schema, piece: Piece) -> list[Block]:
    """The blocks of a part of a file as builders write them, in order and canonical; none for any other piece."""
    if not isinstance(piece.source, Shard):
        return []
    text = piece.source.text()
    batch = batch_of_lines(text, schema)
    if batch is None or any(batch.column(column).null_count for column in table.key):
        return []
    keys = keys_of(batch, table.key)
    if any(before >= after for before, after in pairwise(keys)):
        return []
    lines = text.splitlines(keepends=True)
    starts = [0, *range(_before_group(piece), len(lines), ROWS_PER_GROUP), len(lines)]
    return [(batch.slice(a, b - a), b"".join(lines[a:b])) for a, b in pairwise(starts) if b > a]


def _by_row(table: Table, schema: pa.Schema, piece: Piece) -> Iterator[Block]:
    rows, size = piece.read(table), _before_group(piece)
    while block := list(islice(rows, size)):
        yield to_batch(block, schema, table.name, table.key)
        size = ROWS_PER_GROUP


def _before_group(piece: Piece) -> int:
    """How many rows of a piece stand before the first row group of the table that begins in it, one at least."""
    return ROWS_PER_GROUP - piece.first % ROWS_PER_GROUP


def batches_path(folder: Path, name: str) -> str:
    """Where the batches of a piece lie."""
    return str(folder / f"{name}.arrow")


def rows_path(folder: Path, name: str) -> str:
    """Where the canonical rows of a piece lie."""
    return str(folder / f"{name}.rows.lz4")


def _digest(table: Table, piece: Piece) -> str:
    """Of all that the piece's files depend on."""
    sha = hashlib.sha256(_code())
    sha.update(orjson.dumps([table.name, table.key, piece.first % ROWS_PER_GROUP, table.schema]))
    if isinstance(piece.source, Shard):
        sha.update(piece.source.text())
        return sha.hexdigest()
    for stretch in piece.source:
        with stretch.path.open("rb") as file:
            sha.update(hashlib.file_digest(file, "sha256").digest())
    return sha.hexdigest()


@functools.cache
def _code() -> bytes:
    return f"{code_digest(_CODE)} {environment_digest()}".encode()
