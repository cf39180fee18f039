"""Configurations that are ready to use: a SELECT over a release's tables, stored as Parquet beside them.

A benchmark's card declares them (``[[config]]``: name, about, needs, sql). Whoever loads one has prompts and options
without joining tables first; keys stay in their own table. The manifest carries the SELECT, so that ``verify`` makes
the rows again from the tables, and so can anybody:

    python -m releases query heart@2.0.0 "SELECT …"
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from releases.asking.bounded import Patience, at_most
from releases.cards.texts import Texts
from releases.content import ContentDigest
from releases.opening import Release
from releases.parquet import SPLIT, read_batches, write_rows
from releases.query import PATIENCE, ask, connect
from schemas.errors import RequestError
from schemas.release_names import CANARY

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Config:
    """What a configuration holds, the tables it needs, and the SELECT that gives its rows."""

    name: str
    about: str
    needs: tuple[str, ...]
    sql: str


def configs(said: Texts, tables: Iterable[str]) -> list[Config]:
    """The configurations of a card for which the tables are there."""
    made = [Config(**{**entry, "needs": tuple(entry["needs"])}) for entry in said["config"]]
    return [config for config in made if set(config.needs) <= set(tables)]


def write_config(release: Release, config: Config, canary: str | None) -> dict[str, Any]:
    """Store the rows of a configuration in the release's folder; returns its entry in the manifest.

    Raises RequestError for SQL that fails, and for a column of a type that releases do not hold.
    """
    try:
        rows = config_rows(release, config.sql, config.name, Patience(PATIENCE))
    except RequestError as error:
        where = f"config {config.name} of the card"
        raise RequestError(error.what, where, field="sql", expected=error.expected, fix="Correct it") from None
    path = f"{config.name}/{SPLIT}-00000-of-00001.parquet"
    (release.folder / config.name).mkdir()
    write_rows(release.folder / path, rows, canary)
    return {
        "about": config.about,
        "needs": list(config.needs),
        "sql": config.sql,
        "rows": rows.num_rows,
        "content_digest": _digest(rows).hexdigest(),
        "files": [{"path": path, "rows": rows.num_rows}],
    }


def config_rows(release: Release, sql: str, name: str, patience: Patience, most: int = sys.maxsize) -> pa.Table:
    """What the SELECT gives, in the types that releases hold. Raises RequestError for more than ``most`` rows."""
    import pyarrow as pa

    with connect(release) as connection, ask(connection, sql, patience, str(release.name)) as batches:
        found = pa.Table.from_batches(list(at_most(batches, most, f"config {name}")), batches.schema)
    return found.cast(_schema(found.schema, name))


def config_size(paths: list[Path]) -> ContentDigest:
    """The digest of a configuration's rows as they are stored."""
    digest = ContentDigest()
    for batch in read_batches(paths):
        digest.update(batch.to_pylist(), batch)
    return digest


def _digest(rows: pa.Table) -> ContentDigest:
    digest = ContentDigest()
    for batch in rows.to_batches(max_chunksize=1000):
        digest.update(batch.to_pylist(), batch)
    return digest


def config_problem(release: Release, name: str, entry: Mapping[str, Any], patience: Patience) -> str | None:
    """Why the stored rows of a configuration are not what its SELECT gives on the release's tables."""
    try:
        fresh = _digest(config_rows(release, entry["sql"], name, patience, entry["rows"])).hexdigest()
    except RequestError as error:
        return str(error)
    return None if fresh == entry["content_digest"] else f"its SELECT gives {fresh}, declared {entry['content_digest']}"


def _schema(found: pa.Schema, name: str) -> pa.Schema:
    import pyarrow as pa

    if CANARY in found.names:
        raise RequestError(f"column {CANARY}", f"config {name}", expected="another name", fix="Rename it in its sql")
    return pa.schema([pa.field(field.name, _kind(field.type, field.name, name)) for field in found])


def _kind(kind: pa.DataType, column: str, name: str) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", _kind(kind.value_type, column, name)))
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.float64()
    if pa.types.is_string(kind) or pa.types.is_boolean(kind):
        return kind
    raise RequestError(
        f"a column of {kind}", f"config {name}", field=column, expected="texts, numbers, truth values or lists of them"
    )
