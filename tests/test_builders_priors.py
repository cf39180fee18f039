"""Priors: the plan keeps the rules whatever the profile, the seed and the number of sessions."""

import copy

import hypothesis
import pytest
from hypothesis import strategies as st
from likability_samples import BENCHMARK, all_priors, answered, priors_of, profiles

from audits.checks import priors as checks
from audits.subjects import subjects
from builders.priors.plan import plan_sessions, surprises
from builders.priors.writing import priors
from models.remedies import Failure
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import Table
from validators.records import failures

TABLE = Table(name="priors", key=("persona_id", "session"))


def errors(rows, profile):
    related = {"profiles": [profile]}
    read = subjects("priors", ("persona_id", "session"), rows, 0)
    findings = [*checks.audit(read, read, related, frozenset()), *checks.coverage(read, related)]
    return [finding for finding in findings if finding.code != "prior.duplicate"]


def test_five_hundred_priors_fit_their_record_schema():
    assert len(all_priors()) == 500
    assert failures(TABLE, all_priors()) == []


def test_the_same_seed_gives_the_same_priors_and_another_seed_others():
    profile = profiles()[3]
    assert priors_of(profile) == priors_of(profile)
    assert [row["plan"] for row in priors_of(profile)] != [row["plan"] for row in priors_of(profile, seed=8)]


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(
    place=st.integers(0, 49), seed=st.integers(0, 2**32), sessions=st.integers(3, 14), turns=st.integers(3, 8)
)
def test_every_plan_passes_every_audit(place, seed, sessions, turns):
    profile = profiles()[place]
    rows = priors_of(profile, seed, sessions, turns)
    assert [row["session"] for row in rows] == list(range(1, sessions + 1))
    assert max(step["turn"] for row in rows for step in row["plan"]) == turns
    assert errors(rows, profile) == []


def test_the_priority_metric_is_tested_in_three_sessions():
    for profile in profiles():
        tested = [row["session"] for row in priors_of(profile) if profile["priority_metric"] in row["metrics_tested"]]
        assert len(tested) >= 3


def test_antisocial_users_disclose_later_in_a_session_than_social_ones():
    def mean_turn(kind):
        chosen = [profile for profile in profiles() if profile["type"] == kind]
        turns = [
            step["turn"] for each in chosen for row in priors_of(each) for step in row["plan"] if step["act"] == "seed"
        ]
        return sum(turns) / len(turns)

    assert mean_turn("social") + 0.5 < mean_turn("antisocial")


@pytest.mark.parametrize(
    ("kind", "sessions", "allowed"),
    [
        ("social", 10, range(3)),
        ("antisocial", 10, range(5, 8)),
        ("social", 3, range(1)),
        ("antisocial", 3, range(2, 3)),
    ],
)
def test_surprises_are_budgeted_by_type(kind, sessions, allowed):
    assert surprises(kind, sessions) == allowed


@pytest.mark.parametrize(("sessions", "turns"), [(2, 5), (10, 2)])
def test_too_few_sessions_or_turns_are_refused(sessions, turns):
    with pytest.raises(RequestError, match="at least 3 sessions of 3 turns"):
        plan_sessions(profiles()[0], sessions, turns, rng_for(7, BENCHMARK, "priors", "x"))


def test_the_plan_does_not_depend_on_what_a_model_writes():
    profile = profiles()[0]

    def answer(request):
        return {
            "agendas": [{**each, "agenda": each["agenda"] + " Take care."} for each in request.compose()["agendas"]]
        }

    rows = answered(priors(BENCHMARK, profile, 10, 5, 7, "messages"), answer)
    assert [row["plan"] for row in rows] == [row["plan"] for row in priors_of(profile)]
    assert all(row["agenda"].endswith("Take care.") for row in rows)


@pytest.mark.parametrize("fault", ["missing", "twice", "silent"])
def test_agendas_that_are_missing_or_leave_a_detail_out_are_asked_for_again(fault):
    profile, asked = profiles()[0], []

    def answer(request):
        asked.append(request)
        good = request.compose()
        if len(asked) > 1:
            return good
        bad = copy.deepcopy(good)["agendas"]
        if fault == "missing":
            bad.pop()
        elif fault == "twice":
            bad[1] = bad[0]
        else:
            bad[0]["agenda"] = "You want to talk of this and that, and of nothing in particular, for a while."
        return {"agendas": bad}

    rows = answered(priors(BENCHMARK, profile, 10, 5, 7, "messages"), answer)
    assert not isinstance(rows, Failure) and len(asked) == 2
