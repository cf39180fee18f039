"""SQL over a release: one view per table, a few that join what one asks for most, and nothing else in reach.

DuckDB gets the tables as Arrow datasets, so that no SQL holds a right to any file; then access to
files, extensions and settings is switched off and the switch locked. What the engine can still be
made to do ends with the connection. Plain DuckDB over the files works as well:

    duckdb -c "SELECT count(*) FROM 'releases/frozen/heart/2.0.0/memories/*.parquet'"
    python -m releases query heart@2.0.0 "SELECT stage, count(*) FROM memories GROUP BY stage"
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from releases.asking.bounded import TIMEOUT, Batches, bounded_memory, refused
from releases.asking.guard import Guard, guarded
from releases.asking.output import FORMATS, Counter, write_result
from releases.opening import Release, open_release
from releases.roles import records
from schemas.command import DONE, number, print_json, say, whole_number
from schemas.errors import RequestError
from schemas.release_names import FROZEN, add_frozen, locate

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

HELP = "ask a release in SQL"
EXAMPLE = 'python -m releases query heart@2.0.0 "SELECT answer, count(*) AS n FROM questions GROUP BY ALL"'

PATIENCE = 600.0
"""Seconds for what a card declares, where nobody waits for an answer."""

MOST_SQL = 20_000
"""Characters that a question may have; the parser's time and memory grow with them, and cannot be bounded otherwise."""

_HERE = Path(__file__).parent
_NEEDS = re.compile(r"^-- needs: (.+)$", re.M)

