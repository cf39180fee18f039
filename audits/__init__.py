"""Is the text good? Rows in, findings out. Pure: audits never edit.

``audit`` runs every audit of a table over its rows; ``python -m audits`` is its command.

- ``patterns/*.toml``  criteria as data: expressions with their hits and misses
- ``rules/*.toml``     the codes that are computed: rule, source, a hit and a miss each
- ``memories``, ``scenarios``, ``decisions``, ``users``  one a table
- ``duplicates``, ``evenness``, ``diversity``, ``shortcuts``  one a method
- ``deep``             the same questions, asked of a model
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain

from audits.subjects import TEXT_OF, Subject
from schemas.errors import unknown
from schemas.findings import Finding, in_order
from schemas.tables import Row

Related = Mapping[str, Sequence[Row]]
Part = Callable[[], list[Finding]]

TABLES = ("decisions", "memories", "scenarios", "users")
"""The tables that have audits."""

_CHUNK = 1_000


def audit(
    table: str,
    rows: Sequence[Row],
    related: Related | None = None,
    only: Collection[str] | None = None,
    processes: int = 1,
) -> list[Finding]:
    """Everything that is wrong with the rows of a table, in the order of ``schemas.findings.in_order``.

    ``related`` holds rows of other tables the audits may need: "ledgers" and "characters" for
    memories. ``only`` keeps findings of these codes, or of whole families ("perspective").
    ``processes`` changes the speed and nothing else. Raises RequestError for a table without audits
    and for a code that no audit of the table raises.
    """
    from audits.codes import select

    wanted = select(check_table(table), only)
    found = _by_row(table, rows, related or {}, wanted, processes)
    if table != "users" and "format.repeated" in wanted:
        found += _repeated(table, rows)
    if table == "memories" and "duplicate.semantic" in wanted:
        from audits.duplicates import near_duplicates

        found += near_duplicates.findings(rows, processes=processes)
    if table == "scenarios" and wanted & {"coverage.diamonds", "coverage.values"}:
        from audits.checks import scenarios

        found += scenarios.coverage(rows)
    return in_order(finding for finding in found if finding.code in wanted)


def unjudged(table: str, rows: Sequence[Row], related: Related, wanted: Collection[str]) -> list[str]:
    """What was asked for and could not be judged, a line each: words that are not English, lives without a ledger."""
    from audits.checks import memories, users
    from audits.text import language

    lines: list[str] = []
    field = TEXT_OF.get(table)
    if field and language.CODE not in wanted:
        others = language.sorted_out([Subject(table, "", row) for row in rows], field)[1]
        if others:
            lines.append(f"{len(others):,} of {len(rows):,} rows are not English: nothing is said of their words")
    if table == "memories" and any(code.startswith("continuity.") for code in wanted):
        lines += memories.without_ledger(rows, related.get("ledgers", ()))
    if table == "users":
        lines += users.unheld(related, wanted)
    return lines


def check_table(table: str) -> str:
    """The name of a table that has audits; an unknown one raises with the nearest."""
    if table not in TABLES:
        raise unknown("audited table", table, TABLES)
    return table


def keys(table: str) -> tuple[str, ...]:
    """The columns that name a row of an audited table."""
    from audits.checks import decisions, memories, scenarios

    own = {"decisions": decisions.KEY, "memories": memories.KEY, "scenarios": scenarios.KEY}
    return own.get(table, ("user_id",))


def _repeated(table: str, rows: Sequence[Row]) -> Iterable[Finding]:
    from audits.checks.row_format import repeated_ids
    from audits.subjects import subjects

    return repeated_ids(subjects(table, keys(table), rows, 0))


def _by_row(table: str, rows: Sequence[Row], related: Related, wanted: frozenset[str], processes: int) -> list[Finding]:
    if table == "users":
        judged: list[Finding] = import_module("audits.checks.users").audit(rows, related)
        return judged
    starts = range(0, len(rows), _CHUNK)
    judge = partial(_judge, table, related, wanted)
    parts = [partial(judge, rows[start : start + _CHUNK], start) for start in starts]
    count = min(processes, len(parts)) if _may_fork() else 1
    if count > 1:
        judge([], 0)  # compiles every expression, for all workers
    return list(chain.from_iterable(_forked(parts, count) if count > 1 else (part() for part in parts)))


def _may_fork() -> bool:
    """Whether workers can be copies of this process: on Linux, where no other thread of it could hold a lock.

    Copies have the rows and the expressions without being sent them, and never run the caller's script again.
    """
    return sys.platform == "linux" and threading.active_count() == 1


def _forked(parts: Sequence[Part], count: int) -> list[list[Finding]]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(count, get_context("fork"), initializer=_parts.extend, initargs=(parts,)) as pool:
        return list(pool.map(_part, range(len(parts))))


_parts: list[Part] = []
"""What a worker was handed when it was made; always empty in the process that makes workers."""


def _part(number: int) -> list[Finding]:
    return _parts[number]()


def _judge(table: str, related: Related, wanted: frozenset[str], rows: Sequence[Row], first: int) -> list[Finding]:
    from audits.checks import decisions, memories, scenarios

    judge = {"decisions": decisions.audit, "memories": memories.audit, "scenarios": scenarios.audit}[table]
    return judge(rows, related, wanted, first)
