"""The backend with a model against the rehearsal server, over both wires: nothing paid lost or paid twice."""

import functools
import sqlite3
import sys
import threading
from dataclasses import replace

import orjson
import pytest

from models.backends import BackendSettings, run
from models.journal import read_only
from models.journal.accounts import EVERYTHING, accounts, spent
from models.journal.trace import traced
from models.prices import read_prices
from models.rehearsal.faults import Fault, Faults
from models.remedies import ask
from models.request import Request
from models.roles import read_roles
from schemas.errors import MachineError, RequestError

PRICES = read_prices()
SCHEMA = {
    "type": "object",
    "required": ["word"],
    "additionalProperties": False,
    "properties": {"word": {"type": "string", "minLength": 1, "maxLength": 40}},
}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr("models.pacing.FIRST_WAIT", 0.01)
    monkeypatch.setattr("models.pacing.LONGEST_WAIT", 0.05)


@pytest.fixture(params=["messages", "chat"])
def wire(request):
    return request.param


@pytest.fixture
def settings(tmp_path, wire):
    journal = tmp_path / "journal.sqlite"
    return BackendSettings("messages", roles(wire), PRICES, journal, concurrency=8, quiet=True, timeout=20.0)


def roles(wire, *chosen, **more):
    """The roles of HEART-BENCH, or of the models chosen, on a wire."""
    return {role: replace(model, wire=wire, **more) for role, model in read_roles(chosen=chosen).items()}


def question(number, **more):
    fixed = ("The rules. " * 600, "The character.")
    return Request(f"q/{number}", "memory", fixed, f"Word {number}?", "p", "d", compose=dict, schema=SCHEMA, **more)


def single(count, **more):
    return [functools.partial(ask, question(number), **more) for number in range(count)]


def story(number, length=4):
    """A chain whose every request holds the reply before it."""
    said = []
    for step in range(length):
        prompt = f"{number}/{step}: {' '.join(said[-3:])}"
        reply = yield from ask(question(0)._replace(id=f"s/{number}/{step}", prompt=prompt))
        said.append(reply.answer["word"] if reply.answer else reply.status)
    return said


def stories(count):
    return [functools.partial(story, number) for number in range(count)]


def query(settings, sql):
    with read_only(settings.journal) as read:
        return [tuple(row) for row in read(sql)]


def keys(settings):
    return query(settings, "SELECT key FROM requests ORDER BY key")


def test_results_come_in_the_order_of_the_chains(rehearse, settings):
    rehearse()
    replies = list(run(single(30), settings))
    by_itself = [
        next(iter(run([start], replace(settings, journal=settings.journal.with_name(f"{n}.sqlite")))))
        for n, start in enumerate(single(3))
    ]
    assert [reply.answer for reply in replies[:3]] == [reply.answer for reply in by_itself]
    assert {reply.status for reply in replies} == {"answered"}


