"""``python -m audits --engine E``: the audit of a table shard by shard, printed as that of one in memory is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from audits.own_rows import table_shards
from audits.report import SHOWN, lines
from audits.shards.audit import Request, audit_shards
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.engines.choice import engine, scratch
from schemas.engines.shards import Shard, of_files
from schemas.errors import RequestError
from schemas.findings import counts
from schemas.sources import Source, source
from schemas.tables import Table


def audit_on_engine(arguments: argparse.Namespace, table: Table, wanted: frozenset[str]) -> int:
    """Audit, print, and return the exit code."""
    for flag in ("across", "deep"):
        if getattr(arguments, flag):
            raise RequestError(f"--{flag} with --engine", expected="one of them", fix="Leave --engine out")
    shards, related = table_shards(arguments, table.name), _related(arguments, table)
    chosen = engine(arguments.engine, arguments.processes)
    with scratch(arguments.scratch) as folder:
        request = Request(table, wanted, arguments.patterns, related)
        found = audit_shards(request, shards, chosen, folder, quote=SHOWN)
    quiet = arguments.quiet or arguments.json
    if arguments.json:
        listed = [finding.as_dict() for finding in found.findings]
        document = {"rows": found.rows, "counts": counts(found.findings), "findings": listed}
        print_json({**document, "skipped": found.skipped})
    for line in lines(found.findings, found.quoted, table, found.rows):
        say(line, quiet=quiet)
    for line in found.skipped:
        say(f"skipped: {line}", quiet=quiet)
    return FINDINGS if any(finding.severity != "note" for finding in found.findings) else DONE


def _related(arguments: argparse.Namespace, table: Table) -> dict[str, tuple[Shard, ...]]:
    """The parts of the tables that its audits look things up in; beside own rows those of a source that is named."""
    named = arguments.release is not None or arguments.workspace is not None
    if arguments.rows is not None and not named:
        return {}
    found: Source = source(arguments)
    files: dict[str, Sequence[Path]] = {name: found.files[name] for name in table.reads if name in found.files}
    return {name: tuple(of_files(paths)) for name, paths in files.items()}
