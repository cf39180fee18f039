"""Parquet of 11,000 memories: what writing costs beside the tools people use otherwise, and what its options buy.

``write`` turns working rows into a file. Ours also sorts, checks that every row comes back as it was, and takes the
content digest; pyarrow's only reads JSON and writes. ``layout`` writes rows that are Arrow batches already, with the
options of releases and with each of them changed, and reads the file: all of it, one long text by its id, one column.
``new_MB`` is what a store that cuts files by content (as the Hugging Face hub's does) would have to be sent of the file
of the next version, in which there is one memory more, at the front.

    python -m perf.releases --only write layout --repeat 5

Times of reading are CPU seconds, the least of five; ratios of writing are in column ``cpu s``.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from perf.harness import Case, Comparison, Promise, Timed
from releases.parquet import OPTIONS, ROWS_PER_GROUP, write_table
from releases.source import rows_in_order
from schemas.arrow import arrow_schema
from schemas.benchmarks import benchmark
from schemas.workspace import Workspace

_WANTED = "MEM_07_0421"

# Bytes a hash sees, and how many of its bits are zero at a cut: chunks of 64 KiB, as on the hub.
_WINDOW, _BITS = 32, 16

_LAYOUTS: Mapping[str, Mapping[str, Any]] = {
    "pyarrow, zstd alone": {},
    "ours": OPTIONS,
    "zstd 1": {**OPTIONS, "compression_level": 1},
    "zstd 6": {**OPTIONS, "compression_level": 6},
    "no dictionaries": {**OPTIONS, "use_dictionary": False},
    "no statistics": {**OPTIONS, "write_statistics": False},
    "page index": {**OPTIONS, "write_page_index": True},
    "bloom filter of id": {**OPTIONS, "bloom_filter_options": {"id": {"ndv": ROWS_PER_GROUP, "fpp": 0.01}}},
    "cut by content": {**OPTIONS, "use_content_defined_chunking": True},
    "one row group": {**OPTIONS, "rows": 1 << 20},
    "groups of 100": {**OPTIONS, "rows": 100},
}


def _write_ours(arguments: argparse.Namespace) -> Timed:
    workspace = Workspace(arguments.workspace, "heart")
    # pyarrow imports pandas when it is first given rows of Python: 0.3 s, once in a process.
    import pandas  # type: ignore[import-untyped]
    import pyarrow.parquet

    assert pandas and pyarrow.parquet
    folder = Path(tempfile.mkdtemp(dir=arguments.scratch))

    def timed() -> Mapping[str, Any]:
        write_table(folder, benchmark("heart").table("memories"), rows_in_order(workspace, "memories"))
        return _size(folder)

    return timed


def _write_datasets(arguments: argparse.Namespace) -> Timed:
    source, folder = _one_file(arguments), Path(tempfile.mkdtemp(dir=arguments.scratch))
    import datasets

    datasets.disable_progress_bars()

    def timed() -> Mapping[str, Any]:
        cache = tempfile.mkdtemp(dir=arguments.scratch)
        rows = datasets.load_dataset("json", data_files=str(source), split="train", cache_dir=cache)
        rows.to_parquet(str(folder / "memories.parquet"))
        return _size(folder)

    return timed


def _write_pyarrow(arguments: argparse.Namespace) -> Timed:
    source, folder = _one_file(arguments), Path(tempfile.mkdtemp(dir=arguments.scratch))
    import pyarrow.json
    import pyarrow.parquet

    def timed() -> Mapping[str, Any]:
        table = pyarrow.json.read_json(source, read_options=pyarrow.json.ReadOptions(block_size=1 << 24))
        pyarrow.parquet.write_table(table, folder / "memories.parquet", compression="zstd", row_group_size=1000)
        return _size(folder)

    return timed


def _one_file(arguments: argparse.Namespace) -> Path:
    workspace = Workspace(arguments.workspace, "heart")
    path = Path(tempfile.mkdtemp(dir=arguments.scratch)) / "memories.jsonl"
    with path.open("wb") as out:
        for key in workspace.keys("memories"):
            out.write(workspace.path("memories", key).read_bytes())
    return path


def _size(folder: Path) -> Mapping[str, Any]:
    return {"MB": round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 2)}


def _layout(name: str) -> Case:
    def case(arguments: argparse.Namespace) -> Timed:
        import pyarrow as pa
        import pyarrow.parquet

        rows = list(rows_in_order(Workspace(arguments.workspace, "heart"), "memories"))
        table = pa.Table.from_pylist(rows, schema=arrow_schema(benchmark("heart").table("memories").schema))
        options = dict(_LAYOUTS[name]) or {"compression": "zstd"}
        step = options.pop("rows", ROWS_PER_GROUP)
        folder = Path(tempfile.mkdtemp(dir=arguments.scratch))
        path, following = folder / "memories.parquet", folder / "following.parquet"
        write = functools.partial(pyarrow.parquet.write_table, row_group_size=step, **options)
        write(pa.concat_tables([table.slice(0, 1), table]).combine_chunks(), following)
        write(table, path)
        figures = {**_size_of(path), **_read(path), "new_MB": _new_megabytes(path, following)}

        def timed() -> Mapping[str, Any]:
            write(table, path)
            return figures

        return timed

    return case


def _size_of(path: Path) -> Mapping[str, Any]:
    return {"MB": round(path.stat().st_size / 1e6, 2)}


def _read(path: Path) -> Mapping[str, Any]:
    import duckdb
    import polars as pl
    import pyarrow.dataset
    import pyarrow.parquet

    long, connection = "content_full", duckdb.connect()
    connection.execute("SET threads = 1")
    sql = f"SELECT {long} FROM '{path}' WHERE id = '{_WANTED}'"
    wanted = pyarrow.dataset.field("id") == _WANTED
    readers: Mapping[str, Callable[[], Any]] = {
        "all": lambda: pyarrow.parquet.read_table(path),
        "by_id_duckdb": lambda: connection.execute(sql).fetchall(),
        "by_id_polars": lambda: pl.scan_parquet(path).filter(pl.col("id") == _WANTED).select(long).collect(),
        "by_id_arrow": lambda: pyarrow.dataset.dataset(path).to_table([long], filter=wanted),
        "ages": lambda: pyarrow.parquet.read_table(path, columns=["age"]),
    }
    return {f"{name}_ms": round(min(_cpu(reader) for _ in range(5)) * 1000, 1) for name, reader in readers.items()}


def _cpu(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _new_megabytes(before: Path, after: Path) -> float:
    known = set(_chunks(before.read_bytes()))
    return round(sum(len(chunk) for chunk in _chunks(after.read_bytes()) if chunk not in known) / 1e6, 2)


def _chunks(content: bytes) -> list[bytes]:
    """A file cut where a hash of the bytes before has zeros, so that equal stretches give equal chunks."""
    table = np.random.default_rng(0).integers(0, 1 << 32, 256, dtype=np.uint32)
    values = table[np.frombuffer(content, np.uint8)]
    hashes = np.zeros(len(values) - _WINDOW + 1, np.uint32)
    for place in range(_WINDOW):
        hashes = (hashes << np.uint32(1)) + values[place : place + len(hashes)]
    cuts = (np.flatnonzero(hashes >> np.uint32(32 - _BITS) == 0) + _WINDOW).tolist()
    return [content[start:end] for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True)]


COMPARISONS = (
    Comparison(
        "write",
        {"datasets": _write_datasets, "pyarrow": _write_pyarrow, "ours": _write_ours},
        base="pyarrow",
        promises=(Promise("ours", "pyarrow", 1 / 1.2),),
    ),
    Comparison(
        "layout",
        {name: _layout(name) for name in _LAYOUTS},
        base="pyarrow, zstd alone",
        promises=(Promise("ours", "pyarrow, zstd alone", 1 / 1.2),),
    ),
)
