"""Planted raters and their conversations: the published counts, known truth, the published split and selection."""

import math
from collections import Counter

import pytest
from persturn_samples import built_rows
from sklearn.model_selection import GroupShuffleSplit

from builders.conversations.plan import planned_conversations, session_counts, settings
from builders.pipeline.streams import Streams
from builders.raters.parameters import REASONS, TOP_LEVEL, Scale, planted_levels, planted_scale, rate, scale_of
from builders.replay_items.selection import Candidate, blind_selection, hard_selection, is_substantive, selection_value
from builders.replay_items.step import candidates
from builders.splits import split_raters, split_rows
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.tables import term_ids
from validators.records import failures

STREAMS = Streams(7, "persturn")


def scales(count=112, streams=STREAMS):
    return {f"R{number:03d}": planted_scale(streams, f"R{number:03d}") for number in range(1, count + 1)}


@pytest.fixture(scope="module")
def plan():
    return list(planned_conversations(scales(), STREAMS))


def test_table_5_adds_up():
    recipe, gift, travel, skill = 402, 531, 502, 398
    conversations, replies, satisfied, dissatisfied, people = 1_833, 8_060, 6_799, 1_261, 115
    assert recipe + gift + travel + skill == conversations
    assert satisfied + dissatisfied == replies
    assert round(conversations / people, 2) == 15.94
    assert round(replies / conversations, 2) == 4.40


def test_the_plan_has_the_shape_of_table_5_at_112_raters(plan):
    scores = [turn.score for conversation in plan for turn in conversation.turns]
    assert (len(plan), len(scores)) == (1_800, 8_000)
    assert Counter(c.task for c in plan) == settings()["conversations"]
    assert sum(scores) / len(scores) == pytest.approx(4.23, abs=0.1)
    assert sum(score <= 3 for score in scores) / len(scores) == pytest.approx(1_261 / 8_060, abs=0.03)
    assert {c.rater_id for c in plan} == set(scales())


@pytest.mark.parametrize("count", [5, 24, 200])
def test_other_numbers_of_raters_keep_the_proportions(count):
    raters = scales(count)
    found = list(planned_conversations(raters, STREAMS))
    assert len(found) == pytest.approx(1_800 / 112 * count, abs=2)
    assert sum(len(c.turns) for c in found) / len(found) == pytest.approx(8_000 / 1_800, rel=0.02)
    assert all(value > 0 for value in session_counts(sorted(raters), STREAMS).values())


def test_a_score_follows_from_the_levels_and_the_scale(plan):
    raters = scales()
    for conversation in plan[:200]:
        scale = raters[conversation.rater_id]
        for turn in conversation.turns:
            assert turn.score == 1 + sum(turn.worth > threshold + 5e-5 for threshold in scale.thresholds) or any(
                abs(turn.worth - threshold) < 1e-4 for threshold in scale.thresholds
            )
            assert (turn.reason == "satisfied") == (turn.score >= 4)


def test_without_noise_better_levels_never_lower_a_score():
    scale, rng = Scale(0.0, (0.2, 0.4, 0.6, 0.8), dict.fromkeys(REASONS, 0.25), 0.0), STREAMS.rng("test", "levels")
    for _ in range(50):
        levels = planted_levels(rng)
        better = {reason: min(TOP_LEVEL, level + 1) for reason, level in levels.items()}
        assert rate(scale, better, rng)[0] >= rate(scale, levels, rng)[0]


def test_scales_are_ordered_and_weights_add_up():
    for scale in scales().values():
        assert list(scale.thresholds) == sorted(scale.thresholds)
        assert math.fsum(scale.weights.values()) == pytest.approx(1, abs=2e-4)
        assert scale.noise > 0


def test_built_rows_fit_their_records_and_are_the_same_again():
    rows, tables = built_rows(), benchmark("persturn").tables
    for table, own in rows.items():
        assert failures(tables[table], own) == []
    built_rows.cache_clear()
    assert built_rows() == rows
    assert all(scale_of(row["planted"]) == planted_scale(STREAMS, row["rater_id"]) for row in rows["raters"])


def test_words_carry_the_planted_levels():
    """The number of options is the level of diversity and one; facts a bullet are the level of detail."""
    rated = {row["sample_id"]: row["planted"]["levels"] for row in built_rows()["ratings"]}
    for turn in candidates(built_rows()["conversations"], built_rows()["ratings"]):
        bullets = [line for line in turn.reply.splitlines() if line.startswith("- ")]
        levels = rated[turn.sample_id]
        assert len(bullets) == 1 + levels["diversity"]
        assert all(line.count(";") + (":" in line) == levels["detail"] for line in bullets)


def test_112_raters_are_22_to_train_and_90_to_evaluate():
    found = split_raters(scales(), 42)
    assert Counter(found.values()) == {"train": 22, "test": 90}
    names = sorted(scales()) * 4  # the published split is over samples, four blocks a rater
    _, test = next(GroupShuffleSplit(1, train_size=0.2, test_size=0.8, random_state=42).split(names, groups=names))
    assert {names[place] for place in test} == {name for name, split in found.items() if split == "test"}


