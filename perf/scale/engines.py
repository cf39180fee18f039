"""The audit of one table by candidates for the engine: processes, Ray's tasks, Ray Data, Daft, Daft on Ray.

The same function of a batch of memories (every audit of single rows), the same Parquet files; what differs is who
calls it. Printed are seconds, rows and findings, after everything was imported and the engine had started. The
candidates that were not chosen need an environment of their own: Daft 0.7 wants pyarrow below 26.

    python -m perf.scale.engines FOLDER --rows 2000 --candidates local ray
    pip install 'daft<0.8' 'ray[data]'; python -m perf.scale.engines FOLDER --candidates ray_data daft
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.command import whole_number
from schemas.engines.choice import engine
from schemas.engines.shards import Shard, shards_of

_FROM = Path("releases/frozen/heart/1.0.0/memories/test-00000-of-00001.parquet")
_FILES = 8


def prepare(folder: Path, rows: int) -> None:
    """So many memories of heart@1.0.0 in a few files."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = pq.read_table(_FROM).slice(0, rows)
    each = -(-rows // _FILES)
    for number in range(_FILES):
        pq.write_table(whole.slice(number * each, each), folder / f"{number:02d}.parquet", row_group_size=each)


def found(rows: Sequence[dict[str, Any]]) -> int:
    """How many findings the rows have by themselves."""
    from audits.codes import select
    from audits.table_audit import judge
    from schemas.benchmarks import benchmark

    table = benchmark("heart").table("memories")
    return len(judge(table, select(table, None, {}), {}, {}, rows, 0))


def of_shard(shard: Shard) -> int:
    """As ``found``, of a part of the files."""
    return found(shard.read())


def own(name: str) -> Callable[[Path], int]:
    """One of our engines."""

    def run(folder: Path) -> int:
        return sum(engine(name, os.cpu_count() or 1).map(of_shard, shards_of(folder)))

    return run


def ray_data(folder: Path) -> int:
    """``map_batches`` of Ray Data."""
    import ray

    def batch(table: pa.Table) -> pa.Table:
        return pa.table({"findings": [found(table.to_pylist())]})

    read = ray.data.read_parquet(str(folder), override_num_blocks=_FILES)
    return int(read.map_batches(batch, batch_format="pyarrow", batch_size=None).sum("findings"))


def daft(folder: Path) -> int:
    """A batch function of Daft in processes of its own."""
    import daft as library

    @library.func.batch(return_dtype=library.DataType.int64(), use_process=True)  # type: ignore[untyped-decorator]
    def batch(rows: Any) -> Any:
        made = rows.to_pylist()
        return library.Series.from_pylist([found(made)] + [0] * (len(made) - 1))

    frame = library.read_parquet(f"{folder}/*.parquet")
    columns = [library.col(name) for name in frame.column_names]
    judged = frame.into_batches(250).select(batch(library.functions.to_struct(*columns)).alias("findings"))
    return int(judged.sum("findings").to_pydict()["findings"][0])


def daft_on_ray(folder: Path) -> int:
    """The same on Ray."""
    import daft as library

    library.set_runner_ray()
    return daft(folder)


CANDIDATES = {
    "local": own("local"),
    "ray": own("ray"),
    "ray_data": ray_data,
    "daft": daft,
    "daft_on_ray": daft_on_ray,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the candidates one after the other, each twice: the second time everything has started."""
    made = argparse.ArgumentParser(prog="python -m perf.scale.engines", description=__doc__)
    made.add_argument("folder", type=Path)
    made.add_argument("--rows", type=whole_number(1, 11_000), default=2_000)
    made.add_argument("--candidates", choices=CANDIDATES, nargs="+", default=["local", "ray"])
    arguments = made.parse_args(argv)
    prepare(arguments.folder, arguments.rows)
    for name in arguments.candidates:
        for run in ("first", "second"):
            started = time.monotonic()
            count = CANDIDATES[name](arguments.folder)
            seconds = round(time.monotonic() - started, 1)
            print(json.dumps({"candidate": name, "run": run, "seconds": seconds, "findings": count}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
