"""Tables as Parquet: the same rows give the same bytes, whatever the machine.

Everything a writer may choose is fixed here: codec and level, rows a group, pages, statistics, and
where one file ends and the next begins (by the size of the canonical rows, which no codec changes).
What is left is the writer's version, which it puts into the file: byte equality holds for one version
of pyarrow, and the content digest of ``releases.content`` for all.

Rows pass through in batches of one row group, so memory does not grow with the table.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from releases.content import ContentDigest, schema_digest, to_batch
from releases.provenance import Tally
from schemas.arrow import arrow_schema
from schemas.errors import RequestError
from schemas.release_names import CANARY
from schemas.tables import Row

if TYPE_CHECKING:
    import pyarrow as pa

# One split: all of a benchmark is there to test with.
SPLIT = "test"

ROWS_PER_GROUP = 1000

# Of canonical rows; about 50 MB of Parquet, which common git hosts take without complaint.
BYTES_PER_FILE = 250_000_000

OPTIONS: Mapping[str, Any] = {
    "version": "2.6",
    "compression": "zstd",
    "compression_level": 3,
    "use_dictionary": True,
    "dictionary_pagesize_limit": 1 << 20,
    "data_page_size": 1 << 20,
    "data_page_version": "1.0",
    "write_statistics": True,
    "write_page_index": False,
    "store_schema": True,
}


class HasRows(Protocol):
    """A table, as far as writing it needs to know."""

    @property
    def name(self) -> str: ...

    @property
    def key(self) -> tuple[str, ...]: ...

    @property
    def schema(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Written:
    """A table as it lies on disk: its entry in the manifest, and the bytes of its canonical form."""

    entry: Mapping[str, Any]
    size: int


def write_table(
    folder: Path,
    table: HasRows,
    rows: Iterable[Row],
    bytes_per_file: int = BYTES_PER_FILE,
    canary: str | None = None,
    tally: Tally | None = None,
) -> Written:
    """Write a table's rows, given in order of key, as ``<table>/test-00000-of-0000N.parquet``.

    ``canary`` stands in a last column of every row, which is no part of the row: digests leave it out.
    ``tally`` counts the rows. Raises RequestError for a row that the table cannot hold.
    """
    schema = columns_of(table)
    digest = ContentDigest()
    (folder / table.name).mkdir()
    batches = _batches(rows, schema, table, digest, tally or Tally())
    counts = [
        write_file(_aside(folder, table.name, number), schema, of_file, canary)
        for number, of_file in enumerate(_files(batches, digest, bytes_per_file))
    ]
    for number, name in enumerate(file_names(table.name, len(counts))):
        _aside(folder, table.name, number).rename(folder / name)
    return written(table, schema, digest, counts)


def written(table: HasRows, schema: pa.Schema, digest: ContentDigest, counts: Sequence[int]) -> Written:
    """What the manifest says of a table whose files have so many rows."""
    files = zip(file_names(table.name, len(counts)), counts, strict=True)
    entry = {
        "key": list(table.key),
        "rows": digest.rows,
        "schema_digest": schema_digest(schema),
        "content_digest": digest.hexdigest(),
        "files": [{"path": name, "rows": count} for name, count in files],
    }
    return Written(entry, digest.size)


def file_names(table: str, count: int) -> list[str]:
    """The files of a table, in order of key."""
    return [f"{table}/{SPLIT}-{number:05d}-of-{count:05d}.parquet" for number in range(count)]


def columns_of(table: HasRows) -> pa.Schema:
    """The columns of a table's files without the canary. Raises RequestError for a table that has one of its own."""
    schema = arrow_schema(table.schema)
    if CANARY in schema.names:
        fix = "Give the column another name"
        raise RequestError(f"column {CANARY}", f"table {table.name}", expected="a name that is not taken", fix=fix)
    return schema


def write_rows(path: Path, rows: pa.Table, canary: str | None = None) -> None:
    """Write a table that is in memory as one file, as ``write_table`` writes the tables of a benchmark."""
    write_file(path, rows.schema, rows.combine_chunks().to_batches(max_chunksize=ROWS_PER_GROUP), canary)


def read_batches(paths: Sequence[Path], columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The batches of a table's files, all columns but the canary or those named, one row group at a time."""
    import pyarrow.parquet as pq

    for path in paths:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=ROWS_PER_GROUP, columns=columns or _of_rows(file.schema_arrow))


def read_groups(path: Path, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """The batches of some row groups of a file, all columns but the canary."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        groups = list(range(start, stop))
        yield from file.iter_batches(ROWS_PER_GROUP, row_groups=groups, columns=_of_rows(file.schema_arrow))


def read_schema(path: Path) -> pa.Schema:
    """The columns of a table, without the canary."""
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    return schema if CANARY not in schema.names else schema.remove(schema.get_field_index(CANARY))


def canaries(path: Path) -> set[str | None] | None:
    """What stands in the canary column of a file; None where it has none."""
    import pyarrow.parquet as pq

    if CANARY not in pq.read_schema(path).names:
        return None
    return set(pq.ParquetFile(path).read(columns=[CANARY]).column(0).unique().to_pylist())


def with_canary(schema: pa.Schema, canary: str | None) -> pa.Schema:
    """The columns of a file whose rows carry a canary."""
    import pyarrow as pa

    return schema if canary is None else schema.append(pa.field(CANARY, pa.string(), nullable=False))


def _of_rows(schema: pa.Schema) -> list[str]:
    return [name for name in schema.names if name != CANARY]


def _aside(folder: Path, table: str, number: int) -> Path:
    return folder / table / f"{SPLIT}-{number:05d}.parquet"


def _batches(
    rows: Iterable[Row], schema: pa.Schema, table: HasRows, digest: ContentDigest, tally: Tally
) -> Iterator[pa.RecordBatch]:
    source = iter(rows)
    while block := list(itertools.islice(source, ROWS_PER_GROUP)):
        batch, text = to_batch(block, schema, table.name, table.key)
        digest.feed(text, batch.num_rows)
        tally.count(table.name, batch)
        yield batch


def _files(
    batches: Iterator[pa.RecordBatch], digest: ContentDigest, bytes_per_file: int
) -> Iterator[Iterator[pa.RecordBatch]]:
    """Cut the batches into files, at least one; each must be read to its end before the next is asked for."""
    start = digest.size
    opening = next(batches, None)
    if opening is None:
        yield iter(())
    while opening is not None:

        def one_file(opening: pa.RecordBatch = opening, start: int = start) -> Iterator[pa.RecordBatch]:
            yield opening
            while digest.size - start < bytes_per_file and (following := next(batches, None)) is not None:
                yield following

        yield one_file()
        start = digest.size
        opening = next(batches, None)


def write_file(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], canary: str | None) -> int:
    """Write batches of one row group each as a file, forced to disk; returns the number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, whole = 0, with_canary(schema, canary)
    with path.open("wb") as sink:
        # A batch is compressed while the next one is made.
        with pq.ParquetWriter(sink, whole, **OPTIONS) as writer, ThreadPoolExecutor(1) as pool:
            before: Future[None] | None = None
            for batch in batches:
                if canary is not None:
                    column = pa.array([canary] * batch.num_rows, pa.string())
                    batch = pa.RecordBatch.from_arrays([*batch.columns, column], schema=whole)
                if before is not None:
                    before.result()
                before = pool.submit(writer.write_batch, batch, row_group_size=ROWS_PER_GROUP)
                rows += batch.num_rows
            if before is not None:
                before.result()
        sink.flush()
        os.fsync(sink.fileno())
    return rows
