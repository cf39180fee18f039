"""A JSON Schema as servers take it: the part they enforce, and all of it in words for those that enforce nothing."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from models.prompts import load

_WORDS = Path(__file__).parents[1] / "wording" / "schema.md"

_CHILD = ("items", "additionalProperties")
_CHILDREN = ("anyOf", "allOf", "oneOf")
_NAMED = ("properties", "$defs", "definitions")
_KEPT = frozenset(
    ["$ref", "type", "enum", "const", "default", "description", "title", "required", *_NAMED, "items", "anyOf", "allOf"]
)
_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"])


@functools.cache
def schema_in_words(schema: bytes) -> str:
    """The paragraph that asks for a JSON answer; ``schema`` as canonical JSON."""
    return load(_WORDS).render(schema=schema.decode()).prompt


@functools.lru_cache(maxsize=64)
def enforceable(schema: bytes) -> Any:
    """The part of a JSON Schema that servers enforce, with the rest of its limits in descriptions.

    Objects take no further properties, a list of types becomes ``anyOf``, and limits of length, size and form
    go into the description, so that a model still reads them. None for a schema that says nothing of a type.
    """
    made = _node(orjson.loads(schema))
    known = isinstance(made, dict) and any(word in made for word in ("type", "anyOf", "enum", "const", "$ref"))
    return made if known else None


def _node(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return node
    kinds = node.get("type")
    if isinstance(kinds, list) and "enum" not in node:
        return _one_of_types(node, kinds)
    made: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for word, value in node.items():
        if word in _NAMED:
            made[word] = {name: _node(child) for name, child in value.items()}
        elif word in _CHILDREN:
            made["anyOf" if word == "oneOf" else word] = [_node(child) for child in value]
        elif word in _CHILD:
            made[word] = _node(value)
        elif word in _KEPT or (word == "format" and value in _FORMATS) or (word == "minItems" and value in (0, 1)):
            made[word] = value
        elif not word.startswith(("x-", "$")):
            limits[word] = value
    if isinstance(kinds, list):
        del made["type"]  # the values of an enumeration say it
    if kinds == "object":
        made["additionalProperties"] = False
    if limits:
        said = "{" + ", ".join(f"{word}: {value}" for word, value in limits.items()) + "}"
        made["description"] = f"{made['description']}\n\n{said}" if made.get("description") else said
    return made


def _one_of_types(node: Mapping[str, Any], kinds: list[str]) -> dict[str, Any]:
    about = {word: node[word] for word in ("description", "title") if word in node}
    rest = {word: value for word, value in node.items() if word not in about}
    return {**about, "anyOf": [_node({**rest, "type": kind} if kind != "null" else {"type": "null"}) for kind in kinds]}
