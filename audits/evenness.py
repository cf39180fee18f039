"""Evenness: how evenly the values of a column are spread, from 0 (one value) to 1 (all alike).

PersonaLens 2.4: E = H / ln k, with H the Shannon entropy of the values and k the number of distinct
values seen. For preferences of users all entries of all users count, whether or not the domain is
switched on, and values are compared letter by letter; this is what reproduces all 90 rows of the
paper's Tables 8 and 9. ``generated`` is the tables' "# Gen.": for categorical types distinct values,
but no more than were offered; ``possible`` is "# Poss.", which counts a value offered twice twice
(Rental Cars: Preferred Rental Company).

    python -m audits.evenness --benchmark personalens-published --table users --json
    python -m audits.evenness --benchmark heart --table memories --rows mine.jsonl
    python -m audits.evenness --benchmark heart-published --table mcq_keys --column sources.character_id
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from audits.checks import users as profiles
from audits.columns import Column, column, columns
from audits.own_rows import add_rows, beside, rows_of, table_shards
from audits.report import one_line
from audits.tables import of_record
from schemas import command
from schemas.benchmarks import benchmark
from schemas.engines.choice import add_engine, engine
from schemas.engines.shards import Shard
from schemas.errors import RequestError
from schemas.evenness import evenness
from schemas.sources import add_source
from schemas.tables import Row, Table

_WIDTH = 12  # values shown of a column
_LONGEST = 40  # characters shown of a value

Preferences = dict[tuple[str, str], Counter[str]]
"""By domain and preference: how often each value stands there."""


def preferences(users: Iterable[Row], types: Iterable[Row]) -> list[Row]:
    """A row a preference type (tables ``users`` and ``preferences``), in the order of the types.

    ``possible`` is None for open types, whose lists are examples. A type that users have and the
    list does not know comes last, with ``categorical`` None.
    """
    return preference_rows(preference_values(users), types)


def preference_values(users: Iterable[Row]) -> Preferences:
    """How often each value stands in each preference."""
    seen: Preferences = {}
    for user in users:
        for domain, preference, values in profiles.affinities(user):
            seen.setdefault((domain, preference), Counter()).update(values)
    return seen


def preference_rows(seen: Preferences, types: Iterable[Row]) -> list[Row]:
    """As ``preferences``, of values that have been counted."""
    listed = {(kind["domain"], kind["preference"]): kind for kind in types}
    return [
        _preference(key, listed.get(key), seen.get(key, Counter()))
        for key in (*listed, *sorted(seen.keys() - listed.keys()))
    ]


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
        "evenness": evenness(values.values()),
    }


def spread(rows: Iterable[Row], column: Column) -> Row:
    """One row for a column of a table, followed through lists.

    ``possible`` is the size of the column's vocabulary (None where it has none), ``missing`` counts
    nulls, ``counts`` are by value, the most frequent first.
    """
    return spread_of(values_of(rows, column), column)


@dataclass
class Values:
    """How often each value stands in a column, and how many are null; tables cut in parts are added up."""

    counts: Counter[str] = field(default_factory=Counter)
    missing: int = 0

    def __add__(self, other: Values) -> Values:
        return Values(self.counts + other.counts, self.missing + other.missing)


def values_of(rows: Iterable[Row], column: Column) -> Values:
    """The values of a column of some rows."""
    found = Values()
    for row in rows:
        for value in column.values(row):
            if value is None:
                found.missing += 1
            else:
                found.counts[str(value).lower() if isinstance(value, bool) else str(value)] += 1
    return found


def spread_of(found: Values, column: Column) -> Row:
    """As ``spread``, of values that have been counted."""
    values = found.counts
    return {
        "column": column.path,
        "possible": None if column.vocabulary is None else len(column.vocabulary),
        "distinct": len(values),
        "entries": values.total(),
        "missing": found.missing,
        "evenness": evenness(values.values()),
        "counts": dict(sorted(values.items(), key=lambda item: (-item[1], item[0]))),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the evenness of preferences, of one column, or of all columns of a closed list."""
    made = command.parser(
        "audits.evenness",
        "How evenly the values of a column are spread: Shannon entropy over that of the distinct values seen.",
        "python -m audits.evenness --benchmark personalens-published --table users --json",
    )
    add_source(made)
    add_rows(made)
    command.add_benchmark(made)
    made.add_argument("--table", required=True, metavar="T", help="table; of users: a row a preference type")
    made.add_argument(
        "--column", metavar="PATH", help="one column, dotted (default: users' preferences, or all of a closed list)"
    )
    command.add_processes(made)
    add_engine(made)
    return command.run(_run, made, argv)


