"""How well judges agree with raters: figures of each judge under every calibration, ranks, gain by memory.

PersTurnBench 4.1 to 4.4. Pure: entries, gold and baselines in, figures out. All judges are measured on the evaluated
raters' turns; raw and calibrated figures stand side by side for every judge, generic ones too, so that like is
compared with like. Ranks and gains compare judges turn by turn on the turns that both scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from evaluators.satisfaction import calibrating
from evaluators.satisfaction.calibrating import METHODS, Raters, calibrate
from evaluators.satisfaction.judged_turns import Entry
from evaluators.satisfaction.metrics import Evaluation, evaluate, matched, rater_draws
from evaluators.satisfaction.per_rater import gains
from evaluators.scoring.ranking import ranks_of
from evaluators.scoring.resampling import ClusterDraws, Estimate
from schemas.satisfaction.calibration import Ties

RAW = "raw"


@dataclass(frozen=True)
class Choices:
    """What is the same for all judges: the calibration of the headline, how ties are ranked, the seed of intervals."""

    calibration: str
    ties: Ties
    seed: int


@dataclass(frozen=True)
class Evaluated:
    """An entry's figures, and its scores by calibration in the form of ``turns.PREDICTIONS``."""

    entry: Entry
    figures: dict[str, Any]
    scores: Mapping[str, pl.DataFrame]


def evaluated(entry: Entry, raters: Raters, choices: Choices) -> Evaluated:
    """Figures of one judge under every calibration. Raises RequestError where none of its turns has gold."""
    assert entry.originals is not None
    target = entry.originals.frame.filter(pl.col("rater").is_in(sorted(raters.evaluated)))
    figures, scores = {}, {}
    for method in METHODS:
        parts = calibrate(method, entry, raters, target, choices.ties)
        scores[method] = calibrating.predictions_of(parts)
        figures[method] = {
            "parameters": dict(calibrating.parameters(parts)),
            "fallbacks": calibrating.fallbacks(parts),
            **agreement(raters.judged, scores[method], choices.seed),
        }
    shown = dict.fromkeys((RAW, choices.calibration, "ordinal"))
    about = {
        "judge": entry.judge,
        "metric": entry.metric,
        "remembers": entry.remembers,
        "states": dict(entry.originals.states),
        "methods": figures,
        "reliability": {name: reliability(raters.judged, scores[name]) for name in shown},
        "scales": scales(raters.judged, {name: scores[name] for name in shown}),
    }
    return Evaluated(entry, about, scores)


def agreement(gold: pl.DataFrame, scores: pl.DataFrame, seed: int) -> dict[str, Any]:
    """All metrics of scores with both intervals, and what was counted."""
    turns = matched(gold, scores)
    return _told(evaluate(turns, rater_draws(turns, seed)))


def reliability(gold: pl.DataFrame, scores: pl.DataFrame) -> list[dict[str, Any]]:
    """Of each score that was given: how often, and the mean gold of those turns."""
    both = gold.join(scores.select("sample_id", "prediction"), on="sample_id")
    grouped = both.group_by("prediction").agg(turns=pl.len(), gold=pl.col("gold").sum() / pl.len()).sort("prediction")
    return grouped.rename({"prediction": "score"}).rows(named=True)


