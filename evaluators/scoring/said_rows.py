"""What a model said, as rows: Parquet tables beside a small JSON header, one table a unit.

    build/evaluations/fidelity@0.1.0/said.claude.json                    header: release, run, tables and their digests
    build/evaluations/fidelity@0.1.0/said.claude.responses.parquet       one text a row
    build/evaluations/fidelity@0.1.0/said.claude.sentences.parquet       the same, a sentence a row

Judges read these rows and never change them. A row has an ``item`` (its id), its groups, the fields that a rubric may
show, and ``state`` (said, unreadable, refused, truncated, failed) with ``reason``; ``planted`` and ``planted_state``
where an offline subject wrote it. Numbers beside the fields, which no prompt can hold, are for offline judges.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from evaluators.scoring.metrics import UnitName
from models.request import Reply
from schemas.errors import RequestError
from schemas.rows import write_whole

STATES = ("said", "unreadable", "refused", "truncated", "failed")

_STATE = {"answered": "said", "refused": "refused", "truncated": "truncated", "failed": "failed"}

_NOT_TEXT: Mapping[str, pl.DataType] = {
    "planted": pl.Float64(),
    "quality": pl.Float64(),
    "memory_mean": pl.Float64(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "cost": pl.Float64(),
}
_KNOWN = ("item", "state", "reason", "quality", "memory_mean")
_CHUNK, _CHUNKS = 256, 2  # rows that are read together, and how often they are held
_AGAIN = "Run the evaluation again"


@dataclass(frozen=True)
class Said:
    """A table of what was said; ``groups`` are the columns that scores are grouped by."""

    unit: UnitName
    groups: tuple[str, ...]
    rows: pl.DataFrame


def said_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    """Rows with these columns, all of them text but for planted values, tokens and cost."""
    return pl.DataFrame(list(rows), schema={name: _kind(name) for name in columns})


def _kind(column: str) -> pl.DataType:
    """Planted values may be one a metric, as planted_<metric>."""
    if column.startswith("planted_") and column != "planted_state":
        return pl.Float64()
    return _NOT_TEXT.get(column, pl.String())


def said_state(reply: Reply) -> tuple[str, str | None]:
    """State and reason of a reply: what is not in the form asked for was said all the same, an empty text was not."""
    state = _STATE.get(reply.status, "said")
    if state == "said" and not str(reply.answer if reply.status == "answered" else reply.text).strip():
        return "refused", "an empty response"
    return state, None if state == "said" else reply.reason or reply.status


def write_said(path: Path, head: Mapping[str, Any], tables: Mapping[str, Said]) -> dict[str, Any]:
    """Write the tables, then the header that vouches for them; returns the header."""
    entries, files = {}, {}
    for name, table in tables.items():
        if table.rows["item"].is_duplicated().any():
            raise ValueError(f"two rows of one item in {name}")
        sink = io.BytesIO()
        table.rows.sort("item").write_parquet(sink, compression="zstd", statistics=False)
        files[table_beside(path, name)] = sink.getvalue()
        entries[name] = {
            "file": table_beside(path, name).name,
            "unit": table.unit,
            "count": len(table.rows),
            "sha256": hashlib.sha256(sink.getvalue()).hexdigest(),
            "groups": list(table.groups),
        }
    first = next(iter(tables.values())).rows
    states = dict(first["state"].value_counts().rows())
    figures = {
        "items": len(first),
        "states": {state: states.get(state, 0) for state in STATES},
        "input_tokens": int(first["input_tokens"].sum()),
        "output_tokens": int(first["output_tokens"].sum()),
        "cost": _sum(first["cost"]),
    }
    header = {**head, "tables": entries, "figures": figures}
    for file, content in files.items():
        write_whole(file, [content])
    write_whole(path, [orjson.dumps(header, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])
    return header


def without_texts(rows: pl.DataFrame, groups: Sequence[str]) -> list[dict[str, Any]]:
    """Rows with what scores need to know of them, without what a judge reads."""
    known = [name for name in rows.columns if name in (*_KNOWN, *groups) or name.startswith("planted")]
    return rows.select(known).rows(named=True)


class RowReader:
    """A function from a place to the row there. Rows are read some at a time: all their texts take a lot of room."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._rows = rows
        self._chunks: dict[int, list[dict[str, Any]]] = {}

    def __call__(self, place: int) -> Mapping[str, Any]:
        number = place // _CHUNK
        if number not in self._chunks:
            while len(self._chunks) >= _CHUNKS:
                del self._chunks[next(iter(self._chunks))]
            self._chunks[number] = self._rows.slice(number * _CHUNK, _CHUNK).rows(named=True)
        return self._chunks[number][place % _CHUNK]


def planted_in(row: Mapping[str, Any], metric: str) -> tuple[str | None, float | None]:
    """State and value that a judge should give a row on a metric; a state of None where nobody knows."""
    name = f"planted_{metric}"
    if row.get("planted_state") is None or (name not in row and "planted" not in row):
        return None, None
    if name not in row:
        return row["planted_state"], row["planted"]
    return ("not_applicable" if row[name] is None else "scored"), row[name]


def table_beside(path: Path, name: str) -> Path:
    """The file of a table of a header."""
    return path.with_name(f"{path.name.removesuffix('.json')}.{name}.parquet")


def read_said(path: Path, header: Mapping[str, Any], unit: UnitName) -> tuple[str, Said]:
    """The table of a unit, and its name. Raises RequestError for one that is not there or was changed."""
    for name, entry in header["tables"].items():
        if entry["unit"] == unit:
            file = table_beside(path, name)
            return name, Said(unit, tuple(entry["groups"]), _read(file, entry))
    units = sorted({entry["unit"] for entry in header["tables"].values()})
    raise RequestError(
        f"no table of the unit {unit}", path, expected=f"one of {', '.join(units)}", fix="Take another rubric"
    )


def _read(file: Path, entry: Mapping[str, Any]) -> pl.DataFrame:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise RequestError("missing rows", file, fix="Put them beside their header, or run again") from None
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise RequestError("rows of another result", file, expected=f"SHA-256 {entry['sha256'][:16]}", fix=_AGAIN)
    rows = pl.read_parquet(io.BytesIO(content))
    doubled = rows["item"].is_duplicated()
    if doubled.any():
        raise RequestError("two rows of one item", file, row=rows.filter(doubled)["item"][0], fix=_AGAIN)
    return rows


def _sum(values: pl.Series) -> float | None:
    """A sum, or None where a part of it is not known."""
    return None if values.null_count() else float(values.sum())
