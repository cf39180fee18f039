"""Which audits a table gets, as its benchmark's TOML says.

``audits = [...]`` of a table names them: general ones that any table can have (``GENERAL``), and those of one
kind of record, each a module of ``audits.checks``. The vocabulary ``audits`` is the closed list of both.
A table that is given by its name alone is that of the first shipped benchmark that audits one so called.
"""

from __future__ import annotations

import functools
from importlib import import_module
from types import ModuleType

from schemas.benchmarks import benchmark, benchmark_names
from schemas.errors import RequestError, unknown
from schemas.tables import Table

GENERAL = ("format", "repeated", "language", "duplicates", "patterns")
"""Audits of any table: its fields, its keys, and of its ``text`` column the language and what is told again."""

OF_TEXT = ("language", "duplicates")
"""Audits that read the ``text`` column."""


def audited(table: Table | str) -> Table:
    """The table, or the one of that name. Raises RequestError where it has no audits, or audits that lack a column."""
    found = _named(table) if isinstance(table, str) else table
    if not found.audits:
        raise RequestError(f"table {found.name} has no audits", fix='Add `audits = ["format"]` to it in its benchmark')
    lacking = [name for name in found.audits if name in OF_TEXT and found.text is None]
    if lacking:
        fix = f'Add `text = "COLUMN"` to table {found.name} in its benchmark'
        raise RequestError(f"no text column for the audit {lacking[0]}", f"table {found.name}", fix=fix)
    return found


@functools.cache
def _named(name: str) -> Table:
    every = [table for known in benchmark_names() for table in benchmark(known).tables.values() if table.audits]
    if name not in {table.name for table in every}:
        raise unknown("audited table", name, {table.name for table in every})
    return next(table for table in every if table.name == name)


def of_record(table: Table) -> list[ModuleType]:
    """The modules of ``audits.checks`` that a table's record is audited by."""
    return [import_module(f"audits.checks.{name}") for name in table.audits if name not in GENERAL]
