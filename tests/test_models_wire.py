"""A Request as a body, a message as a Reply: what is sent, what determines the key, what a reply's status is."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rehearsal.checks import request_problem
from models.request import Request, Usage
from models.roles import known_models, model_named
from models.wire import json_in
from schemas.errors import RequestError
from schemas.tables import record_names, record_schema

SCHEMA = {"type": "object", "required": ["a"], "additionalProperties": False, "properties": {"a": {"type": "integer"}}}
REQUEST = Request("r", "memory", ("rules", "character"), "Write.", "p", "d", compose=dict, schema=SCHEMA)
SONNET = model_named("claude-sonnet-4-6")


def body(request=REQUEST, model=SONNET, **more):
    return orjson.loads(wired(request, model, "http://x", **more).body)


def message(text, stop="end_turn", **more):
    usage = {"input_tokens": 12, "output_tokens": 7, "cache_read_input_tokens": 90}
    return {"content": [{"type": "text", "text": text}], "stop_reason": stop, "model": "m", "usage": usage, **more}


def test_every_fixed_part_ends_in_a_cache_breakpoint_and_the_rest_is_the_message():
    assert body()["system"] == [
        {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}} for text in ("rules", "character")
    ]
    assert body()["messages"] == [{"role": "user", "content": "Write."}]


def test_more_fixed_parts_than_breakpoints_are_joined_at_the_end_and_nothing_is_lost():
    system = body(replace(REQUEST, fixed=("a", "b", "", "c", "d", "e")))["system"]
    assert [block["text"] for block in system] == ["a", "b", "c", "d\n\ne"]


def test_temperature_goes_only_to_models_that_take_one():
    warm = replace(REQUEST, temperature=0.5)
    assert body(warm)["temperature"] == 0.5
    assert "temperature" not in body(warm, model_named("claude-opus-5"))


def test_a_model_is_not_asked_for_more_than_it_can_write():
    assert body(replace(REQUEST, max_tokens=10**6))["max_tokens"] == SONNET.max_output


def test_a_model_without_structured_output_gets_the_schema_in_words():
    plain = body(model=replace(SONNET, schema=False))
    assert "output_config" not in plain
    assert orjson.dumps(SCHEMA, option=orjson.OPT_SORT_KEYS).decode() in plain["messages"][0]["content"]


def test_a_request_with_its_own_form_is_sent_without_a_schema():
    assert "output_config" not in body(replace(REQUEST, parse=str.split))


@pytest.mark.parametrize("model", known_models())
@pytest.mark.parametrize("table", record_names())
def test_the_api_takes_every_record_schema_on_every_model(table, model):
    schema = {"type": "object", "required": ["rows"], "properties": {"rows": {"type": "array"}}}
    schema["properties"]["rows"]["items"] = record_schema(table)
    sent = body(replace(REQUEST, schema=schema, temperature=1.0), model_named(model))
    assert "output_config" in sent
    assert request_problem(sent, {model: model_named(model)}) is None


CHANGES = {
    "prompt": "Write!",
    "fixed": ("rules", "another"),
    "schema": {"type": "object"},
    "max_tokens": 5,
    "temperature": 0.1,
    "sample": 1,
}


@pytest.mark.parametrize("field", CHANGES)
def test_whatever_changes_the_answer_changes_the_key(field):
    assert (
        wired(replace(REQUEST, **{field: CHANGES[field]}), SONNET, "http://x").key
        != wired(REQUEST, SONNET, "http://x").key
    )


def test_another_model_or_server_is_another_key():
    key = wired(REQUEST, SONNET, "http://x").key
    assert wired(REQUEST, SONNET, "http://y").key != key
    assert wired(REQUEST, model_named("claude-opus-4-6"), "http://x").key != key


@pytest.mark.parametrize("field", ["id", "role", "prompt_id", "prompt_digest", "rows", "compose"])
def test_what_does_not_change_the_answer_does_not_change_the_key(field):
    other = {"role": "judge", "rows": 9, "compose": list}.get(field, "other")
    assert wired(replace(REQUEST, **{field: other}), SONNET, "http://x").key == wired(REQUEST, SONNET, "http://x").key


@given(st.text(), st.integers(0), st.text(), st.integers(0))
def test_server_and_sample_cannot_be_mistaken_for_one_another(server, sample, other_server, other_sample):
    same = (server, sample) == (other_server, other_sample)
    assert (request_key(server, sample, b"{}") == request_key(other_server, other_sample, b"{}")) == same


def test_a_prompt_with_half_a_character_is_refused_by_name():
    with pytest.raises(RequestError, match="row r"):
        wired(replace(REQUEST, prompt="\ud800"), SONNET, "http://x")


@pytest.mark.parametrize(
    ("sent", "status", "reason"),
    [
        (message('{"a": 1}'), "answered", ""),
        (message('```json\n{"a": 1}\n```'), "answered", ""),
        (message('Here you are:\n{"a": 1}\nAnything else?'), "answered", ""),
        (message('[sic] {"a": 1}'), "answered", ""),
        (message('{"a": "x"}'), "invalid", '$.a: "x" is not of type "integer"'),
        (message('{"b": 1}'), "invalid", '"a" is a required property'),
        (message('{"a": 1'), "unparsable", "malformed JSON"),
        (message("I would rather not say."), "unparsable", "no JSON value"),
        (message(""), "unparsable", "no text"),
        ({"content": [], "stop_reason": "end_turn"}, "unparsable", "no text"),
        (message('{"a": 1}', "max_tokens"), "truncated", "max_tokens"),
        (message('{"a": 1}', "model_context_window_exceeded"), "truncated", "model_context_window_exceeded"),
        (message('{"a": 1}', "refusal"), "refused", "declined"),
        (
            {"content": [], "stop_reason": "refusal", "stop_details": {"category": "bio", "explanation": "no"}},
            "refused",
            "bio, no",
        ),
        (message('{"a": 1}', None), "answered", ""),
    ],
)
def test_status_is_decided_before_the_text_is_read(sent, status, reason):
    reply = reply_of(REQUEST, sent)
    assert reply.status == status
    assert reason in reply.reason
    assert (reply.answer == {"a": 1}) == (status == "answered")


def test_what_was_cut_off_is_handed_on_for_what_is_whole_in_it():
    assert reply_of(REQUEST, message("===A===\nwhole\n===B===\nha", "max_tokens")).text.startswith("===A===\nwhole")


def test_thinking_is_not_part_of_the_text():
    blocks = [
        {"type": "thinking", "thinking": "hm {"},
        {"type": "text", "text": '{"a":'},
        {"type": "text", "text": "2}"},
    ]
    assert reply_of(REQUEST, message("", content=blocks)).answer == {"a": 2}


def test_a_parser_of_the_request_decides_on_its_form():
    def parse(text):
        if not text.startswith("==="):
            raise ValueError("no header")
        return text

    request = replace(REQUEST, schema=None, parse=parse)
    assert reply_of(request, message("===A===")).answer == "===A==="
    assert reply_of(request, message("Well")).reason == "no header"


def test_usage_is_as_the_server_counted_it_and_zero_where_it_did_not():
    assert reply_of(REQUEST, message("{}")).usage == Usage(12, 0, 90, 7)
    assert reply_of(REQUEST, message("{}", usage=None)).usage == Usage()
    assert reply_of(REQUEST, message("{}", usage={"input_tokens": None, "output_tokens": "x"})).usage == Usage()


@given(
    st.recursive(
        st.none() | st.integers(-99, 99) | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_json_value_is_found_bare_and_in_a_fence(value):
    text = orjson.dumps(value).decode()
    assert json_in(text) == value
    assert json_in(f"```json\n{text}\n```") == value
