"""Rows against their record schema: every failure of a row, named by row and field.

The engine is ``jsonschema-rs``; the ``jsonschema`` package is the reference that the tests compare
with. They agree but for two cases in which the engine keeps to the standard and the reference
follows Python: a pattern's ``$`` does not match before a final newline, and NaN and infinity are no
numbers (JSON has none; writing them would make them null). What is no JSON at all, a lone surrogate
or a set, is ``schema.not_json``. ``schema.filled`` is ours: a field that may be null in general
and may not in this benchmark.

Codes are ``schema.`` and the keyword that failed, in lower case: ``schema.required``,
``schema.min_length``.

    python -m validators --benchmark heart --table memories
"""

from __future__ import annotations

import difflib
import functools
import json
import math
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from schemas.findings import Finding
from schemas.records import record_schema
from schemas.tables import Row, Table

_TEXT_LIMIT = 80  # characters of an offending value that a finding quotes
_TERMS_LIMIT = 20  # terms of an enum that a message lists
_PLAIN = {str, int}  # types of a key
_STRIDE = 32  # rows written at once to see that they can be

_SURROGATE = re.compile("[\ud800-\udfff]")

_LIMITS = {
    "minimum": "is below the minimum of {}",
    "maximum": "is above the maximum of {}",
    "exclusiveMinimum": "is not above {}",
    "exclusiveMaximum": "is not below {}",
    "multipleOf": "is not a multiple of {}",
    "minLength": "is shorter than {} characters",
    "maxLength": "is longer than {} characters",
    "minItems": "has fewer than {} items",
    "maxItems": "has more than {} items",
}


def failures(table: Table, rows: Sequence[Row], first: int = 1) -> list[Finding]:
    """All failures of all rows, in the order of the rows.

    ``first`` is the position of the first row, for rows whose key is broken: they are named ``#17``.
    """
    return [finding for _, found in examine(table, rows, first) for finding in found]


def examine(
    table: Table, rows: Sequence[Row], first: int = 1, may_lack: frozenset[str] = frozenset()
) -> Iterator[tuple[int, list[Finding]]]:
    """The index and the findings of every row that fails; ``may_lack`` are columns a row may be without."""
    is_valid = _validator(table.record, table.home, may_lack).is_valid
    for start in range(0, len(rows), _STRIDE):
        part = rows[start : start + _STRIDE]
        # The engine does not look into texts without a pattern; writing all rows at once costs little.
        writable = _writable(part)
        for index, row in enumerate(part, start):
            try:
                filled = is_valid(row) and not any(row.get(field) is None for field in table.filled)
                if filled and (writable or _writable([row])):
                    continue
            except ValueError:  # the engine met something that is no JSON, or nested beyond reason
                pass
            yield index, _row_failures(table, row, row_name(table, row, first + index), may_lack)


def _writable(rows: Sequence[Row]) -> bool:
    try:
        orjson.dumps(rows)
    except TypeError:
        return False
    return True


def row_name(table: Table, row: Row, position: int) -> str:
    """The row's id, or ``#position`` where a key column is missing or no plain value."""
    values = [row.get(column) for column in table.key] if isinstance(row, dict) else [None]
    if not {*map(type, values)} <= _PLAIN:
        return f"#{position}"
    name = "/".join(map(str, values))
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode()


@functools.cache
def _validator(record: str, home: Path | None, may_lack: frozenset[str]) -> jsonschema_rs.Draft202012Validator:
    schema = record_schema(record, home)
    required = [name for name in schema["required"] if name not in may_lack]
    return jsonschema_rs.Draft202012Validator({**schema, "required": required})


def _row_failures(table: Table, row: Any, row_id: str, may_lack: frozenset[str]) -> list[Finding]:
    try:
        errors = _validator(table.record, table.home, may_lack).iter_errors(row)
        wrong = [each for error in errors for each in _readable(error, row, table.schema)]
    except ValueError as error:
        wrong = [] if any(_foreign(row)) else [("notJson", [], None, f"is not JSON: {error}")]
    if isinstance(row, dict):
        null = [field for field in table.filled if field in row and row[field] is None]
        wrong += [("filled", [field], None, "is null, and this benchmark needs it") for field in null]
    wrong += [("notJson", *foreign) for foreign in _foreign(row)]
    return [_finding(table, row_id, *each) for each in wrong]


