"""What the Messages API refuses, and the words it refuses it with.

After Anthropic's API reference of 2026-10: required fields, unknown fields, roles, empty text, cache
breakpoints, sampling parameters on models that take none, the supported subset of JSON Schema.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from models.roles import Model
from models.wire.messages import BREAKPOINTS

REFERENCE = tomllib.loads((Path(__file__).parent / "reference.toml").read_text("utf-8"))
VERSIONS: tuple[str, ...] = tuple(REFERENCE["versions"])

_FIELDS = frozenset(REFERENCE["fields"])
_SAMPLING = ("temperature", "top_k", "top_p")
_EFFORTS: tuple[str, ...] = tuple(REFERENCE["efforts"])
_SCHEMA_KEYS = frozenset(REFERENCE["schema_keywords"])
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_BATCH_SIZE = 100_000


def request_problem(body: Any, models: Mapping[str, Model]) -> tuple[int, str] | None:
    """Status and message for a request the API would refuse; None for a good one."""
    if not isinstance(body, dict):
        return 400, "Input should be a valid dictionary"
    for problem in _problems(body):
        return 400, problem
    model = models.get(body["model"])
    if model is None:
        return 404, f"model: {body['model']}"
    refused = model_problem(body, model)
    return (400, refused) if refused else None


def model_problem(body: Mapping[str, Any], model: Model) -> str | None:
    """Why a model would refuse a request that is well formed; None for a good one."""
    return next(_model_problems(body, model), None)


def batch_problem(body: Any) -> str | None:
    """Why the API would refuse a batch as a whole; its requests are only judged when it is processed."""
    requests = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(requests, list) or not 1 <= len(requests) <= _BATCH_SIZE:
        return f"requests: List should have between 1 and {_BATCH_SIZE} items"
    seen = set()
    for index, request in enumerate(requests):
        name = request.get("custom_id") if isinstance(request, dict) else None
        if not isinstance(name, str) or not _CUSTOM_ID.fullmatch(name):
            return f"requests.{index}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
        if name in seen:
            return f"requests: custom_id {name!r} is not unique"
        if set(request) != {"custom_id", "params"}:
            return f"requests.{index}: Field required: custom_id, params; extra inputs are not permitted"
        seen.add(name)
    return None


def _problems(body: Mapping[str, Any]) -> Iterator[str]:
    for name in ("max_tokens", "messages", "model"):
        if name not in body:
            yield f"{name}: Field required"
    for name in sorted(set(body) - _FIELDS):
        yield f"{name}: Extra inputs are not permitted"
    if not isinstance(body["model"], str):
        yield "model: Input should be a valid string"
    if type(body["max_tokens"]) is not int or body["max_tokens"] < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    if not isinstance(body.get("stream", False), bool):
        yield "stream: Input should be a valid boolean"
    yield from _message_problems(body["messages"])
    system = body.get("system", "")
    if not isinstance(system, str):
        yield from _block_problems("system", system)
    marked = [block for block in _blocks(body) if isinstance(block, dict) and "cache_control" in block]
    for block in marked:
        if block["cache_control"] not in (
            {"type": "ephemeral"},
            *({"type": "ephemeral", "ttl": t} for t in ("5m", "1h")),
        ):
            yield "cache_control: Input tag should be 'ephemeral', with ttl '5m' or '1h'"
    found = len(marked) + ("cache_control" in body)
    if found > BREAKPOINTS:
        yield f"A maximum of {BREAKPOINTS} blocks with cache_control may be provided. Found {found}."
    yield from _output_problems(body.get("output_config"))


def _message_problems(messages: Any) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            yield f"{where}: role and content are required, extra inputs are not permitted"
        elif message["role"] not in ("user", "assistant"):
            yield f'{where}.role: Unexpected role "{message["role"]}". Allowed roles are "user" or "assistant"'
        elif isinstance(message["content"], str):
            if not message["content"].strip():
                yield f"{where}: all messages must have non-empty content"
        else:
            yield from _block_problems(f"{where}.content", message["content"])
    if messages[0].get("role") != "user":
        yield 'messages: first message must use the "user" role'


def _block_problems(where: str, blocks: Any) -> Iterator[str]:
    if not isinstance(blocks, list) or not blocks:
        yield f"{where}: Input should be a valid list with at least one block"
        return
    for index, block in enumerate(blocks):
        place = f"{where}.{index}"
        if not isinstance(block, dict) or block.get("type") != "text":
            yield f"{place}: Input tag should be 'text'"
        elif not isinstance(block.get("text"), str) or not block["text"].strip():
            kind = (
                "cache_control cannot be set for empty text blocks"
                if "cache_control" in block
                else "text content blocks must be non-empty"
            )
            yield f"{place}: {kind}"
        elif extra := sorted(set(block) - {"type", "text", "cache_control", "citations"}):
            yield f"{place}.{extra[0]}: Extra inputs are not permitted"


def _blocks(body: Mapping[str, Any]) -> Iterator[Any]:
    parts = [body.get("system", ""), *(message["content"] for message in body["messages"])]
    for part in parts:
        if isinstance(part, list):
            yield from part


def _output_problems(output: Any) -> Iterator[str]:
    if output is None:
        return
    if not isinstance(output, dict) or set(output) - {"format", "effort"}:
        yield "output_config: Extra inputs are not permitted"
        return
    if "effort" in output and output["effort"] not in _EFFORTS:
        yield f"output_config.effort: Input should be one of {', '.join(_EFFORTS)}"
    wanted = output.get("format")
    if wanted is None:
        return
    if not isinstance(wanted, dict) or wanted.get("type") != "json_schema" or set(wanted) != {"type", "schema"}:
        yield "output_config.format: Input tag should be 'json_schema', with a schema"
        return
    yield from _schema_problems(wanted["schema"], "output_config.format.schema")


def _schema_problems(schema: Any, where: str) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{where}: Input should be a valid dictionary"
        return
    for key in sorted(set(schema) - _SCHEMA_KEYS):
        yield f"{where}: For '{schema.get('type')}' type, property '{key}' is not supported"
    if schema.get("minItems", 0) not in (0, 1):
        yield f"{where}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    if isinstance(schema.get("type"), list):
        yield f"{where}: 'type' must be a string"
    for group in ("properties", "$defs", "definitions"):
        for name, child in schema.get(group, {}).items():
            yield from _schema_problems(child, f"{where}.{group}.{name}")
    for group in ("anyOf", "allOf"):
        for index, child in enumerate(schema.get(group, [])):
            yield from _schema_problems(child, f"{where}.{group}.{index}")
    if "items" in schema:
        yield from _schema_problems(schema["items"], f"{where}.items")


def _model_problems(body: Mapping[str, Any], model: Model) -> Iterator[str]:
    if body["max_tokens"] > model.max_output:
        yield (
            f"max_tokens: {body['max_tokens']} > {model.max_output}, which is the maximum allowed number of output"
            f" tokens for {model.name}"
        )
    for name in _SAMPLING:
        if name in body and not model.sampling:
            yield f"{name}: Extra inputs are not permitted for {model.name}"
    temperature = body.get("temperature", 1)
    if isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 <= temperature <= 1:
        yield "temperature: range: 0..1"
    if "output_config" in body and not model.schema:
        yield f"output_config: Extra inputs are not permitted for {model.name}"
    if body["messages"][-1]["role"] == "assistant" and not model.sampling:
        yield f"This model does not support assistant message prefill: {model.name}"
