"""The 64 scenarios: eight stages by eight slots, covering both ends, with real conflicts, clean."""

import functools
from collections import Counter

import orjson
import pytest
from builder_samples import HEART

from audits import audit
from builders.scenarios import step as scenarios
from builders.scenarios.blueprints import load_blueprints
from builders.scenarios.step import diamonds_coverage, expand, value_conflict_coverage
from models.request import Reply
from schemas.benchmarks import benchmark
from schemas.tables import term_ids, vocabulary
from schemas.workspace import Workspace
from validators.records import failures


@functools.cache
def expanded():
    return [{**expand(name, blueprint), "provenance": None} for name, blueprint in load_blueprints().items()]


def test_there_are_64_eight_a_stage_of_eight_numbers():
    by_stage = Counter(row["stage"] for row in expanded())
    assert by_stage == dict.fromkeys(term_ids("scenario_stages"), 8)
    assert {row["id"].rpartition("_")[2] for row in expanded()} == set("12345678")


def test_each_stage_has_every_diamonds_dimension_but_mating_in_school_age():
    by_stage = {stage: Counter() for stage in term_ids("scenario_stages")}
    for row in expanded():
        by_stage[row["stage"]][row["diamonds_dimension"]] += 1
    for stage, found in by_stage.items():
        missing = set(term_ids("diamonds")) - found.keys()
        assert missing == ({"mating"} if stage == "school_age" else set()), stage


def test_every_record_fits_its_schema_and_the_audit_finds_no_error():
    assert failures(benchmark("heart").table("scenarios"), expanded()) == []
    assert [found for found in audit("scenarios", expanded()) if found.severity == "error"] == []


def test_every_dimension_is_exercised_at_both_ends():
    for dimension, ratings in diamonds_coverage(expanded()).items():
        assert sum(ratings.values()) == 64
        assert ratings["1"] + ratings["2"] > 0 and ratings["6"] + ratings["7"] > 0, dimension


def test_the_dimension_of_a_slot_is_rated_high_in_it():
    assert [row["id"] for row in expanded() if row["diamonds"][row["diamonds_dimension"]] < 5] == []


def test_values_in_conflict_are_of_opposing_groups_of_the_circle():
    group = {term["id"]: term["group"] for term in vocabulary("schwartz_values")}
    place = {term: index for index, term in enumerate(term_ids("schwartz_values"))}
    for row in expanded():
        for conflict in row["assessed_dimensions"]["value_conflicts"]:
            a, b = conflict["value_a"], conflict["value_b"]
            steps = abs(place[a] - place[b])
            assert group[a] != group[b] and min(steps, len(place) - steps) >= 4, (row["id"], a, b)


def test_conflicts_are_counted_whole_and_by_family():
    counted = value_conflict_coverage(expanded())
    conflicts = sum(len(row["assessed_dimensions"]["value_conflicts"]) for row in expanded())
    assert sum(count for *_, count in counted) == conflicts >= 64
    assert [count for *_, count in counted] == sorted((count for *_, count in counted), reverse=True)


def test_every_intensity_occurs_low_too():
    assert {row["intensity"] for row in expanded()} == set(term_ids("scenario_intensities"))


def test_names_texts_and_summaries_are_all_different():
    for field in ("name", "context_text", "description_for_agent"):
        assert len({row[field] for row in expanded()}) == 64


def test_the_command_reports_coverage_and_a_second_run_does_nothing(tmp_path, capsys):
    words = ["--workspace", str(tmp_path), "--json"]
    assert scenarios.main(words) == 0
    first = orjson.loads(capsys.readouterr().out)
    assert first["outcomes"][0]["action"] == "built" and first["outcomes"][0]["rows"] == 64
    assert first["coverage"]["diamonds"] == diamonds_coverage(expanded())
    written = Workspace(tmp_path, "heart").path("scenarios").read_bytes()
    scenarios.main(words)
    assert orjson.loads(capsys.readouterr().out)["outcomes"][0]["action"] == "up to date"
    assert Workspace(tmp_path, "heart").path("scenarios").read_bytes() == written


def test_a_model_cannot_move_what_the_blueprint_fixes():
    name, blueprint = next(iter(load_blueprints().items()))
    chain = scenarios._expansion(name, blueprint, HEART, "messages")
    request = next(chain)
    answer = {**request.compose(), "context_text": "You are elsewhere."}
    with pytest.raises(StopIteration) as done:
        chain.send(Reply("answered", {**answer, "stage": "midlife", "age": 50}, model="m"))
    row = done.value.value
    assert (row["id"], row["age"], row["stage"]) == (name, blueprint["age"], blueprint["stage"])
    assert row["context_text"] == "You are elsewhere."
    assert row["provenance"]["prompt"] == request.prompt_id
