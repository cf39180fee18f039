"""Evenness is Shannon entropy over its maximum."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.evenness import evenness


@pytest.mark.parametrize(
    ("counts", "kinds", "expected"),
    [
        ([], None, None),
        ([0], None, None),
        ([5], None, 0.0),
        ([5, 5], None, 1.0),
        ([3, 1], None, -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))),
        ([5, 5, 0], None, 1.0),
        ([5, 5, 5, 5, 5], 5, 1.0),
        ([7], 5, 0.0),
        ([7], 1, 0.0),
        ([], 5, None),
        ([1, 1], 4, 0.5),
        ([3, 0], 2, 0.0),
    ],
)
def test_evenness_of_small_counts_among_those_seen_or_all_possible(counts, kinds, expected):
    assert evenness(counts, kinds) == pytest.approx(expected)


@given(st.lists(st.integers(1, 10**6), min_size=1))
def test_evenness_lies_between_0_and_1_and_ignores_the_order(counts):
    value = evenness(counts)
    assert 0 <= value <= 1
    assert value == evenness(reversed(counts))
