"""One attempt at a request: what the real client makes of what servers do, in our terms."""

import asyncio
import datetime
import gzip
import zlib
from dataclasses import replace
from email.utils import format_datetime

import orjson
import pytest

from models.rehearsal.calls import Response
from models.rehearsal.chat import as_completion, completion_events
from models.rehearsal.server import Connection
from models.rehearsal.streams import as_stream, message_events
from models.roles import model_named
from models.servers import Server, api_key, server_address, server_of
from models.wire.client import LARGEST_REPLY, Client
from models.wire.problems import UnansweredError, retry_after
from models.wire.questions import wire_of
from schemas.errors import MachineError, RequestError

BODY = b'{"model":"m"}'
MESSAGE = orjson.dumps({"content": [], "stop_reason": "end_turn"})


def answer_to(response, wire="messages", key="key", max_tokens=10, timeout=0.5):
    """What the client makes of one response; also the call the server got."""
    calls = []

    class Rehearsed:
        def respond(self, call):
            calls.append(call)
            return response

        def sent(self, response, whole):
            pass

    async def ask():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(Rehearsed(), loop), "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, Client(Server(address, key), 4, timeout=timeout) as client:
            try:
                return (await client.send(wire_of(wire), BODY, max_tokens)).message
            except (UnansweredError, RequestError, MachineError) as error:
                return error

    return asyncio.run(ask()), calls[0]


def error(status, message="why", kind="x", **headers):
    raw = orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})
    return Response(status, raw, {name.replace("_", "-"): value for name, value in headers.items()})


def test_the_body_goes_out_byte_for_byte_with_key_and_version():
    message, call = answer_to(Response(200, MESSAGE))
    assert message == orjson.loads(MESSAGE)
    assert (call.method, call.path, call.body) == ("POST", "/v1/messages", BODY)
    assert call.headers["authorization"] == "Bearer key"
    assert call.headers["x-api-key"] == "key"
    assert call.headers["content-type"] == "application/json"
    assert call.headers["anthropic-version"]


