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
    if "file" not in result["said"]:
        return None
    beside = path.with_name(result["said"]["file"])
    try:
        header = read_result(beside)
        digests = {name: entry["sha256"] for name, entry in header.get("tables", {}).items()}
        if digests != result["said"]["tables"]:
            return None
        return {unit: read_said(beside, header, unit)[1].rows for unit in units}
    except RequestError:
        return None


def table_of(path: Path, result: Mapping[str, Any], name: str) -> pl.DataFrame | None:
    """A table by name, under the same conditions; None also where the result has none of that name."""
    if "file" not in result["said"]:
        return None
    beside = path.with_name(result["said"]["file"])
    try:
        header = read_result(beside)
        entry = header.get("tables", {}).get(name)
        if entry is None or entry["sha256"] != result["said"]["tables"].get(name):
            return None
        alone = {**header, "tables": {name: entry}}
        return read_said(beside, alone, entry["unit"])[1].rows
    except RequestError:
        return None
