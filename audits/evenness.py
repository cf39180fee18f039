"""Evenness: how evenly the values of a column are spread, from 0 (one value) to 1 (all alike).

PersonaLens 2.4: E = H / ln k, with H the Shannon entropy of the values and k the number of distinct
values seen. For preferences of users all entries of all users count, whether or not the domain is
switched on, and values are compared letter by letter; this is what reproduces all 90 rows of the
paper's Tables 8 and 9. ``generated`` is the tables' "# Gen.": for categorical types distinct values,
but no more than were offered; ``possible`` is "# Poss.", which counts a value offered twice twice
(Rental Cars: Preferred Rental Company).

    python -m audits.evenness --benchmark personalens-published --table users --json
    python -m audits.evenness --benchmark heart --table memories
    python -m audits.evenness --benchmark heart-published --table mcq_keys --column sources.character_id
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from schemas import command
from schemas.errors import RequestError, unknown
from schemas.tables import Row, Table
from schemas.workspace import Workspace

_WIDTH = 12  # values shown of a column


def evenness(values: Mapping[str, int]) -> float | None:
    """H / ln k of counts by value: 0 for a single value, None for none."""
    sizes = sorted(count for count in values.values() if count)
    if not sizes:
        return None
    if len(sizes) == 1:
        return 0.0
    total = sum(sizes)
    entropy = -math.fsum(size / total * math.log(size / total) for size in sizes)
    return min(entropy / math.log(len(sizes)), 1.0)  # the last bit may lie above


def preferences(users: Iterable[Row], types: Iterable[Row]) -> list[Row]:
    """A row a preference type (tables ``users`` and ``preferences``), in the order of the types.

    ``possible`` is None for open types, whose lists are examples. A type that users have and the
    list does not know comes last, with ``categorical`` None.
    """
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for user in users:
        for affinity in user["affinities"]:
            seen[affinity["domain"], affinity["preference"]].update(affinity["values"])
    listed = {(kind["domain"], kind["preference"]): kind for kind in types}
    return [_preference(key, listed.get(key), seen[key]) for key in (*listed, *sorted(seen.keys() - listed.keys()))]


def _preference(key: tuple[str, str], kind: Row | None, values: Counter[str]) -> Row:
    categorical = kind["categorical"] if kind else None
    possible = len(kind["possible_values"]) if kind and categorical else None
    return {
        "domain": key[0],
        "preference": key[1],
        "categorical": categorical,
        "possible": possible,
        "distinct": len(values),
        "generated": len(values) if possible is None else min(len(values), possible),
        "entries": values.total(),
        "evenness": evenness(values),
    }


def column(rows: Iterable[Row], path: str, schema: Mapping[str, Any]) -> Row:
    """One row for a dotted path into the rows of a table, through lists as well.

    ``possible`` is the size of the column's vocabulary (None where it has none), ``missing`` counts
    nulls, ``counts`` are by value, the most frequent first. Raises RequestError for a path that the
    table's record ``schema`` does not have or that ends in an object.
    """
    parts, node = path.split("."), _node(path, schema)
    values: Counter[str] = Counter()
    missing = 0
    for row in rows:
        for value in _values(row, parts):
            if value is None:
                missing += 1
            else:
                values[_text(value)] += 1
    return {
        "column": path,
        "possible": len([term for term in node["enum"] if term is not None]) if "enum" in node else None,
        "distinct": len(values),
        "entries": values.total(),
        "missing": missing,
        "evenness": evenness(values),
        "counts": dict(sorted(values.items(), key=lambda item: (-item[1], item[0]))),
    }


def vocabulary_columns(schema: Mapping[str, Any]) -> list[str]:
    """The dotted paths of a table's columns that take their values from a closed list, without provenance."""
    return [path for path, node in _leaves(schema) if "enum" in node and not path.startswith("provenance.")]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(value: Any, parts: Sequence[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _values(item, parts)
    elif not parts or value is None:
        yield value
    else:
        yield from _values(value.get(parts[0]), parts[1:])


def _leaves(schema: Mapping[str, Any], trail: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every path of a record schema that ends in values, and its node; lists add nothing to a path."""
    while "items" in schema:
        schema = schema["items"]
    if "properties" not in schema:
        yield trail, schema
    for name, node in schema.get("properties", {}).items():
        yield from _leaves(node, f"{trail}.{name}" if trail else name)


def _node(path: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    leaves = dict(_leaves(schema))
    if path not in leaves:
        raise unknown("column", path, leaves, f"table {schema['$id']}")
    return leaves[path]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the evenness of preferences, of one column, or of all vocabulary columns of a table."""
    made = command.parser(
        "audits.evenness",
        "How evenly the values of a column are spread: Shannon entropy over that of the distinct values seen.",
        "python -m audits.evenness --benchmark personalens-published --table users --json",
    )
    made.add_argument("--benchmark", required=True, metavar="NAME", help="benchmark")
    made.add_argument("--table", required=True, metavar="T", help="table; users: a row a preference type")
    made.add_argument(
        "--column", metavar="PATH", help="one column, dotted (default: users' preferences, or all of a closed list)"
    )
    return command.run(_run, made, argv)


def _run(arguments: argparse.Namespace) -> int:
    workspace = Workspace(arguments.workspace, arguments.benchmark)
    table = workspace.benchmark.table(arguments.table)
    by_preference = table.name == "users" and arguments.column is None
    paths = [] if by_preference else _paths(table, arguments.column)
    rows = _read(workspace, table.name)
    if by_preference:
        measured = preferences(rows, _read(workspace, "preferences"))
    else:
        measured = [column(rows, path, table.schema) for path in paths]
    if arguments.json:
        command.print_json(
            {"benchmark": arguments.benchmark, "table": table.name, "items": len(rows), "rows": measured}
        )
    if not arguments.quiet and not arguments.json:
        _show(measured, len(rows), table.name)
    return command.DONE


def _paths(table: Table, asked: str | None) -> list[str]:
    if asked is not None:
        _node(asked, table.schema)
        return [asked]
    found = vocabulary_columns(table.schema)
    if not found:
        raise RequestError("no column of a closed list", f"table {table.name}", mend="Name a column with --column")
    return found


def _read(workspace: Workspace, table: str) -> list[Row]:
    folder = workspace.path(table).parent
    rows = list(workspace.rows(table))
    if not rows:
        raise RequestError("no rows", folder, mend="Build or import the table first")
    return rows


def _show(measured: Sequence[Row], items: int, table: str) -> None:
    command.say(f"{items:,} {table}\n\n{'evenness':>8} {'distinct':>8} {'possible':>8} {'entries':>8}")
    for row in measured:
        name = row["column"] if "column" in row else f"{row['domain']}: {row['preference']}"
        spread = "-" if row["evenness"] is None else f"{row['evenness']:.4f}"
        possible = "-" if row["possible"] is None else row["possible"]
        command.say(f"{spread:>8} {row['distinct']:>8} {possible:>8} {row['entries']:>8}  {name}")
        if row.get("counts"):
            top = list(row["counts"].items())
            more = f", … {len(top) - _WIDTH} more" if len(top) > _WIDTH else ""
            command.say(f"{'':>37}{', '.join(f'{value} {count}' for value, count in top[:_WIDTH])}{more}")


if __name__ == "__main__":
    raise SystemExit(main())
