"""A query's result for people (table), spreadsheets (csv), programs (json) and further queries (parquet)."""

from __future__ import annotations

import decimal
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from schemas.errors import RequestError
from schemas.rows import write_whole

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("table", "csv", "json", "parquet")

_WIDTH = 60  # characters of a cell that a table shows
_SHOWN = 200  # rows of a result that a table shows


def write_result(result: pa.Table, form: str, out: Path | None) -> None:
    """Write a result to a file, whole or not at all, or to stdout. Parquet does not go to a terminal."""
    if out is not None:
        write_whole(out, [_rendered(result, form)])
        return
    if form == "parquet" and sys.stdout.isatty():
        raise RequestError("Parquet on a terminal", expected="a file", fix="Add --out FILE or redirect the output")
    sys.stdout.buffer.write(_rendered(result, form))
    sys.stdout.buffer.flush()


def _rendered(result: pa.Table, form: str) -> bytes:
    if form == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = io.BytesIO()
        try:
            pq.write_table(result, sink, compression="zstd")
        except pa.ArrowNotImplementedError as error:
            raise RequestError("Parquet cannot hold this result", expected=str(error), fix="Cast it in SQL") from None
        return sink.getvalue()
    names, rows = _distinct(result.column_names), _values(result)
    if form == "json":
        document = [dict(zip(names, row, strict=True)) for row in rows]
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE, default=_plain)
    return (_csv(names, rows) if form == "csv" else _table(names, rows)).encode()


def _values(result: pa.Table) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in result.columns]
    return list(zip(*columns, strict=True))


def _distinct(names: list[str]) -> list[str]:
    """Column names with a number behind those that occurred before."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return made


def _csv(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    import csv

    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return sink.getvalue()


def _table(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    shown = [[_shortened(_cell(value)) for value in row] for row in rows[:_SHOWN]]
    numeric = [
        all(isinstance(row[i], int | float | decimal.Decimal | None) for row in rows[:_SHOWN])
        for i in range(len(names))
    ]
    widths = [max([len(name), *(len(row[i]) for row in shown)]) for i, name in enumerate(names)]
    lines = [_line(names, widths, numeric), "  ".join("-" * width for width in widths)]
    lines += [_line(row, widths, numeric) for row in shown]
    if len(rows) > _SHOWN:
        lines.append(f"… {len(rows) - _SHOWN:,} more rows; --format csv, json or parquet gives all")
    return "\n".join(lines) + "\n"


def _line(cells: list[str], widths: list[int], numeric: list[bool]) -> str:
    padded = (
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    )
    return "  ".join(padded).rstrip()


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | list | tuple | dict):
        return orjson.dumps(value, default=_plain).decode()
    return repr(value) if isinstance(value, float) else str(_plain(value))


def _plain(value: Any) -> Any:
    """JSON has no decimals, dates of every kind or bytes; sums of integers arrive as decimals."""
    if isinstance(value, int | decimal.Decimal):
        return int(value) if value == int(value) else float(value)
    return value.hex() if isinstance(value, bytes) else str(value)
