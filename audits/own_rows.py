"""Rows of one's own: ``--rows FILE.jsonl`` instead of a table of a workspace or a release.

They need not fit the record schema: what is missing or of another type is passed over by whoever measures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from schemas.errors import RequestError
from schemas.rows import read_jsonl
from schemas.sources import source
from schemas.tables import Row


def add_rows(made: argparse.ArgumentParser) -> None:
    """``--rows`` beside the arguments of ``schemas.sources.add_source``."""
    made.add_argument(
        "--rows", type=Path, metavar="FILE.jsonl", help="read this file of rows instead of the workspace (-: piped in)"
    )


def rows_of(arguments: argparse.Namespace, table: str) -> Sequence[Row]:
    """The rows of the file, or of the table. Raises RequestError where there are none in the file."""
    if arguments.rows is None:
        return list(source(arguments).rows(table))
    rows = list(read_jsonl(arguments.rows))
    if not rows:
        raise RequestError("no rows", arguments.rows, expected="one JSON object a line")
    return rows


def beside(arguments: argparse.Namespace, table: str) -> Sequence[Row]:
    """The rows of another table: of the workspace or release; beside rows of one's own only of one that is named."""
    if arguments.rows is None:
        return list(source(arguments).rows(table))
    named = arguments.workspace is not None or arguments.release is not None
    return source(arguments).if_any(table) if named else ()
