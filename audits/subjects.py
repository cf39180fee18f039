"""A row under audit: fields that may be missing or of the wrong type, read without raising.

Rows are anybody's. What cannot be read becomes a ``format.*`` finding in ``audits.checks.row_format`` and is
passed over by every other audit.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.findings import Finding, Severity
from schemas.tables import Row

OURS = "Anamnesis"

Related = Mapping[str, Sequence[Row]]
"""Rows of the tables that audits look things up in, by table."""

WHOLE_TABLE = "*"
"""The row id of findings about all rows together."""

_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Subject:
    """A row, its record, the id that its findings name, and its place in the table, from 1 on (0: unknown)."""

    table: str
    id: str
    row: Mapping[str, Any]
    place: int = 0

    def find(self, field: str) -> tuple[bool, Any]:
        """Whether there is a field, dotted for nested ones, and what is in it."""
        value: Any = self.row
        for part in field.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return False, None
            value = value[part]
        return True, value

    def text(self, field: str) -> str:
        """A text field; "" where it is missing or no text."""
        value = self.find(field)[1]
        return value if isinstance(value, str) else ""

    def number(self, field: str) -> float | None:
        """A number; None where it is missing or no number."""
        value = self.find(field)[1]
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def subjects(table: str, key: Sequence[str], rows: Sequence[Row], first: int) -> list[Subject]:
    """Rows with their ids: the key columns joined with ``/``, or ``#12`` for the twelfth where one is missing."""
    numbered = enumerate(rows, first + 1)
    return [Subject(table, _row_id(row, key, number), row, number) for number, row in numbered]


def _row_id(row: Row, key: Sequence[str], number: int) -> str:
    values = [row.get(column) for column in key]
    named = all(isinstance(value, str | int) and value != "" for value in values)
    return printable("/".join(map(str, values))) if named else f"#{number}"


def at_words(
    subject: Subject,
    code: str,
    severity: Severity,
    field: str,
    span: tuple[int, int],
    message: str,
    source: str | None = None,
) -> Finding:
    """A finding that points at words of a text field; without a ``source`` it is that of the code."""
    words = printable(subject.text(field)[span[0] : span[1]])
    whose = source or source_of(subject.table, code)
    return Finding(code, subject.table, subject.id, printable(field), severity, span, words, printable(message), whose)


def at_row(
    subject: Subject,
    code: str,
    severity: Severity,
    message: str,
    field: str | None = None,
    value: object = None,
    source: str | None = None,
) -> Finding:
    """A finding about a row or a whole field; ``value`` is what offends, ``source`` as for ``at_words``."""
    shown = None if value is None else printable(str(value))[:_SHOWN]
    whose = source or source_of(subject.table, code)
    where = field and printable(field)
    return Finding(code, subject.table, subject.id, where, severity, None, shown, printable(message), whose)


@functools.cache
def source_of(table: str, code: str) -> str:
    """Whose rule a code of a table is, as ``docs/codes.md`` has it; our own where no file defines the code."""
    from audits.codes import ANY_TABLE, computed
    from audits.patterns.criteria import criteria

    of_patterns = {each.code: each.source for each in criteria().values() if each.table == table}
    of_any, of_rules = ({each.code: each.source for each in computed() if each.table == t} for t in (ANY_TABLE, table))
    return {**of_any, **of_patterns, **of_rules}.get(code, OURS)


def printable(words: str) -> str:
    """Words that JSON and a terminal can carry: lone surrogates become U+FFFD."""
    return words.encode("utf-8", "replace").decode() if not words.isascii() else words


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and what it counts: "1 sentence", "2,000 characters"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def entries(row: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    """The objects in a list; none where there is no list."""
    held = row.get(field)
    # dict first: asking an abstract class takes several times as long
    return [each for each in held if isinstance(each, dict | Mapping)] if isinstance(held, list) else []


def values_of(row: Mapping[str, Any], field: str, name: str) -> list[Any]:
    """One value of every object in a list, None where it is missing."""
    return [each.get(name) for each in entries(row, field)]