def _readable(
    error: jsonschema_rs.ValidationError, row: Any, schema: Mapping[str, Any]
) -> Iterator[tuple[str, list[str | int], Any, str]]:
    """Keyword, path, value and message of an error; one for every unexpected property."""
    kind, path = error.kind, list(error.instance_path)
    value = functools.reduce(operator.getitem, path, row)  # not error.instance, where NaN has become None
    if kind.name == "required":
        yield kind.name, [*path, kind.value], None, "is missing"
    elif kind.name == "additionalProperties":
        known = _properties(schema, path)
        for name in kind.value:
            near = difflib.get_close_matches(name, known, n=1)
            yield (
                kind.name,
                [*path, name],
                value[name],
                "is not a field" + (f". Did you mean {near[0]}?" if near else ""),
            )
    elif kind.name == "type":
        yield kind.name, path, value, f"is {_json_type(value)}, expected {' or '.join(kind.value)}"
    elif kind.name == "enum":
        yield kind.name, path, value, f"is none of {_listed(kind.value)}"
    elif kind.name == "const":
        yield kind.name, path, value, f"is not {_listed([kind.value])}"
    elif kind.name == "pattern":
        yield kind.name, path, value, f"does not match {kind.value}"
    elif kind.name == "uniqueItems":
        yield kind.name, path, value, "has an item twice"
    else:
        yield kind.name, path, value, _LIMITS[kind.name].format(kind.value)


def _properties(schema: Mapping[str, Any], path: Sequence[str | int]) -> list[str]:
    node = schema
    for step in path:
        node = node["items"] if isinstance(step, int) else node["properties"][step]
    return list(node["properties"])


def _finding(table: Table, row_id: str, keyword: str, path: Sequence[str | int], value: Any, message: str) -> Finding:
    top = table.schema["properties"].get(path[0], {}) if path else {}
    return Finding(
        code="schema." + re.sub("[A-Z]", lambda capital: "_" + capital[0].lower(), keyword),
        table=table.name,
        row_id=row_id,
        field=".".join(map(str, path)) or None,
        severity="error",
        span=None,
        text=None if keyword in ("required", "filled") else _shown(value),
        message=message,
        source=top.get("x-source", "record schema"),
    )


def _foreign(row: Any) -> Iterator[tuple[list[str | int], Any, str]]:
    """Path, value and message of the parts of a row that JSON cannot hold; without recursion, however deep."""
    waiting: list[tuple[list[str | int], Any]] = [([], row)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if not value.isascii() and _SURROGATE.search(value):
                yield path, value, "contains a lone surrogate"
        elif isinstance(value, dict):
            for name, child in value.items():
                if isinstance(name, str):
                    waiting += [([*path, _shown(name)], name), ([*path, _shown(name)], child)]
                else:
                    yield path, repr(name), "has a field whose name is not a string"
        elif isinstance(value, list | tuple):
            waiting += [([*path, index], child) for index, child in enumerate(value)]
        elif not isinstance(value, bool | int | float | None):
            yield path, repr(type(value)), "is not a JSON value"


def _json_type(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value}, which JSON does not have"
    names = {
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a number",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "null")


def _listed(terms: Sequence[Any]) -> str:
    shown = ", ".join("null" if term is None else str(term) for term in terms[:_TERMS_LIMIT])
    return shown if len(terms) <= _TERMS_LIMIT else f"{shown}, … ({len(terms)} in all)"


def _shown(value: Any) -> str:
    """The value as JSON text (a string bare), cut to a readable length, safe to encode."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    except ValueError:  # an integer of more digits than Python writes out
        text = f"a huge {type(value).__name__}"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 1] + "…"
