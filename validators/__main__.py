"""Check the shape of a benchmark's tables: records, rules, links, counts.

Exit codes: 0 when no finding is an error (warnings and notes are listed and change nothing), 1 when
one is, 2 when the request is wrong.

    python -m validators --benchmark heart
    python -m validators --benchmark heart --release heart@2.0.0 --json
    python -m validators --benchmark heart --table memories --rows mine.jsonl --workspace build
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.benchmarks import Benchmark, benchmark
from schemas.command import DONE, FINDINGS, add_benchmark, add_processes, parser, print_json, run, say
from schemas.engines.choice import add_engine, engine
from schemas.errors import RequestError
from schemas.findings import Finding, in_order
from schemas.rows import read_jsonl
from schemas.sources import Source, add_source, source
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.sources import UserFile, table_of

if TYPE_CHECKING:
    from schemas.engines.shards import Shard


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    made = parser(
        "validators",
        "Check the shape of a benchmark's tables: records, rules, links, counts.",
        "python -m validators --benchmark heart --table memories --json",
    )
    add_source(made)
    add_benchmark(made)
    made.add_argument("--table", metavar="T", help="check one table; others are only looked up")
    made.add_argument(
        "--rows",
        type=Path,
        metavar="FILE.jsonl",
        help="check a file of rows of --table; with --workspace, rows that fail are written to its rejected folder",
    )
    made.add_argument(
        "--separation",
        type=_unit,
        metavar="X",
        help="least distance of two characters' trait vectors (default: 0.25; the paper of HEART-BENCH claims 0.45)",
    )
    add_processes(made)
    add_engine(made, scratch=False)
    return run(_command, made, argv)


def _unit(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return value


def _command(arguments: argparse.Namespace) -> int:
    chosen = benchmark(arguments.benchmark)
    if arguments.rows is not None:
        return _check_file(arguments, chosen)
    if arguments.table is not None:
        chosen.table(arguments.table)
    found = source(arguments)
    found.rows(arguments.table or next(iter(found.readers), ""))  # is there one to check?
    tables = _tables(found)
    from validators.checks import check
    from validators.rendering import lines

    only = None if arguments.table is None else {arguments.table}
    chosen_engine = engine(arguments.engine, arguments.processes) if arguments.engine else None
    shards = _shards(found) if chosen_engine else None
    report = check(chosen, tables, only, separation=arguments.separation, engine=chosen_engine, shards=shards)
    if arguments.json:
        print_json(report.as_dict())
    for line in lines(report):
        say(line, quiet=arguments.quiet or arguments.json)
    return FINDINGS if report.errors else DONE


def _tables(found: Source) -> dict[str, Iterable[Row]]:
    return {name: found.rows(name) for name in found.readers}


def _shards(found: Source) -> dict[str, list[Shard]]:
    """The parts of every table."""
    from schemas.engines.shards import of_files

    return {name: of_files(files) for name, files in found.files.items()}


def _check_file(arguments: argparse.Namespace, chosen: Benchmark) -> int:
    """Check a user's rows beside the tables of a workspace or release, where one is named."""
    if arguments.engine:
        raise RequestError("--rows with --engine", expected="one of them", fix="Leave --engine out")
    from validators.checks import check
    from validators.rendering import lines

    file = UserFile(arguments.rows, table_of(arguments.rows, arguments.table, chosen))
    table = file.table
    named = arguments.release is not None or arguments.workspace is not None
    tables = _tables(source(arguments)) if named else {}
    tables[table.name] = file.rows
    checked = check(chosen, tables, {table.name}, separation=arguments.separation, partial=True, own_rows=file.own)
    report = replace(checked, findings=tuple(in_order([*file.findings, *checked.findings])))
    rejected = _rejected(file, report.errors)
    if rejected and arguments.workspace is not None:
        _write_rejected(Workspace(arguments.workspace, chosen.spec), file, rejected)
    accepted, refused = len(file.lines) - len(rejected), len(rejected) + file.left_out
    if arguments.json:
        document = report.as_dict()
        for finding, record in zip(report.findings, document["findings"], strict=True):
            record |= {"file": str(file.path), "line": _line(file, finding)}
        print_json(document | {"file": str(file.path), "accepted": accepted, "rejected": refused})
    quiet = arguments.quiet or arguments.json
    for line in lines(report, lambda finding: ":".join(map(str, filter(None, (file.path, _line(file, finding)))))):
        say(line, quiet=quiet)
    say(f"{accepted:,} rows are good, {refused:,} are rejected", quiet=quiet)
    return FINDINGS if report.errors else DONE


def _line(file: UserFile, finding: Finding) -> int | None:
    return file.line_of.get(finding, file.lines.get(finding.row_id))


def _rejected(file: UserFile, errors: Sequence[Finding]) -> dict[str, set[str]]:
    """The rows with errors, by id, and their codes; all of them where a column that is needed stands in none."""
    codes: dict[str, set[str]] = {}
    for finding in errors:
        of_all = finding.code == "schema.absent_column"
        for row_id in file.lines if of_all else [finding.row_id] if finding not in file.line_of else []:
            codes.setdefault(row_id, set()).add(finding.code)
    return codes


def _write_rejected(workspace: Workspace, file: UserFile, codes: Mapping[str, set[str]]) -> None:
    """Write the rows that failed, with file, line and codes; those of other files stay."""
    name, path = str(file.path), workspace.folder / "rejected" / f"{file.table.name}.jsonl"
    with workspace.lock():
        others = [record for record in read_jsonl(path) if record.get("file") != name] if path.is_file() else []
        fresh = [
            {"file": name, "line": line, "row_id": row_id, "codes": sorted(codes[row_id]), "row": row}
            for line, row_id, row in file.given(set(codes))
        ]
        workspace.write_rejected(file.table.name, [*others, *fresh])


if __name__ == "__main__":
    raise SystemExit(main())