def _run(arguments: argparse.Namespace) -> int:
    table = benchmark(arguments.benchmark).table(arguments.table)
    of_preferences = arguments.column is None and profiles in of_record(table)
    asked = [] if of_preferences else _columns(table, arguments.column)
    count, values, chosen = _counted(arguments, table, asked)
    measured, skipped = [], []
    if count < 2 and arguments.column is None:
        skipped.append("evenness is a measure of several rows, and there is one")
    elif of_preferences:
        menu = [row for name in table.reads for row in beside(arguments, name)]
        measured = preference_rows(chosen, menu)
        if not menu:
            fix = "name a --workspace or --release that has them"
            skipped.append(f"possible values not counted: no {' or '.join(table.reads)}; {fix}")
    else:
        measured = [spread_of(found, each) for found, each in zip(values, asked, strict=True)]
    if arguments.json:
        document = {"benchmark": arguments.benchmark, "table": table.name, "items": count, "rows": measured}
        command.print_json({**document, "skipped": skipped})
    elif not arguments.quiet:
        _show(measured, count, table.name)
    for line in skipped:
        command.say(f"skipped: {line}", quiet=arguments.quiet or arguments.json)
    return command.DONE


def _counted(
    arguments: argparse.Namespace, table: Table, asked: Sequence[Column]
) -> tuple[int, list[Values], Preferences]:
    """How many rows there are, the values of the columns asked for, or where there are none of preferences."""
    if arguments.engine:
        return _counted_on_engine(arguments, table, asked)
    rows = rows_of(arguments, table.name)
    return len(rows), [values_of(rows, each) for each in asked], {} if asked else preference_values(rows)


def _counted_on_engine(
    arguments: argparse.Namespace, table: Table, asked: Sequence[Column]
) -> tuple[int, list[Values], Preferences]:
    """As ``_counted``, shard by shard."""
    shards, chosen = table_shards(arguments, table.name), engine(arguments.engine, arguments.processes)
    totals, preferred = [Values() for _ in asked], Preferences()
    for values, more in chosen.map(partial(_of_shard, tuple(asked)), shards):
        totals = [total + found for total, found in zip(totals, values, strict=True)]
        for key, counts in more.items():
            preferred.setdefault(key, Counter()).update(counts)
    return sum(shard.rows for shard in shards), totals, preferred


def _of_shard(asked: Sequence[Column], shard: Shard) -> tuple[list[Values], Preferences]:
    rows = shard.read({each.path.partition(".")[0] for each in asked} or None)
    return [values_of(rows, each) for each in asked], {} if asked else preference_values(rows)


def _columns(table: Table, path: str | None) -> list[Column]:
    """The column asked for, or all that come from a closed list; provenance says nothing of the text."""
    if path is not None:
        return [column(path, table.schema)]
    found = [
        each for each in columns(table.schema).values() if each.vocabulary and not each.path.startswith("provenance.")
    ]
    if not found:
        raise RequestError("no column of a closed list", f"table {table.name}", fix="Name a column with --column")
    return found


def _show(measured: Sequence[Row], items: int, table: str) -> None:
    command.say(f"{items:,} {table}\n\n{'evenness':>8} {'distinct':>8} {'possible':>8} {'entries':>8}")
    for row in measured:
        name = row["column"] if "column" in row else f"{row['domain']}: {row['preference']}"
        even = "-" if row["evenness"] is None else f"{row['evenness']:.4f}"
        possible = "-" if row["possible"] is None else row["possible"]
        command.say(f"{even:>8} {row['distinct']:>8} {possible:>8} {row['entries']:>8}  {name}")
        if row.get("counts"):
            top = list(row["counts"].items())
            cells = [f"{one_line(value, _LONGEST)} {count}" for value, count in top[:_WIDTH]]
            more = f", … {len(top) - _WIDTH} more" if len(top) > _WIDTH else ""
            command.say(f"{'':>37}{', '.join(cells)}{more}")


if __name__ == "__main__":
    raise SystemExit(main())
