"""May these rows be released? Validators and audits say; open errors refuse.

An error may be let pass by name and with a reason, which the manifest and the card then carry. What
breaks a record schema, and a table that is missing, is never let pass: such rows cannot be stored.
Rows are read as a stream, and audits take one working file at a time, side by side in processes: the
windows in which audits compare rows never reach past a file. A row that was audited before, when it was
built or in an earlier freeze, is not audited again (``audits.audit_cache``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from schemas.benchmarks import Benchmark
from schemas.engines.choice import Engine
from schemas.engines.local import Local
from schemas.engines.shards import of_files
from schemas.errors import RequestError
from schemas.findings import Finding, counts, in_order
from schemas.tables import Row
from schemas.workspace import Workspace

# Findings that no reason can let pass: by code, or by family where it ends with a dot.
_NEVER = ("schema.", "table.missing")

# Bytes of working files below which starting processes costs more than it saves.
_FOR_ONE_PROCESS = 5_000_000


@dataclass(frozen=True)
class Allowance:
    """An error code that is let pass, and why."""

    code: str
    why: str


@dataclass(frozen=True)
class Part:
    """What is audited on its own: a working file, or with ``key`` empty a table as a whole."""

    table: str
    key: str


@dataclass(frozen=True)
class Audited:
    """The outcome of auditing a part; ``notes`` are lines for people."""

    rows: int
    findings: list[Finding]
    figures: list[dict[str, Any]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Outcome:
    """What was checked, as the manifest records it, the errors that nobody let pass, and lines for people."""

    checks: dict[str, Any]
    open: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def check(
    workspace: Workspace,
    allowances: Sequence[Allowance] = (),
    processes: int | None = None,
    engine: Engine | None = None,
) -> Outcome:
    """Run validators and audits over a workspace; ``processes`` and ``engine`` change the speed and nothing else.

    Raises RequestError for an allowance that may not be given or that nothing needs.
    """
    for allowance in allowances:
        if any(allowance.code == code or (code[-1] == "." and allowance.code.startswith(code)) for code in _NEVER):
            raise RequestError(f"{allowance.code} cannot be allowed", fix="Fix the rows, or build the table")
    parts = _parts(workspace)
    size = sum(workspace.path(part.table, part.key).stat().st_size for part in parts if part.key)
    work = partial(_work, workspace.folder.parent, workspace.benchmark.spec)
    if engine is None:
        processes = processes or (1 if size < _FOR_ONE_PROCESS else os.cpu_count() or 1)
        (validators, found), *outcomes = Local(processes).map(work, [None, *parts])
    else:
        (validators, found), outcomes = _validate(workspace, engine), list(engine.map(work, parts))
    audits, more = _gathered(outcomes, parts, workspace.benchmark)
    errors = [finding for finding in (*found, *more) if finding.severity == "error"]
    passed = {allowance.code for allowance in allowances}
    allowed = [_allowed(allowance, counts(errors), workspace) for allowance in allowances]
    unaudited = [name for name in _present(workspace) if name not in audits and name not in _asked(workspace)]
    checks = {"validators": validators, "audits": audits, "unaudited": unaudited, "allowed": allowed}
    notes = tuple(line for outcome in outcomes for line in outcome.notes)
    return Outcome(checks, tuple(in_order(finding for finding in errors if finding.code not in passed)), notes)


def _allowed(allowance: Allowance, errors: Mapping[str, int], workspace: Workspace) -> dict[str, Any]:
    if allowance.code not in errors:
        raise RequestError(
            f"nothing to allow: no error {allowance.code}",
            workspace.folder,
            expected=f"open errors: {', '.join(errors) or 'none'}",
            fix="Leave that --allow out",
        )
    return {"code": allowance.code, "why": allowance.why, "findings": errors[allowance.code]}


def _validate(workspace: Workspace, engine: Engine | None = None) -> tuple[dict[str, Any], Sequence[Finding]]:
    from validators import check as validate

    names = _present(workspace)
    tables = {name: workspace.rows(name) for name in names}
    files = {name: [workspace.path(name, key) for key in workspace.keys(name)] for name in names if engine}
    shards = {name: of_files(paths) for name, paths in files.items()}
    report = validate(workspace.benchmark, tables, engine=engine, shards=shards)
    ran = sorted({f"{each.name} {each.table}: {each.about}" for each in report.checks})
    return _checked(sum(report.rows.values()), ran, report.findings), report.findings


def _present(workspace: Workspace) -> list[str]:
    """The tables that have working files."""
    return [name for name in workspace.benchmark.tables if workspace.keys(name)]


def _asked(workspace: Workspace) -> tuple[str, ...]:
    """The tables of questions and keys, which are audited together and as a whole; none where one is not there."""
    asked, present = workspace.benchmark.questions, _present(workspace)
    return (asked.table, asked.keys) if asked and {asked.table, asked.keys} <= {*present} else ()


def _parts(workspace: Workspace) -> list[Part]:
    """What is audited on its own: the questions as a whole, which takes longest, and every working file."""
    tables = workspace.benchmark.tables
    files = [Part(name, key) for name in _present(workspace) if tables[name].audits for key in workspace.keys(name)]
    return [*(Part(name, "") for name in _asked(workspace)[:1]), *files]


def _work(root: Path, spec: str, part: Part | None) -> Any:
    """The outcome of validators, which look at all tables together, or for a part that of its audits."""
    workspace = Workspace(root, spec)
    return _validate(workspace) if part is None else _audit(workspace, part)


def _audit(workspace: Workspace, part: Part) -> Audited:
    if not part.key:
        return _audit_questions(workspace)
    from audits import audit
    from audits.audit_cache import AuditCache

    rows, table = list(workspace.rows(part.table, part.key)), workspace.benchmark.table(part.table)
    cache = AuditCache.of(workspace, part.table, [part.key])
    found = audit(table, rows, _related(workspace, part.table, part.key), cache=cache)
    cache.save(workspace, part.table, [part.key])
    return Audited(len(rows), found, [], cache.lines)


def _audit_questions(workspace: Workspace) -> Audited:
    """Can the questions be answered without what they ask about? Measured over all of them at once."""
    from audits.shortcuts.report import audit_questions

    report = audit_questions(workspace.benchmark, {name: workspace.rows(name) for name in _present(workspace)})
    return Audited(report.questions, list(report.findings), report.figures())


def _gathered(
    audited: Sequence[Audited], parts: list[Part], benchmark: Benchmark
) -> tuple[dict[str, Any], list[Finding]]:
    """The outcomes of the parts by table, as the manifest records them, and all findings."""
    from audits.codes import codes
    from audits.shortcuts import leaks

    as_a_whole = {part.table for part in parts if not part.key}
    by_table: dict[str, list[Audited]] = {part.table: [] for part in sorted(parts, key=lambda part: part.table)}
    for part, outcome in zip(parts, audited, strict=True):
        by_table[part.table].append(outcome)
    checked, every = {}, []
    for table, outcomes in by_table.items():
        findings = [finding for outcome in outcomes for finding in outcome.findings]
        figures = [figure for outcome in outcomes for figure in outcome.figures]
        ran = sorted(leaks.codes()) if table in as_a_whole else codes(benchmark.table(table))
        checked[table] = _checked(sum(outcome.rows for outcome in outcomes), ran, findings, figures)
        every += findings
    return checked, every


def _related(workspace: Workspace, table: str, key: str) -> dict[str, list[Row]]:
    """Rows of other tables that a file's audits look things up in; of tables filed alike, the same file's."""
    tables = workspace.benchmark.tables
    made: dict[str, list[Row]] = {}
    for other in tables[table].reads:
        if other != table and (keys := workspace.keys(other)):
            alike = tables[other].file is not None and tables[other].file == tables[table].file and key in keys
            made[other] = list(workspace.rows(other, key if alike else None))
    return made


def _checked(
    rows: int, ran: Sequence[str], findings: Sequence[Finding], figures: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    return {"rows": rows, "ran": list(ran), "findings": counts(findings), "figures": list(figures)}
