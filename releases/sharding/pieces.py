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
from typing import Any

import orjson

from releases.content import canonical, to_batch
from releases.parquet import ROWS_PER_GROUP
from releases.provenance import Tally
from releases.source import MARK, Stretch, ascending, key_of, merged
from schemas.arrow import arrow_schema
from schemas.rows import placed_jsonl, write_whole
from schemas.tables import Row, Table
from schemas.version import code_digest, environment_digest

_CODE = ("schemas", "releases")
_PIECE = 1 << 20


@dataclass(frozen=True)
class Piece:
    """Some rows of a table from row ``first`` on (from 0): of files that are merged, or of a part of one (bytes)."""

    group: tuple[Stretch, ...]
    first: int
    rows: int
    start: int = 0
    stop: int | None = None

    @property
    def path(self) -> str:
        """What it is read from, for people."""
        return str(self.group[0].path)

    def read(self, table: Table) -> Iterator[Row]:
        """The rows, strictly ascending. Raises RequestError for a key that occurs twice."""
        if self.stop is None:
            yield from merged(self.group, table)
            return
        yield from ascending((row for _, row in placed_jsonl(self.group[0].path, self.start, self.stop)), table)


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
            yield Piece(tuple(group), first, rows)
            first += rows
            continue
        left = alone.rows
        for start, stop in pairwise(alone.marks):
            rows = min(left, MARK)
            yield Piece((alone,), first, rows, start, stop)
            first, left = first + rows, left - rows


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
    rows = iter(tally.watch(table.name, piece.read(table)))
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    batches, lines = batches_path(folder, made.name), rows_path(folder, made.name)
    with (
        pa.ipc.new_file(batches, schema, options=options) as out,
        pa.CompressedOutputStream(lines, "zstd") as canon,
    ):
        size = ROWS_PER_GROUP - piece.first % ROWS_PER_GROUP
        while block := list(islice(rows, size)):
            batch, stored = to_batch(block, schema, table.name, table.key)
            text = canonical(stored, batch)
            out.write_batch(batch)
            canon.write(text)
            made.first[:] = made.first or key_of(stored[0], table)
            made.last[:] = key_of(stored[-1], table)
            made.blocks.append([len(block), len(text)])
            size = ROWS_PER_GROUP


def batches_path(folder: Path, name: str) -> str:
    """Where the batches of a piece lie."""
    return str(folder / f"{name}.arrow")


def rows_path(folder: Path, name: str) -> str:
    """Where the canonical rows of a piece lie."""
    return str(folder / f"{name}.rows.zst")


def _digest(table: Table, piece: Piece) -> str:
    """Of all that the piece's files depend on."""
    sha = hashlib.sha256(_code())
    place = [table.name, table.key, piece.first % ROWS_PER_GROUP, piece.start, piece.stop]
    sha.update(orjson.dumps([place, table.schema]))
    for stretch in piece.group:
        with stretch.path.open("rb") as file:
            file.seek(piece.start)
            left = (stretch.path.stat().st_size if piece.stop is None else piece.stop) - piece.start
            while left > 0 and (data := file.read(min(_PIECE, left))):
                sha.update(data)
                left -= len(data)
    return sha.hexdigest()


@functools.cache
def _code() -> bytes:
    return f"{code_digest(_CODE)} {environment_digest()}".encode()
