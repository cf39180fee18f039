"""The rehearsal server: it refuses what the API refuses, misbehaves as told, and counts what it answered."""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rehearsal.__main__ import main
from models.rehearsal.answers import composer, invent
from models.rehearsal.api import Api
from models.rehearsal.calls import Call
from models.rehearsal.checks import batch_problem, request_problem
from models.rehearsal.faults import ATTEMPT, WRITTEN, Fault, Faults, read_faults, spoiled
from models.rehearsal.speakers import react
from models.rehearsal.writing import Rehearsal
from models.request import Request
from models.roles import known_models, model_named
from models.wire.answers import reply_of
from models.wire.messages import content
from models.wire.questions import question
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import record_names, record_schema

MODELS = {name: model_named(name) for name in known_models()}
GOOD = {"model": "claude-sonnet-4-6", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}
HEADERS = {"authorization": "Bearer k", "anthropic-version": "2026-10-21", "content-type": "application/json"}
TEXT = {"type": "text", "text": "x"}
MARKED = {**TEXT, "cache_control": {"type": "ephemeral"}}


def call(api, body=GOOD, method="POST", path="/v1/messages", **headers):
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    known = {name: value for name, value in {**HEADERS, **headers}.items() if value is not None}
    return api.respond(Call(method, path, known, raw))


def without(name):
    return {key: value for key, value in GOOD.items() if key != name}


def output(schema):
    return {**GOOD, "output_config": {"format": {"type": "json_schema", "schema": schema}}}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (without("max_tokens"), 400, "max_tokens: Field required"),
        (without("messages"), 400, "messages: Field required"),
        (without("model"), 400, "model: Field required"),
        ([GOOD], 400, "valid dictionary"),
        ({**GOOD, "temprature": 1}, 400, "temprature: Extra inputs are not permitted"),
        ({**GOOD, "max_tokens": 0}, 400, "max_tokens"),
        ({**GOOD, "max_tokens": True}, 400, "max_tokens"),
        ({**GOOD, "max_tokens": 10**6}, 400, "max_tokens: 1000000 > 128000"),
        ({**GOOD, "model": "claude-sonnet-46"}, 404, "model: claude-sonnet-46"),
        ({**GOOD, "messages": []}, 400, "at least one message"),
        ({**GOOD, "messages": [{"role": "system", "content": "x"}]}, 400, 'Unexpected role "system"'),
        ({**GOOD, "messages": [{"role": "assistant", "content": "x"}]}, 400, "first message"),
        ({**GOOD, "messages": [{"role": "user", "content": " "}]}, 400, "non-empty"),
        ({**GOOD, "messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, 400, "non-empty"),
        ({**GOOD, "messages": [{"role": "user", "content": [{"type": "txt"}]}]}, 400, "Input tag"),
        ({**GOOD, "messages": [{"role": "user"}]}, 400, "role and content are required"),
        ({**GOOD, "system": [{**MARKED, "text": ""}]}, 400, "cache_control cannot be set for empty text"),
        ({**GOOD, "system": [MARKED] * 5}, 400, "A maximum of 4 blocks"),
        ({**GOOD, "system": [{**TEXT, "cache_control": {"type": "forever"}}]}, 400, "cache_control"),
        ({**GOOD, "system": [{**TEXT, "txt": ""}]}, 400, "Extra inputs"),
        ({**GOOD, "temperature": 1.5}, 400, "range: 0..1"),
        ({**GOOD, "model": "claude-opus-5", "temperature": 0.5}, 400, "temperature: Extra inputs are not permitted"),
        ({**GOOD, "model": "claude-opus-5", "top_k": 5}, 400, "top_k: Extra inputs"),
        ({**GOOD, "stream": "yes"}, 400, "stream"),
        (output({"type": "object", "properties": {}}), 400, "'additionalProperties' must be explicitly set to false"),
        (output({"type": "string", "pattern": "a+"}), 400, "property 'pattern' is not supported"),
        (output({"type": "array", "items": {"type": "integer", "minimum": 1}}), 400, "'minimum' is not supported"),
        (output({"type": "array", "minItems": 2, "items": {"type": "null"}}), 400, "'minItems' values other than"),
        (output({"type": ["string", "null"]}), 400, "'type' must be a string"),
        ({**GOOD, "output_config": {"effort": "huge"}}, 400, "effort"),
        ({**GOOD, "output_config": {"form": 1}}, 400, "output_config: Extra inputs"),
        (b"{", 400, "not valid JSON"),
        (b'"' + b"x" * (33 * 2**20) + b'"', 413, "maximum size"),
    ],
)
def test_what_the_api_refuses_is_refused_with_its_words(body, status, said):
    response = call(Api(Rehearsal()), body)
    assert response.status == status
    assert said in orjson.loads(response.body)["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": None}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": None, "x-api-key": "k"}, 200),
        ({"anthropic-version": None}, 400),
        ({"anthropic-version": "2020-01-01"}, 400),
        ({"anthropic-version": "2023-06-01"}, 200),
        ({"content-type": "text/plain"}, 400),
    ],
)
def test_key_version_and_content_type_are_looked_at(headers, status):
    assert call(Api(Rehearsal(key="k")), **headers).status == status


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"system": "rules"},
        {"system": [MARKED] * 4},
        {"temperature": 0.0},
        {"stop_sequences": ["x"], "metadata": {"user_id": "u"}},
        {
            "messages": [
                {"role": "user", "content": [TEXT]},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": "b"},
            ]
        },
    ],
)
def test_what_the_api_takes_is_taken(more):
    assert request_problem({**GOOD, **more}, MODELS) is None


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ([], "between 1 and"),
        ([{"custom_id": "a b", "params": GOOD}], "custom_id"),
        ([{"custom_id": "x" * 65, "params": GOOD}], "custom_id"),
        ([{"custom_id": "a", "params": GOOD}] * 2, "not unique"),
        ([{"custom_id": "a"}], "Field required"),
    ],
)
def test_a_malformed_batch_is_refused_as_a_whole(requests, said):
    assert said in batch_problem({"requests": requests})


