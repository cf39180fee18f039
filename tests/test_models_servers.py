"""Several servers and wires in one run, what they heed, and what they must never see or be paid twice."""

import functools
from dataclasses import replace

import pytest
from test_models_running import PRICES, question, single

from models.backends import BackendSettings, run
from models.prices import read_prices
from models.rehearsal.faults import Fault, Faults
from models.rehearsal.server import running
from models.rehearsal.writing import Rehearsal
from models.remedies import ask
from models.roles import model_named, read_roles
from schemas.errors import MachineError, RequestError

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr("models.pacing.FIRST_WAIT", 0.01)
    monkeypatch.setattr("models.batches.calls._FIRST_POLL", 0.01)


@pytest.fixture
def settings(tmp_path):
    return BackendSettings("messages", read_roles(), PRICES, tmp_path / "journal.sqlite", concurrency=4, quiet=True)


def both_roles(count=3):
    asked = [question(n)._replace(id=f"{role}/{n}", role=role) for n in range(count) for role in ("subject", "judge")]
    return [functools.partial(ask, request) for request in asked]


def two_servers(settings, one, other, **more):
    subject = replace(model_named("claude-sonnet-4-6"), server=one)
    judge = replace(model_named("claude-sonnet-4-6"), name="judge-there", server=other, wire="chat", **more)
    return replace(settings, roles={**settings.roles, "subject": subject, "judge": judge})


def test_each_role_is_asked_at_its_own_server_over_its_own_wire(settings, monkeypatch):
    monkeypatch.setenv("KEY_THERE", "there")
    with (
        running(Rehearsal(wires=("messages",))) as (here, api),
        running(Rehearsal(wires=("chat",), key="there")) as (
            there,
            other,
        ),
    ):
        mixed = two_servers(settings, here, there, key_env="KEY_THERE")
        with pytest.raises(RequestError, match=r"key refused .* \(server of models"):
            list(run(both_roles(), mixed))  # the one here wants a key, and is given none
        monkeypatch.setenv("KEY_HERE", "here")
        keyed = replace(mixed.roles["subject"], key_env="KEY_HERE")
        replies = list(run(both_roles(), replace(mixed, roles={**mixed.roles, "subject": keyed})))
    assert {reply.status for reply in replies} == {"answered"}
    assert (api.stats()["answered"], other.stats()["answered"]) == (3, 3)


def test_the_same_model_at_two_servers_is_two_entries(tmp_path, settings):
    with running() as (here, api), running() as (there, other):
        path = tmp_path / "roles.toml"
        entry = '[models.{}]\nserved_as = "claude-sonnet-4-6"\nserver = "{}"\nkey_env = "ANY_KEY"\n'
        path.write_text(entry.format("one", here) + entry.format("two", there))
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setenv("ANY_KEY", "any")
            roles = read_roles(path=path, chosen=["subject=one", "judge=two"])
            list(run(both_roles(), replace(settings, roles=roles)))
    assert (api.stats()["answered"], other.stats()["answered"]) == (3, 3)
    assert "one" not in read_prices().models


def test_a_server_that_has_a_name_in_the_settings_is_not_paid_again_at_a_new_address(settings, monkeypatch):
    monkeypatch.setenv("KEY_HERE", "here")
    named = replace(model_named("claude-sonnet-4-6"), key_env="KEY_HERE", server_identity="ours")
    for answered in (3, 0):  # both roles ask the same of the same server
        with running() as (address, api):
            there = dict.fromkeys(settings.roles, replace(named, server=address))
            assert len(list(run(both_roles(), replace(settings, roles=there)))) == 6
        assert api.stats()["answered"] == answered


@pytest.mark.parametrize("wire", ["messages", "chat"])
def test_a_server_that_takes_a_schema_and_ignores_it_is_found_out_and_asked_in_words(rehearse, settings, capsys, wire):
    api = rehearse(heeds_schema=False, models=("qwen3",))
    roles = {role: replace(model_named("qwen3"), wire=wire) for role in settings.roles}
    replies = list(run(single(8), replace(settings, roles=roles, quiet=False, concurrency=1)))
    assert {reply.status for reply in replies} == {"answered"}
    reported = capsys.readouterr().err
    assert reported.count("takes a schema") == 0 and reported.count("qwen3 keeps to the schema") == 1
    api.writing.rehearsal = replace(api.rehearsal, compose=lambda body: 'Here it is:\n```json\n{"word": "yes"}\n```')
    other = replace(settings, roles=roles, quiet=False, journal=settings.journal.with_name("other.sqlite"))
    assert {reply.status for reply in run(single(8), other)} == {"answered"}
    reported = capsys.readouterr().err
    assert reported.count("qwen3 takes a schema and does not heed it") == 1 and "schema = false" in reported