def test_nothing_to_ask_needs_no_key(settings, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert list(run([], settings)) == []


def test_an_answered_request_is_replayed_and_never_sent_again(rehearse, settings):
    api = rehearse()
    first = list(run(stories(6), settings))
    assert list(run(stories(6), settings)) == first
    assert (api.stats()["answered"], api.stats()["answered_twice"]) == (24, 0)


def test_what_is_asked_does_not_depend_on_what_finishes_first(rehearse, settings, tmp_path):
    rehearse(faults=Faults([Fault("slow", 0.3, seconds=0.02)]))
    list(run(stories(8), settings))
    alone = replace(settings, journal=tmp_path / "alone.sqlite", concurrency=1)
    list(run(stories(8), alone))
    assert keys(settings) == keys(alone)


def test_the_same_question_is_paid_once_and_each_sample_for_itself(rehearse, settings):
    api = rehearse()
    same = [functools.partial(ask, question(1)) for _ in range(12)]
    replies = list(run(same, settings))
    assert len({reply.answer["word"] for reply in replies}) == 1
    assert api.stats()["answered"] == 1
    list(run([functools.partial(ask, question(1, sample=n)) for n in range(4)], settings))
    assert api.stats()["answered"] == 4


def test_long_fixed_parts_are_read_from_the_cache_after_the_first_time(rehearse, settings):
    rehearse()
    replies = list(run(single(5), replace(settings, concurrency=1)))
    read = replies[1].usage.cache_read_tokens
    assert replies[0].usage.cache_read_tokens == 0 and read > 1000
    assert all(reply.usage.cache_read_tokens == read for reply in replies[1:])


@pytest.mark.parametrize("retry_after", [None, 0.01, 4_294_967])
def test_too_many_requests_are_asked_again_and_answered_once(rehearse, settings, retry_after):
    api = rehearse(faults=Faults([Fault("limited", 0.2, retry_after=retry_after)]))
    replies = list(run(single(20), settings))
    assert {reply.status for reply in replies} == {"answered"}
    assert api.stats()["faults"]["limited"] > 0
    assert (api.stats()["answered"], api.stats()["answered_twice"]) == (20, 0)


def test_dropped_connections_and_broken_replies_are_asked_again_and_counted_as_doubts(rehearse, settings):
    api = rehearse(
        faults=Faults([Fault("drop", 0.1), Fault("garbled", 0.1), Fault("overloaded", 0.1), Fault("error", 0.1)])
    )
    replies = list(run(single(30), settings))
    assert {reply.status for reply in replies} == {"answered"}
    ((doubts,),) = query(settings, "SELECT sum(doubts) FROM requests")
    assert doubts == api.stats()["faults"]["drop"] + api.stats()["faults"]["garbled"] > 0


def test_the_cost_reported_is_the_servers_own_count(rehearse, settings):
    api = rehearse(faults=Faults([Fault("drop", 0.1), Fault("truncated", 0.2)]))
    list(run(single(30, tries=2), settings))
    with read_only(settings.journal) as read:
        (account,) = accounts(read, PRICES)
    counted = api.stats()["tokens"]["claude-sonnet-4-6"]
    written = account.usage.input_tokens + account.usage.cache_write_tokens  # chat completions do not tell them apart
    assert written == counted["input_tokens"] + counted["cache_creation_input_tokens"]
    assert account.usage.cache_read_tokens == counted["cache_read_input_tokens"]
    assert account.usage.output_tokens == counted["output_tokens"]


def test_a_reply_without_usage_is_used_and_counted_as_unmetered(rehearse, settings):
    rehearse(faults=Faults([Fault("unmetered", 1.0)]))
    assert next(iter(run(single(1), settings))).status == "answered"
    assert query(settings, "SELECT metered FROM replies") == [(0,)]


@pytest.mark.parametrize(
    ("kind", "status"),
    [("truncated", "truncated"), ("refusal", "refused"), ("malformed", "unparsable"), ("prose", "answered")],
)
def test_what_a_model_may_do_wrong_is_a_status_and_is_paid(rehearse, settings, kind, status):
    api = rehearse(faults=Faults([Fault(kind, 1.0)]))
    assert next(iter(run(single(1, tries=1), settings))).status == status
    assert next(iter(run(single(1, tries=1), settings))).status == status
    assert api.stats()["answered"] == 1


def test_a_model_that_takes_no_schema_is_asked_in_words_instead(rehearse, settings, wire):
    api = rehearse(models=("qwen3",))
    api.models["qwen3"] = replace(api.models["qwen3"], schema=False)
    local = replace(settings, roles=roles(wire, "qwen3"))
    replies = list(run(stories(4), local))
    assert [len(said) for said in replies] == [4] * 4
    assert (api.stats()["answered"], api.stats()["responses"]["400"]) == (16, 4)


def test_the_budget_stops_the_run_before_the_request_that_could_pass_it_and_raising_it_goes_on(rehearse, settings):
    api = rehearse()
    with pytest.raises(MachineError, match=r"budget of \$0.1200 reached") as raised:
        list(run(single(40), replace(settings, max_cost=0.12)))
    assert raised.value.exit_code == 3
    answered = api.stats()["answered"]
    with read_only(settings.journal) as read:
        assert spent(read, PRICES) <= 0.12
    assert 0 < answered < 40
    assert len(list(run(single(40), replace(settings, max_cost=50.0)))) == 40
    assert (api.stats()["answered"], api.stats()["answered_twice"]) == (40, 0)


def test_a_budget_needs_prices(rehearse, settings, wire):
    rehearse()
    with pytest.raises(RequestError, match="unknown price of qwen3"):
        list(run(single(1), replace(settings, max_cost=1.0, roles=roles(wire, "qwen3"))))


VARIABLES = {"messages": "ANTHROPIC", "chat": "OPENAI"}


def test_no_key_is_shown_before_anything_is_opened(settings, wire, monkeypatch):
    monkeypatch.delenv(f"{VARIABLES[wire]}_API_KEY", raising=False)
    with pytest.raises(RequestError, match=f"no key in {VARIABLES[wire]}_API_KEY"):
        list(run(single(1), settings))
    assert not settings.journal.exists()


@pytest.mark.parametrize(
    "address", ["localhost:1", "ftp://x", "http://", "http://u:p@x", "http://x?y", "http://x:99999"]
)
def test_an_address_that_is_none_is_refused(settings, wire, monkeypatch, address):
    monkeypatch.setenv(f"{VARIABLES[wire]}_BASE_URL", address)
    monkeypatch.setenv(f"{VARIABLES[wire]}_API_KEY", "k")
    with pytest.raises(RequestError, match=f"malformed address in {VARIABLES[wire]}_BASE_URL"):
        list(run(single(1), settings))


def test_a_wrong_key_ends_the_run(rehearse, settings):
    rehearse(key="another")
    with pytest.raises(RequestError, match=r"key refused \(401 invalid x-api-key\)"):
        list(run(single(20), settings))


def test_an_unknown_model_ends_the_run_with_its_name(rehearse, settings, wire):
    rehearse()
    with pytest.raises(RequestError, match=r"unknown model .404 .*claude-sonnet-46"):
        list(run(single(20), replace(settings, roles=roles(wire, "claude-sonnet-46"))))


def test_an_address_where_nothing_answers_ends_the_run(settings, wire, monkeypatch, unused_port):
    monkeypatch.setenv(f"{VARIABLES[wire]}_BASE_URL", f"http://127.0.0.1:{unused_port}")
    monkeypatch.setenv(f"{VARIABLES[wire]}_API_KEY", "k")
    with pytest.raises(MachineError, match="does not answer"):
        list(run(single(20), settings))


@pytest.fixture
def unused_port():
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def test_a_proxys_page_ends_the_run(rehearse, settings):
    rehearse(faults=Faults([Fault("html", 1.0)]))
    with pytest.raises(MachineError, match="an HTML page came instead of a reply"):
        list(run(single(3), settings))


def test_a_reply_of_50_mb_is_not_taken_in_and_fails_alone(rehearse, settings):
    rehearse(faults=Faults([Fault("huge", 1.0, match="Word 1?")]))
    replies = list(run(single(3), settings))
    assert [reply.status for reply in replies] == ["answered", "failed", "answered"]
    assert "larger than 16 MiB" in replies[1].reason


def test_a_request_the_api_refuses_fails_alone_with_the_apis_words(rehearse, settings):
    rehearse()
    starts = [*single(2), functools.partial(ask, question(3)._replace(temperature=7.0)), *single(5)[3:]]
    replies = list(run(starts, settings))
    assert [reply.status for reply in replies] == ["answered", "answered", "failed", "answered", "answered"]
    assert "temperature: range: 0..1" in replies[2].reason


def test_a_server_that_refuses_request_after_request_ends_the_run(rehearse, settings):
    rehearse()
    starts = [functools.partial(ask, question(n)._replace(temperature=7.0)) for n in range(40)]
    with pytest.raises(MachineError, match="temperature"):
        list(run(starts, settings))


def test_an_error_of_a_chain_ends_the_run_and_keeps_the_replies(rehearse, settings):
    api = rehearse()

    def broken():
        yield question(99)
        raise LookupError("of the chain")

    with pytest.raises(LookupError, match="of the chain"):
        list(run([*single(5), broken, *single(12)[5:]], settings))
    ((kept,),) = query(settings, "SELECT count(*) FROM replies")
    assert kept == api.stats()["answered"]
    assert len(list(run(single(12), settings))) == 12
    assert api.stats()["answered_twice"] == 0


def test_whoever_stops_listening_ends_the_run_without_loss(rehearse, settings):
    api = rehearse()
    others = set(threading.enumerate())
    results = run(stories(10), settings)
    next(results)
    results.close()
    ((kept,),) = query(settings, "SELECT count(*) FROM replies")
    assert kept == api.stats()["answered"] + api.stats()["lost"]
    # Those that serve the other end are daemons and may go on.
    left = [each for each in threading.enumerate() if each not in others and not each.daemon]
    for each in left:
        each.join(20)
    assert not any(each.is_alive() for each in left)


def test_the_key_is_nowhere_in_the_journal(rehearse, settings):
    rehearse(faults=Faults([Fault("error", 0.3)]))
    list(run(single(10), settings))
    for path in settings.journal.parent.iterdir():
        assert b"key-of-the-tests" not in path.read_bytes()


def test_a_second_writer_learns_who_holds_the_journal(rehearse, settings):
    rehearse()
    results = run(stories(3), settings)
    next(results)
    with pytest.raises(MachineError, match="journal is held"):
        list(run(single(1), settings))
    results.close()


def test_bodies_in_the_journal_are_what_was_sent(rehearse, settings, monkeypatch):
    api = rehearse()
    sent, respond = set(), api.respond
    monkeypatch.setattr(api, "respond", lambda call: sent.add(call.body) or respond(call))
    list(run(stories(3), settings))
    with read_only(settings.journal) as read:
        shown = list(traced(read, PRICES, EVERYTHING))
    assert {orjson.dumps(one["body"], option=orjson.OPT_SORT_KEYS) for one in shown} == sent
    assert len(shown) == 12


def test_importing_what_a_command_needs_does_not_import_the_client():
    import subprocess

    code = "import sys, models.backends, models.remedies, models.prompts; print('anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_journal_is_a_plain_database(rehearse, settings):
    rehearse()
    list(run(single(2), settings))
    with sqlite3.connect(settings.journal) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
