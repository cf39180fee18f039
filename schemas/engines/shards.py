"""A table as many files: Parquet or JSON Lines, in a folder or an object store, read a part at a time.

A part (``Shard``) is some row groups of a Parquet file, or some lines of a JSON Lines file. It carries the number of
its first row, so that whoever judges it names rows as if the table were one.

    shards_of("s3://lab/memories")
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.engines import stores
from schemas.errors import RequestError
from schemas.release_names import CANARY
from schemas.rows import placed_jsonl
from schemas.tables import Row

if TYPE_CHECKING:
    import pyarrow.parquet

PARQUET, JSONL = ".parquet", ".jsonl"

ROWS = 2_000
"""Rows that a worker has in memory at a time, about: files are cut into parts after so many."""


@dataclass(frozen=True)
class Shard:
    """A part of a table: rows ``first`` (from 0) to ``first + rows``.

    ``start`` to ``stop`` are row groups of a Parquet file, bytes of a JSON Lines file, there from its line ``line`` on.
    """

    path: str
    first: int
    rows: int
    start: int = 0
    stop: int = 0
    line: int = 1

    def read(self, columns: Collection[str] | None = None) -> list[Row]:
        """The rows. Raises RequestError for a file that is cut, or is none."""
        return list(self.walk(columns))

    def text(self) -> bytes:
        """The bytes of a part of a JSON Lines file."""
        with Path(self.path).open("rb") as file:
            file.seek(self.start)
            return file.read(self.stop - self.start)

    def walk(self, columns: Collection[str] | None = None) -> Iterator[Row]:
        """As ``read``, a row group in memory at a time."""
        if self.path.endswith(JSONL):
            yield from (row for _, row in placed_jsonl(Path(self.path), self.start, self.stop, self.line))
            return
        with readable(self.path), _parquet(self.path) as file:
            names = [name for name in file.schema_arrow.names if name != CANARY]
            asked = names if columns is None else [name for name in names if name in columns]
            for group in range(self.start, self.stop):
                yield from file.read_row_group(group, columns=asked).to_pylist()


def shards_of(path: Path | str) -> list[Shard]:
    """The parts of a table: of a file, or of all Parquet and JSON Lines files in a folder, by name.

    Raises RequestError where there is none, or one is cut; MachineError where the store cannot be used.
    """
    found = of_files(stores.files(path, (PARQUET, JSONL)))
    if not sum(shard.rows for shard in found):
        raise RequestError("no rows", stores.location(path), expected="Parquet or JSON Lines files with rows")
    return found


def of_files(paths: Iterable[Path | str]) -> list[Shard]:
    """The parts of a table whose files are these, in this order."""
    made: list[Shard] = []
    first = 0
    for path in map(str, paths):
        for shard in _jsonl(path, first) if path.endswith(JSONL) else _groups(path, first):
            made.append(shard)
            first += shard.rows
    return made


def where(shards: Sequence[Shard], column: str, values: Collection[Any]) -> list[Row]:
    """The rows that have one of the values in a column; a JSON Lines file is passed over where its name is none."""
    made: list[Row] = []
    for shard in shards:
        if shard.path.endswith(PARQUET) or Path(shard.path).stem in {*map(str, values), "all"}:
            made += [row for row in shard.walk() if row.get(column) in values]
    return made


@contextlib.contextmanager
def readable(path: str) -> Iterator[None]:
    """What Arrow says of a file that cannot be read, as one line with its name; MachineError for its store."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path") from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError):
            stores.raise_if_store_failed(path, error)
        reason = (str(error).splitlines() or [""])[0]
        raise RequestError("unreadable Parquet", path, expected=reason, fix="Write or fetch it again") from None


def _parquet(path: str) -> pyarrow.parquet.ParquetFile:
    import pyarrow.parquet as pq

    system, inside = stores.opened(path)
    with stores.errors_reported(path):
        file = system.open_input_file(inside)
    return pq.ParquetFile(file)


def _groups(path: str, first: int) -> Iterator[Shard]:
    """Runs of row groups with about ``ROWS`` rows."""
    with readable(path), _parquet(path) as file:
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
    start = rows = 0
    for number, size in enumerate(sizes, 1):
        rows += size
        if rows >= ROWS or number == len(sizes):
            yield Shard(path, first, rows, start, number)
            start, first, rows = number, first + rows, 0


def _jsonl(path: str, first: int) -> Iterator[Shard]:
    if stores.is_url(path):
        raise RequestError("JSON Lines in a store", path, expected="Parquet", fix="Convert it, or copy it to a folder")
    start = place = rows = 0
    line = 1
    with Path(path).open("rb") as lines:
        for number, text in enumerate(lines, 1):
            place += len(text)
            rows += not text.isspace()
            if rows == ROWS:
                yield Shard(path, first, rows, start, place, line)
                start, line, first, rows = place, number + 1, first + rows, 0
    if rows:
        yield Shard(path, first, rows, start, place, line)
