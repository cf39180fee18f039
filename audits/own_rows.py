"""Rows of one's own: ``--rows FILE`` instead of a table of a workspace or a release: JSON Lines, or Parquet.

They need not fit the record schema: what is missing or of another type is passed over by whoever measures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audits.subjects import Subject, at_row
from schemas.errors import RequestError
from schemas.findings import Finding
from schemas.rows import PIPED, lines_jsonl, read_jsonl
from schemas.sources import source
from schemas.tables import Row

if TYPE_CHECKING:
    from schemas.engines.shards import Shard


def add_rows(made: argparse.ArgumentParser) -> None:
    """``--rows`` beside the arguments of ``schemas.sources.add_source``."""
    made.add_argument(
        "--rows",
        type=Path,
        metavar="FILE.jsonl",
        help="read this file of rows instead of the workspace (-: piped in); *.parquet is read as Parquet, and with "
        "--engine a folder, s3:// or gs:// of either",
    )


def rows_of(arguments: argparse.Namespace, table: str) -> Sequence[Row]:
    """The rows of the file, or of the table. Raises RequestError where there are none, or a line is no row."""
    if arguments.rows is None:
        return list(source(arguments).rows(table))
    return _some(
        _parquet(arguments.rows) if _is_parquet(arguments.rows) else list(read_jsonl(arguments.rows)), arguments.rows
    )


def readable_rows(path: Path, table: str) -> tuple[Sequence[Row], list[Finding]]:
    """The rows of a file, and ``format.line`` for each line that is none. Raises RequestError where all are."""
    if _is_parquet(path):
        return _some(_parquet(path), path), []
    rows: list[Row] = []
    broken: list[tuple[int, RequestError]] = []
    for number, row in lines_jsonl(path):
        if isinstance(row, RequestError):
            broken.append((number, row))
        else:
            rows.append(row)
    if broken and not rows:
        raise broken[0][1]
    return _some(rows, path), [_broken(table, number, error) for number, error in broken]


def table_shards(arguments: argparse.Namespace, table: str) -> list[Shard]:
    """The parts of the table that ``--rows`` (a file, a folder, a URL) or the source names, for ``--engine``.

    Raises RequestError where there are no rows, MachineError where a store cannot be used.
    """
    from schemas.engines.shards import of_files, shards_of

    if arguments.rows == PIPED:
        raise RequestError("piped rows with --engine", fix="Write them to a file, or leave --engine out")
    if arguments.rows is not None:
        return shards_of(arguments.rows)
    found = source(arguments)
    found.check(table)
    return of_files(found.files[table])


def beside(arguments: argparse.Namespace, table: str) -> Sequence[Row]:
    """The rows of another table: of the workspace or release; beside rows of one's own only of one that is named."""
    if arguments.rows is None:
        return list(source(arguments).rows(table))
    named = arguments.workspace is not None or arguments.release is not None
    return source(arguments).if_any(table) if named else ()


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet"


def _parquet(path: Path) -> list[Row]:
    """The rows of a Parquet file. Raises RequestError for a file that is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise RequestError("malformed Parquet", path, expected=str(error).splitlines()[0]) from None


def _some(rows: Sequence[Row], path: Path) -> Sequence[Row]:
    if not rows:
        raise RequestError("no rows", path, expected="one JSON object a line")
    return rows


def _broken(table: str, number: int, error: RequestError) -> Finding:
    message = f"{error.what}, expected {error.expected}: the line is skipped"
    return at_row(Subject(table, f"line {number}", {}), "format.line", "error", message)
