"""Predictions from score history alone: what a judge has to beat before its reading of the text counts.

PersTurnBench appendix D and the released code. Global and task figures come from the raters that train, a rater's own
from ``SourceTurns``; a rater without history gets the figures of the training raters. Means round half up, ties of a
majority go to the lower score. ``cdf_hash`` gives the turns of a block the quantiles of the rater's history in the
order of the SHA-1 of their sample ids: the right distribution, without any judgement.

    global_mean global_majority task_mean task_majority
    rater_mean rater_median rater_majority rater_cdf_hash
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median

import polars as pl

from schemas.errors import RequestError
from schemas.satisfaction.turns import SCORES, SourceTurns

BASELINES = (
    "global_mean", "global_majority", "task_mean", "task_majority",
    "rater_mean", "rater_median", "rater_majority", "rater_cdf_hash",
)  # fmt: skip


def history_predictions(source: SourceTurns, target: pl.DataFrame, train: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Predictions of every baseline for the turns ``target`` (``sample_id``, ``rater``) of the source's target task.

    ``train`` is the gold of the training raters, all tasks (``turns.GOLD``). Raises RequestError where it is empty.
    """
    everything = train["gold"].to_list()
    if not everything:
        raise RequestError("no training turns", "ratings", fix="Draw a split first")
    family = train.filter(pl.col("task") == source.task)["gold"].to_list() or everything
    grouped = source.frame.group_by("rater", maintain_order=True).agg("gold")
    history: dict[str, list[int]] = dict(grouped.iter_rows())
    own = [history.get(rater) or everything for rater in target["rater"]]
    quantiles = hash_quantiles(target)
    drawn = [inverse_quantile(scores, q) for scores, q in zip(own, quantiles, strict=True)]
    found = {
        "global_mean": [rounded_mean(everything)] * target.height,
        "global_majority": [majority(everything)] * target.height,
        "task_mean": [rounded_mean(family)] * target.height,
        "task_majority": [majority(family)] * target.height,
        "rater_mean": _each(own, rounded_mean),
        "rater_median": _each(own, lambda scores: half_up(2 * int(2 * median(scores)), 4)),
        "rater_majority": _each(own, majority),
        "rater_cdf_hash": drawn,
    }
    return {name: target.select("sample_id", "rater", pl.Series("prediction", found[name])) for name in BASELINES}


def half_up(numerator: int, denominator: int) -> int:
    """A positive fraction rounded to a whole number, halves up, cut to 1 to 5."""
    return min(max((2 * numerator + denominator) // (2 * denominator), SCORES[0]), SCORES[-1])


def rounded_mean(scores: Sequence[int]) -> int:
    """The mean, rounded half up."""
    return half_up(sum(scores), len(scores))


def majority(scores: Sequence[int]) -> int:
    """The most frequent score; of several the lowest."""
    counts = Counter(scores)
    return min(counts, key=lambda score: (-counts[score], score))


def hash_quantiles(target: pl.DataFrame) -> list[float]:
    """(place + 1/2)/n of each turn in its rater's block, places by the SHA-1 of the sample id."""
    names, raters = target["sample_id"].to_list(), target["rater"].to_list()
    blocks: dict[str, list[tuple[str, int]]] = {}
    for place, (name, rater) in enumerate(zip(names, raters, strict=True)):
        blocks.setdefault(rater, []).append((hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest(), place))
    quantiles = [0.0] * len(names)
    for block in blocks.values():
        for rank, (_, place) in enumerate(sorted(block)):
            quantiles[place] = (rank + 0.5) / len(block)
    return quantiles


def inverse_quantile(scores: Sequence[int], quantile: float) -> int:
    """The published inverse of this baseline: the sorted history at floor(q n). Calibration's is another one."""
    ordered = sorted(scores)
    return ordered[min(math.floor(quantile * len(ordered)), len(ordered) - 1)]


def _each(histories: Sequence[Sequence[int]], figure: Callable[[Sequence[int]], int]) -> list[int]:
    known: Mapping[int, int] = {id(scores): figure(scores) for scores in histories}
    return [known[id(scores)] for scores in histories]