@pytest.mark.parametrize(("wire", "spoken", "path"), [("messages", "chat", "messages"), ("chat", "messages", "chat/")])
def test_a_wire_that_the_server_does_not_speak_is_named_with_the_setting(rehearse, settings, wire, spoken, path):
    rehearse(wires=(spoken,))
    roles = {role: replace(model, wire=wire) for role, model in settings.roles.items()}
    with pytest.raises(RequestError, match=f'nothing answers at /v1/{path}.*set wire = "{spoken}"'):
        list(run(single(3), replace(settings, roles=roles)))


@pytest.mark.parametrize("wire", ["messages", "chat"])
def test_a_key_that_the_server_sends_back_reaches_neither_journal_nor_reply_nor_screen(
    rehearse, settings, monkeypatch, capsys, wire
):
    rehearse(faults=Faults([Fault("echo", 0.4), Fault("echo_error", 0.4)]), key=KEY)
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    roles = {role: replace(model, wire=wire) for role, model in settings.roles.items()}
    replies = list(run(single(12), replace(settings, roles=roles, quiet=False)))
    assert any("[key]" in reply.text for reply in replies)
    assert not any(KEY in f"{reply}" for reply in replies)
    assert KEY not in capsys.readouterr().err
    for path in settings.journal.parent.iterdir():
        assert KEY.encode() not in path.read_bytes()


def test_a_missing_payment_ends_the_run_as_what_it_is(rehearse, settings):
    rehearse(faults=Faults([Fault("credit", 1.0)]))
    with pytest.raises(MachineError, match=r"payment required .400 Your credit balance"):
        list(run(single(3), settings))


def test_one_request_that_fails_again_and_again_does_not_end_a_run_in_which_others_are_answered(rehearse, settings):
    rehearse(faults=Faults([Fault("error", 1.0, match="Word 1?")]), latency=0.02)
    replies = list(run(single(120), settings))
    assert [n for n, reply in enumerate(replies) if reply.status == "failed"] == [1]
    assert replies[1].reason.startswith("500")


def open_batch(settings, api):
    """A run with --batch that is dropped while its batch is being worked on."""
    results = run(single(5), replace(settings, batch=True))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("models.batches.calls.BatchCalls.collect", _dropped)
        with pytest.raises(InterruptedError):
            next(results)
    assert api.stats()["batches"] == 1


async def _dropped(*_):
    raise InterruptedError


def test_a_run_without_batches_stops_at_an_open_batch_and_sends_nothing(rehearse, settings):
    api = rehearse(batch_seconds=3600)
    open_batch(settings, api)
    received = api.stats()["received"]
    with pytest.raises(MachineError, match=r"open batch msgbatch_000001 .*Run with --batch"):
        list(run(single(5), settings))
    assert api.stats()["received"] == received


def test_a_run_without_batches_collects_an_open_batch_that_has_ended_and_sends_nothing_again(rehearse, settings):
    api = rehearse()
    open_batch(settings, api)
    assert {reply.status for reply in run(single(8), settings)} == {"answered"}
    assert (api.stats()["answered"], api.stats()["answered_twice"]) == (8, 0)


def test_an_open_batch_of_a_server_that_no_role_names_stops_the_run(rehearse, settings):
    open_batch(settings, rehearse())
    rehearse()
    with pytest.raises(MachineError, match="open batch of another server"):
        list(run(single(5), settings))


def test_the_memories_of_a_character_are_built_over_chat_completions(rehearse, tmp_path):
    from builders import rehearsal
    from builders.memories import step as memories
    from schemas.workspace import Workspace

    roles = tmp_path / "roles.toml"
    roles.write_text('[models."claude-sonnet-4-6"]\nwire = "chat"\n')
    texts = []
    for wire, more in (("chat", ["--roles", str(roles)]), ("messages", [])):
        api = rehearse(compose=rehearsal.memories, wires=(wire,))
        words = ["--char", "CHAR_04", "--count", "30", "--quiet", "--backend", "messages", *more]
        assert memories.main(["--workspace", str(tmp_path / wire), *words]) in (0, 1)
        rows = list(Workspace(tmp_path / wire, "heart").rows("memories", "CHAR_04"))
        texts.append([row["content_full"] for row in rows])
        assert len(rows) == 30 and api.stats()["answered"] >= 1
    assert texts[0] == texts[1]
