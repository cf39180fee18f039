"""What a release says, apart from how it is stored: canonical rows and the digests over them.

The canonical form of a table is a JSON Lines file: rows in order of key, fields in the order of the
record schema, UTF-8, no spaces, numbers of the schema's kind, one line feed after every row, each row
as Python's ``json`` writes it (which pins escapes and the form of floats; faster encoders change
theirs between versions). Its SHA-256 is the table's content digest. Working files have the same form
but for floats with an exponent, so ``cat build/heart/mcqs/*.jsonl | sha256sum`` mostly gives it too.
Codec, encodings, row groups and shards leave no trace in it; ``docs/releases.md`` lists what does.
"""

from __future__ import annotations

import functools
import hashlib
import io
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from schemas.errors import RequestError
from schemas.tables import Row

if TYPE_CHECKING:
    import pyarrow as pa


_canonical = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode

# Between these the fast encoder writes a number as Python does; beyond them, with an exponent, not always.
_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 1e15


class ContentDigest:
    """The running digest of one table, fed row by row in order of key.

    ``rows`` counts what it was fed and ``size`` the bytes of the canonical form.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.size = 0
        self._sha = hashlib.sha256()

    def update(self, rows: Sequence[Row], batch: pa.RecordBatch | None = None) -> None:
        """Feed rows whose fields stand in the order of the schema; ``batch`` are the same rows, which is faster."""
        self.feed(canonical(batch) if batch is not None else _lines(rows), len(rows))

    def feed(self, block: bytes, rows: int) -> None:
        """Feed the canonical form of so many rows."""
        self.rows += rows
        self.size += len(block)
        self._sha.update(block)

    def hexdigest(self) -> str:
        """The digest so far, in hex."""
        return self._sha.hexdigest()


def canonical(batch: pa.RecordBatch) -> bytes:
    """The rows of a batch as canonical JSON Lines, as ``ContentDigest.feed`` takes them."""
    if _writes_as_python() and _can_be_written(batch.schema) and numbers_are(batch, _are_plain):
        return _written(batch)
    return _lines(batch.to_pylist())


def _lines(rows: Sequence[Row]) -> bytes:
    return "".join([line for row in rows for line in (_canonical(row), "\n")]).encode()


def _written(batch: pa.RecordBatch) -> bytes:
    """Rows as the fast encoder writes them, column by column."""
    import polars as pl

    out = io.BytesIO()
    pl.DataFrame(batch).write_ndjson(out)
    return out.getvalue()


@functools.cache
def _writes_as_python() -> bool:
    """Whether the fast encoder, in the version that is installed, writes as Python's ``json`` does."""
    import pyarrow as pa

    numbers = [0.0, -0.0, 1.0, 0.1, _LEAST_PLAIN, -1 / 3, 1e14 / 3, 123456789.0, None]
    texts = [*map(chr, range(0x180)), "\u2028\u2029\ufeff\uffff", "\U0001f600", "", None]
    rows = [{"t": text, "n": number} for text, number in itertools.zip_longest(texts, numbers)]
    nested = [{"a": None}, {"a": {"b": None, "c": None}}, {"a": {"b": True, "c": [None, 2**63 - 1]}}, {"a": {"c": []}}]
    batches = [pa.RecordBatch.from_pylist(sample) for sample in (rows, nested)]
    return all(_written(batch) == _lines(batch.to_pylist()) for batch in batches)


def _can_be_written(schema: pa.Schema) -> bool:
    """Whether the fast encoder knows all of the types, and can tell the columns apart."""
    return len(set(schema.names)) == len(schema.names) and all(_is_known(field.type) for field in schema)


def _is_known(kind: pa.DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        names = [kind.field(index).name for index in range(kind.num_fields)]
        return 0 < len(names) == len(set(names)) and all(_is_known(kind.field(name).type) for name in names)
    if pa.types.is_list(kind):
        return _is_known(kind.value_type)
    return kind in (pa.string(), pa.int64(), pa.float64(), pa.bool_())


def numbers_are(batch: pa.RecordBatch, test: Callable[[Any], Any]) -> bool:
    """Whether every number with a fraction, however deep, passes a test of arrays."""
    return all(_numbers_are(column, test) for column in batch.columns)


def are_finite(numbers: Any) -> Any:
    """Of each number whether it is one: neither infinite nor none (NaN)."""
    import pyarrow.compute as pc

    return pc.is_finite(numbers)


def _are_plain(numbers: Any) -> Any:
    import pyarrow.compute as pc

    size = pc.abs(numbers)
    inside = pc.and_(pc.greater_equal(size, _LEAST_PLAIN), pc.less(size, _MOST_PLAIN))
    return pc.or_(inside, pc.equal(size, 0.0))


def _numbers_are(column: pa.Array[Any], test: Callable[[Any], Any]) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        return len(column) == column.null_count or bool(pc.all(test(column)).as_py())
    if isinstance(column, pa.StructArray):
        return all(_numbers_are(part, test) for part in column.flatten())
    return not isinstance(column, pa.ListArray) or _numbers_are(column.flatten(), test)


def digest_of(document: Any) -> str:
    """SHA-256 of a document as JSON with sorted keys and no spaces, in hex."""
    return hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).hexdigest()


