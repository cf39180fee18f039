"""May these rows be released? Validators and audits say; open errors refuse.

An error may be let pass by name and with a reason, which the manifest and the card then carry. What
breaks a record schema, and a table that is missing, is never let pass: such rows cannot be stored.
Rows are read as a stream, and audits take one working file at a time, side by side in processes: the
windows in which audits compare rows never reach past a file. A row that was audited before, when it was
built or in an earlier freeze, is not audited again (``audits.audit_cache``). On an engine a file of more than
about 2,000 rows is audited as ``python -m audits --engine`` audits a table (``audits.shards``): no process holds it,
and what was found before is not looked up.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from schemas.benchmarks import Benchmark
from schemas.engines.choice import Engine
from schemas.engines.choice import scratch as scratch_folder
from schemas.engines.local import Local
from schemas.engines.shards import Shard, of_files
from schemas.errors import RequestError
from schemas.findings import Finding, counts, in_order
from schemas.rows import read_jsonl
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
    """The outcome of auditing a part: findings by code, and the errors among them; ``notes`` are lines for people."""

    rows: int
    counts: Mapping[str, int]
    errors: list[Finding]
    figures: Sequence[dict[str, Any]] = ()
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
    scratch: str | None = None,
) -> Outcome:
    """Run validators and audits over a workspace; ``processes`` and ``engine`` change the speed and nothing else.

    ``scratch`` is where the engine's partitions lie (default: a temporary folder of this machine).
    Raises RequestError for an allowance that may not be given or that nothing needs.
    """
    for allowance in allowances:
        if any(allowance.code == code or (code[-1] == "." and allowance.code.startswith(code)) for code in _NEVER):
            raise RequestError(f"{allowance.code} cannot be allowed", fix="Fix the rows, or build the table")
    parts = _parts(workspace)
    if engine is None:
        (validators, found), *outcomes = _side_by_side(workspace, parts, processes)
    else:
        (validators, found), outcomes = _validate(workspace, engine), _audit_on(engine, scratch, workspace, parts)
    audits, more = _gathered(outcomes, parts, workspace.benchmark)
    errors = [*_errors(found), *more]
    passed = {allowance.code for allowance in allowances}
    allowed = [_allowed(allowance, counts(errors), workspace) for allowance in allowances]
    unaudited = [name for name in _present(workspace) if name not in audits and name not in _asked(workspace)]
    checks = {"validators": validators, "audits": audits, "unaudited": unaudited, "allowed": allowed}
    notes = tuple(line for outcome in outcomes for line in outcome.notes)
    return Outcome(checks, tuple(in_order(finding for finding in errors if finding.code not in passed)), notes)


def _side_by_side(workspace: Workspace, parts: Sequence[Part], processes: int | None) -> list[Any]:
    """The outcome of validators and that of each part, in processes."""
    size = sum(workspace.path(part.table, part.key).stat().st_size for part in parts if part.key)
    processes = processes or (1 if size < _FOR_ONE_PROCESS else os.cpu_count() or 1)
    work = partial(_work, workspace.folder.parent, workspace.benchmark.spec)
    return list(Local(processes).map(work, [None, *parts]))


def _audit_on(engine: Engine, scratch: str | None, workspace: Workspace, parts: Sequence[Part]) -> list[Audited]:
    """The outcome of each part: files of one shard, and questions, side by side, then larger ones shard by shard."""
    shards = {part: of_files([workspace.path(part.table, part.key)]) for part in parts if part.key}
    small = [part for part in parts if len(shards.get(part, ())) < 2]
    work = partial(_work, workspace.folder.parent, workspace.benchmark.spec)
    made = dict(zip(small, engine.map(work, small), strict=True))
    for part in parts:
        if part not in made:
            with scratch_folder(scratch) as folder:
                made[part] = _audit_shards(workspace, part, shards[part], engine, folder)
    return [made[part] for part in parts]


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
    return _checked(sum(report.rows.values()), ran, counts(report.findings)), report.findings


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
    related = {name: [row for path in paths for row in read_jsonl(path)] for name, paths in _related(workspace, part)}
    cache = AuditCache.of(workspace, part.table, [part.key])
    found = audit(table, rows, related, cache=cache)
    cache.save(workspace, part.table, [part.key])
    return Audited(len(rows), counts(found), _errors(found), notes=cache.lines)


def _audit_shards(workspace: Workspace, part: Part, shards: Sequence[Shard], engine: Engine, scratch: str) -> Audited:
    """As ``_audit``, of a file that no process holds."""
    from audits.codes import select
    from audits.shards.audit import Request, audit_shards

    table = workspace.benchmark.table(part.table)
    related = {name: tuple(of_files(paths)) for name, paths in _related(workspace, part)}
    request = Request(table, select(table, None), related=related, errors_only=True)
    found = audit_shards(request, shards, engine, scratch)
    return Audited(found.rows, found.counts, found.findings)


def _audit_questions(workspace: Workspace) -> Audited:
    """Can the questions be answered without what they ask about? Measured over all of them at once."""
    from audits.shortcuts.report import audit_questions

    report = audit_questions(workspace.benchmark, {name: workspace.rows(name) for name in _present(workspace)})
    return Audited(report.questions, counts(report.findings), _errors(report.findings), report.figures())


def _gathered(
    audited: Sequence[Audited], parts: list[Part], benchmark: Benchmark
) -> tuple[dict[str, Any], list[Finding]]:
    """The outcomes of the parts by table, as the manifest records them, and all errors."""
    from audits.codes import codes
    from audits.shortcuts import leaks

    as_a_whole = {part.table for part in parts if not part.key}
    by_table: dict[str, list[Audited]] = {part.table: [] for part in sorted(parts, key=lambda part: part.table)}
    for part, outcome in zip(parts, audited, strict=True):
        by_table[part.table].append(outcome)
    checked, errors = {}, []
    for table, outcomes in by_table.items():
        counted: Counter[str] = sum((Counter(outcome.counts) for outcome in outcomes), Counter())
        figures = [figure for outcome in outcomes for figure in outcome.figures]
        ran = sorted(leaks.codes()) if table in as_a_whole else codes(benchmark.table(table))
        checked[table] = _checked(sum(outcome.rows for outcome in outcomes), ran, counted, figures)
        errors += [finding for outcome in outcomes for finding in outcome.errors]
    return checked, errors


def _related(workspace: Workspace, part: Part) -> Iterator[tuple[str, list[Path]]]:
    """The tables that a file's audits look things up in, each with its files; of tables filed alike, the same file."""
    tables = workspace.benchmark.tables
    for other in tables[part.table].reads:
        if other != part.table and (keys := workspace.keys(other)):
            alike = tables[other].file is not None and tables[other].file == tables[part.table].file
            yield other, [workspace.path(other, key) for key in ([part.key] if alike and part.key in keys else keys)]


def _errors(found: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.severity == "error"]


def _checked(
    rows: int, ran: Sequence[str], found: Mapping[str, int], figures: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    return {"rows": rows, "ran": list(ran), "findings": dict(sorted(found.items())), "figures": list(figures)}
