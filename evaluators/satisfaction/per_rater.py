"""Agreement rater by rater: averaged over raters (``pu_``) and after each rater's mean is taken away.

Rules of the published evaluation, made exact. Correlations: raters with fewer than 3 turns or without variance on
either side are left out; the others are averaged as Fisher's z, r cut to ±.9999, **weighted by their turns** (not by
turns - 3). Errors: weighted by turns over all raters, so pu_mae equals mae. Kappas and boundary metrics: raters with
fewer than 3 turns or one gold class are left out; a constant prediction gives a kappa of 0. Centred metrics include
every rater; they are undefined where either side does not vary (the published guard looks at one side only).
"""

from __future__ import annotations

import numpy as np

from schemas.satisfaction import contingency
from schemas.satisfaction.contingency import LABELS, Floats
from schemas.satisfaction.turns import SATISFIED, SCORES

_LEAST_TURNS = 3
_MOST_R = 0.9999
_BOUNDARY = ("f1_dsat", "f1_sat", "false_sat", "false_dsat", "binary_kappa", "auc")
_BELOW = SATISFIED - SCORES[0]
_AT_ONCE = 1 << 23  # cells of an intermediate table of resampled ranks


def averages(counts: Floats, weights: Floats) -> dict[str, Floats]:
    """Averages over raters, a value a row of ``weights``; ``counts`` is (raters, 5, 5), ``weights`` (rows, raters)."""
    turns = counts.sum(axis=(1, 2))
    own = contingency.metrics(counts)
    enough, gold, predicted = turns >= _LEAST_TURNS, counts.sum(axis=2) > 0, counts.sum(axis=1) > 0
    varies = enough & (gold.sum(axis=1) > 1) & (predicted.sum(axis=1) > 1)
    both = enough & gold[:, :_BELOW].any(axis=1) & gold[:, _BELOW:].any(axis=1)
    found = {name: _average(own[name], turns, turns > 0, weights) for name in ("mae", "rmse")}
    for name in ("pearson", "spearman"):
        z = np.arctanh(np.clip(np.where(varies, own[name], 0.0), -_MOST_R, _MOST_R))
        found[name] = np.tanh(_average(z, turns, varies, weights))
    for name in ("kappa", "qwk"):
        found[name] = _average(own[name], turns, enough & (gold.sum(axis=1) > 1), weights)
    for name in _BOUNDARY:
        found[name] = _average(own[name], turns, both, weights)
    return found


def skipped(counts: Floats) -> dict[str, int]:
    """How many raters the averages leave out, by reason; a rater may have several."""
    turns = counts.sum(axis=(1, 2))
    gold, predicted = counts.sum(axis=2) > 0, counts.sum(axis=1) > 0
    one_class = ~gold[:, :_BELOW].any(axis=1) | ~gold[:, _BELOW:].any(axis=1)
    return {
        "fewer_than_3_turns": int((turns < _LEAST_TURNS).sum()),
        "constant_gold": int((gold.sum(axis=1) < 2).sum()),
        "constant_predictions": int((predicted.sum(axis=1) < 2).sum()),
        "one_class": int(one_class.sum()),
    }


def centred(counts: Floats, weights: Floats) -> dict[str, Floats]:
    """Metrics of scores from which each rater's mean has been taken away, one value a row of ``weights``."""
    turns = np.maximum(counts.sum(axis=(1, 2)), 1.0)
    gold = LABELS - ((counts.sum(axis=2) @ LABELS) / turns)[:, None]  # (raters, 5): what each score is to each rater
    predicted = LABELS - ((counts.sum(axis=1) @ LABELS) / turns)[:, None]
    apart = gold[:, :, None] - predicted[:, None, :]
    totals = weights @ counts.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "mae": weights @ (counts * np.abs(apart)).sum(axis=(1, 2)) / totals,
            "rmse": np.sqrt(weights @ (counts * apart**2).sum(axis=(1, 2)) / totals),
            "pearson": _centred_correlation(counts, gold, predicted, weights),
            "spearman": _centred_ranks(counts, gold, predicted, weights),
        }


