"""JSON Schema -> Arrow schema, in one place.

Declared, never inferred from rows: an empty list or a null in the first row changes nothing.
Strings become ``string``, integers ``int64``, numbers ``float64``, booleans ``bool``, arrays
``list``, objects ``struct`` with their properties in the schema's order. Nullability follows
``"null"`` in ``type``. Maps and unions do not occur, so that every reader can load the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

_SCALARS = {"string": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}


def arrow_schema(schema: Mapping[str, Any]) -> pa.Schema:
    """The Arrow schema of a table's rows; columns in the order of the JSON Schema's properties."""
    return pa.schema([_field(name, node) for name, node in schema["properties"].items()])


def _field(name: str, node: Mapping[str, Any]) -> pa.Field[Any]:
    kinds = [node["type"]] if isinstance(node["type"], str) else list(node["type"])
    nullable = "null" in kinds
    (kind,) = (k for k in kinds if k != "null")
    return pa.field(name, _type(kind, node), nullable=nullable)


def _type(kind: str, node: Mapping[str, Any]) -> pa.DataType:
    if kind == "array":
        return pa.list_(_field("element", node["items"]))
    if kind == "object":
        return pa.struct([_field(name, child) for name, child in node["properties"].items()])
    return _SCALARS[kind]
