"""Profiles: drawn by rule, biased by archetype, completed offline or by a model that cannot change what was drawn."""

import math
from collections import Counter

import hypothesis
import pytest
from hypothesis import strategies as st
from likability_samples import BENCHMARK, answered, profiles

from builders.profiles.draw import affinity, draw_profiles, facet_values, level_weights
from builders.profiles.requests import problem
from builders.profiles.writing import written
from models.remedies import Failure
from models.request import Reply
from schemas.errors import RequestError
from schemas.records import record_schema, vocabulary
from schemas.tables import Table
from validators.records import failures

TABLE = Table(name="profiles", key=("persona_id",))


def by_facet(row):
    return facet_values(row["facets"])


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def test_fifty_profiles_fit_their_record_schema_and_are_half_social():
    assert failures(TABLE, profiles()) == []
    assert Counter(row["type"] for row in profiles()) == {"social": 25, "antisocial": 25}
    assert [list(row) for row in profiles()] == [list(record_schema("profiles")["properties"])] * 50


def test_the_same_seed_draws_the_same_profiles_and_another_seed_others():
    assert draw_profiles(BENCHMARK, 12, 7) == draw_profiles(BENCHMARK, 12, 7)
    assert draw_profiles(BENCHMARK, 12, 7) != draw_profiles(BENCHMARK, 12, 8)
    assert draw_profiles(BENCHMARK, 12, 7) != draw_profiles("another", 12, 7)


def test_no_two_profiles_share_a_name_or_an_id():
    assert len({row["name"] for row in profiles()}) == len({row["persona_id"] for row in profiles()}) == 50


def test_strata_and_archetypes_are_dealt_evenly():
    for column in ("age_band", "culture", "economics", "geography", "priority_metric", "archetype"):
        counts = Counter(row[column] for row in profiles())
        assert max(counts.values()) - min(counts.values()) <= 2, column


def test_ages_reach_from_the_teens_to_the_sixties():
    ages = [row["age"] for row in profiles()]
    assert min(ages) < 20 and max(ages) >= 60


@pytest.mark.parametrize(("tilt", "expected"), [(0, [1, 1, 1, 1, 1]), (2, [0, 0, 1, 2, 3]), (-1, [2, 1.5, 1, 0.5, 0])])
def test_level_weights_rise_with_the_tilt(tilt, expected):
    assert level_weights(tilt) == expected


def test_without_bias_levels_are_uniform_and_with_it_trust_parts_the_types():
    plain = draw_profiles(BENCHMARK, 140, 7, strength=0.0)
    counts = Counter(each["level"] for row in plain for each in row["facets"])
    assert all(abs(count / counts.total() - 0.2) < 0.02 for count in counts.values())
    for strength, least in ((0.0, None), (0.6, 0.8), (1.0, 1.5)):
        rows = draw_profiles(BENCHMARK, 140, 7, strength=strength)
        gap = mean(by_facet(row)["trust"] for row in rows if row["type"] == "social") - mean(
            by_facet(row)["trust"] for row in rows if row["type"] == "antisocial"
        )
        assert abs(gap) < 0.5 if least is None else gap > least


def test_a_favoured_option_is_frequent_in_its_archetype():
    rows = draw_profiles(BENCHMARK, 140, 7, strength=1.0)
    purists = [row for row in rows if row["archetype"] == "technical_purist"]
    others = [row for row in rows if row["archetype"] != "technical_purist"]

    def formal(chosen):
        return mean(any(each["option"] == "formality.always_formal" for each in row["styles"]) for row in chosen)

    assert formal(purists) > 2 * formal(others)


def test_social_interests_follow_the_facets_and_antisocial_ones_do_not():
    fields = {field["id"]: field for field in vocabulary("interest_fields")}

    def drawn_to(row):
        fitting = (fields[each["interest"].rsplit(".", 1)[0]] for each in row["subjects"])
        return mean(affinity(field, by_facet(row)) for field in fitting)

    social = mean(drawn_to(row) for row in profiles() if row["type"] == "social")
    antisocial = mean(drawn_to(row) for row in profiles() if row["type"] == "antisocial")
    assert social > 0.5 and abs(antisocial) < 0.3


def test_a_model_is_asked_for_interests_of_social_profiles_only():
    asked = []

    def answer(request):
        asked.append(request.id.split("/")[-1])
        return request.compose()

    for drawn in draw_profiles(BENCHMARK, 2, 7):
        answered(written(BENCHMARK, drawn, 7, "messages"), answer)
    assert asked == ["interests", "tiers", "tiers"]


def test_what_was_drawn_does_not_depend_on_what_a_model_answers():
    drawn = draw_profiles(BENCHMARK, 2, 7)[1]

    def answer(request):
        return {**request.compose(), "facets": [], "name": "Nobody", "styles": None}

    row = answered(written(BENCHMARK, drawn, 7, "messages"), answer)
    assert {column: row[column] for column in drawn} == drawn


def test_a_model_is_not_asked_for_what_was_drawn():
    drawn = draw_profiles(BENCHMARK, 2, 7)[1]
    asked = next(written(BENCHMARK, drawn, 7, "messages"))
    assert not drawn.keys() & asked.schema["properties"].keys()
    assert all(each["descriptor"] in asked.prompt for each in (*drawn["facets"], *drawn["styles"]))


def broken(change):
    """A whole answer with something changed, beside what was drawn."""
    row = profiles()[1]
    return problem(row, {**row, **change(row)})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda row: {"entities": row["entities"][1:]}, "entities"),
        (lambda row: {"entities": [{**each, "items": ["one"]} for each in row["entities"]]}, "entities"),
        (lambda row: {"knowledge": [*row["knowledge"], row["knowledge"][0]]}, "knowledge"),
        (lambda row: {"relations": [{**each, "name": "Zora"} for each in row["relations"]]}, "relations"),
        (lambda row: {"details": [{**row["details"][0], "keyword": "walrus"}]}, "details"),
        (lambda row: {"life_events": [{"age": row["age"] + 1, "text": "won a prize at last"}]}, "life_events"),
    ],
)
def test_an_answer_that_breaks_a_rule_is_asked_for_again_with_the_reason(change, field):
    assert broken(change).startswith(field)
    assert broken(lambda row: {}) is None


def test_a_profile_that_a_model_fails_to_write_is_a_failure_and_no_row():
    drawn = draw_profiles(BENCHMARK, 2, 7)[1]
    chain = written(BENCHMARK, drawn, 7, "messages")
    request = next(chain)
    with pytest.raises(StopIteration) as stopped:
        while True:
            request = chain.send(Reply("refused", reason="no"))
    assert isinstance(stopped.value.value, Failure) and drawn["persona_id"] in request.id


def test_more_profiles_than_names_are_refused():
    with pytest.raises(RequestError, match="too few names"):
        draw_profiles(BENCHMARK, 600, 7)


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(seed=st.integers(0, 2**32), count=st.integers(1, 12))
def test_profiles_of_any_seed_and_number_fit_their_schema(seed, count):
    drawn = draw_profiles(BENCHMARK, count, seed)
    rows = [answered(written(BENCHMARK, each, seed, "offline")) for each in drawn]
    assert failures(TABLE, rows) == []
