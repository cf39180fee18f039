"""Where the rows come from that a user points at: a workspace, or a frozen release given by name or folder.

Every command that reads whole tables takes ``--workspace DIR`` or ``--release NAME@X.Y.Z``, and finds
the same rows in either.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from schemas.benchmarks import Benchmark, benchmark
from schemas.command import DEFAULT_WORKSPACE
from schemas.errors import RequestError
from schemas.release_names import CANARY, locate
from schemas.tables import Row
from schemas.workspace import Workspace

_BATCH = 1024


@dataclass(frozen=True)
class Source:
    """The tables of a benchmark that a folder has rows of, in the benchmark's order, and the files of each."""

    benchmark: Benchmark
    folder: Path
    readers: Mapping[str, Callable[[], Iterator[Row]]]
    files: Mapping[str, Sequence[Path]]

    def rows(self, table: str) -> Iterator[Row]:
        """The rows of a table, read as they are walked. Raises RequestError where there is no such table."""
        self.check(table)
        return self.readers[table]()

    def check(self, table: str) -> None:
        """Raises RequestError where there is no such table."""
        if not self.readers:
            fix = "Build or import them first, or name another --workspace"
            raise RequestError(f"no rows of {self.benchmark.name}", self.folder, fix=fix)
        if table not in self.readers:
            fix = f"Build or import it first. There are: {', '.join(self.readers)}"
            raise RequestError(f"missing table {table}", self.folder, fix=fix)

    def if_any(self, table: str) -> list[Row]:
        """The rows of a table, none where there is no such table."""
        return list(self.readers[table]()) if table in self.readers else []


def add_source(made: argparse.ArgumentParser) -> None:
    """``--release`` beside the common ``--workspace``."""
    made.set_defaults(workspace=None)  # so that naming both is noticed
    made.add_argument(
        "--release", metavar="NAME@X.Y.Z", help="read a frozen release, by name or folder, instead of a workspace"
    )


def source(arguments: argparse.Namespace) -> Source:
    """What the arguments of ``add_source`` and ``--benchmark`` name. Raises RequestError where they name two."""
    chosen = benchmark(arguments.benchmark)
    if arguments.release is None:
        return of_workspace(Workspace(arguments.workspace or DEFAULT_WORKSPACE, chosen.spec))
    if arguments.workspace is not None:
        raise RequestError("two sources", expected="--workspace or --release", fix="Leave one out")
    return of_release(arguments.release, chosen)


def of_workspace(space: Workspace) -> Source:
    """The tables a workspace has finished files of."""
    files = {name: [space.path(name, key) for key in space.keys(name)] for name in space.benchmark.tables}
    files = {name: paths for name, paths in files.items() if paths}
    return Source(space.benchmark, space.folder, {name: partial(space.rows, name) for name in files}, files)


def of_release(spec: str, chosen: Benchmark) -> Source:
    """The tables of a release, ``<table>/*.parquet``. Raises RequestError where there is no release or table."""
    folder = Path(spec) if "@" not in spec or Path(spec).is_dir() else locate(spec)
    if not folder.is_dir():
        raise RequestError("missing folder", folder, fix="Name a release, as NAME@X.Y.Z or by its folder")
    files = {name: sorted((folder / name).glob("*.parquet")) for name in chosen.tables}
    files = {name: paths for name, paths in files.items() if paths}
    readers = {name: partial(_parquet_rows, paths) for name, paths in files.items()}
    if not readers:
        wanted = ", ".join(chosen.tables)
        raise RequestError(f"no release of {chosen.name}", folder, expected=f"Parquet files in folders {wanted}")
    return Source(chosen, folder, readers, files)


def _parquet_rows(paths: list[Path]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                columns = [name for name in file.schema_arrow.names if name != CANARY]
                for batch in file.iter_batches(batch_size=_BATCH, columns=columns):
                    yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise RequestError("unreadable Parquet", path, expected=reason, fix="Fetch the release again") from None
