"""Where the rows come from that a user points at: a workspace, a release's Parquet files, a JSON Lines file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from schemas.errors import RequestError
from schemas.rows import read_jsonl
from schemas.tables import Benchmark, Row
from schemas.workspace import Workspace

RELATED = ("ledgers", "characters", "preferences")
"""Tables that audits look things up in, where there are rows of them."""


def from_workspace(root: Path, chosen: Benchmark, table: str) -> dict[str, list[Row]]:
    """The rows of a table, and of the tables looked up. Raises RequestError where the table has none."""
    space = Workspace(root, chosen.name)
    if not space.keys(table):
        raise RequestError(
            f"no rows of {table}", space.folder, mend="Build or import them first, or name another --workspace"
        )
    return {name: list(space.rows(name)) for name in _wanted(chosen, table) if space.keys(name)}


def from_release(folder: Path, chosen: Benchmark, table: str) -> dict[str, list[Row]]:
    """The same from ``<release>/<table>/*.parquet``."""
    if not folder.is_dir():
        raise RequestError("missing folder", folder, mend="Name the folder of a release")
    files = {name: sorted((folder / name).glob("*.parquet")) for name in _wanted(chosen, table)}
    if not files[table]:
        raise RequestError(f"no Parquet files of {table}", folder / table, mend="Name the folder of a release")
    return {name: list(_parquet_rows(paths)) for name, paths in files.items() if paths}


def from_file(path: Path, table: str) -> dict[str, list[Row]]:
    """The rows of a JSON Lines file. Raises RequestError, naming file and line, for what is no JSON object."""
    return {table: list(read_jsonl(path))}


def looked_up(root: Path, chosen: Benchmark) -> dict[str, list[Row]]:
    """The tables of a workspace that audits look things up in."""
    space = Workspace(root, chosen.name)
    return {name: list(space.rows(name)) for name in RELATED if name in chosen.tables and space.keys(name)}


def _wanted(chosen: Benchmark, table: str) -> list[str]:
    return [name for name in chosen.tables if name == table or name in RELATED]


def _parquet_rows(paths: list[Path]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    for path in paths:
        try:
            yield from parquet.read_table(path).to_pylist()
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise RequestError("unreadable Parquet", path, expected=reason, mend="Fetch the release again") from None
