"""The command that finds rows which tell the same text again, in a field, window and threshold of one's choice.

python -m audits.duplicates --benchmark heart --json
python -m audits.duplicates --benchmark heart --rows mine.jsonl --window character_id --field content_full
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from audits.duplicates.near_duplicates import THRESHOLD, Scope, findings
from audits.own_rows import add_rows, rows_of, table_shards
from schemas import command
from schemas.benchmarks import Benchmark, benchmark
from schemas.derived import completed
from schemas.engines.choice import add_engine, engine, scratch
from schemas.errors import RequestError, unknown
from schemas.findings import Finding, counts
from schemas.sources import add_source
from schemas.tables import Row, Table

if TYPE_CHECKING:
    from audits.shards.across import Recall


def main(argv: Sequence[str] | None = None) -> int:
    """Report the near-duplicates of a table; exit code 1 when there are any."""
    made = command.parser(
        "audits.duplicates",
        "Find near-duplicate rows: TF-IDF cosine above a threshold within a window.",
        "python -m audits.duplicates --benchmark heart --json",
    )
    add_source(made)
    command.add_benchmark(made)
    add_rows(made)
    made.add_argument("--table", metavar="T", help="table (default: the first whose audits look for duplicates)")
    made.add_argument("--field", metavar="F", help="text field (default: the table's `text` in its benchmark)")
    made.add_argument(
        "--window",
        metavar="COLUMNS",
        help="compare rows that agree on these columns (default: the table's `window` in its benchmark)",
    )
    made.add_argument("--across", action="store_true", help="compare all rows with one another")
    made.add_argument(
        "--threshold", type=command.number(0, 1), default=THRESHOLD, metavar="X", help="cosine (default: 0.85)"
    )
    command.add_processes(made)
    add_engine(made)
    made.add_argument(
        "--approximate",
        action="store_true",
        help="with --across and --engine: compare only rows that a MinHash brings together, and say what share of the "
        "pairs of some sampled rows that found",
    )
    return command.run(_run, made, argv)


def _run(arguments: argparse.Namespace) -> int:
    table = _table(arguments, benchmark(arguments.benchmark))
    if arguments.approximate and not (arguments.across and arguments.engine):
        raise RequestError("--approximate without --across and --engine", fix="Name both, or leave it out")
    scope, rows, compared, found, recall = (_on_engine if arguments.engine else _in_memory)(arguments, table)
    if rows and not compared:
        raise RequestError(
            "no text to compare", arguments.rows or table.name, field=scope.field, fix="Name a text field with --field"
        )
    if arguments.json:
        listed = [finding.as_dict() for finding in found]
        document = {"rows": rows, "compared": compared, "counts": counts(found), "findings": listed}
        command.print_json({**document, **({"recall": recall.as_dict()} if recall else {})})
    for finding in found:
        command.say(f"{finding.row_id}  {finding.message}", quiet=arguments.quiet or arguments.json)
    command.say(f"{len(found)} of {compared} rows with text repeat another ({rows} rows)", quiet=arguments.quiet)
    if recall:
        command.say(
            f"{recall.found} of the {recall.pairs} pairs of {recall.rows:,} sampled rows were compared",
            quiet=arguments.quiet,
        )
    return command.FINDINGS if found else command.DONE


def _in_memory(arguments: argparse.Namespace, table: Table) -> tuple[Scope, int, int, list[Finding], Recall | None]:
    """What is compared, rows, rows with text, the findings, and their recall where not all pairs were compared."""
    rows = completed(table, rows_of(arguments, table.name))
    scope = _scope(arguments, table, rows)
    compared = sum(isinstance(row.get(scope.field), str) for row in rows)
    found = findings(rows, scope, arguments.processes, arguments.across, arguments.threshold)
    return scope, len(rows), compared, found, None


def _on_engine(arguments: argparse.Namespace, table: Table) -> tuple[Scope, int, int, list[Finding], Recall | None]:
    """As ``_in_memory``, shard by shard."""
    from audits.shards.across import find_across
    from audits.shards.windows import find_duplicates

    shards = table_shards(arguments, table.name)
    scope = _scope(arguments, table, completed(table, shards[0].read()))
    with scratch(arguments.scratch) as folder:
        chosen = engine(arguments.engine, arguments.processes)
        rows = sum(shard.rows for shard in shards)
        if arguments.across:
            all_rows = find_across(table, scope, shards, chosen, folder, arguments.threshold, arguments.approximate)
            return scope, rows, all_rows.compared, all_rows.findings, all_rows.recall
        return scope, rows, *find_duplicates(table, scope, shards, chosen, folder, arguments.threshold), None


def _table(arguments: argparse.Namespace, chosen: Benchmark) -> Table:
    if arguments.table:
        return chosen.table(arguments.table)
    found = next((table for table in chosen.tables.values() if "duplicates" in table.audits), None)
    if found is None:
        raise RequestError(f"no table of {chosen.name} is audited for duplicates", fix="Name one with --table")
    return found


def _scope(arguments: argparse.Namespace, table: Table, rows: Sequence[Row]) -> Scope:
    field = arguments.field or table.text
    if field is None:
        raise RequestError("no text field", f"table {table.name}", fix="Name one with --field")
    named = table.window if arguments.window is None else tuple(filter(None, arguments.window.split(",")))
    known = {*table.schema["properties"], *(name for row in rows for name in row)}
    if odd := [] if arguments.across else [name for name in named if name not in known]:
        raise unknown("column", odd[0], known, "--window")
    return Scope(table.name, table.key, field, named)
