"""Calibration to a rater's scale: the published methods to the letter, and never with target gold."""

import math
from collections import Counter, defaultdict
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_raters import turns

from schemas.errors import RequestError
from schemas.satisfaction.calibration import (
    MIN_HISTORY,
    block_cdf,
    identity,
    mean_shift,
    reference_cdf,
    reference_mean_shift,
    reference_transfer,
)
from schemas.satisfaction.turns import SourceTurns, TargetTurns, gold_turns


def source(scores, rater="R1", task="gift") -> SourceTurns:
    rows = [(f"{rater}__{task}__0.json__turn_{place}", rater, task, score) for place, score in enumerate(scores)]
    return SourceTurns.of(turns(rows), "travel")


def target(scores, rater="R1", start=0, prefix="travel") -> TargetTurns:
    rows = [(f"{rater}__{prefix}__0.json__turn_{start + n}", rater, score) for n, score in enumerate(scores)]
    return TargetTurns("travel", turns(rows, ("sample_id", "rater", "prediction")))


def scores(calibrated) -> list[int]:
    return calibrated.frame["score"].to_list()


def test_the_quantile_of_a_step_is_the_lower_score():
    """History 3,4,4,5,5,5,5,5: q = .375 hits the step, and the smallest score with F >= q is 4, not 5."""
    found = block_cdf(source([3, 4, 4, 5, 5, 5, 5, 5]), target([1, 2, 3, 4]))  # q = .125 .375 .625 .875
    assert scores(found) == [3, 4, 5, 5]


def test_equal_raw_scores_are_ranked_by_sample_id_as_text():
    """turn_10 comes before turn_2: the published sort compares ids as strings."""
    raw = target([3] * 12)
    found = block_cdf(source([1, 2, 3, 4, 5, 5]), raw).frame
    by_id = dict(zip(found["sample_id"], found["score"], strict=True))
    ordered = [by_id[name] for name in sorted(by_id)]
    assert ordered == sorted(ordered)
    assert by_id["R1__travel__0.json__turn_10"] < by_id["R1__travel__0.json__turn_2"]


def test_average_ranks_give_equal_scores_to_equal_raw_scores():
    found = block_cdf(source([1, 2, 3, 4, 5, 5]), target([3] * 11 + [4]), ties="average")
    assert len(set(scores(found)[:11])) == 1
    assert found.parameters["ties"] == "average"


def test_mean_shift_rounds_halves_up_and_clips():
    history = source([4, 4, 4, 5, 5, 5])  # mean 4.5
    assert scores(mean_shift(history, target([3, 3]))) == [5, 5]  # 3 + 4.5 - 3 = 4.5
    assert scores(mean_shift(history, target([1, 5]))) == [3, 5]  # 2.5 -> 3 (half to even says 2); 6.5 -> 5


def test_the_original_of_the_same_turn_ranks_before_its_candidate_on_a_tie():
    history, original = source([1, 1, 1, 5, 5, 5]), target([3])
    assert scores(reference_cdf(history, target([3]), original)) == [5]  # rank 1 of 2: q = .75


def test_candidates_of_a_block_are_ranked_together_with_the_originals():
    history, original = source([1, 2, 3, 4, 5, 5]), target([2, 3, 4], start=0)
    alone = reference_cdf(history, target([3], start=8), original)
    beside = reference_cdf(history, target([3, 4, 4, 4], start=8), original)
    assert scores(alone)[0] > scores(beside)[0]


@pytest.mark.parametrize("method", [mean_shift, block_cdf])
def test_a_block_without_usable_history_keeps_its_scores_and_says_why(method):
    mixed = TargetTurns("travel", pl.concat([target([1, 4]).frame, target([2], rater="R2").frame]))
    found = method(source([5] * (MIN_HISTORY - 1)), mixed)
    assert scores(found) == [1, 4, 2]
    assert found.fallbacks == {"no_history": 1, "short_history": 2}


def test_a_block_without_reference_keeps_its_scores_and_says_why():
    found = reference_cdf(source([1, 2, 3, 4, 5]), target([2, 2]), target([3], rater="R2"))
    assert (scores(found), found.fallbacks) == ([2, 2], {"no_reference": 2})
    shifted = reference_mean_shift(source([1, 2, 3, 4, 5]), target([2, 2]), target([3], rater="R2"))
    assert shifted.fallbacks == {"no_reference": 2}


def test_transfer_takes_the_nearest_level_and_rounds_its_mean_up():
    reference = target([2, 2, 5])
    calibrated = block_cdf(source([2, 3, 4, 4, 5, 5]), reference)  # q = 1/6, 1/2, 5/6 -> 2, 4, 5
    assert scores(calibrated) == [2, 4, 5]
    assert scores(reference_transfer(target([2, 3, 4, 1], start=9), reference, calibrated)) == [3, 3, 5, 3]


def test_a_source_turn_of_the_target_task_is_refused():
    with pytest.raises(RequestError, match="gold of the target task"):
        SourceTurns("gift", source([1, 2]).frame)


def test_target_turns_have_no_room_for_gold():
    with pytest.raises(RequestError, match="unknown column in target turns, field gold"):
        TargetTurns("travel", target([1]).frame.with_columns(gold=pl.lit(5)))


