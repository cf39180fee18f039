"""Every metric of the meta-evaluation against scikit-learn, SciPy or ten lines, on random scores."""

import math
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_raters import turns
from scipy import stats
from sklearn import metrics as sk

from evaluators.satisfaction import per_rater
from evaluators.satisfaction.metrics import evaluate, matched, metric_values, rater_draws
from evaluators.scoring.resampling import ClusterDraws
from schemas.errors import RequestError

SCORED = st.lists(
    st.tuples(st.sampled_from(["R1", "R2", "R3", "R4"]), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=60
)


def frames(rows):
    gold = turns([(f"s{n}", rater, "gift", score) for n, (rater, score, _) in enumerate(rows)])
    said = turns(
        [(f"s{n}", rater, raw) for n, (rater, _, raw) in enumerate(rows)], ("sample_id", "rater", "prediction")
    )
    return gold, said


def close(found, due):
    if found is None or due is None:
        return found is None and due is None
    return math.isclose(found, due, rel_tol=1e-9, abs_tol=1e-9)


def defined(function, gold, said):
    """A reference that is only asked where both sides vary."""
    return float(function(gold, said)) if len(set(gold)) > 1 and len(set(said)) > 1 else None


def kappa(gold, said, weights=None):
    labels = list(range(1, 6))
    if len(set(gold)) == 1 and set(gold) == set(said):
        return None  # chance agreement is perfect: 0/0
    return float(sk.cohen_kappa_score(gold, said, weights=weights, labels=labels))


@given(SCORED)
@settings(max_examples=150, deadline=None)
def test_global_metrics_equal_those_of_scikit_learn_and_scipy(rows):
    found = metric_values(matched(*frames(rows)))
    gold, said = [row[1] for row in rows], [row[2] for row in rows]
    low, called = [score <= 3 for score in gold], [score <= 3 for score in said]
    due = {
        "mae": sk.mean_absolute_error(gold, said),
        "rmse": sk.root_mean_squared_error(gold, said),
        "pearson": defined(lambda a, b: stats.pearsonr(a, b)[0], gold, said),
        "spearman": defined(lambda a, b: stats.spearmanr(a, b)[0], gold, said),
        "qwk": kappa(gold, said, "quadratic"),
        "kappa": kappa(gold, said),
        "accuracy": sk.accuracy_score(gold, said),
        "f1_dsat": sk.f1_score(low, called, zero_division=0) if any(low) or any(called) else None,
        "recall_dsat": sk.recall_score(low, called) if any(low) else None,
        "false_sat": 1 - sk.recall_score(low, called) if any(low) else None,
        "auc": sk.roc_auc_score([not each for each in low], [(s - 1) / 4 * 0.8 + 0.1 for s in said])
        if len(set(low)) == 2
        else None,
    }
    for name, value in due.items():
        assert close(found[name], value), (name, found[name], value)


def by_rater(rows):
    grouped = defaultdict(list)
    for rater, gold, said in rows:
        grouped[rater].append((gold, said))
    return {rater: tuple(zip(*own, strict=True)) for rater, own in grouped.items()}


def fisher_mean(rows, correlation):
    z, weights = [], []
    for gold, said in by_rater(rows).values():
        if len(gold) >= 3 and len(set(gold)) > 1 and len(set(said)) > 1:
            z.append(np.arctanh(np.clip(correlation(gold, said)[0], -0.9999, 0.9999)))
            weights.append(len(gold))
    return float(np.tanh(np.average(z, weights=weights))) if z else None


@given(SCORED)
@settings(max_examples=100, deadline=None)
def test_rater_averages_follow_their_definition(rows):
    found = metric_values(matched(*frames(rows)))
    own = by_rater(rows).values()
    assert close(found["pu_pearson"], fisher_mean(rows, stats.pearsonr))
    assert close(found["pu_spearman"], fisher_mean(rows, stats.spearmanr))
    assert close(found["pu_mae"], found["mae"])
    rmse = np.average([sk.root_mean_squared_error(*each) for each in own], weights=[len(gold) for gold, _ in own])
    assert close(found["pu_rmse"], rmse)
    kappas = [(kappa(*each), len(each[0])) for each in own if len(each[0]) >= 3 and len(set(each[0])) > 1]
    due = np.average([k for k, _ in kappas], weights=[n for _, n in kappas]) if kappas else None
    assert close(found["pu_kappa"], due)


@given(SCORED)
@settings(max_examples=100, deadline=None)
def test_centred_metrics_equal_those_of_centred_scores(rows):
    found = metric_values(matched(*frames(rows)))
    one, two = [], []
    for gold, said in by_rater(rows).values():
        one += list(np.array(gold) - np.mean(gold))
        two += list(np.array(said) - np.mean(said))
    one, two = np.round(one, 9), np.round(two, 9)
    assert found["centred_mae"] == pytest.approx(np.abs(one - two).mean(), abs=1e-8)
    due = (stats.pearsonr(one, two)[0], stats.spearmanr(one, two)[0]) if np.ptp(one) and np.ptp(two) else (None, None)
    for name, value in zip(("centred_pearson", "centred_spearman"), due, strict=True):
        assert found[name] is value or abs(found[name] - value) < 1e-6, (name, found[name], value)


@given(SCORED, st.lists(st.integers(0, 3), min_size=4, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_resampled_value_is_the_metric_of_the_repeated_raters(rows, times):
    """What a bootstrap draw computes from counts equals the metric of the turns written out as often as drawn."""
    from evaluators.satisfaction.metrics import _values

    both = matched(*frames(rows))
    weights = np.array([times[int(name[1]) - 1] for name in both.raters], np.float64)
    repeated = [
        (f"{rater}_{copy}", gold, said) for rater, gold, said in rows for copy in range(times[int(rater[1]) - 1])
    ]
    if not repeated:
        return
    whole = metric_values(matched(*frames(repeated)))
    for name, value in _values(both.counts, weights[None]).items():
        found = None if np.isnan(value[0]) else float(value[0])
        assert found is whole[name] or abs(found - whole[name]) < 1e-7, (name, found, whole[name])


def test_turns_without_a_partner_are_counted():
    gold, said = frames([("R1", 5, 4), ("R1", 3, 3), ("R2", 2, 2)])
    extra = said.with_columns(sample_id=pl.lit("x") + pl.col("sample_id")).head(1)
    both = matched(gold, pl.concat([said.head(2), extra]))
    assert (len(both.gold), both.without_prediction, both.without_gold) == (2, 1, 1)


def test_nothing_in_common_is_refused():
    gold, said = frames([("R1", 5, 4)])
    with pytest.raises(RequestError, match="no turn with gold and prediction"):
        matched(gold, said.with_columns(sample_id=pl.lit("other")))


def test_what_is_not_defined_says_why():
    both = matched(*frames([("R1", 5, 4), ("R1", 4, 4), ("R2", 5, 4)]))
    found = evaluate(both, rater_draws(both, 1, 20))
    assert found.metrics["pearson"].value is None
    assert found.undefined["pearson"] == "predictions are constant"
    assert found.undefined["false_sat"] == "no dissatisfied gold turn"
    assert found.skipped == {"fewer_than_3_turns": 2, "constant_gold": 1, "constant_predictions": 2, "one_class": 2}


def test_intervals_hold_the_value_and_are_the_same_again():
    rng = np.random.default_rng(1)
    rows = [(f"R{u}", int(rng.integers(1, 6)), int(rng.integers(1, 6))) for u in range(30) for _ in range(8)]
    both = matched(*frames(rows))
    one, two = (evaluate(both, rater_draws(both, 7, 300)) for _ in range(2))
    assert one == two
    for name, each in one.metrics.items():
        assert each.low <= each.value <= each.high, name


def test_draws_of_other_raters_are_refused():
    both = matched(*frames([("R1", 5, 4), ("R2", 4, 4)]))
    with pytest.raises(ValueError, match="draws of 3 raters for 2"):
        evaluate(both, ClusterDraws(3, 1))


def test_personalization_gain_counts_turns_and_raters():
    base = matched(*frames([("R1", 5, 3), ("R1", 5, 3), ("R2", 4, 4)])).counts
    memory = matched(*frames([("R1", 5, 4), ("R1", 5, 5), ("R2", 4, 3)])).counts
    found = per_rater.gains(base, memory)
    assert found == {"gain": pytest.approx(2 / 3), "pu_gain": pytest.approx(0.25), "gaining": 0.5}
    with pytest.raises(ValueError, match="same turns"):
        per_rater.gains(base, memory * 2)
