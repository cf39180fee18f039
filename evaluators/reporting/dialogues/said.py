"""The rows of what was said that a score file belongs to: beside it, by the name and the digests in its header."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from evaluators.scoring.metrics import UnitName
from evaluators.scoring.results import read_result
from evaluators.scoring.said_rows import read_said
from schemas.errors import RequestError


def said_tables(path: Path, result: Mapping[str, Any], units: tuple[UnitName, ...]) -> dict[str, pl.DataFrame] | None:
    """Unit -> rows, of the result that was judged; None where it is not beside the scores or was changed since."""
    try:
        beside, header = _judged(path, result)
        return {unit: read_said(beside, header, unit)[1].rows for unit in units}
    except RequestError:
        return None


def table_of(path: Path, result: Mapping[str, Any], name: str) -> pl.DataFrame | None:
    """A table by name, under the same conditions; None also where the result has none of that name."""
    try:
        beside, header = _judged(path, result)
        entry = header["tables"].get(name)
        if entry is None:
            return None
        return read_said(beside, {**header, "tables": {name: entry}}, entry["unit"])[1].rows
    except RequestError:
        return None


def said_header(path: Path, result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The header of what was judged, under the same conditions."""
    try:
        return _judged(path, result)[1]
    except RequestError:
        return None


def _judged(path: Path, result: Mapping[str, Any]) -> tuple[Path, Mapping[str, Any]]:
    """The result that was judged. Raises RequestError where it is not there, or not what was judged."""
    name = result["said"].get("file")
    if not name:
        raise RequestError("no name of what was judged", path, fix="Judge again")
    beside = path.with_name(name)
    header = read_result(beside)
    if {name: entry["sha256"] for name, entry in header.get("tables", {}).items()} != result["said"]["tables"]:
        raise RequestError("rows of another result", beside, fix="Judge again")
    return beside, header
