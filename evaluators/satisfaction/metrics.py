"""Meta-evaluation: how well a judge's scores agree with what raters said, turn by turn.

PersTurnBench 4.1 and appendix C. Scores are whole numbers from 1 to 5 on both sides, so everything but the centred
rank correlation follows from one table of counts a rater, (raters, 5 gold, 5 predicted). A bootstrap draw is a weight
for each rater, and a thousand draws are one matrix product.

    mae rmse pearson spearman qwk               on the 1 to 5 scale
    accuracy kappa                              of the exact score, unweighted
    f1_dsat precision_dsat recall_dsat          of the dissatisfied class (score of 3 or less)
    false_sat false_dsat                        equations (14) and (15)
    binary_kappa auc                            of satisfied against not; auc ranks by the predicted score
    pu_*                                        of each rater, averaged with the number of turns as weights;
                                                correlations through Fisher's z, raters with fewer than 3 turns or
                                                without variance left out and counted
    centred_*                                   after each rater's own means are taken away (equation 16)

A value that is not defined is None, with the reason beside it; nothing is counted as zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluators.satisfaction import per_rater
from evaluators.satisfaction.published_bootstrap import published_bounds, published_counts
from evaluators.scoring.resampling import ClusterDraws, Estimate, estimate
from schemas.errors import RequestError
from schemas.satisfaction import contingency
from schemas.satisfaction.contingency import Floats
from schemas.satisfaction.turns import GOLD, PREDICTIONS, SCORES

DRAWS = 1_000


@dataclass(frozen=True)
class Matched:
    """Predictions and gold of the same turns, matched by sample id.

    ``without_prediction`` and ``without_gold`` count what had no partner; ``rater`` numbers ``raters``.
    """

    raters: tuple[str, ...]
    rater: npt.NDArray[np.int64]
    gold: npt.NDArray[np.int64]
    predicted: npt.NDArray[np.int64]
    without_prediction: int
    without_gold: int

    @property
    def counts(self) -> Floats:
        """Turns by rater, gold and predicted score: (raters, 5, 5)."""
        shape = (len(self.raters), len(SCORES), len(SCORES))
        cells = np.ravel_multi_index((self.rater, self.gold - SCORES[0], self.predicted - SCORES[0]), shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


@dataclass(frozen=True)
class Evaluation:
    """Metrics by name with their 95 % intervals over raters; why a metric is undefined; and what was counted.

    ``published`` has the intervals of the published bootstrap, None where a draw of it has no value.
    """

    metrics: Mapping[str, Estimate]
    published: Mapping[str, tuple[float, float] | None]
    undefined: Mapping[str, str]
    turns: int
    raters: int
    without_prediction: int
    without_gold: int
    skipped: Mapping[str, int]


def matched(gold: pl.DataFrame, predictions: pl.DataFrame) -> Matched:
    """Gold (``turns.GOLD``) beside predictions (``turns.PREDICTIONS``) of the same turns.

    Raises RequestError for repeated sample ids, scores outside 1 to 5, and where no turn has both.
    """
    from schemas.satisfaction.turns import gold_turns, prediction_turns

    known, said = gold_turns(gold.select(GOLD.keys())), prediction_turns(predictions.select(PREDICTIONS.keys()))
    both = known.join(said.select("sample_id", "prediction"), on="sample_id", how="inner", maintain_order="left")
    if not both.height:
        raise RequestError(
            "no turn with gold and prediction", "predictions", expected=f"sample ids such as {_first(known)}",
            fix="Check that both come from the same release",
        )  # fmt: skip
    raters = both["rater"].unique().sort()
    codes = both["rater"].cast(pl.Enum(raters)).to_physical().to_numpy().astype(np.int64)
    return Matched(
        tuple(raters.to_list()),
        codes,
        both["gold"].to_numpy(),
        both["prediction"].to_numpy(),
        known.height - both.height,
        said.height - both.height,
    )


def rater_draws(turns: Matched, seed: int, resamples: int = DRAWS) -> ClusterDraws:
    """Draws of the raters of these turns: one set for all judges of the same raters, which compare in pairs then."""
    return ClusterDraws(len(turns.raters), seed, "raters", resamples)


def evaluate(turns: Matched, draws: ClusterDraws) -> Evaluation:
    """Every metric with its interval over raters. Raises ValueError for draws of another number of raters."""
    if draws.clusters != len(turns.raters):
        raise ValueError(f"draws of {draws.clusters} raters for {len(turns.raters)}")
    counts = turns.counts
    values = _values(counts, np.ones((1, len(turns.raters))))
    drawn = _values(counts, draws.counts)
    as_published = _values(counts, published_counts(len(turns.raters)))
    metrics = {name: estimate(float(value[0]), drawn[name], len(turns.raters)) for name, value in values.items()}
    undefined = {
        name: contingency.why_undefined(name, counts.sum(axis=0))
        for name, each in metrics.items()
        if each.value is None
    }
    published = {name: published_bounds(value) for name, value in as_published.items()}
    return Evaluation(
        metrics, published, undefined, len(turns.gold), len(turns.raters),
        turns.without_prediction, turns.without_gold, per_rater.skipped(counts),
    )  # fmt: skip


def metric_values(turns: Matched) -> dict[str, float | None]:
    """Every metric, without intervals."""
    values = _values(turns.counts, np.ones((1, len(turns.raters))))
    return {name: None if np.isnan(value[0]) else float(value[0]) for name, value in values.items()}


def _values(counts: Floats, weights: Floats) -> dict[str, Floats]:
    """Metrics by name, one value for each row of ``weights`` (how often each rater counts)."""
    cells = len(SCORES) ** 2
    tables = (weights @ counts.reshape(-1, cells)).reshape(-1, len(SCORES), len(SCORES))
    return {
        **contingency.metrics(tables),
        **{f"pu_{name}": value for name, value in per_rater.averages(counts, weights).items()},
        **{f"centred_{name}": value for name, value in per_rater.centred(counts, weights).items()},
    }


def _first(frame: pl.DataFrame) -> str:
    return str(frame["sample_id"][0]) if frame.height else "those of the ratings"
