"""Audit the rows of a table: find what is wrong with the text.

Exit codes: 0 when nothing is found or notes alone, 1 when errors or warnings remain, 2 when the
request is wrong, 3 when a machine failed or a model did not answer. ``--json`` prints
``{"rows", "counts", "findings", "skipped"}``.

    python -m audits --benchmark heart --table memories
    python -m audits --benchmark heart --table memories --rows mine.jsonl --only perspective --json
    python -m audits --benchmark heart --table memories --rows mine.jsonl --patterns mine.toml
    python -m audits --benchmark heart --table scenarios --release heart@2.0.0
    python -m audits --benchmark heart --table memories --rows s3://lab/memories --engine ray
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audits.own_rows import add_rows, readable_rows
from models.backends import add_backend_arguments
from schemas.benchmarks import FILE, Benchmark, benchmark
from schemas.command import (
    DEFAULT_WORKSPACE,
    DONE,
    FINDINGS,
    MACHINE_FAILED,
    add_benchmark,
    add_processes,
    parser,
    print_json,
    run,
    say,
)
from schemas.engines.choice import add_engine
from schemas.errors import RequestError
from schemas.findings import Finding, counts, in_order
from schemas.sources import Source, add_source, source
from schemas.tables import Row, Table
from schemas.workspace import Workspace

if TYPE_CHECKING:
    from audits.patterns.criteria import Criterion


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    made = parser(
        "audits",
        "Audit the rows of a table: find what is wrong with the text, and say which words, which rule, whose rule.",
        "python -m audits --benchmark heart --table memories --rows mine.jsonl --only perspective length",
    )
    add_source(made)
    add_benchmark(made)
    made.add_argument("--table", required=True, metavar="T", help="a table whose audits its benchmark names")
    add_rows(made)
    made.add_argument("--only", nargs="+", metavar="CODE", help="these codes or families only, e.g. perspective rubin")
    made.add_argument(
        "--patterns", type=Path, metavar="FILE.toml", help="also look for codes of your own; docs/codes.md shows a file"
    )
    made.add_argument("--across", action="store_true", help="also compare rows of different windows")
    made.add_argument(
        "--deep", action="store_true", help="also ask a model about perspective, identity and Rubin's dimensions"
    )
    add_processes(made)
    add_engine(made)
    add_backend_arguments(made)
    return run(_command, made, argv)


def _command(arguments: argparse.Namespace) -> int:
    from audits import audit, not_checked
    from audits.audit_cache import AuditCache
    from audits.codes import select
    from audits.report import lines

    table = _table(arguments)
    own = _own_patterns(arguments.patterns, table)
    only = arguments.only and [name for names in arguments.only for name in names.split(",")]
    wanted = select(table, only, own)
    if arguments.engine:
        from audits.shards.command import audit_on_engine

        return audit_on_engine(arguments, table, wanted)
    tables, findings = _read(arguments, table)
    rows, quiet = tables[table.name], arguments.quiet or arguments.json
    space = _workspace(arguments)
    cache = AuditCache.of(space, table.name, space.keys(table.name)) if space else None
    findings = in_order([*findings, *audit(table, rows, tables, wanted, arguments.processes, own, cache)])
    if space and cache and only is None:
        cache.save(space, table.name, space.keys(table.name))
    skipped = not_checked(table, rows, tables, wanted)
    if arguments.across and "duplicate.semantic" in wanted:
        findings = in_order([*findings, *_across(table, rows, findings, arguments.processes)])
    unanswered: list[str] = []
    if arguments.deep:
        deep, unasked, unanswered = _deep(arguments, rows, findings, wanted)
        findings, skipped = in_order([*findings, *deep]), [*skipped, *unasked, *unanswered]
    if arguments.json:
        listed = [finding.as_dict() for finding in findings]
        print_json({"rows": len(rows), "counts": counts(findings), "findings": listed, "skipped": skipped})
    for line in cache.lines if cache else ():
        say(line, quiet=quiet)
    for line in lines(findings, rows, table):
        say(line, quiet=quiet)
    for line in skipped:
        say(f"skipped: {line}", quiet=quiet)
    if unanswered:
        return MACHINE_FAILED
    return FINDINGS if any(finding.severity != "note" for finding in findings) else DONE


def _table(arguments: argparse.Namespace) -> Table:
    """The table to audit. Raises RequestError for one without audits, and where a flag is for other tables."""
    chosen = benchmark(arguments.benchmark)
    table = chosen.table(arguments.table)
    if chosen.questions and table.name in (chosen.questions.table, chosen.questions.keys):
        fix = f"Run: python -m audits.shortcuts --benchmark {arguments.benchmark}"
        raise RequestError("questions are audited together", f"table {table.name}", fix=fix)
    if not table.audits:
        raise RequestError(f"table {table.name} has no audits", expected=f"add `audits = [...]` to {_file(chosen)}")
    for flag, needed in (("across", "duplicates"), ("deep", "memories")):
        if getattr(arguments, flag) and needed not in table.audits:
            where, expected = f"table {table.name}", f"a table with the audit {needed}"
            raise RequestError(f"--{flag} is not for this table", where, expected=expected, fix="Leave it out")
    return table


def _workspace(arguments: argparse.Namespace) -> Workspace | None:
    """The workspace the rows are from; none where they are a user's or a release's."""
    if arguments.rows is not None or arguments.release is not None:
        return None
    return Workspace(arguments.workspace or DEFAULT_WORKSPACE, benchmark(arguments.benchmark).spec)


def _own_patterns(path: Path | None, table: Table) -> Mapping[str, Criterion]:
    """The criteria of a user's file. Raises RequestError for a file that is none, or is for another table."""
    if path is None:
        return {}
    from audits.patterns.user_patterns import user_criteria

    found = user_criteria(path)
    if odd := next((each.table for each in found.values() if each.table != table.record), None):
        fix = f'Write table = "{table.record}", or audit another table'
        raise RequestError(f"patterns of {odd}", path, field="table", expected=table.record, fix=fix)
    return found


