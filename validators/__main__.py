"""Check the shape of a benchmark's tables: records, rules, links, counts.

Exit codes: 0 when no finding is an error (warnings and notes are listed and change nothing), 1 when
one is, 2 when the request is wrong.

    python -m validators --benchmark heart
    python -m validators --benchmark heart --release heart@0.1.0 --json
    python -m validators --benchmark heart --table memories --rows mine.jsonl --workspace build
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from schemas.benchmarks import Benchmark, benchmark
from schemas.command import DONE, FINDINGS, add_benchmark, parser, print_json, run, say
from schemas.findings import Finding
from schemas.rows import read_jsonl
from schemas.sources import Source, add_source, source
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.sources import UserFile, table_of


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
        help="check a file of rows of --table; with --workspace, rows that fail are kept in its rejected folder",
    )
    made.add_argument(
        "--separation",
        type=_unit,
        metavar="X",
        help="least distance of two characters' trait vectors (default: 0.25; the paper of HEART-BENCH claims 0.45)",
    )
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
    report = check(chosen, tables, only, separation=arguments.separation)
    if arguments.json:
        print_json(report.as_dict())
    for line in lines(report):
        say(line, quiet=arguments.quiet or arguments.json)
    return FINDINGS if report.errors else DONE


def _tables(found: Source) -> dict[str, Iterable[Row]]:
    return {name: found.rows(name) for name in found.readers}


def _check_file(arguments: argparse.Namespace, chosen: Benchmark) -> int:
    """Check a user's rows beside the tables of a workspace or release, where one is named."""
    from validators.checks import check
    from validators.rendering import lines

    table = table_of(arguments.rows, arguments.table, chosen)
    file = UserFile(arguments.rows, table)
    named = arguments.release is not None or arguments.workspace is not None
    tables = _tables(source(arguments)) if named else {}
    tables[table.name] = file.rows()
    report = check(chosen, tables, {table.name}, separation=arguments.separation, partial=True)
    rejected = {finding.row_id for finding in report.errors}
    if rejected and arguments.workspace is not None:
        _keep_rejected(Workspace(arguments.workspace, chosen.spec), file, report.errors)
    if arguments.json:
        document = report.as_dict()
        for finding in document["findings"]:
            finding |= {"file": str(file.path), "line": file.lines.get(finding["row_id"])}
        accepted = len(file.lines) - len(rejected)
        print_json(document | {"file": str(file.path), "accepted": accepted, "rejected": len(rejected)})
    quiet = arguments.quiet or arguments.json
    for line in lines(report, lambda finding: f"{file.path}:{file.lines.get(finding.row_id, '')}"):
        say(line, quiet=quiet)
    say(f"{len(file.lines) - len(rejected):,} rows are good, {len(rejected):,} are rejected", quiet=quiet)
    return FINDINGS if report.errors else DONE


def _keep_rejected(workspace: Workspace, file: UserFile, errors: Sequence[Finding]) -> None:
    """Write the rows that failed, with file, line and codes; those of other files stay."""
    codes: dict[str, set[str]] = {}
    for finding in errors:
        codes.setdefault(finding.row_id, set()).add(finding.code)
    name, path = str(file.path), workspace.folder / "rejected" / f"{file.table.name}.jsonl"
    with workspace.lock():
        kept = [record for record in read_jsonl(path) if record.get("file") != name] if path.is_file() else []
        fresh = [
            {"file": name, "line": line, "row_id": row_id, "codes": sorted(codes[row_id]), "row": row}
            for line, row_id, row in file.those(set(codes))
        ]
        workspace.write_rejected(file.table.name, [*kept, *fresh])


if __name__ == "__main__":
    raise SystemExit(main())
