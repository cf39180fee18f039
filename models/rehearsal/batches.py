"""Message Batches of the rehearsal server: taken whole, processed after a while, results in another order."""

from __future__ import annotations

import datetime
import hashlib
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import orjson

from models.rehearsal.calls import Call, Response, failed
from models.rehearsal.checks import batch_problem, request_problem
from models.rehearsal.writing import Writing

_KINDS = {"limited": "rate_limit_error", "overloaded": "overloaded_error", "error": "api_error"}
_STATUS = {"limited": 429, "overloaded": 529, "error": 500}
_DAY = datetime.timedelta(days=1)


@dataclass
class _Batch:
    id: str
    requests: list[dict[str, Any]]
    began: float
    created: datetime.datetime
    results: list[dict[str, Any]] | None = None
    canceled: bool = False


class Batches:
    """All batches of one server."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._batches: dict[str, _Batch] = {}

    def respond(self, call: Call, path: str) -> Response:
        """Answer a call under /v1/messages/batches."""
        steps = path.removeprefix("/v1/messages/batches").strip("/").split("/")
        host = call.headers.get("host", "")
        if steps == [""]:
            if call.method == "POST":
                return self._create(call)
            found = [self._state(batch, host) for batch in reversed(self._batches.values())]
            ends = {"first_id": found[0]["id"] if found else None, "last_id": found[-1]["id"] if found else None}
            return Response(200, orjson.dumps({"data": found, "has_more": False, **ends}))
        batch = self._batches.get(steps[0])
        if batch is None:
            return failed(404, f"Message batch {steps[0]} not found")
        if steps[1:] == ["results"] and call.method == "GET":
            results = self._results(batch)
            if results is None:
                return failed(404, "The batch has no results yet")
            lines = b"".join(orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE) for result in results)
            return Response(200, lines, {"content-type": "application/x-jsonl"})
        if steps[1:] == ["cancel"] and call.method == "POST":
            batch.canceled = self._results(batch) is None
        elif steps[1:] or call.method != "GET":
            return failed(404, f"Not found: {path}")
        return Response(200, orjson.dumps(self._state(batch, host)))

    def _create(self, call: Call) -> Response:
        body = orjson.loads(call.body)
        problem = batch_problem(body)
        if problem:
            return failed(400, problem)
        fault = self._writing.next_fault(hashlib.sha256(call.body).digest(), call.body)
        if fault and fault.kind in _KINDS:
            return failed(_STATUS[fault.kind], f"rehearsed: {fault.kind}")
        created = datetime.datetime.now(datetime.UTC)
        batch = _Batch(f"msgbatch_{len(self._batches) + 1:06d}", body["requests"], time.monotonic(), created)
        self._batches[batch.id] = batch
        self._writing.counts.batches += 1
        state = orjson.dumps(self._state(batch, call.headers.get("host", "")))
        return Response(200, state, cut=fault is not None and fault.kind == "drop")

    def _results(self, batch: _Batch) -> list[dict[str, Any]] | None:
        if batch.results is None and (
            batch.canceled or time.monotonic() - batch.began >= self._writing.rehearsal.batch_seconds
        ):
            results = [self._result(request, batch.canceled) for request in batch.requests]
            batch.results = sorted(results, key=lambda result: hashlib.sha256(result["custom_id"].encode()).digest())
        return batch.results

    def _result(self, request: dict[str, Any], canceled: bool) -> dict[str, Any]:
        name, params = request["custom_id"], request["params"]
        if canceled:
            return {"custom_id": name, "result": {"type": "canceled"}}
        problem = request_problem(params, self._writing.models)
        if problem:
            return _errored(name, "invalid_request_error", problem[1])
        raw = orjson.dumps(params, option=orjson.OPT_SORT_KEYS)
        key = hashlib.sha256(raw).digest()
        fault = self._writing.next_fault(key, raw)
        if fault and fault.kind in _KINDS:
            return _errored(name, _KINDS[fault.kind], f"rehearsed: {fault.kind}")
        if fault and fault.kind == "drop":
            return {"custom_id": name, "result": {"type": "expired"}}
        message = self._writing.reply(params, key, raw)
        self._writing.counts.answer(key, message["model"], message["usage"])
        return {"custom_id": name, "result": {"type": "succeeded", "message": message}}

    def _state(self, batch: _Batch, host: str) -> dict[str, Any]:
        results = self._results(batch)
        kinds = Counter(result["result"]["type"] for result in results or ())
        counts = {kind: kinds[kind] for kind in ("succeeded", "errored", "canceled", "expired")}
        ended = results is not None
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0 if ended else len(batch.requests), **counts},
            "created_at": batch.created.isoformat(),
            "expires_at": (batch.created + _DAY).isoformat(),
            "ended_at": batch.created.isoformat() if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"http://{host}/v1/messages/batches/{batch.id}/results" if ended else None,
        }


def _errored(name: str, kind: str, message: str) -> dict[str, Any]:
    error = {"type": "error", "error": {"type": kind, "message": message}}
    return {"custom_id": name, "result": {"type": "errored", "error": error}}
