"""Intervals, paired tests and agreement against known values and each other."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.scoring.agreement import agree, quadratic_kappa, same_choice, spearman
from evaluators.scoring.resampling import ClusterDraws, RepeatDraws, sums_of
from evaluators.scoring.significance import compare_scores, holm, sign_flip
from evaluators.scoring.statistics import (
    detectable_above,
    detectable_difference,
    intervals,
    mcnemar,
    paired,
    share,
)
from evaluators.scoring.trends import trend


def test_wilson_gives_the_textbook_interval():
    one = share(8, 10)
    assert (one.low, one.high) == (pytest.approx(0.4901625), pytest.approx(0.9433178))


@given(st.integers(0, 700), st.integers(0, 700))
def test_wilson_holds_the_rate_and_stays_between_0_and_1(hits, more):
    one = share(hits, hits + more)
    if one.rate is None:
        assert hits + more == 0
    else:
        assert 0 <= one.low <= one.rate <= one.high <= 1


def test_mcnemar_is_the_exact_test_of_a_fair_coin():
    assert mcnemar(1, 9) == pytest.approx(2 * sum(math.comb(10, k) for k in (0, 1)) / 2**10)
    assert mcnemar(0, 0) == 1


def crossed(items):
    """Scenario and character of each of so many questions: ten scenarios a character."""
    return [str(place % 10) for place in range(items)], [str(place // 10) for place in range(items)]


def test_a_run_against_itself_differs_by_nothing():
    right = [place % 3 == 0 for place in range(90)]
    one = paired(right, right, *crossed(90), 7)
    assert (one.difference, one.low, one.high, one.p, one.p_characters) == (0, 0, 0, 1, 1)
    assert {(spread.low, spread.high) for spread in one.intervals} == {(0, 0)}


def test_a_paired_comparison_is_antisymmetric_and_the_same_every_time():
    chance = random.Random(1)
    first, second = ([chance.random() < rate for _ in range(200)] for rate in (0.4, 0.55))
    there, back = paired(first, second, *crossed(200), 7), paired(second, first, *crossed(200), 7)
    assert there == paired(first, second, *crossed(200), 7)
    assert (there.difference, there.p) == (pytest.approx(-back.difference), back.p)
    assert there.p_characters == pytest.approx(back.p_characters)
    for one, other in zip(there.intervals, back.intervals, strict=True):
        assert (one.low, one.high) == (pytest.approx(-other.high), pytest.approx(-other.low))
    assert there.only_second - there.only_first == round(200 * there.difference)


def test_questions_that_fall_together_widen_the_interval_that_draws_their_clusters():
    values = np.repeat(np.array([1.0, -1.0] * 10), 10)
    by_scenario, by_character, by_both = intervals(values, *crossed(200), 7)
    assert (by_scenario.low, by_scenario.high) == (0, 0)
    assert by_character.high - by_character.low > 0.5
    assert by_both.high - by_both.low >= 0.95 * (by_character.high - by_character.low)
    assert by_character.answers == "characters like these, these scenarios"


def test_one_cluster_gives_a_figure_and_no_interval():
    found = paired([True, False], [True, True], ["a", "b"], ["x", "x"], 7)
    assert found.p_characters is None and found.intervals[1].low is None and found.low is not None


def test_the_interval_of_a_clustered_mean_covers_it_about_as_often_as_it_says():
    chance = np.random.default_rng(3)
    covered = 0
    for run in range(200):
        people = chance.normal(0, 1, 12)
        values = np.repeat(people, 20) + chance.normal(0, 1, 240)
        sums, counts = sums_of(values, np.repeat(np.arange(12), 20), 12)
        (one,) = ClusterDraws(12, run, resamples=1000).means(sums[:, None], counts[:, None])
        covered += one.low <= 0 <= one.high
    assert 180 <= covered <= 199


def test_repeats_are_drawn_within_their_stratum():
    draws = RepeatDraws([3, 5], 7, resamples=200)
    assert (draws.of(0).sum(axis=1) == 3).all() and (draws.of(1).sum(axis=1) == 5).all()
    constant = draws.mean_of_means([np.array([2.0, 2.0, np.nan]), np.full(5, 4.0)])
    assert set(constant[~np.isnan(constant)].tolist()) <= {3.0, 4.0}


def test_a_repeat_that_was_drawn_twice_is_no_pair_with_itself():
    pairs = np.full((4, 4), -1.0)
    np.fill_diagonal(pairs, 1.0)
    found = RepeatDraws([4], 7, resamples=300).mean_of_pairs([pairs])
    assert set(found[~np.isnan(found)].tolist()) == {-1.0}


def test_the_sign_flip_test_of_few_clusters_tries_every_pattern():
    sums = np.array([1.0, 2.0, 3.0, -0.5])
    patterns = [sum(s * v for s, v in zip(signs, sums, strict=True)) for signs in itertools.product((-1, 1), repeat=4)]
    assert sign_flip(sums, 7) == pytest.approx(sum(abs(one) >= 5.5 - 1e-9 for one in patterns) / 16)
    assert sign_flip(np.zeros(3), 7) == 1
    assert 0 < sign_flip(np.ones(40), 7) < 0.001


def test_real_valued_scores_are_compared_by_cluster():
    chance = np.random.default_rng(1)
    first = chance.normal(3, 1, 400)
    second = first + 0.5
    found = compare_scores(first, second, [str(place // 20) for place in range(400)], 7)
    assert found.difference == pytest.approx(0.5) and found.low == pytest.approx(0.5)
    assert found.p < 0.001 and (found.items, found.clusters) == (400, 20)
    with pytest.raises(ValueError, match="same items"):
        compare_scores(first, second[1:], ["a"] * 400, 7)


def test_holm_multiplies_the_smallest_by_all_and_never_falls():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert holm({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_lowers_no_p_value(p_values):
    adjusted = holm(p_values)
    assert all(p_values[name] <= value <= 1 for name, value in adjusted.items())
    by_p = sorted(p_values, key=lambda name: (p_values[name], name))
    assert [adjusted[name] for name in by_p] == sorted(adjusted.values())


def test_the_slope_of_a_constant_series_is_0_and_its_fit_undefined():
    assert (trend([3, 3, 3]).slope, trend([3, 3, 3]).fit) == (0, None)
    assert trend([4.0]).slope is None and trend([None, 2.0]).slope is None


def test_slopes_scale_by_the_range_and_segments_share_their_ends():
    rising = trend([1.0, 2.0, 4.0])
    assert rising.slope == pytest.approx(1.5) and rising.scaled == pytest.approx(0.5)
    assert trend([1.0, 2.0, 4.0, 4.0], 3).slope == 0
    assert trend([1.0, None, 3.0]).slope == pytest.approx(1) and trend([1.0, None, 3.0]).fit == pytest.approx(1)


def test_what_can_be_detected_shrinks_with_the_number_of_questions():
    assert detectable_difference(673, 0.3) == pytest.approx(0.0588, abs=0.0005)
    assert detectable_difference(100, 0.3) > detectable_difference(673, 0.3) > detectable_difference(5000, 0.3)
    assert detectable_above(0.25, 673) == pytest.approx(0.04676, abs=0.0001)


@given(st.integers(1, 1000), st.floats(0, 1))
def test_a_detectable_difference_is_a_share(items, differing):
    assert 0 < detectable_difference(items, differing) <= 1


def test_agreement_on_options_counts_what_both_answered():
    assert same_choice(["A", "B", None, "C"], ["A", "C", "D", None]) == (0.5, 2)
    assert same_choice([None], ["A"]) == (None, 0)


def test_spearman_needs_three_values_that_vary():
    assert spearman([0.1, 0.2, 0.3], [3, 5, 9]) == pytest.approx(1)
    assert spearman([0.1, 0.2, 0.3], [9, 5, 3]) == pytest.approx(-1)
    assert spearman([0.1, 0.2], [1, 2]) is None
    assert spearman([0.1, 0.1, 0.1], [1, 2, 3]) is None


def floats(*values):
    return np.array(values, np.float64)


def test_quadratic_kappa_is_1_for_equal_ratings_and_0_for_a_constant_one():
    assert quadratic_kappa(floats(0, 2, 5, 3), floats(0, 2, 5, 3)) == pytest.approx(1)
    assert quadratic_kappa(floats(0, 2, 5, 3), floats(2, 2, 2, 2)) == pytest.approx(0)
    assert quadratic_kappa(floats(3, 3), floats(3, 3)) is None


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40))
def test_quadratic_kappa_is_that_of_the_table_of_weights(pairs):
    first, second = (np.array(side, np.float64) for side in zip(*pairs, strict=True))
    seen = np.zeros((6, 6))
    np.add.at(seen, (first.astype(int), second.astype(int)), 1)
    weights = np.subtract.outer(np.arange(6), np.arange(6)) ** 2
    expected = (weights * np.outer(seen.sum(1), seen.sum(0))).sum() / len(pairs)
    found = quadratic_kappa(first, second)
    if expected == 0:
        assert found is None
    else:
        assert found == pytest.approx(1 - (weights * seen).sum() / expected, abs=1e-9)


def test_agreement_counts_values_where_both_have_one_and_applicability_apart():
    nan = math.nan
    found = agree(
        floats(1, 2, nan, nan, 5), floats(1, 3, nan, 4, nan), np.array([[1, 1, 0, 0, 1], [1, 1, 0, 1, math.nan]])
    )
    assert (found.items, found.exact, found.within_one, found.bias) == (2, 0.5, 1.0, 0.5)
    assert (found.judged, found.not_applicable) == (4, 0.75)
    empty = agree(floats(nan), floats(1))
    assert (empty.items, empty.exact, empty.kappa, empty.not_applicable) == (0, None, None, None)