@pytest.mark.parametrize(("name", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_reply_that_a_proxy_compressed_though_nobody_asked_it_to_is_read(name, compress):
    message, call = answer_to(Response(200, compress(MESSAGE), {"content-encoding": name}))
    assert message == orjson.loads(MESSAGE)
    assert call.headers["accept-encoding"] == "identity"


def test_a_compressed_reply_is_held_to_the_largest_size_as_it_unfolds():
    failed, _ = answer_to(Response(200, gzip.compress(b" " * (LARGEST_REPLY + 1)), {"content-encoding": "gzip"}))
    assert failed.kind == "rejected"
    assert "larger than" in failed.reason


@pytest.mark.parametrize(
    ("response", "kind", "doubt", "said"),
    [
        (error(429), "limited", False, "429 why"),
        (error(529), "overloaded", False, "529 why"),
        (error(503), "overloaded", False, "503 why"),
        (error(500), "broken", False, "500 why"),
        (error(502, "x"), "broken", True, "502"),
        (Response(502, b"<html>bad gateway</html>", {"content-type": "text/html"}), "broken", True, "502"),
        (error(504), "broken", True, "504"),
        (error(524), "broken", True, "524"),
        (error(408), "broken", False, "408"),
        (error(400, "prompt is too long"), "rejected", False, "prompt is too long"),
        (error(400, "output_config: Extra inputs are not permitted"), "schemaless", False, "output_config"),
        (error(413), "rejected", False, "413"),
        (error(422), "rejected", False, "422"),
        (Response(200, b"<html>log in</html>", {"content-type": "text/html"}), "unreachable", False, "HTML page"),
        (Response(200, b"<!DOCTYPE html><p>hm", {"content-type": "text/plain"}), "unreachable", False, "HTML page"),
        (Response(200, b'{"choices": []}'), "unreachable", False, 'set wire = "chat"'),
        (Response(200, b'{"content": ["x"]}'), "unreachable", False, "not a message of the Messages API"),
        (Response(200, b"[1]"), "unreachable", False, "not a message of the Messages API"),
        (Response(200, b'{"content": [{"type": "te'), "broken", True, "not JSON"),
        (Response(200, b""), "broken", True, "the reply is empty"),
        (Response(200, MESSAGE, cut=True), "broken", True, "connection lost"),
        (Response(200, MESSAGE, seconds=5.0), "broken", True, "no reply in time"),
        (Response(200, b"x" * (LARGEST_REPLY + 1)), "rejected", True, "larger than 16 MiB"),
    ],
)
def test_an_attempt_without_a_reply_has_a_kind_and_says_whether_it_may_have_been_billed(response, kind, doubt, said):
    raised, _ = answer_to(response)
    assert (raised.kind, raised.doubt) == (kind, doubt)
    assert said in raised.reason


@pytest.mark.parametrize(
    ("response", "type_", "said"),
    [
        (error(401, "invalid x-api-key"), RequestError, "key refused (401 invalid x-api-key)"),
        (error(403), RequestError, "key refused"),
        (error(404, "model: m"), RequestError, "unknown model (404 model: m)"),
        (error(404, "Not Found"), RequestError, "nothing answers at /v1/messages (404 Not Found)"),
        (error(405, "Method Not Allowed"), RequestError, 'set wire = "chat" for the model'),
        (error(402, "no credit"), MachineError, "payment required (402 no credit)"),
        (error(400, "Your credit balance is too low"), MachineError, "payment required (400 Your credit"),
        (error(429, "You exceeded your current quota"), MachineError, "payment required (429 You exceeded"),
        (Response(302, b"", {"location": "https://example.org/login"}), RequestError, "redirected (302 to https://ex"),
    ],
)
def test_what_no_attempt_can_change_ends_the_run(response, type_, said):
    raised, _ = answer_to(response)
    assert isinstance(raised, type_)
    assert said in str(raised)


COMPLETION = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("response", "kind", "said"),
    [
        (Response(200, MESSAGE), "unreachable", "not a chat completion"),
        (Response(200, orjson.dumps({"type": "message", "content": []})), "unreachable", 'set wire = "messages"'),
        (Response(200, b'{"choices": []}'), "unreachable", "not a chat completion"),
        (Response(200, b'{"error": {"code": 429, "message": "slow down"}}'), "limited", "429: slow down"),
        (Response(200, b'{"error": {"message": "upstream"}}'), "broken", "upstream"),
        (Response(500, b'{"detail": "no memory"}'), "broken", "500 no memory"),
        (Response(400, b'{"error": {"message": "response_format is not supported"}}'), "schemaless", "response_format"),
    ],
)
def test_what_is_no_chat_completion_is_reported_as_what_it_is(response, kind, said):
    raised, call = answer_to(response, "chat")
    assert (raised.kind, call.path) == (kind, "/v1/chat/completions")
    assert said in raised.reason


def stream(*events):
    return Response(200, as_stream(list(events), done=False), {"content-type": "text/event-stream"})


@pytest.mark.parametrize("wire", ["messages", "chat"])
@pytest.mark.parametrize("pieces", [1, 7])
def test_a_long_answer_comes_in_pieces_and_is_put_together(wire, pieces):
    text = "Words of a long answer, äöü. " * 50
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 9}
    sent = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    sent |= {"content": [{"type": "text", "text": text}], "usage": usage}
    events = message_events(sent) if wire == "messages" else completion_events(as_completion(sent))
    response = Response(200, as_stream(events, done=wire == "chat"), {"content-type": "text/event-stream"})
    response.pieces = pieces
    message, call = answer_to(response, wire, max_tokens=20_000)
    content = wire_of(wire).content(message)
    assert (content.text, content.ended, content.usage.output_tokens) == (text, "whole", 9)
    assert orjson.loads(call.body)["stream"] is True


def test_a_short_answer_comes_at_once_and_a_models_entry_can_forbid_pieces():
    assert "stream" not in orjson.loads(answer_to(Response(200, MESSAGE))[1].body)


@pytest.mark.parametrize(
    ("response", "kind", "said"),
    [
        (stream({"type": "message_start", "message": {}}), "broken", "ended before"),
        (stream({"type": "error", "error": {"message": "Overloaded"}}), "overloaded", "Overloaded"),
        (stream([1]), "broken", "not a JSON object"),
        (Response(200, b"data: {\n\n", {"content-type": "text/event-stream"}), "broken", "not a reply"),
    ],
)
def test_a_stream_that_breaks_off_may_have_been_billed(response, kind, said):
    raised, _ = answer_to(response, max_tokens=20_000)
    assert (raised.kind, raised.doubt) == (kind, True)
    assert said in raised.reason


KEY = "sk-test-0123456789abcdef"


@pytest.mark.parametrize(
    "response",
    [
        Response(200, orjson.dumps({"content": [{"type": "text", "text": f"Your key is {KEY}."}]})),
        Response(200, f'{{"content": [{{"type": "text", "text": "\\u0073k{KEY[2:]}"}}]}}'.encode()),
        error(400, f"bad key {KEY}"),
        error(401, f"bad key {KEY}"),
        error(500, f"bad key {KEY}"),
        error(404, f"model {KEY}"),
        Response(200, f"{KEY} is no JSON".encode()),
        Response(200, orjson.dumps({"error": {"message": KEY}})),
    ],
)
def test_a_key_that_the_server_sends_back_is_taken_out(response):
    came, call = answer_to(response, key=KEY)
    assert KEY in call.headers["authorization"]
    assert KEY not in str(came)


