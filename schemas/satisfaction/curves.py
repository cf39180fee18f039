"""Known figures of planted raters: how well a judge could do, and how many turns a calibration needs.

Offline judges with planted bias score every turn, and are calibrated with growing numbers of source turns of each
rater. Mean absolute error (and ``qwk``, Cohen's kappa with quadratic weights) of

    raw         the judge's own scores          oracle   calibration that knows each rater's scale
    best        knows rater and turn, and lacks only the rater's noise
    recovered   correlation over raters of the fitted border between 3 and 4 with the planted one

A shorter history is the first turns of each rater by the SHA-256 of the sample id, so shorter ones are part of longer
ones. Everything is offline and the same for the same seed. The card of a release of planted raters shows these figures
(``releases.cards.curves``), and so does

    python -m evaluators.satisfaction.curves persturn@1.0.1
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from schemas.satisfaction.calibration import Calibrated, block_cdf, mean_shift, reference_cdf
from schemas.satisfaction.contingency import metrics
from schemas.satisfaction.ordinal import Population, fit_population, fitted_thresholds, ordinal
from schemas.satisfaction.planted import (
    JUDGES,
    PlantedJudge,
    PlantedTurns,
    best_scores,
    judge_scores,
    oracle_scores,
)
from schemas.satisfaction.turns import SATISFIED, SCORES, SourceTurns, TargetTurns

HISTORIES = (5, 10, 20, 40, None)
"""Source turns of each rater; None: all of them."""

METHODS = ("mean_shift", "block_cdf", "reference_cdf", "ordinal")

COLUMNS = ("raw", *METHODS, "oracle", "best")
"""What is measured of a judge, in the order in which it is shown."""

HARSH = next(judge for judge in JUDGES if judge.name == "harsh")
"""The judge with most bias to undo."""

Ints = npt.NDArray[np.int64]

_BORDER = SATISFIED - SCORES[0] - 1  # the threshold between the last dissatisfied and the first satisfied score
_PLACES = 6
_LEAST_RATERS = 3  # of a correlation over raters


@dataclass(frozen=True)
class _Block:
    """A target task: what a calibration may learn from, what it calibrates, and what its raters have in common."""

    source: SourceTurns
    target: TargetTurns
    population: Population


def curve(turns: PlantedTurns, judge: PlantedJudge, seed: int) -> list[dict[str, Any]]:
    """Mean absolute error of one judge by ``COLUMNS``, and the same as ``qwk``, for each length of history.

    ``recovered`` and kappas are None where they are not defined: too few raters, or scores that do not vary. Figures
    have six decimal places, so that they are printed alike from a manifest and from here.
    """
    raw = judge_scores(turns, judge, seed)
    gold, said = in_order_of_digests(turns.gold_frame()), turns.prediction_frame(raw)
    known = {"raw": raw, "oracle": oracle_scores(turns, raw), "best": best_scores(turns)}
    fixed = {name: _agreement(turns.gold, scores) for name, scores in known.items()}
    rows = []
    for most in HISTORIES:
        blocks = list(_blocks(gold, said, most))
        found = {**fixed, **_calibrated(gold, blocks)}
        rows.append(
            {
                "judge": judge.name,
                "history": most,
                **{name: found[name]["mae"] for name in COLUMNS},
                "qwk": {name: found[name]["qwk"] for name in COLUMNS},
                "recovered": _recovered(turns, blocks),
            }
        )
    return rows


def undone(turns: PlantedTurns, judge: PlantedJudge, seed: int) -> dict[str, float]:
    """Method -> the share of a judge's error that it undoes, of what the oracle undoes; all source turns are used."""
    raw = judge_scores(turns, judge, seed)
    error = _error(turns.gold, raw)
    possible = error - _error(turns.gold, oracle_scores(turns, raw))
    gold = turns.gold_frame()
    found = _calibrated(gold, list(_blocks(gold, turns.prediction_frame(raw), None)))
    return {method: (error - left["mae"]) / possible for method, left in found.items()}


