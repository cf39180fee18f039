"""Files of settings and schemas, checked when they are read: TOML and JSON against a JSON Schema of their form.

A mistake in one is a line with file, field and nearest name, never a ``KeyError`` far from its cause:
``benchmark.schema.json``, ``record.schema.json`` and ``vocabulary.schema.json`` beside this module say
which settings and keywords there are; the ``description`` of each is what the error expects.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import RequestError, unknown

_HERE = Path(__file__).parent


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises RequestError for a missing file and for what is no TOML."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path, or write the file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError("malformed TOML", path, expected=str(error), fix="Correct that line") from None


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises RequestError for a missing file and for what is no JSON."""
    try:
        return orjson.loads(path.read_bytes())
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path, or write the file") from None
    except orjson.JSONDecodeError as error:
        raise RequestError("malformed JSON", path, expected=str(error), fix="Correct that line") from None


@functools.cache
def form(name: str) -> Mapping[str, Any]:
    """The JSON Schema that describes a kind of file: ``benchmark``, ``record`` or ``vocabulary``."""
    found: Mapping[str, Any] = orjson.loads((_HERE / f"{name}.schema.json").read_bytes())
    return found


def check_form(document: Any, schema: Mapping[str, Any], path: Path, what: str) -> None:
    """Compare a document with the schema of its form.

    ``what`` is what its fields are called: "setting", "keyword". Raises RequestError for the first
    difference, with file, field, what is expected and, for a name that is not known, the nearest one.
    """
    errors = sorted(_validator(orjson.dumps(schema)).iter_errors(document), key=_is_about_a_value)
    for error in errors[:1]:
        place = [str(part) for part in error.instance_path]
        node, kind, value = _at(schema, list(error.schema_path)[:-1]), error.kind.name, error.instance
        field = ".".join(place) or None
        if kind == "additionalProperties":
            raise unknown(what, error.kind.value[0], node["properties"], path, field=field)
        if kind == "required":
            missing = node["properties"].get(error.kind.value, {}).get("description")
            raise RequestError(f"missing {what} {error.kind.value!r}", path, field=field, expected=missing)
        if kind == "enum" and isinstance(value, str):
            raise unknown(place[-1] if not place[-1].isdigit() else place[-2], value, node["enum"], path, field=field)
        expected = node.get("description", error.message)
        raise RequestError(f"wrong value {_shown(value)}", path, field=field, expected=expected)


def _is_about_a_value(error: Any) -> bool:
    """Whether an error is no unknown name: a name that is misspelt is unknown, and missing as well."""
    return bool(error.kind.name != "additionalProperties")


@functools.cache
def _validator(schema: bytes) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(orjson.loads(schema))


def _at(schema: Any, steps: Sequence[str | int]) -> Mapping[str, Any]:
    """The part of a schema an error is about; of a list of items, what describes the list where the items do not."""
    node = schema
    for step in steps:
        outer, node = node, node[step]
        if step == "items" and isinstance(node, dict) and "description" not in node and "description" in outer:
            node = {**node, "description": outer["description"]}
    return node if isinstance(node, dict) else {}


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


def check_known(what: str, names: Iterable[str], known: Iterable[str], path: Path, field: str) -> None:
    """Raise RequestError, with the nearest one, for the first name that is not known."""
    listed = list(known)
    for name in names:
        if name not in listed:
            raise unknown(what, name, listed, path, field=field)