@pytest.mark.parametrize("count", range(5, 130, 7))
def test_a_split_has_a_fifth_rounded_down_to_train(count):
    found = Counter(split_raters([f"R{n}" for n in range(count)], 42).values())
    assert found == {"train": math.floor(0.2 * count), "test": math.ceil(0.8 * count)}


def test_a_rater_of_one_task_family_takes_no_part():
    rows = [{"rater_id": f"R{n}", "task": task} for n in range(6) for task in ("gift", "travel")]
    found = split_rows([*rows, {"rater_id": "R9", "task": "gift"}], 42, 7)
    assert found[-1]["split"] == "none"
    with pytest.raises(RequestError, match="too few raters"):
        split_rows(rows[:6], 42, 7)


def turn(name, score, *, reason="detail", user="Which of these would you take?", reply="A" * 40, number=1):
    rater, task, conversation = name.split("/")
    identity = f"{rater}__{task}__{conversation}"
    return Candidate(
        f"{identity}.json__turn_{number}", identity, rater, task, number, user, reply, score,
        "satisfied" if score >= 4 else reason,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("candidate", "value"),
    [
        (turn("R/gift/0", 3), 8.5),
        (turn("R/gift/0", 3, reason="other"), 7.0),
        (turn("R/gift/0", 1), 6.5),
        (turn("R/gift/0", 4), 4.0),
        (turn("R/gift/0", 5), 1.5),
        (turn("R/gift/0", 5, user="And the costs?"), 0.5),
        (turn("R/gift/0", 2, user="ok then"), 3.0),
    ],
)
def test_the_selection_score_is_the_published_one(candidate, value):
    assert selection_value(candidate).value == value


@pytest.mark.parametrize(
    ("user", "reply", "expected"),
    [
        ("ok then", "A" * 40, False),
        ("Which one?", "Sure!", False),
        ("Which one?", "The first.", False),
        ("Which one?", "A" * 25, True),
        ("W" * 25, "The first.", True),
        ("我想去海边，预算四百。", "好的。", False),
    ],
)
def test_what_is_substantive_is_the_published_rule(user, reply, expected):
    assert is_substantive(user, reply) is expected


def test_limits_of_conversation_and_block_and_the_first_turn_hold():
    turns = [turn(f"R1/gift/{n}", 3) for n in range(6)]
    turns += [
        turn("R1/gift/0", 3, number=2),
        turn("R2/gift/0", 5),
        turn("R2/gift/1", 5),
        turn("R3/gift/0", 1, number=0),
    ]
    found = hard_selection(turns)
    assert sorted(each.turn.sample_id for each in found) == [
        "R1__gift__0.json__turn_1", "R1__gift__1.json__turn_1", "R1__gift__2.json__turn_1", "R2__gift__0.json__turn_1"
    ]  # fmt: skip


def test_quotas_are_filled_in_order_of_score_after_one_for_each_rater():
    turns = [turn(f"R{n:02d}/gift/{k}", 3) for n in range(5) for k in range(3)]
    turns += [turn(f"R{n:02d}/travel/{k}", score) for n in range(5) for k, score in enumerate((1, 2, 4))]
    found = [each.turn for each in hard_selection(turns, budget=12, quotas={1: 2, 2: 3, 4: 1})]
    assert [each.rater_id for each in found[:5]] == [f"R{n:02d}" for n in range(5)]
    assert [each.score for each in found] == [3] * 5 + [1, 1, 2, 2, 2, 4] + [3]


def test_the_hard_selection_of_the_built_benchmark_is_enriched_and_the_blind_one_is_not(plan):
    pool = [
        turn(f"{c.rater_id}/{c.task}/{c.number}", each.score, reason=each.reason, number=number)
        for c in plan
        for number, each in enumerate(c.turns)
    ]
    hard, blind = ([each.turn for each in found] for found in (hard_selection(pool), blind_selection(pool, STREAMS)))
    for found in (hard, blind):
        assert (len(found), len({each.rater_id for each in found})) == (300, 112)
        assert len({each.conversation_id for each in found}) == 300
    low = [sum(each.score <= 3 for each in found) / 300 for found in (hard, blind)]
    assert low[0] > 0.6 > 0.3 > low[1]


def test_the_blind_selection_is_the_same_whatever_the_gold():
    turns = [
        turn(f"R{n:02d}/{task}/{k}", 1 + (n + k) % 5)
        for n in range(9)
        for task in term_ids("planning_tasks")
        for k in range(3)
    ]
    other = [turn(f"{t.rater_id}/{t.task}/{t.conversation_id[-1]}", 6 - t.score) for t in turns]
    one, two = ([each.turn.sample_id for each in blind_selection(given, STREAMS, 20)] for given in (turns, other))
    assert one == two
    assert len(one) == 20
