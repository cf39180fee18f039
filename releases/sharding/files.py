"""The Parquet files of a table from the batches of its pieces: where one ends and the next begins, and their bytes.

Row groups and files end where ``releases.parquet.write_table`` ends them, whatever the pieces: a row group has
``ROWS_PER_GROUP`` rows of the whole table, a file ends with the group that reaches ``BYTES_PER_FILE`` canonical bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from releases.parquet import ROWS_PER_GROUP, columns_of, write_file
from releases.sharding.pieces import Stored, batches_path
from schemas.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

Blocks = tuple[str, int, int]
"""A piece by name, and which of its blocks: from, to."""


@dataclass
class File:
    """A file of a table: what it is made of, and its rows."""

    blocks: list[Blocks] = field(default_factory=list)
    rows: int = 0

    @property
    def path(self) -> str:
        """What it is made of, for people."""
        return self.blocks[0][0] if self.blocks else "an empty table"


def cut(stored: Iterable[Stored], bytes_per_file: int) -> list[File]:
    """The files of a table, one at least; pieces in order of key."""
    made = [File()]
    size = 0
    for piece in stored:
        for number, (rows, length) in enumerate(piece.blocks):
            if size >= bytes_per_file and made[-1].rows % ROWS_PER_GROUP == 0:
                made.append(File())
                size = 0
            _add(made[-1], piece.name, number)
            made[-1].rows += rows
            size += length
    return made


def _add(file: File, name: str, number: int) -> None:
    last = file.blocks[-1] if file.blocks else ("", 0, 0)
    if last[0] == name and last[2] == number:
        file.blocks[-1] = (name, last[1], number + 1)
    else:
        file.blocks.append((name, number, number + 1))


def write(table: Table, canary: str | None, folder: Path, file: File) -> str:
    """Write a file into the folder of pieces, unless it lies there; returns its name."""
    content = orjson.dumps([file.blocks, canary])
    path = folder / f"{table.name}-{hashlib.sha256(content).hexdigest()}.parquet"
    if not path.is_file():
        schema, part = columns_of(table), path.with_suffix(".part")
        write_file(part, schema, _groups(_batches(folder, file.blocks), schema), canary)
        part.rename(path)
    return path.name


def _batches(folder: Path, blocks: Sequence[Blocks]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for name, start, stop in blocks:
        with pa.ipc.open_file(batches_path(folder, name)) as reader:
            for number in range(start, stop):
                yield reader.get_batch(number)


def _groups(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Batches put together to row groups: a block that ends with its piece is followed by the rest of its group."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows == ROWS_PER_GROUP:
            yield _one(waiting, schema)
            waiting, rows = [], 0
    if waiting:
        yield _one(waiting, schema)


def _one(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.Table.from_batches(batches, schema).combine_chunks().to_batches()[0]
