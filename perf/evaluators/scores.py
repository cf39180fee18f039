"""Score rows: figures with 10,000 resamples, and a million rows read and recomputed.

``figures`` makes the figures of 100,000 rows (seven metrics, 500 personas of ten sessions); ``read`` reads 1,000,000
rows of two judges, checks them and makes all figures again. ``plain`` only decodes the same Parquet columns.

    python -m perf.evaluators.scores
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perf import harness

if TYPE_CHECKING:
    import polars as pl

METRICS = ("emotion", "formality", "knowledge", "reference", "length", "humor", "callback")
PERSONAS, SESSIONS = 500, 10


def made_up(rows: int, judges: int) -> tuple[pl.DataFrame, list[Any]]:
    """About so many score rows, a fifth not applicable, and their metrics."""
    import numpy as np
    import polars as pl

    from evaluators.scoring.metrics import Aggregation, Metric, Scale

    chance = np.random.default_rng(7)
    items = rows // (len(METRICS) * judges)
    number = pl.Series("n", np.arange(items))
    base = pl.DataFrame({"n": number}).select(
        pl.format("turn/{}", "n").alias("item"),
        pl.format("P{}", pl.col("n") % PERSONAS).alias("persona"),
        pl.format("P{}/S{}", pl.col("n") % PERSONAS, pl.col("n") // PERSONAS % SESSIONS).alias("session"),
    )
    frames = []
    for judge in range(judges):
        for metric in METRICS:
            value = pl.Series(chance.integers(1, 6, items).astype(float))
            applies = pl.Series(chance.random(items) >= 0.2)
            frames.append(
                base.select(
                    "item",
                    pl.lit(metric).alias("metric"),
                    pl.lit(f"judge{judge}").alias("judge"),
                    pl.when(applies).then(pl.lit("scored")).otherwise(pl.lit("not_applicable")).alias("state"),
                    pl.when(applies).then(value).alias("value"),
                    pl.lit(None, pl.Float64).alias("planted"),
                    pl.lit(None, pl.String).alias("planted_state"),
                    pl.lit(None, pl.String).alias("reason"),
                    pl.lit("a few words of the turn").alias("evidence"),
                    pl.lit(900).cast(pl.Int64).alias("input_tokens"),
                    pl.lit(40).cast(pl.Int64).alias("output_tokens"),
                    pl.lit(0.001).alias("cost"),
                    pl.struct("persona", "session").alias("groups"),
                )
            )
    how = Aggregation("mean", ("session", "persona"), ("persona",))
    return pl.concat(frames), [Metric(name, "turn", Scale("integers", 1, 5), how) for name in METRICS]


def figures(arguments: argparse.Namespace) -> harness.Timed:
    """Figures of 100,000 rows."""
    import polars as pl

    from evaluators.scoring.score_figures import summary

    frame, metrics = made_up(100_000, 1)
    flat = frame.unnest("groups")
    pl.DataFrame({"a": [1]}).group_by("a").len()

    def timed() -> Mapping[str, Any]:
        made = summary(flat, metrics, 7)
        return {"rows": len(flat), "intervals": sum(len(one["mean"]["intervals"]) for one in made["judged"])}

    return timed


def read(arguments: argparse.Namespace) -> harness.Timed:
    """A million rows read, checked and recomputed."""
    import orjson

    from evaluators.scoring.score_rows import read_scores

    path = Path(arguments.data)
    header = orjson.loads(path.read_bytes())

    def timed() -> Mapping[str, Any]:
        return {"rows": len(read_scores(path, header).frame)}

    return timed


def plain(arguments: argparse.Namespace) -> harness.Timed:
    """The same columns decoded, and nothing checked."""
    import polars as pl

    from evaluators.scoring.score_rows import rows_beside

    path = rows_beside(Path(arguments.data))
    columns = ["item", "metric", "judge", "state", "value", "planted", "planted_state", "reason", "groups"]

    def timed() -> Mapping[str, Any]:
        return {"rows": len(pl.read_parquet(path, columns=columns))}

    return timed


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--data", help=argparse.SUPPRESS)


def main() -> int:
    """Write the rows once, then let the cases take turns."""
    from evaluators.scoring.score_rows import write_scores

    words = sys.argv[1:]
    comparisons = [
        harness.Comparison("a million rows", {"plain": plain, "read": read}, "plain"),
        harness.Comparison("100,000 rows", {"figures": figures}, "figures"),
    ]
    with tempfile.TemporaryDirectory() as root:
        if "--child" not in words and not {"-h", "--help"} & set(words):
            path = Path(root) / "judged.json"
            frame, metrics = made_up(1_000_000, 2)
            judges = sorted(frame["judge"].unique())
            head = {"result_version": 2, "run": {"model": "m", "judges": judges, "seed": 7}, "said": {"model": "m"}}
            write_scores(path, head, metrics, frame)
            words += ["--data", str(path)]
        return harness.main("perf.evaluators.scores", comparisons, words, _arguments)


if __name__ == "__main__":
    raise SystemExit(main())