def instance_of(schema, chance):
    request = Request("r", "memory", (), str(chance), "p", "d", compose=dict, schema=schema)
    body = orjson.loads(question(request, MODELS["claude-sonnet-4-6"], "x").body)
    message = {"content": [{"type": "text", "text": invent(body)}], "stop_reason": "end_turn"}
    return reply_of(request, content(message))


@pytest.mark.parametrize("table", record_names())
def test_answers_are_to_the_schema_with_the_limits_that_went_into_descriptions(table):
    schema = {"type": "object", "required": ["rows"], "additionalProperties": False, "properties": {}}
    schema["properties"]["rows"] = {"type": "array", "minItems": 2, "maxItems": 3, "items": record_schema(table)}
    for chance in range(5):
        reply = instance_of(schema, chance)
        assert (reply.status, reply.reason) == ("answered", "")


def test_a_schema_in_words_is_answered_too_and_anything_else_in_prose():
    request = Request("r", "memory", (), "Write.", "p", "d", compose=dict, schema={"type": "integer", "minimum": 5})
    body = orjson.loads(question(request, MODELS["claude-sonnet-4-6"], "x", enforces=False).body)
    assert int(invent(body)) >= 5
    assert len(invent(GOOD).split()) > 300


def test_the_same_request_gets_the_same_answer():
    assert invent(GOOD) == invent(dict(reversed(GOOD.items())))


def test_an_answer_longer_than_max_tokens_is_cut_off():
    message = orjson.loads(call(Api(Rehearsal()), {**GOOD, "max_tokens": 10}).body)
    assert message["stop_reason"] == "max_tokens"
    assert message["usage"]["output_tokens"] <= 10


@given(seed=st.integers(0, 2**32), shares=st.lists(st.floats(0, 0.3), min_size=3, max_size=3))
def test_faults_befall_their_shares_whatever_the_order(seed, shares):
    faults = Faults([Fault(kind, share) for kind, share in zip(ATTEMPT[:3], shares, strict=True)], seed)
    drawn = [faults.of_attempt(number.to_bytes(4), 1, b"") for number in range(1000)]
    counted = Counter(fault.kind for fault in drawn if fault)
    for fault in faults.faults:
        assert abs(counted[fault.kind] - 1000 * fault.share) < 100
    assert drawn[::-1] == [faults.of_attempt(number.to_bytes(4), 1, b"") for number in reversed(range(1000))]