def gains(base: Floats, memory: Floats) -> dict[str, float]:
    """Personalization gain, MAE without minus MAE with memory, of two tables of counts of the same turns.

    ``gain`` over turns, ``pu_gain`` the mean over raters (each counting once), ``gaining`` the share of raters above
    zero. Raises ValueError where raters have other numbers of turns.
    """
    turns = base.sum(axis=(1, 2))
    if not np.array_equal(turns, memory.sum(axis=(1, 2))):
        raise ValueError("both judges on the same turns of each rater")
    apart = np.abs(np.subtract.outer(LABELS, LABELS))
    totals = ((base - memory) * apart).sum(axis=(1, 2))
    own = totals[turns > 0] / turns[turns > 0]
    return {"gain": float(totals.sum() / turns.sum()), "pu_gain": float(own.mean()), "gaining": float((own > 0).mean())}


def _average(
    values: Floats, turns: Floats, included: np.ndarray[tuple[int], np.dtype[np.bool_]], weights: Floats
) -> Floats:
    """Means over the included raters, weighted by turns and by how often each is drawn; NaN for none."""
    share = np.where(included & ~np.isnan(values), turns, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights @ (share * np.nan_to_num(values))) / (weights @ share))


def _centred_correlation(counts: Floats, gold: Floats, predicted: Floats, weights: Floats) -> Floats:
    """Pearson: centred means are zero for every rater, so sums of products are enough."""
    across = weights @ np.einsum("uij,ui,uj->u", counts, gold, predicted)
    one = weights @ (counts.sum(axis=2) * gold**2).sum(axis=1)
    two = weights @ (counts.sum(axis=1) * predicted**2).sum(axis=1)
    spread = one * two
    return np.where(spread > 1e-12, across / np.sqrt(np.maximum(spread, 1e-300)), np.nan)


def _centred_ranks(counts: Floats, gold: Floats, predicted: Floats, weights: Floats) -> Floats:
    """Spearman: average ranks of the centred scores of all raters, equal values of different raters tied."""
    found, rows = np.empty(len(weights)), max(1, _AT_ONCE // max(counts.size, 1))
    one, two = _Ranked(counts.sum(axis=2), gold), _Ranked(counts.sum(axis=1), predicted)
    for start in range(0, len(weights), rows):
        part = weights[start : start + rows]
        first, first_spread = one.centred_ranks(part)
        second, second_spread = two.centred_ranks(part)
        across = (first * np.einsum("uij,tuj->tui", counts, second)).sum(axis=2)
        spread = first_spread * second_spread
        products = (across * part).sum(axis=1)
        found[start : start + rows] = np.where(spread > 1e-9, products / np.sqrt(np.maximum(spread, 1e-300)), np.nan)
    return found


class _Ranked:
    """Values of (rater, score) cells, equal ones grouped once, to be ranked under many weights of raters."""

    def __init__(self, held: Floats, values: Floats) -> None:
        from scipy.sparse import csr_array

        distinct, group = np.unique(np.round(values, 9), return_inverse=True)
        self.group = group.reshape(held.shape)
        rater = np.repeat(np.arange(len(held)), held.shape[1])
        self.turns = csr_array((held.ravel(), (self.group.ravel(), rater)), shape=(len(distinct), len(held)))

    def centred_ranks(self, weights: Floats) -> tuple[Floats, Floats]:
        """Average rank minus mean rank of each cell, (rows, raters, 5), and the sum of their squares over turns."""
        turns = np.asarray((self.turns @ weights.T).T)
        totals = turns.sum(axis=1, keepdims=True)
        ranks = np.cumsum(turns, axis=1) - turns / 2 - totals / 2
        return ranks[:, self.group], (turns * ranks**2).sum(axis=1)
