"""The rehearsal server without HTTP: a call in, a response out, on both wires."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from models import tokens
from models.rehearsal import chat
from models.rehearsal.batches import Batches
from models.rehearsal.calls import Call, Response, failed
from models.rehearsal.checks import VERSIONS, model_problem, request_problem
from models.rehearsal.faults import Fault
from models.rehearsal.streams import as_stream, message_events
from models.rehearsal.writing import Rehearsal, Writing
from schemas.command import say
from schemas.errors import AnamnesisError

_LARGEST_BODY = 32 * 2**20  # bytes, as Anthropic documents
_HUGE = 50 * 2**20
_STATUS = {"limited": 429, "overloaded": 529, "error": 500, "echo_error": 500, "credit": 400}
_CREDIT = "Your credit balance is too low to access the API. Please go to Plans & Billing."
_PAGE = b"<html><body>Please log in.</body></html>"
_TRICKLE = 16  # pieces


class Api:
    """The server's state."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal
        self.writing = Writing(rehearsal)
        self.batches = Batches(self.writing)
        self.models = self.writing.models

    def respond(self, call: Call) -> Response:
        """Answer a call."""
        if call.path == "/_stats":
            return Response(200, orjson.dumps(self.stats()))
        path = call.path.split("?")[0].rstrip("/")
        wire = "chat" if path.endswith("/chat/completions") else "messages"
        if wire not in self.rehearsal.wires and path != "/v1/models":
            return failed(404, f"Not found: {call.method} {path}")
        if wire == "chat":
            response = self._refused(call, versioned=False) or self._completion(call)
            return chat.as_error(response) if response.status >= 400 else response
        refused = self._refused(call, versioned=True)
        if refused:
            return refused
        if (call.method, path) == ("POST", "/v1/messages"):
            return self._message(call)
        if (call.method, path) == ("POST", "/v1/messages/count_tokens"):
            return Response(200, orjson.dumps({"input_tokens": tokens.estimate(call.body.decode(), 3.5)}))
        if (call.method, path) == ("GET", "/v1/models"):
            return Response(200, orjson.dumps(self._model_list()))
        if path.startswith("/v1/messages/batches"):
            return self.batches.respond(call, path)
        return failed(404, f"Not found: {call.path}")

    def sent(self, response: Response, whole: bool) -> None:
        """Count a response when its last byte is out (``whole``), or when the client was gone before."""
        self.writing.counts.sent(response, whole)

    def stats(self) -> dict[str, Any]:
        """What was counted; see ``counts``."""
        return self.writing.counts.stats()

    def _refused(self, call: Call, versioned: bool) -> Response | None:
        if not call.key or (self.rehearsal.key is not None and call.key != self.rehearsal.key):
            return failed(401, "invalid x-api-key" if call.key else "x-api-key header is required")
        version = call.headers.get("anthropic-version")
        if versioned and version not in VERSIONS:
            said = "header is required" if version is None else f'"{version}" is not a valid version'
            return failed(400, f"anthropic-version: {said}")
        if len(call.body) > _LARGEST_BODY:
            return failed(413, "Request exceeds the maximum size")
        if call.method == "POST":
            if not call.headers.get("content-type", "").startswith("application/json"):
                return failed(400, "content-type: should be application/json")
            try:
                orjson.loads(call.body)
            except orjson.JSONDecodeError as error:
                return failed(400, f"The request body is not valid JSON: {error}")
        return None

    def _message(self, call: Call) -> Response:
        body = orjson.loads(call.body)
        problem = request_problem(body, self.models)
        return failed(*problem) if problem else self._answered(call, body, "messages")

    def _completion(self, call: Call) -> Response:
        body = orjson.loads(call.body)
        problem = chat.chat_problem(body)
        if problem:
            return failed(400, problem)
        if body["model"] not in self.models:
            return failed(404, f"The model `{body['model']}` does not exist")
        translated = chat.as_messages(body)
        refused = model_problem(translated, self.models[body["model"]])
        if refused:
            return failed(400, refused.replace("output_config", "response_format"))
        return self._answered(call, translated, "chat")

    def _answered(self, call: Call, body: dict[str, Any], wire: str) -> Response:
        key = hashlib.sha256(call.body).digest()
        fault = self.writing.next_fault(key, call.body)
        if fault and fault.kind in _STATUS:
            headers = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
            words = {"echo_error": f"cannot use the key {call.key}", "credit": _CREDIT}.get(fault.kind)
            response = failed(_STATUS[fault.kind], words or f"rehearsed: {fault.kind}", headers)
            response.fault = fault.kind
            return response
        if fault and fault.kind == "html":
            return Response(200, _PAGE, {"content-type": "text/html"}, fault="html")
        try:
            message = self.writing.reply(body, key, call.body)
        except (AnamnesisError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            say(f"the composer failed: {error!r}")
            return failed(500, f"the composer failed: {error}")
        if fault and fault.kind == "echo":
            message["content"] = [{"type": "text", "text": f"Your key is {call.key}."}]
        return self._response(fault, key, message, wire, bool(body.get("stream")))

    def _response(self, fault: Fault | None, key: bytes, message: dict[str, Any], wire: str, stream: bool) -> Response:
        kind = fault.kind if fault else ""
        usage = message["usage"]
        if kind == "huge":
            message["content"] = [{"type": "text", "text": "x" * _HUGE}]
        if kind == "unmetered":
            del message["usage"]
        shown = message if wire == "messages" else chat.as_completion(message)
        headers = {}
        if stream:
            events = message_events(message) if wire == "messages" else chat.completion_events(shown)
            raw, headers = as_stream(events, done=wire == "chat"), {"content-type": "text/event-stream"}
        else:
            raw = orjson.dumps(shown)
        seconds = self.rehearsal.latency + (fault.seconds if fault and kind == "slow" else 0.0)
        response = Response(
            200, raw, headers, seconds=seconds, key=key, model=message["model"], usage=usage, fault=kind
        )
        if fault and kind == "trickle":
            response.pieces, response.pause = _TRICKLE, fault.seconds / _TRICKLE
        if kind == "empty":
            response.body, response.key = b"", None
        if kind == "garbled":
            response.body, response.key = raw[: len(raw) // 2], None
        if kind in ("drop", "huge"):
            response.cut = kind == "drop"
            response.key = None
        return response

    def _model_list(self) -> dict[str, Any]:
        data = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
            for name in sorted(self.models)
        ]
        return {"data": data, "has_more": False, "first_id": data[0]["id"], "last_id": data[-1]["id"]}
