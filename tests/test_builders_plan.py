"""The plan of memories: quotas, tiers, domains and intensities that come out exactly."""

import math
from collections import Counter

import pytest
from builder_samples import HEART, streams
from hypothesis import given
from hypothesis import strategies as st

from builders.ids import memory_id
from builders.memories.plan import AGES, PRESETS, plan, targets, weights
from builders.memories.quotas import apportion, quotas, staged_quotas, tier_table
from builders.memories.stages import memory_stage
from builders.personas import load_characters
from schemas.errors import RequestError
from schemas.tables import term_ids, vocabulary

CHARACTERS = load_characters()
SHARES = [term["share"] for term in vocabulary("intensity_tiers")]
MEANS = {
    "CHAR_01": 0.697, "CHAR_02": 0.499, "CHAR_03": 0.640, "CHAR_04": 0.652, "CHAR_05": 0.659, "CHAR_06": 0.625,
    "CHAR_07": 0.621, "CHAR_08": 0.598, "CHAR_09": 0.659, "CHAR_10": 0.612, "CHAR_11": 0.561,
}  # fmt: skip

totals = st.integers(0, 1500)


def memories(character, ages):
    return [{"id": memory_id(character["character_id"], number), "age": age} for number, age in enumerate(ages, 1)]


def evenness(counts):
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts if n) / math.log(5)


def by_stage(deficit):
    """The quotas of the life stages of the benchmark."""
    stages = [range(stage["from_age"], stage["to_age"] + 1) for stage in vocabulary("memory_stages")]
    return staged_quotas(deficit, weights(), stages)


@given(totals)
def test_stage_of_any_total_is_within_one_memory_of_its_share(deficit):
    found = by_stage(deficit)
    assert sum(found.values()) == deficit
    for stage in vocabulary("memory_stages"):
        ages = range(stage["from_age"], stage["to_age"] + 1)
        share = deficit * sum(weights()[age] for age in ages) / sum(weights().values())
        assert abs(sum(found[age] for age in ages) - share) < 1


@given(totals, st.dictionaries(st.integers(6, 50), st.integers(1, 40), min_size=1))
def test_quotas_sum_to_the_deficit_and_stay_within_one_of_their_share(deficit, weight_of):
    found = quotas(deficit, weight_of)
    assert sum(found.values()) == deficit
    for age, count in found.items():
        share = deficit * weight_of[age] / sum(weight_of.values())
        assert math.floor(share) <= count <= math.floor(share) + 1


def test_remainders_go_to_the_largest_and_among_equals_to_the_younger():
    assert quotas(10, {6: 1, 7: 1, 8: 1}) == {6: 4, 7: 3, 8: 3}
    assert quotas(10, {6: 1, 7: 2, 8: 1}) == {6: 3, 7: 5, 8: 2}
    assert apportion(3, [0.25, 0.35, 0.25, 0.15]) == [1, 1, 1, 0]


def test_a_thousand_memories_need_no_rounding():
    assert quotas(1000, weights()) == weights()
    assert list(weights()) == list(AGES)


@pytest.mark.parametrize(
    ("total", "points"),
    [(60, 0.9), (100, 0.5), (1000, 0.5)],  # of 60 no whole numbers are nearer to Table 8 than 0.82 points
)
def test_stages_are_within_half_a_point_of_table_8_as_far_as_whole_memories_can_be(total, points):
    counts = Counter(memory_stage(one.age)["id"] for one in plan(CHARACTERS[0], HEART, total))
    for stage in vocabulary("memory_stages"):
        assert abs(counts[stage["id"]] / total - stage["published_count"] / 11000) <= points / 100


@given(st.lists(st.integers(0, 300), min_size=8, max_size=8))
def test_tier_table_meets_both_margins_and_rounds_each_cell_to_a_neighbour(windows):
    table = tier_table(windows, SHARES)
    assert [sum(row) for row in table] == windows
    assert [sum(column) for column in zip(*table, strict=True)] == apportion(sum(windows), SHARES)
    for size, row in zip(windows, table, strict=True):
        for share, count in zip(SHARES, row, strict=True):
            assert abs(count - size * share) < 1 + 1e-6


