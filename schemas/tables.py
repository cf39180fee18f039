"""Record schemas, vocabularies and benchmarks, read from their files.

The files under ``records/``, ``vocab/`` and ``benchmarks/`` are the only place where fields, terms
and keys are written down. Two of our own keywords are resolved here, so that a vocabulary is
never typed twice: ``x-vocab`` (an enum of a vocabulary's ids) and ``x-properties-from-vocab`` with
``x-each-property`` (an object with one property a term).
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import unknown

_HERE = Path(__file__).parent

Row = dict[str, Any]


@functools.cache
def vocabulary(name: str) -> tuple[Mapping[str, Any], ...]:
    """The terms of a vocabulary, in their order; each has at least ``id`` and ``label``."""
    path = _HERE / "vocab" / f"{name}.json"
    if not path.is_file():
        raise unknown("vocabulary", name, (p.stem for p in path.parent.glob("*.json")))
    return tuple(orjson.loads(path.read_bytes())["terms"])


def term_ids(name: str) -> tuple[str, ...]:
    """The ids of a vocabulary, in its order."""
    return tuple(term["id"] for term in vocabulary(name))


def memory_stage(age: int) -> Mapping[str, Any]:
    """The memory stage (Table 8) of an age in years. Raises ValueError outside 6 to 50."""
    for stage in vocabulary("memory_stages"):
        if stage["from_age"] <= age <= stage["to_age"]:
            return stage
    raise ValueError(f"no memory stage for age {age}: expected 6 to 50")


def record_names() -> tuple[str, ...]:
    """The names of all tables that have a record schema."""
    return tuple(
        sorted(
            p.name.removesuffix(".schema.json")
            for p in (_HERE / "records").glob("*.schema.json")
            if not p.name.startswith("common.")
        )
    )


@functools.cache
def record_schema(name: str) -> Mapping[str, Any]:
    """The JSON Schema of a table's rows, with references and vocabularies put in place."""
    if name not in record_names():
        raise unknown("table", name, record_names())
    return resolved(_read_record(name))  # type: ignore[no-any-return]


@functools.cache
def _read_record(name: str) -> Any:
    return orjson.loads((_HERE / "records" / f"{name}.schema.json").read_bytes())


def resolved(node: Any) -> Any:
    """A schema with references to shared parts and vocabularies put in place."""
    if isinstance(node, list):
        return [resolved(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name, _, pointer = node["$ref"].partition("#/")
        target = _read_record(name)
        for part in pointer.split("/"):
            target = target[part]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    made = {
        key: resolved(value) for key, value in node.items() if key not in ("x-properties-from-vocab", "x-each-property")
    }
    if "x-vocab" in node:
        made["enum"] = [*term_ids(node["x-vocab"]), *([None] if "null" in node["type"] else [])]
    if "x-properties-from-vocab" in node:
        terms = vocabulary(node["x-properties-from-vocab"])
        made["properties"] = {
            term["id"]: {**node["x-each-property"], "description": f"{term['label']}."} for term in terms
        }
        made["required"] = [term["id"] for term in terms]
    return made


@dataclass(frozen=True)
class Table:
    """A table of a benchmark.

    ``key`` are the columns that name a row; ``file`` the column whose values name the working files
    (None: one file, ``all``); ``rows`` the expected number of rows; ``rows_per`` the expected number
    for every value of a column; ``filled`` the nullable fields that this benchmark requires; ``optional``
    whether the benchmark is whole without it.
    """

    name: str
    key: tuple[str, ...]
    file: str | None = None
    rows: int | None = None
    rows_per: Mapping[str, int] | None = None
    filled: tuple[str, ...] = ()
    optional: bool = False

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the rows."""
        return record_schema(self.name)

    def row_id(self, row: Mapping[str, Any]) -> str:
        """The values of the key columns, joined with ``/``."""
        return "/".join(str(row.get(column)) for column in self.key)

    def file_of(self, row: Mapping[str, Any]) -> str:
        """The working file a row belongs to."""
        return str(row[self.file]) if self.file else "all"


@dataclass(frozen=True)
class Link:
    """A reference: each value of ``table.path`` occurs as ``to_table.to_column``; ``both_ways``: also the reverse."""

    table: str
    path: tuple[str, ...]
    to_table: str
    to_column: str
    both_ways: bool = False


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: what it is called and the tables, in order of dependency, it is made of."""

    name: str
    title: str
    paper: str
    tables: Mapping[str, Table]
    links: tuple[Link, ...]

    def table(self, name: str) -> Table:
        """A table by name; an unknown one raises with the nearest names."""
        if name not in self.tables:
            raise unknown("table", name, self.tables, f"benchmark {self.name}")
        return self.tables[name]


def benchmark_names() -> tuple[str, ...]:
    """The benchmarks that have a file."""
    return tuple(sorted(p.stem for p in (_HERE / "benchmarks").glob("*.toml")))


@functools.cache
def benchmark(name: str) -> Benchmark:
    """A benchmark by name; an unknown one raises with the nearest names."""
    if name not in benchmark_names():
        raise unknown("benchmark", name, benchmark_names())
    text = tomllib.loads((_HERE / "benchmarks" / f"{name}.toml").read_text("utf-8"))
    tables = {table: _table(table, settings) for table, settings in text["tables"].items()}
    return Benchmark(name, text["title"], text["paper"], tables, tuple(_link(item) for item in text.get("links", [])))


def _table(name: str, settings: Mapping[str, Any]) -> Table:
    return Table(
        name=name,
        key=tuple(settings["key"]),
        file=settings.get("file"),
        rows=settings.get("rows"),
        rows_per=settings.get("rows_per"),
        filled=tuple(settings.get("filled", ())),
        optional=settings.get("optional", False),
    )


def _link(item: Mapping[str, Any]) -> Link:
    table, *path = item["from"].split(".")
    to_table, to_column = item["to"].split(".")
    return Link(table, tuple(path), to_table, to_column, item.get("both_ways", False))