@pytest.mark.parametrize("score", [0, 6, 2.5])
def test_a_score_outside_1_to_5_is_refused_with_its_turn(score):
    with pytest.raises(RequestError, match=r"row R1__travel__0.json__turn_1, field prediction"):
        target([3, score])
    with pytest.raises(RequestError, match="field gold"):
        source([3, score])
    with pytest.raises(RequestError, match="field gold"):
        gold_turns(turns([("a", "R1", "gift", score)]))


def test_repeated_sample_ids_are_refused():
    doubled = target([1, 2]).frame
    with pytest.raises(RequestError, match=r"repeated sample id in target turns, row R1__travel__0\.json__turn_0"):
        TargetTurns("travel", pl.concat([doubled, doubled]))


def test_a_missing_prediction_is_refused():
    with pytest.raises(RequestError, match="missing value"):
        target([1, None])


RATED = st.dictionaries(
    st.sampled_from(["R1", "R2", "R3"]),
    st.tuples(
        st.lists(st.integers(1, 5), max_size=12),
        st.lists(st.integers(1, 5), min_size=1, max_size=14),
        st.lists(st.integers(1, 5), max_size=6),
    ),
    min_size=1,
)


def gathered(drawn):
    sources = [row for rater, (own, _, _) in drawn.items() for row in source(own, rater).frame.iter_rows()]
    columns = ("sample_id", "rater", "task", "gold", "prediction")
    frame = turns(sources, columns).cast({"prediction": pl.Int64}) if sources else source([]).frame
    reference = pl.concat([target(raw, rater).frame for rater, (_, raw, _) in drawn.items()])
    candidate = [target(raw, rater, start=3).frame for rater, (_, _, raw) in drawn.items() if raw]
    found = pl.concat(candidate) if candidate else reference.clear()
    return SourceTurns("travel", frame), TargetTurns("travel", reference), TargetTurns("travel", found)


def by_the_book_cdf(history, entries):
    """Ten lines of the published rule: entries are (raw, sample_id, source); result by (sample_id, source)."""
    counted, found = Counter(history), {}
    for rank, (_, sample_id, origin) in enumerate(sorted(entries)):
        q = (rank + Fraction(1, 2)) / len(entries)
        upto = 0
        for score in range(1, 6):
            upto += counted[score]
            if Fraction(upto, len(history)) >= q:
                found[sample_id, origin] = score
                break
    return found


@given(RATED)
@settings(max_examples=80, deadline=None)
def test_reference_and_block_cdf_follow_the_published_rule(drawn):
    history, reference, candidate = gathered(drawn)
    own, entries = defaultdict(list), defaultdict(list)
    for row in history.frame.iter_rows(named=True):
        own[row["rater"]].append(row["gold"])
    for origin, frame in (("ref", reference.frame), ("target", candidate.frame)):
        for sample_id, rater, raw in frame.iter_rows():
            entries[rater].append((raw, sample_id, origin))
    for sample_id, rater, raw, score, _ in reference_cdf(history, candidate, reference).frame.iter_rows():
        due = by_the_book_cdf(own[rater], entries[rater]) if len(own[rater]) >= MIN_HISTORY else {}
        assert score == due.get((sample_id, "target"), raw)
    for sample_id, rater, raw, score, _ in block_cdf(history, reference).frame.iter_rows():
        block = [entry for entry in entries[rater] if entry[2] == "ref"]
        due = by_the_book_cdf(own[rater], block) if len(own[rater]) >= MIN_HISTORY else {}
        assert score == due.get((sample_id, "ref"), raw)


@given(RATED)
@settings(max_examples=60, deadline=None)
def test_mean_shift_is_exact_where_a_float_would_not_be(drawn):
    history, reference, _ = gathered(drawn)
    own, block = defaultdict(list), defaultdict(list)
    for row in history.frame.iter_rows(named=True):
        own[row["rater"]].append(row["gold"])
    for _, rater, raw in reference.frame.iter_rows():
        block[rater].append(raw)
    for _, rater, raw, score, _ in mean_shift(history, reference).frame.iter_rows():
        if len(own[rater]) < MIN_HISTORY:
            assert score == raw
            continue
        mean, raws = Fraction(sum(own[rater]), len(own[rater])), block[rater]
        exact = raw + mean - Fraction(sum(raws), len(raws))
        assert score == max(1, min(5, math.floor(exact + Fraction(1, 2))))


@given(RATED, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_rows_changes_no_score(drawn, rng):
    history, reference, _ = gathered(drawn)
    shuffled = list(reference.frame.iter_rows())
    rng.shuffle(shuffled)
    again = TargetTurns("travel", turns(shuffled, ("sample_id", "rater", "prediction")))
    for method in (mean_shift, block_cdf):
        one, two = method(history, reference).frame, method(history, again).frame
        assert two["sample_id"].to_list() == [row[0] for row in shuffled]
        assert one.sort("sample_id").equals(two.sort("sample_id"))


def test_raw_scores_have_the_form_of_calibrated_ones():
    raw = identity(target([1, 5]))
    assert (scores(raw), raw.fallbacks) == ([1, 5], {})
    assert raw.frame.columns == mean_shift(source([1]), target([1])).frame.columns
