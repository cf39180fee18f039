"""Columns that follow from others (``x-derived-from``), and columns that only a builder knows (``x-planned``).

A row that somebody brings along need not have either: a memory with the ten fields of HEART-BENCH Table 6
says in its id whose it is, and in its timeline how old the person was.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import RequestError
from schemas.records import kind_of, record_schema, term_between, vocabulary
from schemas.tables import Row, Table


@dataclass(frozen=True)
class Derivation:
    """How a column follows from ``field``: by a group of a pattern, or by the term whose range holds a number."""

    column: str
    kind: str
    field: str
    pattern: str | None = None
    template: str = "{1}"
    terms: Sequence[Mapping[str, Any]] = ()
    between: tuple[str, str] = ("", "")

    def value(self, source: Any) -> Any:
        """The column's value where ``field`` is ``source``; None where nothing follows from it."""
        if self.pattern is None:
            if not isinstance(source, int | float) or isinstance(source, bool):
                return None
            term = term_between(self.terms, source, *self.between)
            return None if term is None else term["id"]
        found = re.search(self.pattern, source) if isinstance(source, str) else None
        if found is None or found[1] is None:
            return None
        text = self.template.replace("{1}", found[1])
        return int(text) if self.kind == "integer" else text


@functools.cache
def derivations(record: str, home: Path | None = None) -> Mapping[str, Derivation]:
    """The columns of a record that follow from others, each with how."""
    made = {}
    for column, node in record_schema(record, home)["properties"].items():
        if rule := node.get("x-derived-from"):
            made[column] = Derivation(
                column=column,
                kind=kind_of(node),
                field=rule["field"],
                pattern=rule.get("pattern"),
                template=rule.get("template", "{1}"),
                terms=vocabulary(node["x-vocab"], home) if "term_between" in rule else (),
                between=tuple(rule.get("term_between", ("", ""))),
            )
    return made


def planned(table: Table) -> frozenset[str]:
    """The columns that rows of a user may lack, as only a builder knows them."""
    return frozenset(name for name, node in table.schema["properties"].items() if node.get("x-planned"))


def completed(table: Table, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows, with every column that is not there, or null, and follows from one that is.

    No value that is there is changed; a column that does not follow stays away. Raises RequestError for a row that is
    no mapping.
    """
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            what = f"a row that is a {type(row).__name__}"
            raise RequestError(what, table.name, row=str(place), expected="a mapping of columns to values")
    rules = derivations(table.record, table.home)
    return [_completed(row, rules) for row in rows] if rules else rows


def _completed(row: Row, rules: Mapping[str, Derivation]) -> Row:
    made = row
    for column, rule in rules.items():
        if made.get(column) is None and (value := rule.value(_source(rule, made, rules))) is not None:
            made = {**made, column: value}
    return made


def _source(rule: Derivation, row: Row, rules: Mapping[str, Derivation]) -> Any:
    """What a column follows from; derived itself where it stands further down in the schema."""
    value, above = row.get(rule.field), rules.get(rule.field)
    return above.value(row.get(above.field)) if value is None and above is not None else value