@given(
    st.sampled_from(CHARACTERS),
    totals.filter(bool),
    st.lists(st.integers(6, 50), max_size=60),
    st.sampled_from(PRESETS),
)
def test_plan_of_any_total_keeps_every_count(character, deficit, ages, preset):
    existing = memories(character, ages)
    made = plan(character, streams(3), deficit + len(existing), existing, preset)
    assert len(made) == deficit
    assert Counter(one.age for one in made) == Counter({a: n for a, n in by_stage(deficit).items() if n})
    assert [sum(one.tier == tier for one in made) for tier in "ABCD"] == apportion(deficit, SHARES)
    domains = Counter(one.domain for one in made)
    assert max(domains.values()) - min(domains[name] for name in term_ids("scenario_domains")) <= 1
    patterns = Counter(one.pattern for one in made if one.pattern is not None)
    assert patterns.total() == sum(one.tier in "AB" for one in made)
    assert max(patterns.values(), default=0) - min(patterns[index] for index in range(8)) <= 1
    numbers = [one.number for one in made]
    assert numbers == sorted(numbers) and [one.age for one in made] == sorted(one.age for one in made)
    assert not {one.id for one in made} & {row["id"] for row in existing}
    assert all(0 < one.intensity < 1 for one in made)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("character", CHARACTERS, ids=lambda row: row["archetype"])
def test_mean_intensity_is_that_of_table_7(character, preset):
    made = plan(character, HEART, preset=preset)
    assert abs(sum(one.intensity for one in made) / 1000 - MEANS[character["character_id"]]) < 0.002


@pytest.mark.parametrize("total", [20, 100, 1000])
def test_the_nervous_feel_most_strongly_and_the_calm_least(total):
    means = {row["archetype"]: sum(one.intensity for one in plan(row, HEART, total)) / total for row in CHARACTERS}
    assert max(means, key=means.get) == "N-High" and min(means, key=means.get) == "N-Low"


@pytest.mark.parametrize("preset", PRESETS)
def test_tiers_keep_their_order_of_strength(preset):
    made = plan(CHARACTERS[3], HEART, preset=preset)
    mean = {tier: sum(one.intensity for one in made if one.tier == tier) for tier in "ABCD"}
    size = Counter(one.tier for one in made)
    ordered = [mean[tier] / size[tier] for tier in "ABCD"]
    assert ordered == sorted(ordered, reverse=True)


def test_tiers_are_exact_over_a_character_and_within_one_in_each_stage():
    for character in CHARACTERS:
        made = plan(character, HEART)
        assert [sum(one.tier == tier for one in made) for tier in "ABCD"] == [250, 350, 250, 150]
        for stage, size in Counter(one.stage for one in made).items():
            for tier, share in zip("ABCD", SHARES, strict=True):
                assert abs(sum(one.stage == stage and one.tier == tier for one in made) - size * share) < 1


def test_domains_are_even_over_a_character_and_within_each_tier():
    for character in CHARACTERS:
        made = plan(character, HEART)
        for tier in ("ABCD", "A", "B", "C", "D"):
            assert evenness(Counter(one.domain for one in made if one.tier in tier).values()) >= 0.98


def test_patterns_are_named_for_the_first_two_tiers_only():
    for one in plan(CHARACTERS[5], HEART):
        assert (one.pattern is None) == (one.tier in "CD")


def test_numbers_of_existing_memories_are_not_given_again():
    existing = [{"id": "MEM_01_0002", "age": 9}, {"id": "MEM_01_0005", "age": 30}]
    made = plan(CHARACTERS[0], HEART, 6, existing)
    assert [one.id for one in made] == ["MEM_01_0001", "MEM_01_0003", "MEM_01_0004", "MEM_01_0006"]


def test_total_below_what_is_there_is_refused():
    with pytest.raises(RequestError, match="at least the 3 it already has"):
        plan(CHARACTERS[0], HEART, 2, memories(CHARACTERS[0], [6, 7, 8]))


def test_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(RequestError, match="ecological"):
        plan(CHARACTERS[0], HEART, preset="ecologic")


def test_own_character_is_placed_on_the_line_between_calm_and_nervous():
    own = {**CHARACTERS[0], "archetype": "Custom"}
    at = {n: targets({**own, "big_five": {**own["big_five"], "N": n}}).intensity for n in (0.10, 0.5, 0.95)}
    assert (at[0.10], at[0.95]) == (0.499, 0.697) and 0.499 < at[0.5] < 0.697


def test_work_happens_on_working_days_and_children_sleep_at_night():
    for one in plan(CHARACTERS[2], HEART):
        if one.domain == "workplace":
            assert one.weekday not in ("Saturday", "Sunday") and one.part_of_day in ("morning", "midday", "afternoon")
        if one.age <= 12:
            assert one.part_of_day != "night"


def test_seed_decides_the_plan():
    assert plan(CHARACTERS[0], HEART, 50) == plan(CHARACTERS[0], HEART, 50) != plan(CHARACTERS[0], streams(8), 50)
