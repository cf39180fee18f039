"""A user's rows of one table, in a JSON Lines file: read as they are walked, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from schemas.benchmarks import Benchmark
from schemas.errors import RequestError
from schemas.rows import numbered_jsonl
from schemas.tables import Row, Table
from validators.records import row_name


class UserFile:
    """A user's rows of one table, in a JSON Lines file; ``lines`` fills while the rows are walked."""

    def __init__(self, path: Path, table: Table) -> None:
        self.path, self.table = path, table
        self.lines: dict[str, int] = {}

    def rows(self) -> Iterator[Row]:
        """The rows in order. Raises RequestError for a malformed file, and for an id that occurs twice."""
        for line, row_id, row in self._named():
            if row_id in self.lines:
                raise RequestError(
                    "duplicate id",
                    f"{self.path}:{line}",
                    row=row_id,
                    expected=f"line {self.lines[row_id]} has it too",
                    mend="Remove one of the two lines",
                )
            self.lines[row_id] = line
            yield row

    def those(self, row_ids: set[str]) -> Iterator[tuple[int, str, Row]]:
        """Line, id and row of some rows, in order."""
        return (each for each in self._named() if each[1] in row_ids)

    def _named(self) -> Iterator[tuple[int, str, Row]]:
        for position, (line, row) in enumerate(numbered_jsonl(self.path), 1):
            yield line, row_name(self.table, row, position), row


def table_of(path: Path, name: str | None, benchmark: Benchmark) -> Table:
    """The table of a user's file: the one named, or the one the file is called after."""
    if name is not None:
        return benchmark.table(name)
    if path.stem in benchmark.tables:
        return benchmark.table(path.stem)
    raise RequestError("unknown table of the rows", path, mend=f"Say which with --table: {', '.join(benchmark.tables)}")