def test_a_reply_that_trickles_for_ever_is_given_up():
    response = Response(200, MESSAGE)
    response.pieces, response.pause = 16, 0.1
    raised, _ = answer_to(response)
    assert (raised.kind, raised.doubt, raised.reason) == ("broken", True, "no reply in time")


def test_no_key_is_sent_to_a_server_that_was_given_none():
    _, call = answer_to(Response(200, MESSAGE), key=None)
    assert "authorization" not in call.headers and "x-api-key" not in call.headers


NOW = datetime.datetime(1999, 1, 1, tzinfo=datetime.UTC)  # what a server's clock says that is wrong, or ours is


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": format_datetime(NOW + datetime.timedelta(seconds=9)), "date": format_datetime(NOW)}, 9.0),
        ({"retry-after": format_datetime(NOW), "date": format_datetime(NOW + datetime.timedelta(days=1))}, 0.0),
        ({"retry-after": format_datetime(NOW)}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "nan"}, 0.0),
        ({}, None),
    ],
)
def test_retry_after_is_understood_by_the_servers_own_clock(headers, seconds):
    assert retry_after(headers) == seconds


LOCAL = replace(model_named("qwen3"), server="http://localhost:8000/v1", wire="chat")


def test_the_public_servers_are_the_default(monkeypatch):
    for variable in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    assert server_address(model_named("m"))[0] == "https://api.anthropic.com"
    assert server_address(replace(model_named("m"), wire="chat"))[0] == "https://api.openai.com"
    for address in ("http://localhost:8000", "http://localhost:8000/", "http://localhost:8000/v1"):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        assert server_address(model_named("m"))[0] == "http://localhost:8000"


@pytest.mark.parametrize(
    ("wire", "address", "url"),
    [
        ("messages", "http://localhost:8000", "http://localhost:8000/v1/messages"),
        ("messages", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/messages"),
        ("chat", "http://localhost:8000", "http://localhost:8000/v1/chat/completions"),
        ("chat", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("chat", "https://x.openai.azure.com/openai/v1", "https://x.openai.azure.com/openai/v1/chat/completions"),
        (
            "chat",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        ),
    ],
)
def test_requests_are_posted_below_the_address(wire, address, url):
    assert wire_of(wire).url(address) == url


def test_a_server_of_users_gets_the_key_that_is_named_for_it_and_no_other(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("MY_KEY", "mine")
    assert server_of(LOCAL).key is None
    assert server_of(replace(LOCAL, key_env="MY_KEY")).key == "mine"
    with pytest.raises(RequestError, match="no key in NONE_SUCH"):
        server_of(replace(LOCAL, key_env="NONE_SUCH"))


@pytest.mark.parametrize("key", ["a\nb", "schlüssel"])
def test_a_key_no_header_can_carry_is_refused_without_being_printed(monkeypatch, key):
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with pytest.raises(RequestError, match="malformed key") as raised:
        api_key("ANTHROPIC_API_KEY", "x")
    assert key not in str(raised.value)


def test_the_key_is_in_no_error_wherever_the_server_puts_it_and_errors_are_one_short_line():
    key = "sk-0123456789abcdef"
    for response in (
        Response(301, b"", {"location": f"http://x/?key={key}"}),
        error(400, "a" * 290 + key + "\x1b[31m\nb" * 100),
        error(407, key),
    ):
        said = str(answer_to(response, key=key)[0])
        assert "sk-0" not in said and said.isprintable() and len(said) < 500


@pytest.mark.parametrize(
    ("wire", "body", "kind"),
    [
        ("messages", b'{"content": [], "deep": ' + b"[" * 300 + b"]" * 300 + b"}", "application/json"),
        ("chat", b'data: {"choices": ["x"]}\n\n', "text/event-stream"),
        ("chat", b'data: {"choices": [{"delta": [1]}]}\n\n', "text/event-stream"),
    ],
)
def test_a_reply_of_a_strange_shape_is_an_attempt_that_failed(wire, body, kind):
    failed, _ = answer_to(Response(200, body, {"content-type": kind}), wire=wire)
    assert (failed.kind, failed.doubt) == ("broken", True)


@pytest.mark.parametrize("address", ["http://bücher.invalid", "http://x/ü", "http://x/a b"])
def test_an_address_that_no_request_can_carry_is_refused_before_anything_is_sent(address, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    with pytest.raises(RequestError, match="malformed address"):
        server_address(model_named("m"))