def scales(gold: pl.DataFrame, scores: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """Of each rater the mean gold, and the mean score under each calibration, over the turns that have one."""
    made = gold.group_by("rater").agg(turns=pl.len(), gold=pl.col("gold").sum() / pl.len())
    for name, frame in scores.items():
        own = frame.group_by("rater").agg((pl.col("prediction").sum() / pl.len()).alias(name))
        made = made.join(own, on="rater", how="left")
    return made.sort("rater").rows(named=True)


def ranking(
    judged: Sequence[Evaluated], baselines: Mapping[str, pl.DataFrame], gold: pl.DataFrame, choices: Choices
) -> list[dict[str, Any]]:
    """Judges under the headline calibration and baselines by rank, then mean absolute error, smallest first.

    Two whose paired difference has 0 in its 95 % interval over raters share what they are not told from.
    """
    errors = {one.entry.name: _errors(gold, one.scores[choices.calibration]) for one in judged}
    errors |= {f"baseline {name}": _errors(gold, frame) for name, frame in baselines.items()}
    ranks = ranks_of(errors, "mean absolute error", choices.seed)
    made = []
    for one in sorted(ranks, key=lambda one: one.rank):
        frame = errors[one.name]
        (bounds,) = _means(frame, choices.seed)
        made.append(
            {
                "name": one.name, "rank": one.rank, "tied": list(one.tied), "mae": -one.value,
                "low": None if bounds.high is None else -bounds.high,
                "high": None if bounds.low is None else -bounds.low,
                "turns": len(frame), "baseline": one.name.startswith("baseline "),
            }
        )  # fmt: skip
    return made


def personalization(
    judged: Sequence[Evaluated], gold: pl.DataFrame, base: str, choices: Choices
) -> list[dict[str, Any]]:
    """Gain of every rubric over ``base`` with the same judge: mean absolute error without minus with, by rater too."""
    bases = {one.entry.judge: one for one in judged if one.entry.metric == base}
    return [
        {
            "judge": one.entry.judge, "metric": one.entry.metric, "base": base, "calibration": method,
            **_gain(bases[one.entry.judge].scores[method], one.scores[method], gold, choices.seed),
        }
        for one in judged
        if one.entry.metric != base and one.entry.judge in bases
        for method in dict.fromkeys((RAW, choices.calibration))
    ]  # fmt: skip


def _gain(base: pl.DataFrame, memory: pl.DataFrame, gold: pl.DataFrame, seed: int) -> dict[str, Any]:
    common = gold.join(base, on="sample_id", how="semi").join(memory, on="sample_id", how="semi")
    if not common.height:
        return {"turns": 0, "gain": None, "low": None, "high": None, "pu_gain": None, "gaining": None, "raters": []}
    without, with_memory = (matched(common, scores) for scores in (base, memory))
    found = gains(without.counts, with_memory.counts)
    first, second = (_errors(common, scores) for scores in (base, memory))
    both = first.join(second, on="unit").select("unit", "cluster", value=pl.col("value_right") - pl.col("value"))
    (bounds,) = _means(both, seed)
    own = both.group_by("cluster").agg(gain=pl.col("value").mean()).sort("cluster")
    return {
        "turns": common.height, **found, "low": bounds.low, "high": bounds.high,
        "raters": [{"rater": rater, "gain": gain} for rater, gain in own.rows()],
    }  # fmt: skip


def _errors(gold: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Minus the absolute error of each turn (higher is better), by rater."""
    both = gold.join(scores.select("sample_id", "prediction"), on="sample_id", maintain_order="left")
    apart = (pl.col("gold") - pl.col("prediction")).abs().cast(pl.Float64)
    return both.select(pl.col("sample_id").alias("unit"), pl.col("rater").alias("cluster"), value=-apart)


def _means(frame: pl.DataFrame, seed: int) -> list[Estimate]:
    grouped = frame.group_by("cluster").agg(pl.col("value").sum(), pl.len().alias("turns")).sort("cluster")
    sums, turns = grouped["value"].to_numpy(), grouped["turns"].to_numpy().astype(np.float64)
    return ClusterDraws(len(grouped), seed, "raters").means(sums[:, None], turns[:, None])


def _told(found: Evaluation) -> dict[str, Any]:
    return {
        "turns": found.turns,
        "raters": found.raters,
        "without_prediction": found.without_prediction,
        "without_gold": found.without_gold,
        "skipped": dict(found.skipped),
        "metrics": dict(_metrics(found)),
        "undefined": dict(found.undefined),
    }


def _metrics(found: Evaluation) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, one in found.metrics.items():
        published = found.published[name]
        yield name, {**asdict(one), "published": None if published is None else list(published)}
