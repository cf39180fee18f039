"""Agreement: the published worked examples, the rule for ratings that tell nothing apart, and edit rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validators.agreement import (
    cohen_kappa,
    edit_rate,
    fleiss_kappa,
    kendall_tau,
    krippendorff_alpha,
    pairwise,
    tau_of_pairs,
    token_edits,
    unanimous_share,
)

# Krippendorff 2011, four observers on twelve units, some missing.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
# Fleiss 1971, fourteen raters on ten subjects, five categories: how many chose each.
COUNTS = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip

RATINGS = st.lists(st.lists(st.sampled_from([1, 2, 3]), min_size=3, max_size=3), min_size=1, max_size=12)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_that_of_krippendorffs_worked_example(level, alpha):
    ratings = list(zip(*OBSERVERS, strict=True))
    assert krippendorff_alpha(ratings, [1, 2, 3, 4, 5], level) == pytest.approx(alpha, abs=5e-4)


def test_kappa_of_many_is_that_of_the_worked_example_of_fleiss():
    ratings = [[category for category, count in enumerate(row) for _ in range(count)] for row in COUNTS]
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)


def test_kappa_of_two_is_that_of_a_table_worked_by_hand():
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second) == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_ratings_that_tell_nothing_apart_have_no_chance_corrected_agreement_and_are_unanimous():
    same = [[2, 2, 2]] * 5
    assert fleiss_kappa(same) is None
    assert krippendorff_alpha(same, [1, 2, 3], "ordinal") is None
    assert cohen_kappa([2] * 5, [2] * 5) is None
    assert unanimous_share(same) == 1.0


def test_nothing_judged_gives_nothing():
    assert (fleiss_kappa([]), krippendorff_alpha([], [1]), cohen_kappa([], []), unanimous_share([])) == (None,) * 4
    assert fleiss_kappa([[1, None, 1]]) is None
    assert krippendorff_alpha([[1, None, None]], [1, 2]) is None
    assert (kendall_tau([], []), kendall_tau([1, 2], [1, 1]), tau_of_pairs([], []), edit_rate([])) == (None,) * 4


def test_two_people_who_never_agree_are_below_chance():
    assert cohen_kappa([1, 2, 1, 2], [2, 1, 2, 1]) == -1
    assert fleiss_kappa([[1, 2], [2, 1]]) == -1


@given(RATINGS)
def test_measures_do_not_depend_on_the_order_of_items_or_people(ratings):
    turned = [row[::-1] for row in ratings[::-1]]
    for level in ("nominal", "ordinal", "interval"):
        ours, theirs = (krippendorff_alpha(some, [1, 2, 3], level) for some in (ratings, turned))
        assert ours == theirs or ours == pytest.approx(theirs)
    assert fleiss_kappa(ratings) == pytest.approx(fleiss_kappa(turned)) or fleiss_kappa(ratings) is None


@given(RATINGS)
def test_no_measure_passes_1_and_1_is_full_agreement(ratings):
    for found in (fleiss_kappa(ratings), krippendorff_alpha(ratings, [1, 2, 3])):
        assert found is None or found <= 1 + 1e-12
        if found is not None:
            assert (found > 1 - 1e-9) == (unanimous_share(ratings) == 1)


def test_pairs_of_people_are_named_in_order():
    assert list(pairwise(cohen_kappa, {"C": [1], "A": [1], "B": [2]})) == ["A, B", "A, C", "B, C"]


def test_tau_over_pairs_counts_order_and_leaves_out_what_shows_none():
    assert tau_of_pairs([2.0, -1.0, 0.5, 0.0, 3.0], [1, -1, -1, 1, 0]) == pytest.approx(1 / 3)
    assert kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    ("before", "after", "edits"),
    [
        ("I stay here.", "I stay here.", (0, 4)),
        ("I stay here.", "I stay there, now.", (3, 4)),
        ("I stay here.", "", (4, 4)),
        ("I go.", "I do not go.", (2, 3)),
    ],
)
def test_edits_are_counted_in_tokens(before, after, edits):
    assert token_edits(before, after) == edits


def test_the_edit_rate_weighs_every_token_alike():
    assert edit_rate([("I go.", "I go."), ("I stay here now.", "I stay here.")]) == pytest.approx(1 / 8)


@given(st.text(max_size=40), st.text(max_size=40))
def test_edits_are_as_many_there_as_back_and_never_more_than_the_longer_text(one, other):
    there, back = token_edits(one, other), token_edits(other, one)
    assert there[0] == back[0] <= max(there[1], back[1])
