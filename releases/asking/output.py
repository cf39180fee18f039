"""A query's result for people (table), spreadsheets (csv), programs (json) and further queries (parquet).

Rows are written as they come, a batch in memory; a file appears whole or not at all.
"""

from __future__ import annotations

import csv
import decimal
import io
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
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
_PIECE = 1 << 20

Row = tuple[Any, ...]


class Counter:
    """Passes batches on, at most so many rows, and counts; ``cut`` says that there were more; ``at_end`` is called."""

    def __init__(self, batches: Iterable[pa.RecordBatch], most: int | None, at_end: Callable[[], None]) -> None:
        self._batches, self._most, self._at_end = batches, most, at_end
        self.rows, self.cut = 0, False

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            left = batch.num_rows if self._most is None else self._most - self.rows
            self.cut = batch.num_rows > left
            self.rows += min(left, batch.num_rows)
            yield batch if not self.cut else batch.slice(0, left)
            if self.cut:
                break
        self._at_end()


def write_result(schema: pa.Schema, batches: Iterable[pa.RecordBatch], form: str, out: Path | None) -> None:
    """Write a result to a file, whole or not at all, or to stdout. Parquet does not go to a terminal."""
    if out is not None:
        write_whole(out, _rendered(schema, batches, form))
        return
    if form == "parquet" and sys.stdout.isatty():
        raise RequestError("Parquet on a terminal", expected="a file", fix="Add --out FILE or redirect the output")
    for piece in _rendered(schema, batches, form):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _rendered(schema: pa.Schema, batches: Iterable[pa.RecordBatch], form: str) -> Iterator[bytes]:
    names = _distinct(schema.names)
    if form == "parquet":
        yield from _parquet(schema, batches)
    elif form == "json":
        yield from _json(names, batches)
    elif form == "csv":
        yield from _csv(names, batches)
    else:
        yield _table(names, _rows(batches)).encode()


def _parquet(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryFile() as sink:
        try:
            with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
                for batch in batches:
                    writer.write_batch(batch)
        except pa.ArrowNotImplementedError as error:
            raise RequestError("Parquet cannot hold this result", expected=str(error), fix="Cast it in SQL") from None
        sink.seek(0)
        while piece := sink.read(_PIECE):
            yield piece


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        try:
            columns = [column.to_pylist() for column in batch.columns]
        except (OverflowError, ValueError) as error:  # a day of the year 290,000; an interval
            fix = "Cast it to VARCHAR in SQL, or use --format parquet"
            raise RequestError("a value that cannot be shown", expected=" ".join(str(error).split()), fix=fix) from None
        yield from zip(*columns, strict=True)


def _distinct(names: list[str]) -> list[str]:
    """Column names with a number behind those that occurred before."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return made


def _json(names: list[str], batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """As one indented document, an object a row."""
    opening = b"["
    for row in _rows(batches):
        entry = orjson.dumps(dict(zip(names, row, strict=True)), option=orjson.OPT_INDENT_2, default=_plain)
        yield opening + b"\n  " + entry.replace(b"\n", b"\n  ")
        opening = b","
    yield b"[]\n" if opening == b"[" else b"\n]\n"


def _csv(names: list[str], batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(names)
    for row in _rows(batches):
        writer.writerow([_cell(value) for value in row])
        if sink.tell() > _PIECE:
            yield sink.getvalue().encode()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue().encode()


def _table(names: list[str], rows: Iterable[Row]) -> str:
    first: list[Row] = []
    more = 0
    for row in rows:
        if len(first) < _SHOWN:
            first.append(row)
        else:
            more += 1
    shown = [[_shortened(_cell(value)) for value in row] for row in first]
    kinds = int | float | decimal.Decimal | None
    numeric = [all(isinstance(row[i], kinds) for row in first) for i in range(len(names))]
    widths = [max([len(name), *(len(row[i]) for row in shown)]) for i, name in enumerate(names)]
    lines = [_line(names, widths, numeric), "  ".join("-" * width for width in widths)]
    lines += [_line(row, widths, numeric) for row in shown]
    if more:
        lines.append(f"… {more:,} more rows; --format csv, json or parquet gives all")
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