def held_out(turns: PlantedTurns, judge: PlantedJudge, seed: int, train: Collection[str]) -> dict[str, Any]:
    """Errors on the raters that do not train; thresholds of the population come from those that do."""
    raw = judge_scores(turns, judge, seed)
    gold, said = turns.gold_frame(), turns.prediction_frame(raw)
    known = pl.col("rater").is_in(pl.Series(sorted(train)).implode())
    learned, judged = gold.filter(known), gold.filter(~known)
    found: dict[str, list[pl.DataFrame]] = {"reference_cdf": [], "ordinal": []}
    for task in gold["task"].unique().sort():
        population = fit_population(SourceTurns.of(learned, task, said))
        own = judged.filter(pl.col("task") == task).select("sample_id")
        source = SourceTurns.of(judged, task, said)
        target = TargetTurns(task, said.join(own, on="sample_id", how="semi", maintain_order="left"))
        for made in (reference_cdf(source, target, target), ordinal(source, target, population)):
            found[made.method].append(made.frame.select("sample_id", "score"))
    others = np.array([name not in train for name in turns.raters])[turns.rater]
    fixed = {"raw": raw, "oracle": oracle_scores(turns, raw), "best": best_scores(turns)}
    return {
        "judge": judge.name,
        "raters": len(turns.raters) - len(train),
        **{name: _error(turns.gold[others], scores[others]) for name, scores in fixed.items()},
        **{name: _agreement_of(judged, parts)["mae"] for name, parts in found.items()},
    }


def in_order_of_digests(gold: pl.DataFrame) -> pl.DataFrame:
    """Gold by rater, the turns of each by the SHA-256 of their sample id."""
    keys = [hashlib.sha256(name.encode()).hexdigest() for name in gold["sample_id"]]
    return gold.with_columns(key=pl.Series(keys, dtype=pl.String)).sort("rater", "key").drop("key")


def shortened(gold: pl.DataFrame, task: str, most: int | None) -> pl.DataFrame:
    """The source turns of a target task, at most ``most`` of each rater: the first in the order of ``gold``."""
    source = gold.filter(pl.col("task") != task)
    return source if most is None else source.filter(pl.int_range(pl.len()).over("rater") < most)


def _blocks(gold: pl.DataFrame, said: pl.DataFrame, most: int | None) -> Iterator[_Block]:
    """Each task with at most ``most`` source turns of each rater from the others."""
    for task in gold["task"].unique().sort():
        source = SourceTurns.of(shortened(gold, task, most), task, said)
        own = gold.filter(pl.col("task") == task).select("sample_id")
        target = TargetTurns(task, said.join(own, on="sample_id", how="semi", maintain_order="left"))
        yield _Block(source, target, fit_population(source))


def _calibrated(gold: pl.DataFrame, blocks: Sequence[_Block]) -> dict[str, dict[str, Any]]:
    """Method -> agreement of the calibrated scores with gold."""
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in METHODS}
    for block in blocks:
        for made in _calibrations(block):
            found[made.method].append(made.frame.select("sample_id", "score"))
    return {name: _agreement_of(gold, parts) for name, parts in found.items()}


def _calibrations(block: _Block) -> Iterator[Calibrated]:
    yield mean_shift(block.source, block.target)
    yield block_cdf(block.source, block.target)
    yield reference_cdf(block.source, block.target, block.target)
    yield ordinal(block.source, block.target, block.population)


def _recovered(turns: PlantedTurns, blocks: Sequence[_Block]) -> float | None:
    """How well the ordinal model finds each rater's border of satisfaction, on average over target tasks."""
    planted = dict(zip(turns.raters, turns.thresholds[:, _BORDER] - turns.leniency, strict=True))
    found = []
    for block in blocks:
        raters, fitted = fitted_thresholds(block.source, block.population)
        both = np.array([[planted[name] for name in raters], fitted[:, _BORDER]])
        if len(raters) < _LEAST_RATERS or not np.ptp(both, axis=1).all():
            return None
        found.append(np.corrcoef(both)[0, 1])
    return round(float(np.mean(found)), _PLACES)


def _agreement_of(gold: pl.DataFrame, parts: Sequence[pl.DataFrame]) -> dict[str, Any]:
    both = gold.join(pl.concat(parts), on="sample_id")
    return _agreement(both["gold"].to_numpy(), both["score"].to_numpy())


def _agreement(gold: Ints, scores: Ints) -> dict[str, Any]:
    """``mae`` and ``qwk`` of scores; the latter is None where it is not defined."""
    size = len(SCORES)
    cells = (gold - SCORES[0]) * size + scores - SCORES[0]
    table = np.bincount(cells, minlength=size * size).reshape(1, size, size).astype(np.float64)
    found = {name: float(values[0]) for name, values in metrics(table).items()}
    kappa = None if np.isnan(found["qwk"]) else round(found["qwk"], _PLACES)
    return {"mae": round(found["mae"], _PLACES), "qwk": kappa}


def _error(gold: Ints, scores: Ints) -> float:
    return float(np.abs(scores - gold).mean())