def test_a_fault_with_a_match_befalls_only_requests_that_hold_it():
    faults = Faults([Fault("limited", 1.0, match="CHAR_04")])
    assert faults.of_attempt(b"k", 1, b"... CHAR_04 ...")
    assert faults.of_attempt(b"k", 1, b"... CHAR_05 ...") is None


ROWS = orjson.dumps({"rows": [{"id": f"M{n}", "text": "words " * 9} for n in range(4)]}).decode()
BLOCKS = "".join(f"===M{n}===\nstage: x\n--content_full--\nwords\n" for n in range(4))


@pytest.mark.parametrize("kind", [kind for kind in WRITTEN if kind != "refusal"])
@pytest.mark.parametrize("text", [ROWS, BLOCKS])
def test_every_fault_of_a_text_changes_it(kind, text):
    assert spoiled(text, kind, rng_for(7, "t", "t", kind)) != text


def test_short_loses_a_piece_and_duplicate_repeats_an_id():
    for kind, count, distinct in (("short", 3, 3), ("duplicate", 4, 3)):
        rows = orjson.loads(spoiled(ROWS, kind, rng_for(7, "t", "t", kind)))["rows"]
        headers = [line for line in spoiled(BLOCKS, kind, rng_for(7, "t", "t", kind)).splitlines() if "===" in line]
        assert (len(rows), len({row["id"] for row in rows})) == (count, distinct)
        assert (len(headers), len(set(headers))) == (count, distinct)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[faults]]\nkind = "limitd"\nshare = 0.1', "unknown kind of fault 'limitd'.*limited"),
        ('[[faults]]\nkind = "drop"\nshare = 2', "share"),
        ('[[faults]]\nkind = "drop"', "share"),
        ('[[faults]]\nkind = "drop"\nshare = 0.1\nwhen = 1', "unknown setting of a fault 'when'"),
        ("faults = 1 1", "malformed TOML"),
        ("fault = 1", "unknown setting 'fault'"),
    ],
)
def test_a_malformed_faults_file_is_refused_by_field(tmp_path, text, said):
    path = tmp_path / "faults.toml"
    path.write_text(text)
    with pytest.raises(RequestError, match=said):
        read_faults(path)


def test_faults_are_read_from_a_file(tmp_path):
    path = tmp_path / "faults.toml"
    path.write_text('seed = 3\n[[faults]]\nkind = "limited"\nshare = 0.2\nretry_after = 1\n')
    assert read_faults(path) == Faults([Fault("limited", 0.2, retry_after=1)], 3)


def test_an_unknown_composer_is_refused():
    with pytest.raises(RequestError, match="unknown composer"):
        composer("models.rehearsal.answers:none")
    assert composer("models.rehearsal.answers:invent") is invent


def test_the_command_says_where_it_listens_answers_and_counts():
    words = [sys.executable, "-m", "models.rehearsal", "--port", "0", "--json"]
    server = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]
    )
    try:
        said = ""
        while not said.endswith("}\n"):
            said += server.stdout.readline()
        address = json.loads(said)["address"]
        request = urllib.request.Request(f"{address}/v1/messages", orjson.dumps(GOOD), HEADERS)
        with urllib.request.urlopen(request) as response:
            assert json.load(response)["type"] == "message"
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{address}/v1/messages", orjson.dumps(GOOD))
        with urllib.request.urlopen(f"{address}/_stats") as response:
            stats = json.load(response)
        assert (stats["answered"], stats["responses"]) == (1, {"200": 1, "401": 1})
    finally:
        server.terminate()
        server.communicate()


def test_a_port_that_is_taken_is_reported_in_one_line(rehearse, capsys, monkeypatch):
    import os

    rehearse()
    port = os.environ["ANTHROPIC_BASE_URL"].rpartition(":")[2]
    assert main(["--port", port]) == 3
    assert "cannot listen" in capsys.readouterr().err


