"""The same chains through Message Batches: in rounds, resumable anywhere, half the price."""

import functools
import sqlite3
from dataclasses import replace

import pytest
from test_models_running import keys, query, single, stories
from test_models_storms import compose, pieces, whole

from models.backends import BackendSettings, run
from models.journal import read_only
from models.journal.accounts import accounts
from models.prices import read_prices
from models.rehearsal.faults import Fault, Faults
from models.roles import read_roles
from schemas.errors import MachineError, RequestError


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr("models.pacing.FIRST_WAIT", 0.01)
    monkeypatch.setattr("models.batches.calls._FIRST_POLL", 0.01)


@pytest.fixture
def settings(tmp_path):
    journal = tmp_path / "journal.sqlite"
    return BackendSettings("messages", read_roles(), read_prices(), journal, batch=True, quiet=True, timeout=20.0)


def batches(settings):
    return query(settings, "SELECT batch_id, done FROM batches ORDER BY number")


def test_batches_give_the_same_replies_as_single_requests_in_as_many_rounds_as_chains_are_long(rehearse, settings):
    rehearse(batch_seconds=0.05)
    answered = list(run(stories(7), settings))
    assert len(batches(settings)) == 4
    alone = replace(settings, batch=False, journal=settings.journal.with_name("alone.sqlite"))
    assert list(run(stories(7), alone)) == answered
    assert keys(settings) == keys(alone)


def test_what_is_in_the_journal_is_not_submitted(rehearse, settings):
    api = rehearse()
    answered = list(run(stories(5), settings))
    assert list(run(stories(5), settings)) == answered
    assert (api.stats()["answered"], len(batches(settings))) == (20, 4)


def test_replies_of_batches_cost_half(rehearse, settings):
    rehearse()
    list(run(single(10), settings))
    with read_only(settings.journal) as read:
        (account,) = accounts(read, read_prices())
    assert account.batch
    assert account.cost == pytest.approx(read_prices().cost(account.model, account.usage) / 2)


def test_a_batch_is_split_at_the_apis_limits(rehearse, settings, monkeypatch):
    rehearse()
    monkeypatch.setattr("models.batches.rounds.MOST_REQUESTS", 4)
    assert len(list(run(single(10), settings))) == 10
    assert len(batches(settings)) == 3
    monkeypatch.setattr("models.batches.rounds.MOST_BYTES", 1)
    assert len(list(run(single(13), settings))) == 13
    assert len(batches(settings)) == 6


def test_what_expired_or_met_a_server_error_is_submitted_again_and_answered_once(rehearse, settings):
    api = rehearse(faults=Faults([Fault("drop", 0.3, match="Word 1"), Fault("overloaded", 0.3, match="Word 1")]))
    replies = list(run(single(20), settings))
    failed = [reply.reason for reply in replies if reply.status == "failed"]
    assert all("overloaded" in reason or "expired" in reason for reason in failed)
    assert {reply.status for reply in replies} <= {"answered", "failed"}
    assert (api.stats()["answered"], api.stats()["answered_twice"]) == (20 - len(failed), 0)
    assert len(batches(settings)) == 3


def test_a_batch_whose_id_was_lost_is_found_and_collected_not_submitted_again(rehearse, settings):
    api = rehearse(faults=Faults([Fault("drop", 1.0, match="custom_id")]))
    assert len(list(run(stories(6), settings))) == 6
    assert api.stats()["faults"]["drop"] == 4
    assert (api.stats()["answered"], api.stats()["answered_twice"]) == (24, 0)


def test_a_server_that_is_busy_is_given_the_batch_later(rehearse, settings):
    api = rehearse(
        faults=Faults([Fault("limited", 0.2, match="custom_id"), Fault("overloaded", 0.1, match="custom_id")])
    )
    assert len(list(run(stories(6), settings))) == 6
    assert (api.stats()["answered"], len(batches(settings))) == (24, 4)


def test_a_request_the_api_refuses_fails_alone(rehearse, settings):
    rehearse()
    start = single(3)
    bad = functools.partial(start[1].func, start[1].args[0]._replace(temperature=9.0))
    replies = list(run([start[0], bad, start[2]], settings))
    assert [reply.status for reply in replies] == ["answered", "failed", "answered"]
    assert "temperature" in replies[1].reason


def test_chains_with_faults_in_their_texts_end_complete(rehearse, settings):
    faults = Faults([Fault("malformed", 0.1), Fault("short", 0.1), Fault("truncated", 0.1), Fault("duplicate", 0.1)])
    rehearse(faults=faults, compose=compose)
    results = list(run([functools.partial(pieces, window) for window in range(8)], settings))
    for good, failures in results:
        assert len(good) + len(failures) == 12
        assert all(text == whole(item) for item, text in good.items())


def test_a_batch_that_is_gone_from_the_server_is_submitted_again(rehearse, settings):
    rehearse()
    list(run(single(3), settings))
    with sqlite3.connect(settings.journal) as connection:
        connection.execute("UPDATE batches SET done = 0, batch_id = 'msgbatch_of_last_year'")
        connection.execute("DELETE FROM replies")
    assert {reply.status for reply in run(single(3), settings)} == {"answered"}
    assert len(batches(settings)) == 2


def test_the_budget_holds_for_a_whole_batch(rehearse, settings):
    api = rehearse()
    with pytest.raises(MachineError, match="budget"):
        list(run(single(30), replace(settings, max_cost=0.045)))
    assert 0 < api.stats()["answered"] < 30
    assert len(list(run(single(30), replace(settings, max_cost=9.0)))) == 30
    assert api.stats()["answered_twice"] == 0


def test_a_wrong_key_ends_the_run(rehearse, settings):
    rehearse(key="another")
    with pytest.raises(RequestError, match="key refused"):
        list(run(single(3), settings))


def test_an_unknown_model_fails_every_request_with_the_apis_words(rehearse, settings):
    rehearse()
    replies = list(run(single(3), replace(settings, roles=read_roles(chosen=["claude-sonnet-46"]))))
    assert {reply.status for reply in replies} == {"failed"}
    assert "claude-sonnet-46" in replies[0].reason
