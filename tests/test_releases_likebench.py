"""The release of LikeBench in the repository: whole, what its builders make, and as the paper's rules want it."""

from collections import Counter

import pytest

from audits.checks import priors as prior_checks
from audits.subjects import subjects
from releases.opening import open_release
from releases.rebuild import rebuild
from releases.verify import verify
from schemas.records import term_ids


@pytest.fixture(scope="module")
def release():
    return open_release("likebench@1.0.0")


def test_the_release_in_the_repository_verifies(release):
    assert not verify(release.folder).problems


def test_its_builders_make_the_same_content_again(release, tmp_path):
    assert {table.table: table.same for table in rebuild(release, tmp_path)} == dict.fromkeys(release.tables, True)


def test_half_of_fifty_profiles_are_social_and_each_has_ten_sessions_in_order(release):
    assert Counter(row["type"] for row in release.rows("profiles")) == {"social": 25, "antisocial": 25}
    sessions = {}
    for row in release.rows("priors"):
        sessions.setdefault(row["persona_id"], []).append(row["session"])
    assert len(sessions) == 50 and all(own == list(range(1, 11)) for own in sessions.values())


def test_every_metric_is_tested_at_least_twice_for_everybody(release):
    tested = {}
    for row in release.rows("priors"):
        tested.setdefault(row["persona_id"], Counter()).update(row["metrics_tested"])
    assert all(own[metric] >= 2 for own in tested.values() for metric in term_ids("likability_metrics"))


def test_its_priors_have_no_finding(release):
    rows = list(release.rows("priors"))
    related = {"profiles": list(release.rows("profiles"))}
    read = subjects("priors", ("persona_id", "session"), rows, 0)
    assert prior_checks.audit(read, read, related, frozenset()) == []
    assert prior_checks.coverage(read, related) == []