CHAT = {"model": "claude-sonnet-4-6", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"model": "m"}, 400, "messages"),
        ({**CHAT, "messages": []}, 400, "at least one"),
        ({**CHAT, "messages": [{"role": "robot", "content": "x"}]}, 400, "messages[0].role"),
        ({**CHAT, "system": "x"}, 400, "unknown parameter: system"),
        ({**CHAT, "response_format": {"type": "json_schema"}}, 400, "missing schema"),
        ({**CHAT, "max_tokens": 10**7}, 400, "max_tokens"),
        ({**CHAT, "model": "gpt"}, 404, "does not exist"),
    ],
)
def test_what_chat_completions_refuse_is_refused_in_their_form(body, status, said):
    response = call(Api(Rehearsal()), body, path="/v1/chat/completions")
    assert response.status == status
    assert said in orjson.loads(response.body)["error"]["message"]


def test_both_wires_give_the_same_text_and_count_the_same_tokens():
    api = Api(Rehearsal(compose=lambda body: orjson.dumps(body["messages"]).decode()))
    message = orjson.loads(call(api).body)
    completion = orjson.loads(call(api, CHAT, path="/v1/chat/completions").body)
    assert completion["choices"][0]["message"]["content"] == message["content"][0]["text"]
    assert completion["usage"]["completion_tokens"] == message["usage"]["output_tokens"]


def test_a_composer_is_chosen_by_the_model_of_the_request():
    api = Api(Rehearsal(compose=lambda body: "any", composers={"claude-haiku-4-5": lambda body: "haiku"}))
    texts = [orjson.loads(call(api, {**GOOD, "model": m}).body)["content"][0]["text"] for m in sorted(MODELS)[:2]]
    assert sorted(texts) == ["any", "haiku"]


def test_speakers_react_to_every_turn_they_are_shown_and_say_the_stop_word_when_enough_was_said():
    talk = [{"role": "user", "content": "Tell me of the lamp. ###STOP###"}]
    said = [react({"messages": talk})]
    for other in ("Why?", "Which lamp?", "And the door?", "Where?", "When?", "How?", "Who?"):
        talk = [*talk, {"role": "assistant", "content": said[-1]}, {"role": "user", "content": other}]
        said.append(react({"messages": talk}))
    assert len(set(said)) == len(said)
    assert react({"messages": talk[2:]}) != said[-1]
    assert [text.endswith("###STOP###") for text in said] == [False] * 6 + [True] * 2


def test_what_each_fault_did_is_counted_apart_and_what_was_made_is_billable(rehearse):
    api = Api(Rehearsal(faults=Faults([Fault("drop", 1.0, match="lost"), Fault("limited", 1.0, match="later")])))
    for text in ("fine", "lost", "later"):
        response = call(api, {**GOOD, "messages": [{"role": "user", "content": text}]})
        api.sent(response, whole=not response.cut)
    stats = api.stats()
    assert stats["by_fault"] == {"drop": {"sent": 1}, "limited": {"sent": 1}, "none": {"answered": 1, "sent": 1}}
    made, answered = stats["billable"]["claude-sonnet-4-6"], stats["tokens"]["claude-sonnet-4-6"]
    assert made["output_tokens"] > answered["output_tokens"] > 0


@pytest.mark.parametrize(
    "pattern",
    [
        "^MEM_[0-9]{2}_[0-9]{4}$",
        r"^\d+(-\d{1,3})?$",
        "^(?:a|bc|[x-z]{2,})*$",
        r"^[A-Za-z_.-]+\.$",
        "^[^a]?x$",
        "^.{3}$",
    ],
)
@given(seed=st.integers(0, 999))
def test_texts_are_invented_that_match_a_pattern(pattern, seed):
    node = {"type": "string", "pattern": pattern}
    body = {"messages": [{"role": "user", "content": str(seed)}], "output_config": {"format": {"schema": node}}}
    assert re.search(pattern, orjson.loads(invent(body)))
