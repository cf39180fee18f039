"""Agreement metrics of tables of counts: gold score by predicted score, many tables at once.

A table is (5, 5), rows gold, columns predicted; functions take (tables, 5, 5) and give one value a table, NaN where
it is not defined. PersTurnBench 4.1 and appendix C; each is tested against scikit-learn and SciPy on random scores.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schemas.satisfaction.turns import SATISFIED, SCORES

Floats = npt.NDArray[np.float64]

LABELS = np.array(SCORES, np.float64)
_BELOW = SATISFIED - SCORES[0]  # rows and columns of dissatisfied scores
_APART = np.subtract.outer(LABELS, LABELS)


def metrics(tables: Floats) -> dict[str, Floats]:
    """All metrics of each table."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return {**errors(tables), **correlations(tables), **exact(tables), **boundary(tables)}


def errors(tables: Floats) -> dict[str, Floats]:
    """Mean absolute error, root mean squared error, and mean of predicted minus gold (``bias``)."""
    totals = tables.sum(axis=(1, 2))
    absolute = (tables * np.abs(_APART)).sum(axis=(1, 2)) / totals
    squared = (tables * _APART**2).sum(axis=(1, 2)) / totals
    return {"mae": absolute, "rmse": np.sqrt(squared), "bias": -(tables * _APART).sum(axis=(1, 2)) / totals}


def correlations(tables: Floats) -> dict[str, Floats]:
    """Pearson, Spearman with average ranks, and kappa with quadratic weights over the labels 1 to 5."""
    gold, predicted = tables.sum(axis=2), tables.sum(axis=1)
    labels = np.broadcast_to(LABELS, gold.shape)
    return {
        "pearson": _correlation(tables, labels, labels),
        "spearman": _correlation(tables, _ranks(gold), _ranks(predicted)),
        "qwk": _weighted_kappa(tables, _APART**2 / (len(SCORES) - 1) ** 2),
    }


def exact(tables: Floats) -> dict[str, Floats]:
    """Share of equal scores, and Cohen's kappa of them."""
    same = np.trace(tables, axis1=1, axis2=2) / tables.sum(axis=(1, 2))
    return {"accuracy": same, "kappa": _weighted_kappa(tables, (_APART != 0).astype(np.float64))}


def boundary(tables: Floats) -> dict[str, Floats]:
    """Satisfied against not: precision, recall and F1 of the dissatisfied class, error rates, kappa and AUC."""
    hit = tables[:, :_BELOW, :_BELOW].sum(axis=(1, 2))
    missed = tables[:, :_BELOW, _BELOW:].sum(axis=(1, 2))
    alarm = tables[:, _BELOW:, :_BELOW].sum(axis=(1, 2))
    right = tables[:, _BELOW:, _BELOW:].sum(axis=(1, 2))
    binary = np.stack([np.stack([hit, missed], axis=1), np.stack([alarm, right], axis=1)], axis=1)
    return {
        "precision_dsat": hit / (hit + alarm),
        "recall_dsat": hit / (hit + missed),
        "f1_dsat": 2 * hit / (2 * hit + missed + alarm),
        "f1_sat": 2 * right / (2 * right + missed + alarm),
        "false_sat": missed / (hit + missed),
        "false_dsat": alarm / (alarm + right),
        "binary_kappa": _weighted_kappa(binary, 1.0 - np.eye(2)),
        "auc": _auc(tables[:, _BELOW:].sum(axis=1), tables[:, :_BELOW].sum(axis=1)),
    }


def why_undefined(name: str, table: Floats) -> str:
    """Why a metric of one table, (5, 5), has no value."""
    gold, predicted = table.sum(axis=1) > 0, table.sum(axis=0) > 0
    if gold[:_BELOW].sum() == 0 and any(part in name for part in ("sat", "auc", "binary")):
        return "no dissatisfied gold turn"
    if gold[_BELOW:].sum() == 0 and any(part in name for part in ("sat", "auc", "binary")):
        return "no satisfied gold turn"
    if name == "precision_dsat" and predicted[:_BELOW].sum() == 0:
        return "no dissatisfied prediction"
    if gold.sum() < 2:
        return "gold is constant"
    if predicted.sum() < 2:
        return "predictions are constant"
    return "no rater with enough turns and variance"


def _correlation(tables: Floats, rows: Floats, columns: Floats) -> Floats:
    """Pearson's correlation of values that stand for rows and columns, (tables, 5) each."""
    totals = tables.sum(axis=(1, 2))
    gold, predicted = tables.sum(axis=2), tables.sum(axis=1)
    one = rows - ((gold * rows).sum(axis=1) / totals)[:, None]
    two = columns - ((predicted * columns).sum(axis=1) / totals)[:, None]
    across = np.einsum("tij,ti,tj->t", tables, one, two)
    spread = (gold * one**2).sum(axis=1) * (predicted * two**2).sum(axis=1)
    varies = ((gold > 0).sum(axis=1) > 1) & ((predicted > 0).sum(axis=1) > 1)
    return np.where(varies, across / np.sqrt(spread), np.nan)


def _ranks(counts: Floats) -> Floats:
    """The average rank of each score, (tables, 5)."""
    return np.asarray(np.cumsum(counts, axis=1) - counts / 2 + 0.5)


def _weighted_kappa(tables: Floats, weights: Floats) -> Floats:
    """1 - observed disagreement / disagreement of independent margins; NaN where the latter is zero."""
    totals = tables.sum(axis=(1, 2))
    chance = np.einsum("ti,tj,ij->t", tables.sum(axis=2), tables.sum(axis=1), weights) / totals
    return np.where(chance > 0, 1 - (tables * weights).sum(axis=(1, 2)) / chance, np.nan)


def _auc(positive: Floats, negative: Floats) -> Floats:
    """The chance that a satisfied turn is predicted above a dissatisfied one, ties one half; (tables, 5) each."""
    lower = np.cumsum(negative, axis=1) - negative
    above = (positive * (lower + negative / 2)).sum(axis=1)
    return np.asarray(above / (positive.sum(axis=1) * negative.sum(axis=1)))
