"""Columns that follow from others (``x-derived-from`` of a record schema), filled in where a row lacks them.

A memory with the ten fields of HEART-BENCH Table 6 says its character in its id and its age in its
timeline; audits look both up in columns of their own. No value that is there is ever changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.records import term_between, vocabulary
from schemas.tables import Row, Table


def completed(table: Table, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows with their derived columns; a column that cannot be derived stays away."""
    columns = {name: node for name, node in table.schema["properties"].items() if "x-derived-from" in node}
    return [_completed(columns, row, table.home) for row in rows] if columns else rows


def _completed(columns: Mapping[str, Mapping[str, Any]], row: Row, home: Path | None) -> Row:
    made = row
    for name, node in columns.items():
        if made.get(name) is None and (value := derived(node, made, home)) is not None:
            made = {**made, name: value}
    return made


def derived(node: Mapping[str, Any], row: Mapping[str, Any], home: Path | None = None) -> Any:
    """The value of a derived column, given by its node in the schema; None where the row does not say it."""
    rule = node["x-derived-from"]
    value = row.get(rule["field"])
    if "term_between" in rule:
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
        terms = vocabulary(node["x-vocab"], home)
        term = None if number is None else term_between(terms, number, *rule["term_between"])
        return term and term["id"]
    found = re.search(rule["pattern"], value) if isinstance(value, str) else None
    if found is None:
        return None
    text = rule.get("template", "{1}").replace("{1}", found[1])
    return int(text) if node["type"] == "integer" else text
