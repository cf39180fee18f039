"""A Request as a body, a message as a Reply: what is sent, what determines the key, what a reply's status is."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.prompts import load
from models.rehearsal.chat import chat_problem
from models.rehearsal.checks import request_problem
from models.request import Request, Usage
from models.roles import known_models, model_named
from models.wire import json_in
from models.wire.answers import reply_of as reply_of_content
from models.wire.questions import chain, question, wire_of
from models.wire.schemas import enforceable
from schemas.errors import RequestError
from schemas.tables import record_names, record_schema

SCHEMA = {"type": "object", "required": ["a"], "additionalProperties": False, "properties": {"a": {"type": "integer"}}}
REQUEST = Request("r", "memory", ("rules", "character"), "Write.", "p", "d", compose=dict, schema=SCHEMA)
SONNET = model_named("claude-sonnet-4-6")
CHAT = replace(SONNET, wire="chat")
TALK = REQUEST._replace(schema=None, messages=(("user", "Hi."), ("assistant", "Yes?")), prompt="Write.")


def body(request=REQUEST, model=SONNET, **more):
    return orjson.loads(question(request, model, "http://x", **more).body)


def key(request=REQUEST, model=SONNET, server="http://x", **more):
    return question(request, model, server, **more).key


def reply_of(request, message, wire="messages"):
    return reply_of_content(request, wire_of(wire).content(message))


def message(text, stop="end_turn", **more):
    usage = {"input_tokens": 12, "output_tokens": 7, "cache_read_input_tokens": 90}
    return {"content": [{"type": "text", "text": text}], "stop_reason": stop, "model": "m", "usage": usage, **more}


def test_every_fixed_part_ends_in_a_cache_breakpoint_and_the_rest_is_the_message():
    assert body()["system"] == [
        {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}} for text in ("rules", "character")
    ]
    assert body()["messages"] == [{"role": "user", "content": "Write."}]


def test_more_fixed_parts_than_breakpoints_are_joined_at_the_end_and_nothing_is_lost():
    system = body(REQUEST._replace(fixed=("a", "b", "", "c", "d", "e")))["system"]
    assert [block["text"] for block in system] == ["a", "b", "c", "d\n\ne"]


def test_temperature_goes_only_to_models_that_take_one():
    warm = REQUEST._replace(temperature=0.5)
    assert body(warm)["temperature"] == 0.5
    assert "temperature" not in body(warm, model_named("claude-opus-5"))


def test_a_model_is_not_asked_for_more_than_it_can_write():
    assert body(REQUEST._replace(max_tokens=10**6))["max_tokens"] == SONNET.max_output


def test_a_model_without_structured_output_gets_the_schema_in_words():
    plain = body(model=replace(SONNET, schema=False))
    assert "output_config" not in plain
    assert orjson.dumps(SCHEMA, option=orjson.OPT_SORT_KEYS).decode() in plain["messages"][0]["content"]


def test_a_model_nobody_knows_gets_the_schema_both_ways():
    both = body(model=model_named("qwen3"))
    assert "output_config" in both
    assert orjson.dumps(SCHEMA, option=orjson.OPT_SORT_KEYS).decode() in both["messages"][0]["content"]


def test_what_is_asked_again_holds_the_schema_in_words_besides():
    again = body(REQUEST._replace(in_words=True, attempt=2))
    assert "output_config" in again and "JSON Schema" in again["messages"][0]["content"]


def test_without_fixed_parts_there_is_no_system_part():
    assert "system" not in body(REQUEST._replace(fixed=()))
    assert [m["role"] for m in body(REQUEST._replace(fixed=()), CHAT)["messages"]] == ["user"]


def test_a_conversation_is_sent_with_its_turns_and_marked_for_the_cache_at_its_end():
    sent = body(TALK)["messages"]
    assert [(turn["role"], turn["content"]) for turn in sent[:2]] == [("user", "Hi."), ("assistant", "Yes?")]
    assert sent[2]["content"] == [{"type": "text", "text": "Write.", "cache_control": {"type": "ephemeral"}}]
    assert request_problem(body(TALK), {SONNET.name: SONNET}) is None
    assert request_problem(body(TALK._replace(fixed=tuple("abcdef"))), {SONNET.name: SONNET}) is None


def test_chat_completions_take_the_system_part_as_the_first_message_and_the_schema_as_the_form_of_the_response():
    sent = body(TALK._replace(schema=SCHEMA, temperature=0.5), CHAT)
    assert [turn["role"] for turn in sent["messages"]] == ["system", "user", "assistant", "user"]
    assert sent["messages"][0]["content"] == "rules\n\ncharacter"
    assert sent["response_format"]["json_schema"]["schema"]["required"] == ["a"]
    assert (sent["max_tokens"], sent["temperature"]) == (4096, 0.5)
    assert chat_problem(sent) is None


@pytest.mark.parametrize(("required", "strict"), [(["a", "b"], True), (["a"], False)])
def test_a_schema_is_asked_for_strictly_where_every_property_is_required(required, strict):
    inner = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": required}
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": inner}}, "required": ["x"]}
    assert body(REQUEST._replace(schema=schema), CHAT)["response_format"]["json_schema"]["strict"] is strict


def test_azure_gets_the_key_under_its_own_name():
    assert wire_of("chat").headers("https://x.openai.azure.com/openai/v1", "k") == {"api-key": "k"}
    assert wire_of("chat").headers("https://azure.com.example.org", "k") == {"authorization": "Bearer k"}


def test_the_limit_of_tokens_goes_by_the_name_the_model_wants():
    sent = body(model=replace(CHAT, limit_field="max_completion_tokens"))
    assert sent["max_completion_tokens"] == 4096 and "max_tokens" not in sent


def test_further_fields_of_a_models_entry_are_merged_into_the_body_and_are_part_of_the_key():
    extra = replace(SONNET, extra={"output_config": {"effort": "low"}, "top_p": 0.9})
    assert body(model=extra)["output_config"]["effort"] == "low"
    assert body(model=extra)["output_config"]["format"]["type"] == "json_schema"
    assert body(model=extra)["top_p"] == 0.9
    assert key(model=extra) != key()


def test_a_request_with_its_own_form_is_sent_without_a_schema():
    assert "output_config" not in body(REQUEST._replace(parse=str.split))


@pytest.mark.parametrize("model", known_models())
@pytest.mark.parametrize("table", record_names())
def test_the_api_takes_every_record_schema_on_every_model(table, model):
    schema = {"type": "object", "required": ["rows"], "properties": {"rows": {"type": "array"}}}
    schema["properties"]["rows"]["items"] = record_schema(table)
    sent = body(REQUEST._replace(schema=schema, temperature=1.0), model_named(model))
    assert "output_config" in sent
    assert request_problem(sent, {model: model_named(model)}) is None


CHANGES = {
    "prompt": "Write!",
    "fixed": ("rules", "another"),
    "schema": {"type": "object"},
    "max_tokens": 5,
    "temperature": 0.1,
    "sample": 1,
    "attempt": 2,
    "messages": (("user", "Hi."), ("assistant", "Yes?")),
}


@pytest.mark.parametrize("field", CHANGES)
def test_whatever_changes_the_answer_changes_the_key(field):
    assert key(REQUEST._replace(**{field: CHANGES[field]})) != key()


def test_another_model_server_or_wire_is_another_key():
    assert key(server="http://y") != key()
    assert key(model=model_named("claude-opus-4-6")) != key()
    assert key(model=CHAT) != key()


def test_how_the_schema_is_conveyed_is_found_out_and_no_part_of_the_key():
    assert key(enforces=False) == key() == key(model=replace(SONNET, schema="probe"))


@pytest.mark.parametrize("field", ["id", "role", "prompt_id", "prompt_digest", "rows", "compose"])
def test_what_does_not_change_the_answer_does_not_change_the_key(field):
    other = {"role": "judge", "rows": 9, "compose": list}.get(field, "other")
    assert key(REQUEST._replace(**{field: other})) == key()


PARTS = st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), st.text()), max_size=6)


@given(PARTS, PARTS)
def test_parts_have_the_same_digests_as_far_as_they_begin_alike(one, other):
    for place, (first, second) in enumerate(zip(chain(one), chain(other), strict=False), 1):
        assert (first == second) == (one[:place] == other[:place])


@given(st.text(), st.integers(0), st.text(), st.integers(0))
def test_server_and_sample_cannot_be_mistaken_for_one_another(server, sample, other_server, other_sample):
    same = (server, sample) == (other_server, other_sample)
    ours, theirs = REQUEST._replace(sample=sample % 9**9), REQUEST._replace(sample=other_sample % 9**9)
    if sample < 9**9 and other_sample < 9**9:
        assert (key(ours, server=server) == key(theirs, server=other_server)) == same


def test_a_prompt_with_half_a_character_is_refused_by_name():
    with pytest.raises(RequestError, match="row r"):
        key(REQUEST._replace(prompt="\ud800"))


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
        (message('{"a": 1}', "refusal"), "refused", "declined by the model"),
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


@pytest.mark.parametrize(
    ("text", "thoughts"),
    [
        ('<think>hm {\n</think>\n\n{"a": 2}', "hm {"),
        ('hm, the template opened it</think>{"a": 2}', "hm, the template opened it"),
        ('<thinking>x</thinking> {"a": 2}', "x"),
        ('◁think▷x◁/think▷{"a": 2}', "x"),
        ('{"a": 2}', ""),
    ],
)
def test_thoughts_in_the_text_are_set_aside_before_the_answer_is_read(text, thoughts):
    reply = reply_of(REQUEST, message(text))
    assert (reply.answer, reply.thoughts) == ({"a": 2}, thoughts)


def test_thoughts_that_were_never_closed_are_no_answer():
    reply = reply_of(REQUEST, message("<think>on and on {"))
    assert (reply.status, reply.text, reply.reason) == ("unparsable", "", "no text (only thoughts)")


def completion(text, stop="stop", **more):
    said = {"role": "assistant", "content": text, **more}
    usage = {"prompt_tokens": 102, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 90}}
    return {"model": "m", "choices": [{"message": said, "finish_reason": stop}], "usage": usage}


@pytest.mark.parametrize(
    ("sent", "status", "reason"),
    [
        (completion('{"a": 1}'), "answered", ""),
        (completion('{"a": 1}', "length"), "truncated", "length"),
        (completion("", "content_filter"), "refused", "content_filter"),
        (completion(None, refusal="I would rather not."), "refused", "I would rather not."),
        (completion(None, "tool_calls"), "unparsable", "no text (tool_calls)"),
        (completion([{"type": "text", "text": '{"a": 1}'}]), "answered", ""),
    ],
)
def test_the_status_of_a_chat_completion_is_decided_before_its_text_is_read(sent, status, reason):
    reply = reply_of(REQUEST, sent, "chat")
    assert (reply.status, reply.usage) == (status, Usage(12, 0, 90, 7))
    assert reason in reply.reason


def test_reasoning_that_a_server_sends_beside_the_text_is_no_part_of_it():
    reply = reply_of(REQUEST, completion('{"a": 1}', reasoning_content="hm"), "chat")
    assert (reply.answer, reply.thoughts) == ({"a": 1}, "hm")


@pytest.mark.parametrize("table", record_names())
def test_what_servers_enforce_of_a_schema_lets_through_whatever_the_schema_does(table):
    whole = record_schema(table)
    made = enforceable(orjson.dumps(whole))
    assert set(made["properties"]) == set(whole["properties"])
    assert made["required"] == whole["required"]


def test_limits_that_are_not_enforced_are_described():
    made = enforceable(orjson.dumps({"type": "string", "minLength": 3, "description": "A word."}))
    assert made == {"type": "string", "description": "A word.\n\n{minLength: 3}"}


def test_the_schema_in_words_is_a_prompt_file():
    assert load(Path(__file__).parents[1] / "models/wording/schema.md").variables == ("schema",)


def test_a_parser_of_the_request_decides_on_its_form():
    def parse(text):
        if not text.startswith("==="):
            raise ValueError("no header")
        return text

    request = REQUEST._replace(schema=None, parse=parse)
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
