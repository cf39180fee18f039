"""Where tables come from: a workspace, a release's Parquet files, a user's JSON Lines file.

Tables are iterables that read as they are walked, once; what is malformed raises then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from schemas.errors import RequestError
from schemas.rows import numbered_jsonl
from schemas.tables import Benchmark, Row, Table
from schemas.workspace import Workspace
from validators.records import row_name

_BATCH = 1024


def workspace_tables(workspace: Workspace) -> dict[str, Iterable[Row]]:
    """The tables a workspace has files of. Raises RequestError where there is none."""
    found: dict[str, Iterable[Row]] = {
        name: workspace.rows(name) for name in workspace.benchmark.tables if workspace.keys(name)
    }
    if not found:
        name = workspace.benchmark.name
        raise RequestError(
            f"no rows of {name}", workspace.folder, mend="Build or import them first, or name another --workspace"
        )
    return found


def release_tables(folder: Path, benchmark: Benchmark) -> dict[str, Iterable[Row]]:
    """The tables of a release: ``<table>/*.parquet``. Raises RequestError where there is none."""
    files = {name: sorted((folder / name).glob("*.parquet")) for name in benchmark.tables}
    found: dict[str, Iterable[Row]] = {name: _parquet_rows(paths) for name, paths in files.items() if paths}
    if not folder.is_dir():
        raise RequestError("missing folder", folder, mend="Name the folder of a release")
    if not found:
        wanted = ", ".join(benchmark.tables)
        raise RequestError(f"no release of {benchmark.name}", folder, expected=f"Parquet files in folders {wanted}")
    return found


def _parquet_rows(paths: list[Path]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=_BATCH):
                    yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise RequestError("unreadable Parquet", path, expected=reason, mend="Fetch the release again") from None


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
