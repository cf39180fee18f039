"""Tables as frames, and their rules checked by pandera.

A frame holds only the columns that some rule, crossing or figure asks for, gathered chunk by chunk
and typed by the record schema, so a table of long texts does not have to fit into memory.

Two traps of the library are closed here: pandera checks no data at all on a LazyFrame (we hand it a
DataFrame, and say so in its configuration, which an environment variable could change), and it
turns an exception inside a check into an ordinary failure (we raise it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from schemas.arrow import arrow_schema
from schemas.findings import Finding, Severity
from schemas.tables import Row, Table

ROW = "#row"  # the column of every frame that holds the row's id; no field can be called that


@dataclass(frozen=True)
class Rule:
    """What a row, seen beside the others of its table, has to keep.

    ``holds`` is true where the rule is kept; null counts as broken. ``shown`` is what a finding
    quotes of a row that breaks it. ``within`` are columns that all rows compared with one another share; () for a rule
    of each row by itself, None for one of the whole table.
    """

    code: str
    field: str
    holds: pl.Expr
    shown: pl.Expr
    message: str
    source: str
    severity: Severity = "error"
    within: tuple[str, ...] | None = ()

    @property
    def about(self) -> str:
        """What a failure is, in words."""
        return f"{self.field}: {self.message}"

    @property
    def columns(self) -> set[str]:
        """The columns the rule reads."""
        return {*self.holds.meta.root_names(), *self.shown.meta.root_names()} - {ROW}


@dataclass(frozen=True)
class Crossing:
    """What rows have to keep that is seen only beside the rows they name, in ``reads`` of other records.

    ``broken`` takes the frames by record and gives the rows of the table of ``record`` that break
    it: columns ``ROW`` and ``shown``. ``reads`` are the columns it needs of every record, its own included.
    ``within`` names for some records a column: rows that share its value are compared with one another only, and with
    all rows of the other records. None: all with all.
    """

    code: str
    record: str
    field: str
    reads: Mapping[str, tuple[str, ...]]
    broken: Callable[[Mapping[str, pl.DataFrame]], pl.DataFrame]
    message: str
    source: str
    severity: Severity = "error"
    within: Mapping[str, str] | None = None

    @property
    def about(self) -> str:
        """What a failure is, in words."""
        return f"{self.field}: {self.message}"


def columns_of(table: Table, names: Iterable[str], rows: Sequence[Row]) -> pa.Table:
    """Some columns of rows that fit the record schema, and the key."""
    wanted = {*names, *table.key}
    schema = pa.schema([column for column in arrow_schema(table.schema) if column.name in wanted])
    return pa.Table.from_pydict({name: [row.get(name) for row in rows] for name in schema.names}, schema=schema)


def frame_of(table: Table, columns: Sequence[pa.Table]) -> pl.DataFrame:
    """The rows of all parts of a table (``columns_of``; one at least), with their ids as ``ROW``."""
    frame = pl.from_arrow(pa.concat_tables(columns).combine_chunks())
    assert isinstance(frame, pl.DataFrame)
    key = [pl.col(column).cast(pl.String) for column in table.key]
    return frame.with_columns(pl.concat_str(key, separator="/").alias(ROW))


def unique_key(table: Table) -> Rule:
    """The rule that every table has: no two rows share the key."""
    return Rule(
        "table.duplicate_key",
        table.key[0],
        pl.struct(table.key).is_first_distinct(),
        pl.col(ROW),
        "is the key of an earlier row too",
        "benchmark file",
        within=tuple(table.key),
    )


def breaches(
    table: Table, frame: pl.DataFrame, rules: Sequence[Rule], may_lack: frozenset[str] = frozenset()
) -> list[list[Finding]]:
    """The findings of each rule, in the order of the rules; of one that all rows keep, none.

    A rule says nothing of a row that is without one of its columns that rows ``may_lack``.
    """
    import pandera.polars as pandera  # slow to import, and no error path needs it
    from pandera.config import ValidationDepth, config_context
    from pandera.errors import SchemaErrorReason, SchemaErrors

    # One example a check is enough: the rows come from the check's output, which costs nothing.
    checks = [pandera.Check(_verdict(rule, may_lack), name=str(i), n_failure_cases=1) for i, rule in enumerate(rules)]
    found: list[list[Finding]] = [[] for _ in rules]
    try:
        with config_context(validation_enabled=True, validation_depth=ValidationDepth.SCHEMA_AND_DATA):
            pandera.DataFrameSchema(checks=checks).validate(frame, lazy=True)
    except SchemaErrors as errors:
        for error in errors.schema_errors:
            if error.reason_code is not SchemaErrorReason.DATAFRAME_CHECK:
                raise RuntimeError(f"a rule of {table.name} could not be checked: {error}") from error
            place = int(error.check.name)
            found[place] = _findings(table.name, rules[place], frame, error.check_output.to_series())
    return found


def _verdict(rule: Rule, may_lack: frozenset[str]) -> Callable[[Any], pl.LazyFrame]:
    holds = rule.holds.fill_null(False)
    for column in sorted(rule.columns & may_lack):
        holds = holds | pl.col(column).is_null()
    return lambda data: data.lazyframe.select(holds.alias("holds"))


def _findings(table: str, rule: Rule, frame: pl.DataFrame, kept: pl.Series) -> list[Finding]:
    quoted = frame.select(pl.col(ROW), rule.shown.cast(pl.String).alias("shown")).filter(~kept)
    return list(_named(table, rule, quoted))


def crossed(crossing: Crossing, table: str, frames: Mapping[str, pl.DataFrame]) -> list[Finding]:
    """The findings of a crossing whose tables are all there; ``frames`` by record, ``table`` the one it is about."""
    return list(_named(table, crossing, crossing.broken(frames)))


def _named(table: str, rule: Rule | Crossing, rows: pl.DataFrame) -> Iterator[Finding]:
    for row_id, shown in rows.select(ROW, pl.col("shown").cast(pl.String)).iter_rows():
        yield Finding(rule.code, table, row_id, rule.field, rule.severity, None, shown, rule.message, rule.source)
