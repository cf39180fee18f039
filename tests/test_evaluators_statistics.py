"""Intervals, paired tests and agreement against known values and each other."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.scoring.statistics import (
    agreement,
    detectable_above,
    detectable_difference,
    interval,
    mcnemar,
    paired,
    share,
    spearman,
    weighted_kappa,
)


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


def test_a_run_against_itself_differs_by_nothing():
    right = [place % 3 == 0 for place in range(90)]
    one = paired(right, right, [str(place % 9) for place in range(90)], 7)
    assert (one.difference, one.low, one.high, one.p) == (0, 0, 0, 1)


def test_a_paired_comparison_is_antisymmetric_and_the_same_every_time():
    chance = random.Random(1)
    first, second = ([chance.random() < rate for _ in range(200)] for rate in (0.4, 0.55))
    groups = [str(place // 10) for place in range(200)]
    there, back = paired(first, second, groups, 7), paired(second, first, groups, 7)
    assert there == paired(first, second, groups, 7)
    assert (there.difference, there.p) == (pytest.approx(-back.difference), back.p)
    assert (there.low, there.high) == (pytest.approx(-back.high), pytest.approx(-back.low))
    assert there.only_second - there.only_first == round(200 * there.difference)


def test_questions_that_fall_together_widen_the_interval():
    values = np.repeat(np.array([1.0, -1.0] * 10), 10)
    apart = interval(values, [str(place) for place in range(200)], 7)
    together = interval(values, [str(place // 10) for place in range(200)], 7)
    assert together[1] - together[0] > 2 * (apart[1] - apart[0])


def test_what_can_be_detected_shrinks_with_the_number_of_questions():
    assert detectable_difference(673, 0.3) == pytest.approx(0.0588, abs=0.0005)
    assert detectable_difference(100, 0.3) > detectable_difference(673, 0.3) > detectable_difference(5000, 0.3)
    assert detectable_above(0.25, 673) == pytest.approx(0.04676, abs=0.0001)


@given(st.integers(1, 1000), st.floats(0, 1))
def test_a_detectable_difference_is_a_share(items, differing):
    assert 0 < detectable_difference(items, differing) <= 1


def test_agreement_counts_what_both_answered():
    assert agreement(["A", "B", None, "C"], ["A", "C", "D", None]) == (0.5, 2)
    assert agreement([None], ["A"]) == (None, 0)


def test_spearman_needs_three_values_that_vary():
    assert spearman([0.1, 0.2, 0.3], [3, 5, 9]) == pytest.approx(1)
    assert spearman([0.1, 0.2, 0.3], [9, 5, 3]) == pytest.approx(-1)
    assert spearman([0.1, 0.2], [1, 2]) is None
    assert spearman([0.1, 0.1, 0.1], [1, 2, 3]) is None


def test_weighted_kappa_is_1_for_equal_ratings_and_0_for_a_constant_one():
    assert weighted_kappa([0, 2, 5, 3], [0, 2, 5, 3], 5) == pytest.approx(1)
    assert weighted_kappa([0, 2, 5, 3], [2, 2, 2, 2], 5) == pytest.approx(0)
    assert weighted_kappa([3, 3], [3, 3], 5) is None
