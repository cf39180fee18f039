"""Calibration and meta-evaluation: ours with all intervals against the published form, one row at a time.

Both get the same gold and predictions of generated raters in memory. The base calibrates block by block over lists
with sorting and scikit-learn and SciPy for the metrics, as the published evaluation does, without any interval. Ours
calibrates four ways (mean shift, block CDF, reference CDF, ordinal) and gives every metric of all four with
1,000 bootstrap draws. Both print the mean absolute error of block CDF: it has to be the same.

    python -m perf.evaluators.calibration
    python -m perf.evaluators.calibration --only large --repeat 1      a million rated turns; watch the memory column
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import polars as pl

from perf import harness

_TASKS = ("travel", "gift", "recipe", "skill")
_TURNS_EACH = 80  # of a rater
_SEED = 7


def generated(turns: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Gold and predictions of so many turns: raters with a leniency, a judge that sees quality."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    place = np.arange(turns)
    rater, task = place // _TURNS_EACH, (place % _TURNS_EACH) * len(_TASKS) // _TURNS_EACH
    quality, leniency = rng.normal(size=turns), rng.normal(scale=0.6, size=turns // _TURNS_EACH + 1)
    gold = np.digitize(quality + leniency[rater] + rng.normal(scale=0.5, size=turns), [-2.2, -1.6, -1.0, 0.1]) + 1
    said = np.digitize(quality - 0.8 + rng.normal(scale=0.5, size=turns), [-2.2, -1.6, -1.0, 0.1]) + 1
    frame = pl.DataFrame({"place": place, "number": rater, "kind": task, "gold": gold, "prediction": said})
    names = frame.select(
        pl.format("U{}__{}__0.json__turn_{}", "number", "kind", "place").alias("sample_id"),
        pl.format("U{}", "number").alias("rater"),
        pl.lit(pl.Series(_TASKS)).gather(pl.col("kind")).alias("task"),
        "gold",
        "prediction",
    )
    return names.select("sample_id", "rater", "task", "gold"), names.select("sample_id", "rater", "prediction")


def ours(turns: int) -> harness.Case:
    """Four calibrations, all metrics, 1,000 draws each."""

    def prepared(_: argparse.Namespace) -> harness.Timed:
        from evaluators.satisfaction.metrics import evaluate, matched, rater_draws
        from schemas.satisfaction.calibration import block_cdf, mean_shift, reference_cdf
        from schemas.satisfaction.ordinal import ordinal
        from schemas.satisfaction.turns import SourceTurns, TargetTurns

        gold, said = generated(turns)

        def timed() -> Mapping[str, object]:
            found = defaultdict(list)
            for task in _TASKS:
                own = gold.filter(pl.col("task") == task).select("sample_id")
                source = SourceTurns.of(gold, task, said)
                target = TargetTurns(task, said.join(own, on="sample_id", how="semi"))
                for made in (
                    mean_shift(source, target),
                    block_cdf(source, target),
                    reference_cdf(source, target, target),
                    ordinal(source, target),
                ):
                    found[made.method].append(made.frame.select("sample_id", "rater", "score"))
            both = {
                name: matched(gold, pl.concat(parts).rename({"score": "prediction"})) for name, parts in found.items()
            }
            draws = rater_draws(both["block_cdf"], _SEED)
            evaluated = {name: evaluate(turns_of, draws) for name, turns_of in both.items()}
            mae = evaluated["block_cdf"].metrics["mae"].value or 0.0
            return {"turns": turns, "mae": round(mae, 6)}

        return timed

    return prepared


def published(turns: int) -> harness.Case:
    """Block CDF over lists, then scikit-learn and SciPy, over all turns and rater by rater; no intervals."""

    def prepared(_: argparse.Namespace) -> harness.Timed:
        from scipy.stats import pearsonr, spearmanr
        from sklearn.metrics import cohen_kappa_score, f1_score, mean_absolute_error, roc_auc_score

        gold, said = generated(turns)
        rows = gold.join(said.select("sample_id", "prediction"), on="sample_id").rows(named=True)

        def timed() -> Mapping[str, object]:
            scored = _block_cdf_over_lists(rows)
            one, two = [row["gold"] for row in rows], [scored[row["sample_id"]] for row in rows]
            low, called = [score <= 3 for score in one], [score <= 3 for score in two]
            pearsonr(one, two), spearmanr(one, two), cohen_kappa_score(one, two, weights="quadratic")
            f1_score(low, called), roc_auc_score(low, [-score for score in two])
            by_rater = defaultdict(list)
            for row in rows:
                by_rater[row["rater"]].append((row["gold"], scored[row["sample_id"]]))
            for pairs in by_rater.values():
                own, theirs = zip(*pairs, strict=True)
                if len(set(own)) > 1 and len(set(theirs)) > 1:
                    pearsonr(own, theirs), spearmanr(own, theirs)
            return {"turns": turns, "mae": round(float(mean_absolute_error(one, two)), 6)}

        return timed

    return prepared


def _block_cdf_over_lists(rows: list[dict[str, Any]]) -> dict[str, int]:
    blocks: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    history: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in rows:
        blocks[row["rater"], row["task"]].append(row)
        for task in _TASKS:
            if task != row["task"]:
                history[row["rater"], task].append(row["gold"])
    scored: dict[str, int] = {}
    for key, block in blocks.items():
        past = sorted(history[key])
        for rank, row in enumerate(sorted(block, key=lambda each: (each["prediction"], each["sample_id"]))):
            place = -((-(2 * rank + 1) * len(past)) // (2 * len(block))) - 1
            scored[row["sample_id"]] = past[place]
    return scored


SMALL, LARGE = 10_000, 1_000_000

COMPARISONS = (
    harness.Comparison(
        "small",
        {"published form, no intervals": published(SMALL), "ours, 1,000 draws": ours(SMALL)},
        base="published form, no intervals",
    ),
    harness.Comparison(
        "large",
        {"published form, no intervals": published(LARGE), "ours, 1,000 draws": ours(LARGE)},
        base="published form, no intervals",
        promises=(harness.Promise("ours, 1,000 draws", "published form, no intervals", 0.25),),
    ),
)


if __name__ == "__main__":
    raise SystemExit(harness.main("perf.evaluators.calibration", COMPARISONS))