def schema_digest(schema: pa.Schema) -> str:
    """The digest of a table's columns: names, types and nullability, all the way down, in order."""
    return digest_of([_shape(field) for field in schema])


def columns(schema: pa.Schema) -> dict[str, str]:
    """Column -> type, for people and for comparing two releases."""
    return {field.name: f"{field.type}{'' if field.nullable else ' not null'}" for field in schema}


def release_digest(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The digest of what a release says: name, key, rows, columns and content of every table."""
    covered = ("key", "rows", "schema_digest", "content_digest")
    return digest_of({name: {part: table[part] for part in covered} for name, table in tables.items()})


def to_batch(rows: Sequence[Row], schema: pa.Schema, table: str, key: Sequence[str]) -> tuple[pa.RecordBatch, bytes]:
    """Rows as an Arrow batch that holds exactly these values, and the canonical form of what it holds.

    Raises RequestError naming the first row that does not fit, or that would come back different:
    a field too many, a number with a fraction in an integer column, an integer past 64 bits.
    """
    import pyarrow as pa

    try:
        batch = pa.RecordBatch.from_pylist(list(rows), schema=schema)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        if len(rows) == 1:
            raise _misfit(rows[0], table, key, None, str(error).splitlines()[0]) from None
        for row in rows:
            to_batch([row], schema, table, key)
        raise
    text = canonical(batch)
    if text != _as_lines(rows):
        _check_same(rows, batch.to_pylist(), table, key)
    return batch, text


def _as_lines(rows: Sequence[Row]) -> bytes | None:
    try:
        return b"".join([orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows])
    except TypeError:  # what no column would hold
        return None


def _check_same(rows: Sequence[Row], stored: Sequence[Row], table: str, key: Sequence[str]) -> None:
    for row, back in zip(rows, stored, strict=True):
        if row != back:
            field = next(name for name in [*row, *back] if row.get(name, ...) != back.get(name, ...))
            raise _misfit(row, table, key, field, "a value that the table's schema can hold")


def batch_of_lines(text: bytes, schema: pa.Schema) -> pa.RecordBatch | None:
    """JSON Lines as a batch, read column by column; None where they are not the canonical form of what it holds.

    None, too, where an object is null that has fields which may not be: the reader asks for them all the same.
    """
    import pyarrow as pa
    from pyarrow import json as arrow_json

    try:
        table = arrow_json.read_json(
            pa.BufferReader(text),
            arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
        )
        (batch,) = table.cast(schema).combine_chunks().to_batches()
    except (pa.ArrowException, ValueError):
        return None
    return batch if canonical(batch) == text else None


def keys_of(batch: pa.RecordBatch, key: Sequence[str]) -> list[tuple[str | int, ...]]:
    """The key of each row of a batch."""
    return list(zip(*(batch.column(column).to_pylist() for column in key), strict=True))


def _misfit(row: Row, table: str, key: Sequence[str], field: str | None, expected: str) -> RequestError:
    row_id = "/".join(str(row.get(column)) for column in key)
    return RequestError("row does not fit", table, row=row_id, field=field, expected=expected, fix="Fix that row")


def _shape(field: pa.Field[Any]) -> dict[str, Any]:
    import pyarrow as pa

    kind = field.type
    if pa.types.is_struct(kind):
        inner: Any = [_shape(kind.field(index)) for index in range(kind.num_fields)]
    elif pa.types.is_list(kind):
        inner = [{**_shape(kind.value_field), "name": "element"}]
    else:
        inner = None
    name = "struct" if pa.types.is_struct(kind) else "list" if pa.types.is_list(kind) else str(kind)
    return {"name": field.name, "type": name, "nullable": field.nullable, "of": inner}
