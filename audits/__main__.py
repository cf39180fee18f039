"""Audit the rows of a table: find what is wrong with the text.

Exit codes: 0 when nothing is found or notes alone, 1 when errors or warnings remain, 2 when the
request is wrong, 3 when a machine failed or a model did not answer. ``--json`` prints
``{"rows", "counts", "findings", "skipped"}``.

    python -m audits --benchmark heart --table memories
    python -m audits --benchmark heart --table memories --rows mine.jsonl --only perspective --json
    python -m audits --benchmark heart --table scenarios --release heart@0.1.0
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from audits.own_rows import rows_of
from models.backends import add_backend_arguments
from schemas.benchmarks import benchmark
from schemas.command import (
    DEFAULT_WORKSPACE,
    DONE,
    FINDINGS,
    MACHINE_FAILED,
    parser,
    print_json,
    run,
    say,
    whole_number,
)
from schemas.errors import RequestError
from schemas.findings import Finding, counts, in_order
from schemas.sources import Source, add_source, source
from schemas.tables import Row

RELATED = ("ledgers", "characters", "preferences")
"""Tables that audits look things up in, where there are rows of them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    made = parser(
        "audits",
        "Audit the rows of a table: find what is wrong with the text, and say which words, which rule, whose rule.",
        "python -m audits --benchmark heart --table memories --rows mine.jsonl --only perspective length",
    )
    add_source(made)
    made.add_argument("--benchmark", required=True, metavar="NAME", help="which benchmark the rows belong to")
    made.add_argument("--table", required=True, metavar="T", help="decisions, memories, scenarios or users")
    made.add_argument(
        "--rows",
        type=Path,
        metavar="FILE.jsonl",
        help="audit a file of rows instead; with --workspace or --release, beside the ledgers there",
    )
    made.add_argument("--only", nargs="+", metavar="CODE", help="these codes or families only, e.g. perspective rubin")
    made.add_argument("--across", action="store_true", help="also find duplicates over stages and characters")
    made.add_argument(
        "--deep", action="store_true", help="also ask a model about perspective, identity and Rubin's dimensions"
    )
    made.add_argument(
        "--processes",
        type=whole_number(1, 256),
        default=os.cpu_count() or 1,
        metavar="N",
        help="at a time (default: all cores)",
    )
    add_backend_arguments(made)
    return run(_command, made, argv)


def _command(arguments: argparse.Namespace) -> int:
    from audits import audit, unjudged
    from audits.codes import select
    from audits.report import by_id, lines

    table = _table(arguments)
    wanted = select(table, arguments.only and [name for names in arguments.only for name in names.split(",")])
    if table != "memories" and (arguments.across or arguments.deep):
        raise RequestError("--across and --deep are for memories", f"table {table}", mend="Leave them out")
    tables = _read(arguments, table)
    rows, quiet = tables[table], arguments.quiet or arguments.json
    findings = audit(table, rows, tables, wanted, arguments.processes)
    skipped = unjudged(table, rows, tables, wanted)
    if arguments.across and "duplicate.semantic" in wanted:
        findings = in_order([*findings, *_across(rows, findings, arguments.processes)])
    unanswered: list[str] = []
    if arguments.deep:
        deep, unasked, unanswered = _deep(arguments, rows, findings, wanted)
        findings, skipped = in_order([*findings, *deep]), [*skipped, *unasked, *unanswered]
    if arguments.json:
        print_json(
            {
                "rows": len(rows),
                "counts": counts(findings),
                "findings": [finding.as_dict() for finding in findings],
                "skipped": skipped,
            }
        )
    for line in lines(findings, by_id(table, rows), len(rows), table):
        say(line, quiet=quiet)
    for line in skipped:
        say(f"skipped: {line}", quiet=quiet)
    if unanswered:
        return MACHINE_FAILED
    return FINDINGS if any(finding.severity != "note" for finding in findings) else DONE


def _table(arguments: argparse.Namespace) -> str:
    from audits import check_table

    chosen = benchmark(arguments.benchmark)
    if arguments.table in ("mcqs", "mcq_keys"):
        mend = f"Run: python -m audits.shortcuts --benchmark {chosen.name}"
        raise RequestError("questions are audited as a whole", f"table {arguments.table}", mend=mend)
    return check_table(chosen.table(arguments.table).name)


def _read(arguments: argparse.Namespace, table: str) -> dict[str, list[Row]]:
    named = arguments.release is not None or arguments.workspace is not None
    if arguments.rows is None:
        found = source(arguments)
        return {**_looked_up(found), table: list(found.rows(table))}
    rows = list(rows_of(arguments, table))
    return {**(_looked_up(source(arguments), beside_own_rows=True) if named else {}), table: rows}


def _looked_up(found: Source, beside_own_rows: bool = False) -> dict[str, list[Row]]:
    """The tables that audits look things up in. Raises RequestError where nothing at all is there."""
    if not found.readers:
        if beside_own_rows:
            mend = "Name one with ledgers or preferences, or leave it out; --journal FILE says where replies are kept"
            raise RequestError(f"no rows of {found.benchmark.name}", found.folder, mend=mend)
        found.rows(RELATED[0])
    return {name: found.if_any(name) for name in RELATED}


def _across(rows: Sequence[Row], known: Sequence[Finding], processes: int) -> list[Finding]:
    """Duplicates over all rows, without the rows that were found within their window."""
    from audits.duplicates import near_duplicates

    within = {finding.row_id for finding in known if finding.code == near_duplicates.CODE}
    found = near_duplicates.findings(rows, processes=processes, across=True)
    return [finding for finding in found if finding.row_id not in within]


def _deep(
    arguments: argparse.Namespace, rows: Sequence[Row], known: Sequence[Finding], wanted: frozenset[str]
) -> tuple[list[Finding], list[str], list[str]]:
    """What a model finds beyond the patterns, what it was not asked and why, and what it did not answer."""
    from audits import llm_judge
    from models.backends import backend_settings
    from models.backends import run as ask

    asked = wanted & set(llm_judge.CODES)
    if not asked:
        return [], ["deep: a model is asked about perspective, identity and Rubin's dimensions; --only names none"], []
    if arguments.backend == "offline":
        return [], [f"deep: {len(rows):,} memories were shown to no model; name one with --backend messages"], []
    arguments.workspace = arguments.workspace or DEFAULT_WORKSPACE
    settings = backend_settings(arguments, arguments.benchmark)
    questions = len({code.split(".")[0] for code in asked}) * len(rows)
    judged = list(ask(llm_judge.starts(rows, asked), settings, rows=questions))
    skipped = [f"deep: {line}" for each in judged for line in each.ageless]
    unanswered = [f"deep: {line}" for each in judged for line in each.unanswered]
    if dropped := sum(each.dropped for each in judged):
        skipped.append(f"deep: {dropped:,} claims whose words do not stand in the text, or that are about an adult")
    return list(llm_judge.findings(judged, known)), skipped, unanswered


if __name__ == "__main__":
    raise SystemExit(main())
