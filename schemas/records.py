"""Record schemas and vocabularies, read from their files and checked on the way.

The files under ``records/`` and ``vocab/`` are the only place where fields and terms are written down;
a benchmark of one's own has the same two folders, which are looked into first. Keywords of our own are
resolved here, so that a vocabulary is never typed twice:

- ``x-vocab``: an enum of a vocabulary's ids
- ``x-properties-from-vocab`` with ``x-each-property``: an object with one property a term
- ``x-derived-from``: the value follows from another field (``derived`` puts it in)
- ``x-planned``: only the builder knows the value; rows of a user may lack it

An object has all its properties and no others, whether ``required`` and ``additionalProperties`` say so
or not: every field of a row is always there, and what may be empty has null among its types.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.documents import check_form, check_known, form, read_json
from schemas.errors import RequestError, unknown

_HERE = Path(__file__).parent

_KINDS = ("string", "integer", "number", "boolean", "array", "object")

_OF_VOCABULARY = ("x-properties-from-vocab", "x-each-property")

# Keywords that say something of one kind of value only; JSON Schema passes over them everywhere else.
_FOR = {
    "string": ("pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "minItems", "maxItems", "uniqueItems"),
    "object": ("properties", "required", "additionalProperties"),
}

_LIMITS = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))


@dataclass(frozen=True)
class _Place:
    """Where a part of a schema stands: its file, the field it describes, and the folder of the benchmark."""

    path: Path
    field: str = ""
    home: Path | None = None

    def below(self, name: str) -> _Place:
        return _Place(self.path, f"{self.field}.{name}" if self.field else name, self.home)

    def wrong(self, what: str, expected: str | None = None, fix: str | None = None) -> RequestError:
        return RequestError(what, self.path, field=self.field or None, expected=expected, fix=fix)


def vocabulary(name: str, home: Path | None = None) -> tuple[Mapping[str, Any], ...]:
    """The terms of a vocabulary, in their order; each has at least ``id`` and ``label``.

    ``home`` is the folder of a benchmark of one's own. Raises RequestError for an unknown name and for
    a file that is no vocabulary.
    """
    return tuple(vocabulary_file(name, home)["terms"])


@functools.cache
def vocabulary_file(name: str, home: Path | None = None) -> Mapping[str, Any]:
    """A vocabulary with its title, its source and settings of its own."""
    path = _find("vocab", f"{name}.json", home)
    if path is None:
        raise unknown("vocabulary", name, vocabulary_names(home))
    content = read_json(path)
    check_form(content, form("vocabulary"), path, "setting")
    ids = [term["id"] for term in content["terms"]]
    if twice := sorted({term for term in ids if ids.count(term) > 1}):
        raise RequestError("term listed twice", path, field="terms", expected=f"one {twice[0]!r}")
    return content  # type: ignore[no-any-return]


def vocabulary_names(home: Path | None = None) -> tuple[str, ...]:
    """The names of all vocabularies, those of a benchmark's own folder included."""
    return _names("vocab", ".json", home)


def term_ids(name: str, home: Path | None = None) -> tuple[str, ...]:
    """The ids of a vocabulary, in its order."""
    return tuple(term["id"] for term in vocabulary(name, home))


def term_between(
    terms: Sequence[Mapping[str, Any]], number: float, least: str = "from_age", most: str = "to_age"
) -> Mapping[str, Any] | None:
    """The first term whose settings ``least`` and ``most`` enclose a number; None where none does.

    >>> term_between(vocabulary("memory_stages"), 15)["id"]
    'adolescence'
    """
    return next((term for term in terms if term[least] <= number <= term[most]), None)


def record_names(home: Path | None = None) -> tuple[str, ...]:
    """The names of all record schemas, those of a benchmark's own folder included."""
    return tuple(name for name in _names("records", ".schema.json", home) if name != "common")


