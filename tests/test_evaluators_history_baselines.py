"""Baselines from history and neighbours: the published rules, and no look at target gold."""

import hashlib
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_raters import turns

from evaluators.memory.dialogue_memory import MEMORIES, DialogueMemory
from evaluators.satisfaction.history_baselines import (
    BASELINES,
    half_up,
    history_predictions,
    inverse_quantile,
    majority,
    rounded_mean,
)
from evaluators.satisfaction.nearest_turns import TextTurn, nearest_predictions
from schemas.errors import RequestError
from schemas.satisfaction.turns import SourceTurns

GOLD = turns([(f"R1__gift__0.json__turn_{n}", "R1", "gift", score) for n, score in enumerate([3, 4, 4, 5, 5, 5, 5, 5])])
TRAIN = turns([("a", "T1", "travel", 2), ("b", "T1", "travel", 2), ("c", "T1", "gift", 5), ("d", "T2", "gift", 5)])


def target(*names):
    return turns([(name, name[:2]) for name in names], ("sample_id", "rater"))


def predicted(found):
    return {name: frame["prediction"].to_list() for name, frame in found.items()}


def test_every_baseline_follows_its_definition():
    found = predicted(history_predictions(SourceTurns.of(GOLD, "travel"), target("R1_a", "R9_b"), TRAIN))
    assert set(found) == set(BASELINES)
    assert found["global_mean"] == [4, 4]  # 14/4 = 3.5, half up
    assert found["global_majority"] == [2, 2]  # 2 and 5 twice each: the lower one
    assert found["task_mean"] == found["task_majority"] == [2, 2]
    assert found["rater_mean"] == [5, 4]  # 36/8 = 4.5, half up; R9 has no history: the training raters'
    assert found["rater_median"] == [5, 4]  # 3.5, half up
    assert found["rater_majority"] == [5, 2]


def test_the_inverse_of_cdf_hash_is_not_the_one_of_calibration():
    """History 3,4,4,5,5,5,5,5 and q = .375: floor(q n) gives 5 where F >= q gives 4."""
    assert inverse_quantile([3, 4, 4, 5, 5, 5, 5, 5], 0.375) == 5


def test_cdf_hash_orders_a_block_by_the_digest_of_its_ids():
    names = [f"R1__travel__0.json__turn_{n}" for n in range(8)]
    found = history_predictions(SourceTurns.of(GOLD, "travel"), target(*names), TRAIN)["rater_cdf_hash"]
    ordered = sorted(names, key=lambda name: hashlib.sha1(name.encode()).hexdigest())
    by_name = dict(zip(found["sample_id"], found["prediction"], strict=True))
    assert [by_name[name] for name in ordered] == [3, 4, 4, 5, 5, 5, 5, 5]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
@settings(max_examples=80)
def test_rounding_and_majority_on_random_histories(scores):
    assert rounded_mean(scores) == int(sum(scores) / len(scores) + 0.5 + 1e-12)
    assert half_up(2 * int(2 * median(scores)), 4) == int(median(scores) + 0.5)
    assert majority(scores) == min(set(scores), key=lambda score: (-scores.count(score), score))


def test_no_training_turns_are_refused():
    with pytest.raises(RequestError, match="no training turns"):
        history_predictions(SourceTurns.of(GOLD, "travel"), target("R1_a"), TRAIN.clear())


SOURCE = [
    TextTurn("s1", "a quiet trip", "Take the train to the lake.", 2),
    TextTurn("s2", "a gift for my sister", "Give her a blanket.", 5),
    TextTurn("s3", "a gift for my brother", "Give him a blanket.", 4),
]


def test_the_nearest_turn_gives_its_score_and_three_their_rounded_mean():
    found = nearest_predictions(SOURCE, [TextTurn("t", "a gift for my sister", "Give her a blanket.")])
    assert found == {1: {"t": 5}, 3: {"t": 4}}


def test_equally_near_turns_are_taken_by_sample_id():
    same = [TextTurn(name, "one", "two", score) for name, score in (("b", 1), ("a", 5))]
    assert nearest_predictions(same, [TextTurn("t", "one", "two")])[1] == {"t": 5}


def test_neighbours_of_nothing_are_no_prediction_and_target_scores_are_refused():
    assert nearest_predictions([], [TextTurn("t", "one", "two")]) == {1: {}, 3: {}}
    with pytest.raises(ValueError, match="none of target turns"):
        nearest_predictions(SOURCE, [TextTurn("t", "one", "two", 3)])


def conversation(task, number, *exchanges):
    messages = [
        message
        for user, reply in exchanges
        for message in ({"role": "user", "content": user}, {"role": "assistant", "content": reply})
    ]
    return {"conversation_id": f"R1__{task}__{number}", "task": task, "messages": messages}


PAST = [
    conversation("gift", 0, ("A gift for my sister?", "A blanket."), ("And for her birthday?", "A warm blanket.")),
    conversation("gift", 1, ("A gift for my mother?", "A wool blanket."), ("And for my aunt?", "The same blanket.")),
    conversation("recipe", 0, ("What can I cook?", "Lentils with carrots.")),
    conversation("travel", 0, ("Where can I go?", "To the lake with a blanket.")),
]
PREFIX = [{"role": "user", "content": "Which blanket do I take on the trip?"}]


def test_dialogue_memory_is_of_other_tasks_and_has_four_entries_at_most():
    found = DialogueMemory(PAST, "travel").search(PREFIX)
    assert len(found) == MEMORIES
    assert {turn.task for turn in found} <= {"gift", "recipe"}
    assert found[0].task == "gift"


def test_diverse_memories_take_the_tasks_in_turn():
    assert [turn.task for turn in DialogueMemory(PAST, "travel").search(PREFIX, "diverse")][:2] == ["gift", "recipe"]


def test_shown_memories_are_cut_and_hold_no_score():
    long = [conversation("gift", 0, ("u" * 900, "r" * 900))]
    shown = DialogueMemory(long, "travel").search(PREFIX)[0].shown()
    assert [len(line.partition(": ")[2]) for line in shown.splitlines()] == [350, 700]
    assert DialogueMemory(long, "gift").search(PREFIX) == []
