"""Benchmarks, read from ``benchmarks/<name>.toml`` or from ``benchmark.toml`` in a folder of one's own.

A folder of one's own holds ``benchmark.toml`` and ``card.toml``, and as it needs them ``records/``,
``vocab/``, ``prompts/`` and ``*.py`` with build steps. Everything is checked when it is read: settings,
columns, tables, links, vocabularies. A mistake is a RequestError with file, field and nearest name.

    benchmark("heart")          # a shipped one
    benchmark("path/to/mine")   # a folder of one's own
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.documents import check_form, check_known, form, read_toml
from schemas.errors import RequestError, unknown
from schemas.records import (
    fields,
    kind_of,
    nullable,
    record_names,
    record_schema,
    term_ids,
    vocabulary,
    vocabulary_names,
)
from schemas.tables import Link, Table

FILE = "benchmark.toml"
CARD = "card.toml"

_SHIPPED = Path(__file__).parent / "benchmarks"
_ROOT = Path(__file__).resolve().parent.parent

# Folders that a workspace or a release has beside those of its tables.
_TAKEN = ("figures", "findings", "journal", "rejected", "schemas")


@dataclass(frozen=True)
class Questions:
    """Which table asks, which one answers, where options come from, and who is the opposite of whom."""

    table: str
    keys: str
    decisions: str | None = None
    people: str | None = None
    poles: str | None = None


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: what it is called and what it is made of.

    ``tables`` stand in order of dependency. ``spec`` gives it again in another process. ``home`` is its
    folder where it is no shipped one. ``steps`` are the builder modules, in order. ``review`` is the table
    that experts judge. ``preset`` names model roles.
    """

    name: str
    title: str
    paper: str | None
    tables: Mapping[str, Table]
    links: tuple[Link, ...]
    spec: str
    home: Path | None = None
    steps: tuple[str, ...] = ()
    questions: Questions | None = None
    review: str | None = None
    protocols: tuple[str, ...] = ()
    preset: str | None = None

    def table(self, name: str) -> Table:
        """A table by name; an unknown one raises with the nearest names."""
        if name not in self.tables:
            raise unknown("table", name, self.tables, f"benchmark {self.name}")
        return self.tables[name]

    def vocabulary(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """A vocabulary of the benchmark's own folder, or else a shipped one."""
        return vocabulary(name, self.home)


def benchmark_names() -> tuple[str, ...]:
    """The shipped benchmarks."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.toml")))


def benchmark(spec: str | Path) -> Benchmark:
    """A benchmark by name, or by the path of a folder of one's own; a name that is shipped is never a folder.

    Raises RequestError for an unknown name and for any mistake in its files.
    """
    name, path = str(spec), Path(spec)
    if name in benchmark_names():
        return _shipped(name)
    if path.name == FILE and path.is_file():
        path = path.parent
    if path.is_dir():
        return _own(path.resolve())
    if len(path.parts) > 1:
        raise RequestError("missing folder", path, expected=f"the folder of a benchmark, with {FILE}")
    raise unknown("benchmark", name, benchmark_names())


@functools.cache
def _shipped(name: str) -> Benchmark:
    return _read(_SHIPPED / f"{name}.toml", name, None)


@functools.cache
def _own(home: Path) -> Benchmark:
    for needed in (FILE, CARD):
        if not (home / needed).is_file():
            fix = "See docs/own-benchmark.md, or name a shipped one: " + ", ".join(benchmark_names())
            raise RequestError(f"missing {needed}", home, expected="the folder of a benchmark", fix=fix)
    made = _read(home / FILE, home.name, home)
    if made.name in benchmark_names():
        raise RequestError(f"name {made.name!r} is taken", home / FILE, field="name", fix="Take another one")
    return made


def _read(path: Path, name: str, home: Path | None) -> Benchmark:
    text = read_toml(path)
    check_form({"name": name, **text}, form("benchmark"), path, "setting")
    tables = {table: _table(table, settings, path, home) for table, settings in text["tables"].items()}
    _check_tables(tables, path)
    asked = Questions(**text["questions"]) if "questions" in text else None
    evaluation, review = text.get("evaluation", {}), text.get("review", {}).get("table")
    protocols = tuple(evaluation.get("protocols", ()))
    check_known("protocol", protocols, term_ids("protocols"), path, "evaluation.protocols")
    _check_tables_of(protocols, tables, path)
    _check_named_tables(text, tables, path, home)
    return Benchmark(
        name=text.get("name", name),
        title=text["title"],
        paper=text.get("paper"),
        tables=tables,
        links=tuple(_links(text.get("links", ()), tables, path)),
        spec=str(home) if home is not None else name,
        home=home,
        steps=tuple(_steps(text.get("build", {}).get("steps", ()), path, home)),
        questions=asked,
        review=review,
        protocols=protocols,
        preset=evaluation.get("preset"),
    )


def _table(name: str, settings: Mapping[str, Any], path: Path, home: Path | None) -> Table:
    field, record = f"tables.{name}", settings.get("record", name)
    if name in _TAKEN:
        raise RequestError(f"name {name!r} is taken", path, field="tables", expected=f"none of {', '.join(_TAKEN)}")
    check_known("record", [record], record_names(home), path, f"{field}.record")
    given: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in settings.items()}
    made = Table(name=name, home=home, **given)
    check_known("audit", made.audits, term_ids("audits"), path, f"{field}.audits")
    columns = record_schema(record, home)["properties"]
    for setting in ("key", "filled", "gold", "metadata", "rows_per", "window"):
        check_known("column", settings.get(setting, ()), columns, path, f"{field}.{setting}")
    check_known("column", [made.file] if made.file else [], columns, path, f"{field}.file")
    check_known("column", [made.text] if made.text else [], columns, path, f"{field}.text")
    for column in (*made.key, *([made.file] if made.file else []), *(made.rows_per or {})):
        if kind_of(columns[column]) not in ("string", "integer"):
            raise RequestError("wrong column", path, field=field, expected=f"{column} to be a string or an integer")
    for column in made.key:
        if nullable(columns[column]):
            raise RequestError("wrong key", path, field=f"{field}.key", expected=f"{column} never to be null")
    for column in made.filled:
        if not nullable(columns[column]):
            fix = "Leave it out: it never is"
            raise RequestError(f"{column} cannot be null", path, field=f"{field}.filled", fix=fix)
    return made


def _check_tables(tables: Mapping[str, Table], path: Path) -> None:
    for table in tables.values():
        field = f"tables.{table.name}"
        check_known("table", table.reads, tables, path, f"{field}.reads")
        check_known("table", [table.gold_of] if table.gold_of else [], tables, path, f"{field}.gold_of")
        if table.gold_of and tables[table.gold_of].role != "questions":
            expected = f'a table whose role is "questions"; that of {table.gold_of} is "{tables[table.gold_of].role}"'
            raise RequestError("wrong table", path, field=f"{field}.gold_of", expected=expected)


def _check_tables_of(protocols: Iterable[str], tables: Mapping[str, Table], path: Path) -> None:
    """A protocol needs tables; a benchmark that names it has them."""
    for term in vocabulary("protocols"):
        missing = [name for name in term["tables"] if name not in tables]
        if term["id"] in protocols and missing:
            expected = f"the tables that {term['id']} needs: {', '.join(term['tables'])}"
            raise RequestError(f"no table {missing[0]}", path, field="evaluation.protocols", expected=expected)
        for name in term["tables"] if term["id"] in protocols else ():
            columns = record_schema(name)["properties"]
            _check_columns(tables[name], columns, path, "evaluation.protocols", f"protocol {term['id']}")


def _check_columns(table: Table, columns: Iterable[str], path: Path, field: str, reader: str) -> None:
    """What reads a table finds the columns it needs; ``[]`` marks the items of a list."""
    there = {name for name, _ in fields(table.schema)}
    if missing := [column for column in columns if column not in there]:
        expected = f"the columns that {reader} needs: {', '.join(columns)}"
        raise RequestError(f"no column {missing[0]} in table {table.name}", path, field=field, expected=expected)


def _check_named_tables(text: Mapping[str, Any], tables: Mapping[str, Table], path: Path, home: Path | None) -> None:
    """The tables and vocabularies that ``[questions]`` and ``[review]`` name."""
    asked = text.get("questions", {})
    for setting, name in asked.items():
        known = vocabulary_names(home) if setting == "poles" else tables
        check_known("vocabulary" if setting == "poles" else "table", [name], known, path, f"questions.{setting}")
    for setting, role in (("table", "questions"), ("keys", "keys")):
        if asked and tables[asked[setting]].role != role:
            field = f"tables.{asked[setting]}.role"
            raise RequestError("wrong role", path, field=field, expected=f'"{role}", as [questions] says')
    for setting in (name for name in asked if name != "poles"):
        needed = form("benchmark")["properties"]["questions"]["properties"][setting]["x-columns"]
        _check_columns(tables[asked[setting]], needed, path, f"questions.{setting}", "audits.shortcuts")
    if "poles" in asked:
        for term in vocabulary(asked["poles"], home):
            check_known("setting of a term", ("trait", "pole"), term, path, "questions.poles")
    if "review" in text:
        check_known("table", [text["review"]["table"]], tables, path, "review.table")


def _links(items: Iterable[Mapping[str, Any]], tables: Mapping[str, Table], path: Path) -> Iterator[Link]:
    for number, item in enumerate(items):
        table, paths = _ends(item, "from", number, tables, path)
        to_table, columns = _ends(item, "to", number, tables, path)
        where = f"links.{number}"
        if len(paths) != len(columns):
            raise RequestError("uneven link", path, field=where, expected="as many columns in from as in to")
        kinds = [[kind for _, kind in end] for end in (paths, columns)]
        if kinds[0] != kinds[1]:
            expected = f"the same types at both ends; from is {', '.join(kinds[0])}, to is {', '.join(kinds[1])}"
            raise RequestError("link between different types", path, field=where, expected=expected)
        for column, _ in columns:
            if len(column) > 1:
                raise RequestError("wrong column", path, field=f"{where}.to", expected="a column of the table itself")
        yield Link(
            table, tuple(p for p, _ in paths), to_table, tuple(c[0] for c, _ in columns), item.get("both_ways", False)
        )


def _ends(
    item: Mapping[str, Any], end: str, number: int, tables: Mapping[str, Table], path: Path
) -> tuple[str, list[tuple[tuple[str, ...], str]]]:
    """The table of one end of a link, and its columns with their types."""
    field = f"links.{number}.{end}"
    named = [item[end]] if isinstance(item[end], str) else item[end]
    names = list(dict.fromkeys(each.split(".")[0] for each in named))
    check_known("table", names, tables, path, field)
    if len(names) > 1:
        raise RequestError("two tables", path, field=field, expected="columns of one table")
    schema = tables[names[0]].schema
    return names[0], [_column(schema, tuple(each.split(".")[1:]), path, field) for each in named]


def _column(schema: Mapping[str, Any], steps: tuple[str, ...], path: Path, field: str) -> tuple[tuple[str, ...], str]:
    node = schema
    for step in steps:
        check_known("column", [step], node.get("properties", {}), path, field)
        node = node["properties"][step]
        while kind_of(node) == "array":
            node = node["items"]
    if kind_of(node) not in ("string", "integer"):
        raise RequestError("wrong column", path, field=field, expected=f"{'.'.join(steps)} to be a string or integer")
    return steps, kind_of(node)


def _steps(names: Iterable[str], path: Path, home: Path | None) -> Iterator[str]:
    """The builder modules, each of which is a file of the package, or of the benchmark's own folder."""
    for name in names:
        file, _, _ = name.partition(":")
        if file.endswith(".py"):
            known = [each.name for each in sorted((home or path.parent).glob("*.py"))]
            found = home is not None and (home / file).is_file()
        else:
            module = _ROOT.joinpath(*name.split("."))
            known = [".".join(file.relative_to(_ROOT).with_suffix("").parts) for file in _ROOT.glob("builders/**/*.py")]
            known = [each.removesuffix(".__init__") for each in known]
            found = module.with_suffix(".py").is_file() or (module / "__init__.py").is_file()
        if not found:
            raise unknown("step", name, known, path, field="build.steps")
        yield name
