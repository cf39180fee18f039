"""The published files again, from the tables an import made of them.

The proof that an import loses nothing, and the way back for tools that read the authors' layout.
Values are those that were published; the layout of the JSON text is ours. Rows that were rejected
on import are not in the tables, so they are left out, and counted.

    python -m builders.importers.export heart-published --to DIR
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from builders.importers import heart, personalens, persturn
from builders.importers.staging import Tables
from schemas import command
from schemas.errors import RequestError, unknown
from schemas.rows import encode, sync_folder
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.records import failures

Exporter = Callable[[Tables], Iterator[tuple[str, Any]]]

EXPORTERS: dict[str, Exporter] = {
    heart.BENCHMARK: heart.export,
    personalens.BENCHMARK: personalens.export,
    persturn.BENCHMARK: persturn.export,
}


def write(workspace: Workspace, target: Path) -> int:
    """Write the published files of an imported benchmark below ``target``; returns how many.

    The folder appears whole or not at all. Raises RequestError where there is something already, or
    nothing was imported.
    """
    if target.exists():
        raise RequestError("something is there already", target, fix="Name a folder that does not exist yet")
    missing = [
        name for name, table in workspace.benchmark.tables.items() if not (table.optional or workspace.keys(name))
    ]
    if missing:
        raise RequestError("nothing imported", workspace.folder, expected=f"table {missing[0]}", fix="Import it first")
    tables = {name: _table(workspace, name) for name in workspace.benchmark.tables}
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        written = 0
        for name, value in EXPORTERS[workspace.benchmark.name](tables):
            file = aside / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(_content(name, value))
            written += 1
        aside.replace(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    sync_folder(target.parent)
    return written


def _table(workspace: Workspace, name: str) -> dict[str, Row]:
    """The rows of a table by id. Raises RequestError for one that somebody broke since the import."""
    table, rows = workspace.benchmark.table(name), list(workspace.rows(name))
    if broken := failures(table, rows):
        where, row, field = workspace.path(name), broken[0].row_id, broken[0].field
        raise RequestError("broken row", where, row=row, field=field, expected=broken[0].message, fix="Import it again")
    return {table.row_id(row): row for row in rows}


def _content(name: str, value: Any) -> bytes:
    if name.endswith(".jsonl"):
        return b"".join(encode(line) for line in value)
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see the module's docstring."""
    arguments = command.parser(
        "builders.importers.export",
        "Write an imported dataset in the layout its authors publish.",
        "python -m builders.importers.export heart-published --to published-again",
    )
    arguments.add_argument("benchmark", metavar="BENCHMARK", help=f"one of {', '.join(EXPORTERS)}")
    arguments.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder to make")
    return command.run(_export, arguments, argv)


def _export(parsed: argparse.Namespace) -> int:
    if parsed.benchmark not in EXPORTERS:
        raise unknown("benchmark", parsed.benchmark, EXPORTERS)
    workspace = Workspace(parsed.workspace, parsed.benchmark)
    written = write(workspace, parsed.to)
    left = sum(1 for path in (workspace.folder / "rejected").glob("*.jsonl") for _ in path.open("rb"))
    if parsed.json:
        document = {"benchmark": parsed.benchmark, "files": written, "rejected": left, "to": str(parsed.to)}
        command.print_json(document)
    command.say(f"{written:,} files in {parsed.to}", quiet=parsed.quiet)
    if left:
        command.say(f"{left:,} rejected rows are not in them", quiet=parsed.quiet)
    return command.FINDINGS if left else command.DONE


if __name__ == "__main__":
    raise SystemExit(main())
