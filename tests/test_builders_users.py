"""Users, tasks and situations of a PersonaLens of our own: consistent, evenly spread, the same for the same seed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.pipeline.streams import Streams
from builders.situations import menus, situations_of
from builders.tasks import load_tasks
from builders.users import catalogue as catalogue_module
from builders.users.catalogue import catalogue, types
from builders.users.people import KINDS, draw_person, strata, suits
from builders.users.step import preference_rows, user_row
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.evenness import evenness
from validators import check

STREAMS = Streams(7, "personalens")
USERS = [user_row(STREAMS, number) for number in range(60)]


@pytest.fixture(scope="module")
def tables():
    tasks = load_tasks()
    return {
        "preferences": preference_rows(7),
        "tasks": [{**task.row, "provenance": None} for task in tasks],
        "users": USERS,
        "situations": [row for user in USERS for row in situations_of(user, tasks, STREAMS)],
    }


def test_the_catalogue_has_twenty_domains_and_ninety_types():
    assert len(catalogue()) == 20
    assert sum(1 for _ in types()) == 90


def test_there_are_86_tasks_in_one_domain_and_25_in_several():
    assert Counter(task.row["kind"] for task in load_tasks()) == {"single": 86, "multi": 25}


def test_every_table_keeps_the_rules_that_the_published_data_is_held_to(tables):
    report = check(benchmark("personalens"), tables)
    assert [finding for finding in report.findings if finding.severity == "error"] == []


def test_every_preference_type_of_a_task_is_resolved_in_its_domains():
    for task in load_tasks():
        for preference in task.row["preferences"]:
            assert preference["resolved"]
            assert {each["domain"] for each in preference["resolved"]} <= set(task.row["domains"])


@given(st.integers(0, 10**6))
def test_a_user_has_only_values_that_suit_who_they_are(number):
    person = draw_person(STREAMS.rng("users", f"user{number}"))
    chosen = {(each["domain"], each["preference"]): each["values"] for each in user_row(STREAMS, number)["affinities"]}
    for each in types():
        for value in chosen[each.domain, each.name]:
            assert each.by is not None or suits(each.values[value], person.traits)


@given(st.integers(0, 10**6))
def test_a_user_follows_from_the_seed_and_the_number_alone(number):
    assert user_row(STREAMS, number) == user_row(Streams(7, "personalens"), number)
    assert user_row(Streams(8, "personalens"), number) != user_row(STREAMS, number)


def test_nobody_under_25_is_retired_or_widowed():
    for age in strata()["ages"]:
        young = age["name"] in ("18-24", "25-34")
        assert not (young and ("Retired" in age["employment"] or "Widowed" in age["family"]))


def test_every_stratum_leaves_a_value_in_every_preference_type():
    """Whatever a user's traits are, no menu is empty for them."""
    for each in types():
        if each.by is None:
            for kind in KINDS.values():
                for trait in kind:
                    others = {one for group in KINDS.values() if group != kind for one in group}
                    assert any(suits(words, frozenset({trait, *others})) for words in each.values.values()), (
                        each.name,
                        trait,
                    )


def test_each_field_of_a_situation_is_spread_evenly(tables):
    for field in menus():
        assert evenness(Counter(row[field] for row in tables["situations"]).values()) > 0.9


def test_a_summary_names_the_users_own_values():
    for user in USERS[:20]:
        values = {each["domain"]: [] for each in user["affinities"]}
        for each in user["affinities"]:
            values[each["domain"]] += each["values"]
        for entry in user["interactions"]:
            assert "{" not in entry["summary"]
            assert any(value in entry["summary"] for value in values[entry["domain"]])


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"early"', '"erly"', "unknown trait 'erly'"),
        ("{Wake-up time}", "{Wake up time}", "unknown preference type in a summary 'Wake up time'"),
        ("many = 3", "most = 3", "unknown setting 'most'"),
    ],
)
def test_a_catalogue_that_contradicts_itself_is_refused_by_name(tmp_path, old, new, named):
    path = tmp_path / "preferences.toml"
    path.write_text(catalogue_module.FILE.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(RequestError, match=named):
        catalogue(path)
