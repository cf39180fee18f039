"""Columns of tables for rules, crossings and figures: gathered part by part, compared whole or a partition at a time.

What compares only rows that share a value needs no more than those rows at a time: past some rows a table's columns go
to disk, parted by that value, and are read back a partition at a time. What compares all rows of a table, and what
figures read, stays in memory.

    python -m validators --benchmark personalens --engine local
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from schemas.arrow import arrow_schema
from schemas.tables import Table
from validators.frames import frame_of

By = str | None
"""A column whose equal values come to the same partition; None: the whole table is one."""

_IN_A_PARTITION = 50_000
_MOST = 128  # partitions: as many files are open while a table is read
_AT_ONCE = 1 << 25  # bytes that are parted together


def partitions(rows: int) -> int:
    """How many partitions tables are parted into of which the largest has so many rows."""
    return min(_MOST, rows // _IN_A_PARTITION + 1)


class Gathered:
    """The columns of one table: ``add`` its parts in order, ``close``, then take frames.

    ``wanted`` are the columns by what they are parted by; a table that is one partition is kept in memory.
    """

    def __init__(self, table: Table, wanted: Mapping[By, Iterable[str]], folder: Path, count: int) -> None:
        self._table = table
        self._count = count
        self.rows = 0
        if count == 1:
            wanted = {None: {column for columns in wanted.values() for column in columns}}
        schemas = {by: _schema(table, columns) for by, columns in wanted.items()}
        self._whole = schemas.get(None)
        self._parts: list[pa.Table] = []
        self._frame: pl.DataFrame | None = None
        self._parted = {
            by: _Parted(folder / f"{table.name}.{by}", by, schema, count) for by, schema in schemas.items() if by
        }

    def add(self, part: pa.Table) -> None:
        """Take the columns of some rows (``frames.columns_of``)."""
        self.rows += part.num_rows
        if self._whole is not None:
            self._parts.append(part.select(self._whole.names))
        for parted in self._parted.values():
            parted.add(part)

    def close(self) -> None:
        """No rows come any more."""
        if self._whole is not None:
            self._frame = frame_of(self._table, [self._whole.empty_table(), *self._parts])
            self._parts = []
        for parted in self._parted.values():
            parted.close()

    def frame(self, by: By, partition: int) -> pl.DataFrame:
        """The rows of a partition, in the order of the table; of one that is not parted, all."""
        if self._count == 1 or by is None:
            assert self._frame is not None  # closed, and wanted whole
            return self._frame
        return frame_of(self._table, [self._parted[by].read(partition)])

    def frames(self, by: By) -> Iterator[pl.DataFrame]:
        """All partitions."""
        for partition in range(self._count if by else 1):
            yield self.frame(by, partition)


def _schema(table: Table, columns: Iterable[str]) -> pa.Schema:
    wanted = {*columns, *table.key}
    return pa.schema([column for column in arrow_schema(table.schema) if column.name in wanted])


class _Parted:
    """Rows on disk, an Arrow file a partition."""

    def __init__(self, folder: Path, by: str, schema: pa.Schema, count: int) -> None:
        folder.mkdir()
        self._folder, self._by, self._schema, self._count = folder, by, schema, count
        self._waiting: list[pa.Table] = []
        self._bytes = 0
        self._writers: dict[int, Any] = {}

    def add(self, part: pa.Table) -> None:
        self._waiting.append(part.select(self._schema.names))
        self._bytes += self._waiting[-1].nbytes
        if self._bytes >= _AT_ONCE:
            self._write()

    def close(self) -> None:
        self._write()
        for writer in self._writers.values():
            writer.close()

    def read(self, partition: int) -> pa.Table:
        path = self._path(partition)
        if not path.exists():
            return self._schema.empty_table()
        with pa.ipc.open_stream(path.read_bytes()) as stream:
            return stream.read_all()

    def _write(self) -> None:
        if not self._waiting:
            return
        rows = pa.concat_tables(self._waiting)
        self._waiting, self._bytes = [], 0
        values = pl.Series(rows.column(self._by))
        place = (values.hash(0) % self._count).to_numpy()
        order = np.argsort(place, kind="stable")
        rows = rows.take(pa.array(order))
        numbers, starts = np.unique(place[order], return_index=True)
        for number, start, stop in zip(numbers, starts, [*starts[1:], len(order)], strict=True):
            self._writer(int(number)).write_table(rows.slice(start, stop - start))

    def _writer(self, number: int) -> Any:
        if number not in self._writers:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            self._writers[number] = pa.ipc.new_stream(self._path(number), self._schema, options=options)
        return self._writers[number]

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:05d}.arrow"
