"""The release of PersonaLens in the repository: whole, what its builders make, and as even as promised."""

from collections import Counter

import pytest

from releases.opening import open_release
from releases.rebuild import rebuild
from releases.verify import verify
from schemas.evenness import evenness

FIELDS = ("device", "time_of_day", "day_of_week", "environment")


@pytest.fixture(scope="module")
def release():
    return open_release("personalens@1.0.0")


def test_the_release_in_the_repository_verifies(release):
    assert not verify(release.folder).problems


def test_its_builders_make_the_same_content_again(release, tmp_path):
    assert {table.table: table.same for table in rebuild(release, tmp_path)} == dict.fromkeys(release.tables, True)


def test_every_task_is_had_by_some_user_and_every_situation_is_of_a_user_whose_domains_are_on(release):
    domains = {row["task_id"]: set(row["domains"]) for row in release.rows("tasks")}
    active = {
        row["user_id"]: {entry["domain"] for entry in row["interests"] if entry["active"]}
        for row in release.rows("users")
    }
    situations = list(release.rows("situations"))
    assert {row["task_id"] for row in situations} == domains.keys()
    assert all(domains[row["task_id"]] <= active[row["user_id"]] for row in situations)


@pytest.mark.parametrize("field", FIELDS)
def test_no_value_of_a_situation_dominates(release, field):
    counts = Counter(release.table("situations", [field])[field].to_pylist())
    assert evenness(counts.values()) > 0.9
