"""One attempt at a request: what the real client makes of what servers do, in our terms."""

import asyncio
import datetime
from email.utils import format_datetime

import httpx2
import orjson
import pytest

from models.client import LARGEST_REPLY, Client, UnansweredError, _Counted, _retry_after
from models.rehearsal.calls import Response
from models.rehearsal.server import Connection
from models.server import api_key, server_address
from schemas.errors import MachineError, RequestError

BODY = b'{"model":"m"}'
MESSAGE = orjson.dumps({"content": [], "stop_reason": "end_turn"})


def answer_to(response):
    """What the client makes of one response; also the call the server got."""
    calls = []

    class Server:
        def respond(self, call):
            calls.append(call)
            return response

        def sent(self, response, whole):
            pass

    async def ask():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(Server(), loop), "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, Client(address, "key", 4, timeout=0.5) as client:
            try:
                return (await client.send(BODY, 10)).message
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


@pytest.mark.parametrize(
    ("response", "kind", "doubt", "said"),
    [
        (error(429), "limited", False, "429 why"),
        (error(529), "overloaded", False, "529 why"),
        (error(503), "overloaded", False, "503 why"),
        (error(500), "broken", False, "500 why"),
        (error(502, "x"), "broken", False, "502"),
        (Response(502, b"<html>bad gateway</html>", {"content-type": "text/html"}), "broken", False, "502"),
        (error(408), "broken", False, "408"),
        (error(400, "prompt is too long"), "rejected", False, "prompt is too long"),
        (error(400, "output_config: Extra inputs are not permitted"), "schemaless", False, "output_config"),
        (error(413), "rejected", False, "413"),
        (error(422), "rejected", False, "422"),
        (Response(200, b"<html>log in</html>", {"content-type": "text/html"}), "unreachable", False, "HTML page"),
        (Response(200, b"<!DOCTYPE html><p>hm", {"content-type": "text/plain"}), "unreachable", False, "HTML page"),
        (Response(200, b'{"choices": []}'), "unreachable", False, "no message of the Messages API"),
        (Response(200, b'{"content": ["x"]}'), "unreachable", False, "no message of the Messages API"),
        (Response(200, b"[1]"), "unreachable", False, "no message of the Messages API"),
        (Response(200, b'{"content": [{"type": "te'), "broken", True, "no JSON"),
        (Response(200, b""), "broken", True, "no JSON"),
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
        (error(404, "model: m"), RequestError, "unknown model or address (404 model: m)"),
        (error(402, "no credit"), MachineError, "payment required (402 no credit)"),
        (Response(302, b"", {"location": "https://example.org/login"}), RequestError, "unknown model or address (302"),
    ],
)
def test_what_no_attempt_can_mend_ends_the_run(response, type_, said):
    raised, _ = answer_to(response)
    assert isinstance(raised, type_)
    assert said in str(raised)


def test_a_reply_without_a_length_is_read_no_further_than_the_limit():
    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self):
            while True:
                yield b"x" * 2**20

    async def read():
        return sum([len(chunk) async for chunk in _Counted(Endless())])

    with pytest.raises(UnansweredError, match="larger than 16 MiB"):
        asyncio.run(read())


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
    assert _retry_after(httpx2.Headers(headers)) == seconds


def test_the_public_server_is_the_default(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    assert server_address() == "https://api.anthropic.com"
    for address in ("http://localhost:8000", "http://localhost:8000/", "http://localhost:8000/v1"):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        assert server_address() == "http://localhost:8000"


@pytest.mark.parametrize("key", ["a\nb", "schlüssel"])
def test_a_key_no_header_can_carry_is_refused_without_being_told(monkeypatch, key):
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with pytest.raises(RequestError, match="malformed key") as raised:
        api_key("x")
    assert key not in str(raised.value)
