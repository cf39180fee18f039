"""The Messages API of the rehearsal server, without HTTP: a call in, a response out, and what was counted.

Tokens are estimated as in ``models.tokens``; a prefix of system blocks that ends in a breakpoint and is long
enough is written to the cache once and read from then on. A reply counts as answered when its last byte
was handed to the system.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from models import tokens
from models.rehearsal.answers import Composer, invent
from models.rehearsal.batches import Batches
from models.rehearsal.checks import VERSIONS, request_problem
from models.rehearsal.faults import Fault, Faults, spoiled
from models.roles import Model, known_models, model_named
from schemas.command import say
from schemas.errors import AnamnesisError

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
_LARGEST_BODY = 32 * 2**20  # bytes, as Anthropic documents
_HUGE = 50 * 2**20
_STATUS = {"limited": 429, "overloaded": 529, "error": 500}


@dataclass(frozen=True)
class Call:
    """An HTTP request: header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Response:
    """An HTTP response; ``cut``: the connection drops half-way; ``key`` and ``usage`` of a message, for counting."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cut: bool = False
    key: bytes | None = None
    model: str = ""
    usage: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Rehearsal:
    """How the server behaves. ``latency`` and ``batch_seconds`` in seconds; ``key`` None: any key is good."""

    latency: float = 0.0
    batch_seconds: float = 0.0
    faults: Faults = field(default_factory=Faults)
    compose: Composer = invent
    key: str | None = None
    models: tuple[str, ...] = ()


class Api:
    """The server's state."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal
        self.models: dict[str, Model] = {name: model_named(name) for name in (*known_models(), *rehearsal.models)}
        self.batches = Batches(self)
        self._attempts: Counter[bytes] = Counter()
        self._answered: Counter[bytes] = Counter()
        self._cached: set[bytes] = set()
        self._statuses: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._lost = 0
        self._tokens: dict[str, Counter[str]] = {}

    def respond(self, call: Call) -> Response:
        """Answer a call."""
        if call.path == "/_stats":
            return Response(200, orjson.dumps(self.stats()))
        refused = self._refused(call)
        if refused:
            return refused
        path = call.path.split("?")[0].rstrip("/")
        if (call.method, path) == ("POST", "/v1/messages"):
            return self._message(call)
        if (call.method, path) == ("POST", "/v1/messages/count_tokens"):
            body = orjson.loads(call.body)
            return Response(
                200, orjson.dumps({"input_tokens": tokens.estimate(call.body.decode(), 3.5) if body else 0})
            )
        if (call.method, path) == ("GET", "/v1/models"):
            return Response(200, orjson.dumps(self._model_list()))
        if path.startswith("/v1/messages/batches"):
            return self.batches.respond(call, path)
        return failed(404, f"Not found: {call.path}")

    def sent(self, response: Response, whole: bool) -> None:
        """Count a response when its last byte is out (``whole``), or when the client was gone before."""
        self._statuses[str(response.status)] += 1
        if response.key is None or response.usage is None:
            return
        if not whole:
            self._lost += 1
            return
        self.count(response.key, response.model, response.usage)

    def count(self, key: bytes, model: str, usage: Mapping[str, int]) -> None:
        """Count an answered request."""
        self._answered[key] += 1
        used = {name: count for name, count in usage.items() if isinstance(count, int)}
        self._tokens.setdefault(model, Counter()).update(used)

    def stats(self) -> dict[str, Any]:
        """What was answered. ``lost``: replies whose client was gone or was dropped before the last byte."""
        return {
            "received": sum(self._attempts.values()),
            "answered": sum(self._answered.values()),
            "distinct": len(self._answered),
            "answered_twice": sum(1 for times in self._answered.values() if times > 1),
            "lost": self._lost,
            "batches": len(self.batches),
            "responses": dict(sorted(self._statuses.items())),
            "faults": dict(sorted(self._faults.items())),
            "tokens": {model: dict(sorted(used.items())) for model, used in sorted(self._tokens.items())},
            "cpu_seconds": time.process_time(),
        }

    def _refused(self, call: Call) -> Response | None:
        version = call.headers.get("anthropic-version")
        bearer = call.headers.get("authorization", "").removeprefix("Bearer ")
        key = call.headers.get("x-api-key") or bearer
        if not key or (self.rehearsal.key is not None and key != self.rehearsal.key):
            return failed(401, "invalid x-api-key" if key else "x-api-key header is required")
        if version not in VERSIONS:
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
        if problem:
            return failed(*problem)
        key = hashlib.sha256(call.body).digest()
        fault = self.next_fault(key, call.body)
        if fault:
            if fault.kind in _STATUS:
                headers = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
                return failed(_STATUS[fault.kind], f"rehearsed: {fault.kind}", headers)
            if fault.kind == "html":
                return Response(200, b"<html><body>Please log in.</body></html>", {"content-type": "text/html"})
        try:
            message = self.reply(body, key, call.body)
        except (AnamnesisError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            say(f"the composer failed: {error!r}")
            return failed(500, f"the composer failed: {error}")
        return self._spoilt_envelope(fault, key, message)

    def next_fault(self, key: bytes, raw: bytes) -> Fault | None:
        """The fault of the next attempt of a request, counted."""
        self._attempts[key] += 1
        fault = self.rehearsal.faults.of_attempt(key, self._attempts[key], raw)
        if fault:
            self._faults[fault.kind] += 1
        return fault

    def _spoilt_envelope(self, fault: Fault | None, key: bytes, message: dict[str, Any]) -> Response:
        kind = fault.kind if fault else ""
        usage = message["usage"]
        if kind == "huge":
            message["content"] = [{"type": "text", "text": "x" * _HUGE}]
        if kind == "unmetered":
            del message["usage"]
        raw = orjson.dumps(message)
        seconds = self.rehearsal.latency + (fault.seconds if fault and kind == "slow" else 0.0)
        response = Response(200, raw, seconds=seconds, key=key, model=message["model"], usage=usage)
        if kind == "garbled":
            response.body, response.key = raw[: len(raw) // 2], None
        if kind in ("drop", "huge"):
            response.cut = kind == "drop"
            response.key = None
        return response

    def reply(self, body: Mapping[str, Any], key: bytes, raw: bytes) -> dict[str, Any]:
        """The message that answers a good request."""
        model = self.models[body["model"]]
        fault = self.rehearsal.faults.of_text(key, raw)
        stop = "end_turn"
        if fault and fault.kind == "refusal":
            self._faults["refusal"] += 1
            return _message_of(key, model, "", "refusal", self._usage(body, model, ""))
        text = self.rehearsal.compose(body)
        if fault:
            self._faults[fault.kind] += 1
            text = spoiled(text, fault.kind, random.Random(key))
            stop = "max_tokens" if fault.kind == "truncated" else stop
        most = int(body["max_tokens"] * model.bytes_per_token)
        if len(text.encode()) > most:
            text, stop = text.encode()[:most].decode(errors="ignore"), "max_tokens"
        return _message_of(key, model, text, stop, self._usage(body, model, text))

    def _usage(self, body: Mapping[str, Any], model: Model, text: str) -> dict[str, int]:
        def count(part: str) -> int:
            return tokens.estimate(part, model.bytes_per_token)

        system = body.get("system", "")
        blocks = system if isinstance(system, list) else [{"text": system}]
        rest = orjson.dumps([body["messages"], body.get("output_config")]).decode()
        written = read = prefix = total = 0
        digest = hashlib.sha256(model.name.encode())
        for block in blocks:
            total += count(block["text"])
            digest.update(block["text"].encode())
            if "cache_control" in block and total >= model.cache_minimum:
                prefix = total
                if digest.digest() in self._cached:
                    read = total
                self._cached.add(digest.digest())
        written = prefix - read
        return {
            "input_tokens": total - prefix + count(rest),
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": count(text) if text else 1,
        }

    def _model_list(self) -> dict[str, Any]:
        data = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
            for name in sorted(self.models)
        ]
        return {"data": data, "has_more": False, "first_id": data[0]["id"], "last_id": data[-1]["id"]}


def _message_of(key: bytes, model: Model, text: str, stop: str, usage: Mapping[str, int]) -> dict[str, Any]:
    refused = {"type": "refusal", "category": "general_harms", "explanation": "rehearsed"}
    return {
        "id": f"msg_{key.hex()[:24]}",
        "type": "message",
        "role": "assistant",
        "model": model.name,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": refused if stop == "refusal" else None,
        "usage": {**usage, "service_tier": "standard"},
    }


def failed(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """An error as the API words it."""
    error = {"type": "error", "error": {"type": _KINDS[status], "message": message}, "request_id": "req_rehearsal"}
    return Response(status, orjson.dumps(error), headers or {})
