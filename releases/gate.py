"""May these rows be released? Validators and audits say; open errors refuse.

An error may be let pass by name and with a reason, which the manifest and the card then carry. What
breaks a record schema, and a table that is missing, is never let pass: such rows cannot be stored.
Rows are read as a stream, and audits take one working file at a time, side by side in processes: the
windows in which audits compare rows never reach past a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from schemas.errors import RequestError
from schemas.findings import Finding, counts, in_order
from schemas.tables import Row
from schemas.workspace import Workspace

# Findings that no reason can let pass: by code, or by family where it ends with a dot.
_NEVER = ("schema.", "table.missing")

# What the audits of one table look up in others.
_RELATED = ("characters", "ledgers")

# What the manifest keeps of a measured rate.
_RATE = ("rate", "low", "high", "chance")


@dataclass(frozen=True)
class Allowance:
    """An error code that is let pass, and why."""

    code: str
    why: str


@dataclass(frozen=True)
class Outcome:
    """What was checked, as the manifest records it, and the errors that nobody let pass."""

    checks: dict[str, Any]
    open: tuple[Finding, ...]


def check(workspace: Workspace, allowances: Sequence[Allowance] = (), processes: int | None = None) -> Outcome:
    """Run validators and audits over a workspace.

    Raises RequestError for an allowance that may not be given or that nothing needs.
    """
    for allowance in allowances:
        if any(allowance.code == code or (code[-1] == "." and allowance.code.startswith(code)) for code in _NEVER):
            raise RequestError(f"{allowance.code} cannot be allowed", mend="Mend the rows, or build the table")
    validators, found = _validate(workspace)
    audits, more = _audit(workspace, processes or os.cpu_count() or 1)
    errors = [finding for finding in (*found, *more) if finding.severity == "error"]
    passed = {allowance.code for allowance in allowances}
    by_code = counts(errors)
    for allowance in allowances:
        if allowance.code not in by_code:
            raise RequestError(
                f"nothing to allow: no error {allowance.code}",
                workspace.folder,
                expected=f"open errors: {', '.join(by_code) or 'none'}",
                mend="Leave that --allow out",
            )
    allowed = [{"code": a.code, "why": a.why, "findings": by_code[a.code]} for a in allowances]
    checks = {"validators": validators, "audits": audits, "allowed": allowed}
    return Outcome(checks, tuple(in_order(finding for finding in errors if finding.code not in passed)))


def _validate(workspace: Workspace) -> tuple[dict[str, Any], Sequence[Finding]]:
    from validators import check as validate

    tables = {name: workspace.rows(name) for name in workspace.benchmark.tables if workspace.keys(name)}
    report = validate(workspace.benchmark, tables)
    ran = sorted({f"{each.name} {each.table}: {each.about}" for each in report.checks})
    return _checked(sum(report.rows.values()), ran, report.findings), report.findings


def _audit(workspace: Workspace, processes: int) -> tuple[dict[str, Any], list[Finding]]:
    from audits import TABLES
    from audits.codes import select

    audited = [table for table in workspace.benchmark.tables if table in TABLES]
    files = [(table, key) for table in audited for key in workspace.keys(table)]
    rows = dict.fromkeys(audited, 0)
    found: dict[str, list[Finding]] = {table: [] for table in audited}
    for (table, _), (count, findings) in zip(files, _each(workspace, files, processes), strict=True):
        rows[table] += count
        found[table] += findings
    made = {table: _checked(rows[table], sorted(select(table, None)), found[table]) for table in audited}
    if {"mcqs", "mcq_keys"} <= workspace.benchmark.tables.keys():
        made["mcqs"], found["mcqs"] = _audit_questions(workspace)
    return made, [finding for findings in found.values() for finding in findings]


def _audit_questions(workspace: Workspace) -> tuple[dict[str, Any], list[Finding]]:
    """Can the questions be answered without what they ask about? Measured over all of them at once."""
    from audits.codes import codes
    from audits.questions import poles, published_poles
    from audits.shortcuts import measure

    tables = {name: workspace.rows(name) for name in workspace.benchmark.tables if workspace.keys(name)}
    if "mcqs" not in tables or "mcq_keys" not in tables:
        return _checked(0, [], []), []
    # Profiles of the published characters were not released: that benchmark has no such table.
    known = poles(tables["characters"]) if "characters" in tables else published_poles()
    report = measure(tables["mcqs"], tables["mcq_keys"], tables.get("decisions", ()), known)
    rates = {
        "the longest option is right": report.lengths.longest,
        "the shortest option is right": report.lengths.shortest,
        "the opposite pole is among the distractors": report.poles,
        "right knowing only whose the options are": report.design,
        "right reading only the options": report.text,
    }
    figures = [
        {"name": name, "items": rate.items, **{part: round(getattr(rate, part), 4) for part in _RATE}}
        for name, rate in rates.items()
        if rate is not None
    ]
    return _checked(report.questions, codes("mcqs"), report.findings, figures), list(report.findings)


def _each(workspace: Workspace, files: list[tuple[str, str]], processes: int) -> Iterator[tuple[int, list[Finding]]]:
    root, name = workspace.folder.parent, workspace.benchmark.name
    if min(processes, len(files)) <= 1:
        yield from (_audit_file(root, name, table, key) for table, key in files)
        return
    with ProcessPoolExecutor(min(processes, len(files)), mp_context=get_context("forkserver")) as pool:
        yield from pool.map(_audit_file, *zip(*((root, name, table, key) for table, key in files), strict=True))


def _audit_file(root: Path, name: str, table: str, key: str) -> tuple[int, list[Finding]]:
    from audits import audit

    workspace = Workspace(root, name)
    rows = list(workspace.rows(table, key))
    return len(rows), audit(table, rows, _related(workspace, table, key))


def _related(workspace: Workspace, table: str, key: str) -> dict[str, list[Row]]:
    """Rows of other tables that a file's audits look things up in; of tables filed alike, the same file's."""
    tables = workspace.benchmark.tables
    made: dict[str, list[Row]] = {}
    for other in _RELATED:
        if other in tables and other != table and (keys := workspace.keys(other)):
            alike = tables[other].file is not None and tables[other].file == tables[table].file and key in keys
            made[other] = list(workspace.rows(other, key if alike else None))
    return made


def _checked(
    rows: int, ran: Sequence[str], findings: Sequence[Finding], figures: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    return {"rows": rows, "ran": list(ran), "findings": counts(findings), "figures": list(figures)}