# In this order: what may be set must be set before the lock.
_LOCK = (
    "SET temp_directory = ''",
    "SET memory_limit = '800MB'",
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


@dataclass(frozen=True)
class View:
    """A view that joins or unfolds tables: what it is for, the tables it needs, its SELECT."""

    name: str
    about: str
    needs: tuple[str, ...]
    sql: str


@dataclass(frozen=True)
class Example:
    """A question worth asking, and how."""

    title: str
    needs: tuple[str, ...]
    sql: str


def connect(release: Release) -> duckdb.DuckDBPyConnection:
    """A locked in-memory connection with one view per table of the release and the handy ones that apply."""
    import duckdb

    connection = duckdb.connect(":memory:")
    for table in release.tables:
        connection.register(table, release.dataset(table))
    for view in views(records(release.manifest)):
        connection.execute(f'CREATE TEMP VIEW "{view.name}" AS {view.sql}')
    for setting in _LOCK:
        connection.execute(setting)
    return connection


def query(release: Release, sql: str, timeout: float = TIMEOUT) -> pa.Table:
    """The result of one SELECT over a release, on a connection of its own.

    Raises RequestError, in one line, for anything else, for SQL that fails and for SQL that takes too long.
    """
    import pyarrow as pa

    with connect(release) as connection, ask(connection, sql, timeout, str(release.name)) as batches:
        return pa.Table.from_batches(list(batches), batches.schema)


def ask(
    connection: duckdb.DuckDBPyConnection, sql: str, timeout: float = TIMEOUT, where: str = "NAME@X.Y.Z"
) -> Batches:
    """The rows of one SELECT, in batches, on a connection that ``connect`` made. Raises as ``query`` does."""
    import duckdb

    try:
        _demand_one_select(connection, sql)
    except duckdb.Error as error:
        raise refused(error, where) from None
    return Batches(connection, sql, timeout, where)


def views(records: Mapping[str, str | None]) -> list[View]:
    """The handy views that fit the tables; ``records`` are their shipped record schemas, as ``roles.records``."""
    found = (_view(path) for path in sorted((_HERE / "views").glob("*.sql")))
    return [view for view in found if _are_there(view.needs, records) and view.name not in records]


def examples(records: Mapping[str, str | None]) -> list[Example]:
    """The examples for which the tables are there; of a benchmark that has none, a few rows of every table."""
    entries = tomllib.loads((_HERE / "examples.toml").read_text("utf-8"))["example"]
    made = [Example(entry["title"], tuple(entry["needs"]), entry["sql"].strip()) for entry in entries]
    found = [example for example in made if _are_there(example.needs, records)]
    return found or [Example(f"Rows of {name}", (name,), f"SELECT * FROM {name} LIMIT 5") for name in records]


def _are_there(needs: Iterable[str], records: Mapping[str, str | None]) -> bool:
    """Whether there are tables of these names that have the shipped records of these names."""
    return all(records.get(name) == name for name in needs)


def _view(path: Path) -> View:
    text = path.read_text("utf-8")
    (needs,) = _NEEDS.findall(text)
    return View(path.stem, text.splitlines()[0].removeprefix("-- "), tuple(needs.split(", ")), text)


def _demand_one_select(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """A friendlier refusal than the engine's; the lock is what keeps the release safe, not this."""
    import duckdb

    if len(sql) > MOST_SQL:
        expected = f"at most {MOST_SQL:,} characters, found {len(sql):,}"
        raise RequestError("SQL too long", expected=expected, fix="Ask for less at a time")
    try:
        statements = connection.extract_statements(sql)
        kinds = [statement.type for statement in statements]
    except (TypeError, ValueError):  # half a character; a kind of statement that this version has no name for
        raise RequestError("SQL refused", expected="one SELECT", fix="A release is read-only") from None
    if not statements:
        raise RequestError("no SQL", expected="a SELECT in quotes", fix="See: python -m releases query NAME --examples")
    if len(statements) != 1:
        raise RequestError(
            f"{len(statements)} statements", expected="only one is allowed", fix="Ask one SELECT at a time"
        )
    if kinds[0] == duckdb.StatementType.MULTI:
        fix = "Name the values: PIVOT … ON column IN ('a', 'b')"
        raise RequestError("PIVOT is not allowed as several statements", expected="one SELECT", fix=fix)
    if kinds[0] not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        # By the word that was written: the engine calls INSTALL a LOAD.
        raise RequestError(
            f"{statements[0].query.split(maxsplit=1)[0].upper()} is not allowed",
            expected="only SELECT is",
            fix="A release is read-only: use --out FILE to write",
        )


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``query``."""
    made.add_argument("release", metavar="NAME@X.Y.Z", help="a release by name, or the path of its folder")
    sql = made.add_argument("sql", metavar="SQL", help="one SELECT; tables and views: python -m releases show")
    add_frozen(made)
    made.add_argument("--format", choices=FORMATS, default="table", help="form of the result (default: table)")
    made.add_argument("--out", type=Path, metavar="FILE", help="write the result there instead of on stdout")
    made.add_argument(
        "--timeout", type=number(0.001, 86_400), default=TIMEOUT, metavar="S", help="seconds it may take (default: 30)"
    )
    made.add_argument(
        "--max-rows", type=whole_number(1, 2**62), metavar="N", help="stop after so many rows (default: all)"
    )
    made.add_argument("--examples", action=_InsteadOf, of=sql, help="print useful queries instead of running one")


class _InsteadOf(argparse.Action):
    """A flag that takes the place of a positional argument.

    An optional positional (``nargs="?"``) counts as left out as soon as an option stands before it, so
    that ``query NAME --format csv SQL`` would be refused.
    """

    def __init__(self, option_strings: Sequence[str], dest: str, of: argparse.Action, help: str) -> None:  # noqa: A002
        super().__init__(option_strings, dest, nargs=0, default=False, help=help)
        self._of = of

    def __call__(self, parser: object, namespace: argparse.Namespace, values: object, option: object = None) -> None:
        setattr(namespace, self.dest, True)
        self._of.required = False


def run(args: argparse.Namespace) -> int:
    """The verb."""
    guard = Guard() if args.examples else guarded(args.timeout, args.release, args.out)
    if guard.code is not None:
        return guard.code
    release = open_release(args.release, args.frozen)
    if args.examples:
        return _print_examples(args, release)
    try:
        with connect(release) as connection, bounded_memory():
            guard.arm(args.timeout)
            with ask(connection, args.sql, args.timeout, args.release) as batches:
                counted = Counter(batches, args.max_rows, guard.disarm)
                write_result(batches.schema, counted, "json" if args.json else args.format, args.out)
    except MemoryError as error:
        guard.disarm()  # what went wrong is said once, here
        raise refused(error, args.release) from None
    except RequestError:
        guard.disarm()
        raise
    if args.out is not None:
        say(f"{counted.rows:,} rows in {args.out}", quiet=args.quiet)
    if counted.cut:
        say(f"stopped after {counted.rows:,} rows; there are more (--max-rows)", quiet=args.quiet)
    return DONE


def _print_examples(args: argparse.Namespace, release: Release) -> int:
    shown = examples(records(release.manifest))
    if args.json:
        print_json([{"title": example.title, "sql": example.sql} for example in shown])
        return DONE
    spec = args.release if "@" in args.release else shlex.quote(str(locate(args.release, args.frozen)))
    where = f" --frozen {shlex.quote(str(args.frozen))}" if "@" in args.release and args.frozen != FROZEN else ""
    for example in shown:
        sys.stdout.write(f'# {example.title}\npython -m releases query {spec}{where} "{example.sql}"\n\n')
    return DONE