@functools.cache
def record_schema(name: str, home: Path | None = None) -> Mapping[str, Any]:
    """The JSON Schema of a record, with references and vocabularies put in place.

    Raises RequestError, naming file and field, for an unknown record and for a mistake in its file.
    """
    path = record_path(name, home)
    document = read_json(path)
    check_form(document, form("record"), path, "keyword")
    place = _Place(path, home=home)
    if document.get("$id", name) != name:
        raise RequestError("wrong $id", path, expected=f"{name!r}, as the file is called")
    schema = _resolved({"type": "object", **document}, place)
    _check(schema, place)
    _check_derived(schema, place)
    _check_compiles(schema, place)
    return schema  # type: ignore[no-any-return]


def record_path(name: str, home: Path | None = None) -> Path:
    """The file of a record schema: in the benchmark's own folder, or else a shipped one. Raises RequestError."""
    path = _find("records", f"{name}.schema.json", home)
    if path is None or name == "common":
        raise unknown("record", name, record_names(home))
    return path


def resolved(node: Any, home: Path | None = None) -> Any:
    """A schema with references to shared parts and vocabularies put in place."""
    return _resolved(node, _Place(_HERE / "records", home=home))


def fields(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every field under a node with its dotted path; ``[]`` marks the items of a list."""
    for name, child in schema.get("properties", {}).items():
        yield f"{above}{name}", child
        yield from fields(child, f"{above}{name}.")
        yield from fields(child.get("items", {}), f"{above}{name}[].")


def kind_of(node: Mapping[str, Any]) -> str:
    """The one type of a field, null aside."""
    kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
    return next(kind for kind in kinds if kind != "null")


def nullable(node: Mapping[str, Any]) -> bool:
    """Whether a field may be null."""
    return "null" in node["type"] if isinstance(node["type"], list) else node["type"] == "null"


def _resolved(node: Any, place: _Place) -> Any:
    """As ``resolved``; what is named and not there is an error with file and field."""
    if isinstance(node, list):
        return [_resolved(item, place) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        node = {**_shared(node["$ref"], place), **{key: value for key, value in node.items() if key != "$ref"}}
    made = {key: _resolved_part(key, value, place) for key, value in node.items() if key not in _OF_VOCABULARY}
    if "x-vocab" in node:
        made["enum"] = [*_terms(node["x-vocab"], place), *([None] if "null" in node.get("type", ()) else [])]
    if "x-properties-from-vocab" in node:
        each = _resolved(node.get("x-each-property", {}), place.below("x-each-property"))
        made["properties"] = {
            term: {**each, "description": f"{words['label']}."}
            for term, words in _terms(node["x-properties-from-vocab"], place).items()
        }
        made["required"] = list(made["properties"])
    if "properties" in made:
        made = {"additionalProperties": False, "required": list(made["properties"]), **made}
    return made


def _resolved_part(key: str, value: Any, place: _Place) -> Any:
    if key in ("properties", "$defs"):
        return {name: _resolved(child, place.below(name)) for name, child in value.items()}
    if key in ("enum", "const", "examples", "x-derived-from"):
        return value
    return _resolved(value, place.below("[]") if key == "items" else place)


def _terms(name: str, place: _Place) -> Mapping[str, Mapping[str, Any]]:
    if _find("vocab", f"{name}.json", place.home) is None:
        raise unknown("vocabulary", name, vocabulary_names(place.home), place.path, field=place.field)
    return {term["id"]: term for term in vocabulary(name, place.home)}


def _shared(reference: str, place: _Place) -> Mapping[str, Any]:
    """What ``common#/$defs/provenance`` names: in the benchmark's own folder, or else among the shipped records."""
    name, _, part = reference.partition("#/$defs/")
    known: dict[str, Any] = {}
    for folder in filter(None, (_HERE, place.home)):
        path = folder / "records" / f"{name}.schema.json"
        if path.is_file():
            known |= {f"{name}#/$defs/{each}": node for each, node in read_json(path).get("$defs", {}).items()}
    check_known("shared part", [f"{name}#/$defs/{part}"], known, place.path, place.field)
    found: Mapping[str, Any] = known[reference]
    check_form(found, {**form("record")["$defs"]["field"], "$defs": form("record")["$defs"]}, place.path, "keyword")
    return found


def _check(node: Mapping[str, Any], place: _Place) -> None:
    """What the form of a record cannot say: one type a field, keywords that fit it, and nothing missing."""
    if "type" not in node:
        raise place.wrong("missing keyword 'type'", expected=f"one of {', '.join(_KINDS)}")
    listed = [node["type"]] if isinstance(node["type"], str) else node["type"]
    check_known("type", listed, (*_KINDS, "null"), place.path, place.field)
    kinds = [kind for kind in listed if kind != "null"]
    if len(kinds) != 1:
        raise place.wrong(f"wrong type {listed!r}", expected="one type, or a list of it and null")
    kind = "number" if kinds[0] == "integer" else kinds[0]
    for other, keywords in _FOR.items():
        if found := [keyword for keyword in keywords if keyword in node and other != kind]:
            raise place.wrong(f"{found[0]} on a field of type {kinds[0]}", expected=f"{found[0]} is for {other}s")
    for least, most in _LIMITS:
        if least in node and most in node and node[least] > node[most]:
            raise place.wrong(f"{least} above {most}", expected=f"{least} to be at most {most}: {node[most]}")
    if kind == "array":
        if "items" not in node:
            raise place.wrong("missing keyword 'items'", expected="what the items of the list are")
        _check(node["items"], place.below("[]"))
    if kind == "object":
        _check_properties(node, place)


def _check_properties(node: Mapping[str, Any], place: _Place) -> None:
    if "properties" not in node:
        raise place.wrong("missing keyword 'properties'", expected="the fields of the object")
    check_known("field", node["required"], node["properties"], place.path, place.below("required").field)
    if left_out := [name for name in node["properties"] if name not in node["required"]]:
        fix = "Leave required out, and let the type of what may be empty have null"
        raise place.below("required").wrong(f"{left_out[0]} is not listed", "every field is always there", fix)
    for name, child in node["properties"].items():
        _check(child, place.below(name))


def _check_derived(schema: Mapping[str, Any], place: _Place) -> None:
    for name, node in schema["properties"].items():
        rule, here = node.get("x-derived-from"), place.below(name)
        if rule is None:
            continue
        check_known("field", [rule["field"]], schema["properties"], place.path, f"{here.field}.x-derived-from")
        if ("pattern" in rule) == ("term_between" in rule):
            raise here.wrong("wrong x-derived-from", expected="either pattern or term_between")
        if "term_between" in rule:
            if "x-vocab" not in node:
                raise here.wrong("term_between without x-vocab", expected="the vocabulary whose terms are meant")
            for term in vocabulary(node["x-vocab"], place.home):
                check_known("setting of a term", rule["term_between"], term, place.path, f"{here.field}.x-derived-from")
        elif re.compile(rule["pattern"]).groups < 1:
            raise here.wrong("wrong x-derived-from", expected="a pattern with a group, which is the value")


def _check_compiles(schema: Mapping[str, Any], place: _Place) -> None:
    import jsonschema_rs

    try:
        jsonschema_rs.validator_for(dict(schema))
    except (jsonschema_rs.ValidationError, ValueError) as error:
        path = ".".join(str(part) for part in getattr(error, "instance_path", ()) if part != "properties")
        raise place.below(path).wrong("unusable schema", expected=str(error).splitlines()[0]) from None


def _find(kind: str, name: str, home: Path | None) -> Path | None:
    """A file of the benchmark's own folder, or else a shipped one."""
    folders = [home / kind, _HERE / kind] if home is not None else [_HERE / kind]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _names(kind: str, ending: str, home: Path | None) -> tuple[str, ...]:
    folders = filter(None, (_HERE, home))
    return tuple(
        sorted({path.name.removesuffix(ending) for folder in folders for path in (folder / kind).glob(f"*{ending}")})
    )