def _file(chosen: Benchmark) -> str:
    return str(chosen.home / FILE) if chosen.home else f"schemas/benchmarks/{chosen.name}.toml"


def _read(arguments: argparse.Namespace, table: Table) -> tuple[dict[str, Sequence[Row]], list[Finding]]:
    """The rows of the table and of those it reads, by table, and a finding for each line that is no row."""
    if arguments.rows is None:
        found = source(arguments)
        return {**_looked_up(found, table), table.name: list(found.rows(table.name))}, []
    rows, broken = readable_rows(arguments.rows, table.name)
    named = arguments.release is not None or arguments.workspace is not None
    related = _looked_up(source(arguments), table, beside_own_rows=True) if named else {}
    return {**related, table.name: rows}, broken


def _looked_up(found: Source, table: Table, beside_own_rows: bool = False) -> dict[str, Sequence[Row]]:
    """The tables that the audits look things up in. Raises RequestError where there is nothing beside own rows."""
    if beside_own_rows and not found.readers:
        tables = " or ".join(table.reads) or "other tables"
        fix = f"Name one with {tables}, or leave it out; --journal FILE says where replies are stored"
        raise RequestError(f"no rows of {found.benchmark.name}", found.folder, fix=fix)
    return {name: found.if_any(name) for name in table.reads}


def _across(table: Table, rows: Sequence[Row], known: Sequence[Finding], processes: int) -> list[Finding]:
    """Duplicates over all rows, without the rows that were found within their window."""
    from audits.duplicates import near_duplicates

    within = {finding.row_id for finding in known if finding.code == near_duplicates.CODE}
    found = near_duplicates.findings(rows, near_duplicates.scope_of(table), processes, across=True)
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
    settings = backend_settings(arguments, benchmark(arguments.benchmark))
    questions = len({code.split(".")[0] for code in asked}) * len(rows)
    judged = list(ask(llm_judge.starts(rows, asked), settings, rows=questions))
    skipped = [f"deep: {line}" for each in judged for line in each.ageless]
    unanswered = [f"deep: {line}" for each in judged for line in each.unanswered]
    if dropped := sum(each.dropped for each in judged):
        skipped.append(f"deep: {dropped:,} claims dropped: words not in the text, or an adult narrator")
    return list(llm_judge.findings(judged, known)), skipped, unanswered
