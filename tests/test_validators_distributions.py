"""Figures: what they say of small tables that a person can count."""

import math

from schemas.benchmarks import benchmark
from validators import check


def reports(small_heart):
    return check(benchmark("heart"), small_heart, partial=True).reports


def test_stages_and_tiers_are_counted_beside_the_published_and_planned_shares(small_heart):
    found = reports(small_heart)
    stages = {each["stage"]: each for each in found["memories.stages"]}
    assert stages["school_age"] == {
        "stage": "school_age", "rows": 8, "share": 0.6667, "published_share": 0.1647, "points": 50.1939,
    }  # fmt: skip
    assert sum(each["rows"] for each in stages.values()) == 12
    assert math.isclose(sum(each["published_share"] for each in stages.values()), 1, abs_tol=0.001)
    assert [(each["tier"], each["rows"], each["planned_share"]) for each in found["memories.tiers"]] == [
        ("A", 4, 0.25), ("B", 4, 0.35), ("C", 4, 0.25), ("D", 0, 0.15),
    ]  # fmt: skip


def test_domains_are_counted_for_each_character_with_their_evenness(small_heart):
    first = reports(small_heart)["memories.domains"][0]
    assert first["character_id"] == "CHAR_01"
    assert (first["workplace"], first["interpersonal"], first["health"]) == (1, 1, 0)
    assert first["evenness"] == round(math.log(3) / math.log(5), 4)


def test_mean_intensity_is_beside_table_7_by_archetype_not_by_id(small_heart):
    small_heart["characters"][0]["character_id"] = "CHAR_77"
    for memory in small_heart["memories"][:3]:
        memory |= {"character_id": "CHAR_77", "id": memory["id"].replace("_01_", "_77_")}
    means = {each["character_id"]: each for each in reports(small_heart)["memories.intensity"]}
    assert means["CHAR_77"] == {
        "character_id": "CHAR_77",
        "rows": 3,
        "mean_intensity": 0.6,
        "published_intensity": 0.697,
    }


def test_a_custom_character_has_no_published_intensity(small_heart):
    small_heart["characters"][0]["archetype"] = "Custom"
    assert reports(small_heart)["memories.intensity"][0]["published_intensity"] is None


def test_answers_and_distractors_are_counted(small_heart):
    found = reports(small_heart)
    assert [each["rows"] for each in found["mcq_keys.answers"]] == [0, 1, 2, 1]
    assert {each["rows"] for each in found["mcq_keys.distractors"]} == {3}


def test_diamonds_ratings_are_counted_beside_table_10(small_heart):
    duty = reports(small_heart)["scenarios.diamonds"][0]
    assert (duty["mean"], duty["ratings"]) == (7.0, [0, 0, 0, 0, 0, 0, 1])
    assert duty["published_mean"] == 3.9531


def test_tables_without_rows_have_figures_of_nothing(small_heart):
    empty = {name: [] for name in small_heart}
    found = check(benchmark("heart"), empty, partial=True).reports
    assert {each["rows"] for each in found["memories.stages"]} == {0}
    assert found["memories.domains"] == []
    assert found["characters.separation"]["pairs"] == 0
