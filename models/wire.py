"""A Request as a body of the Messages API, and a message of it as a Reply. Pure: nothing is sent here.

The body is canonical JSON, and its digest with the server's address is the key under which the journal
knows a request: whatever changes the answer changes the key, and nothing else does.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from models.remedies import schema_in_words
from models.request import Reply, Request, Status, Usage
from models.roles import Model
from schemas.errors import RequestError

BREAKPOINTS = 4  # the API's limit on cache breakpoints in one request

_SAID = 3  # schema errors named in a reason
_LONGEST = 300  # characters of one of them
_FENCED = re.compile(r"\s*```[a-zA-Z]*\n(.*?)\n?```\s*", re.DOTALL)


@dataclass(frozen=True)
class Wired:
    """A request ready to be sent: its key in the journal (SHA-256) and the exact bytes of its body."""

    key: bytes
    body: bytes


def wired(request: Request, model: Model, server: str, schema: bool = True) -> Wired:
    """The body of a request for a model on a server. ``schema``: may ``output_config`` be used at all.

    Raises RequestError when the prompt holds what is no Unicode text.
    """
    try:
        body = orjson.dumps(_body(request, model, schema and model.schema), option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise RequestError("prompt is no Unicode text", row=request.id, expected=str(error)) from None
    return Wired(request_key(server, request.sample, body, request.attempt), body)


def request_key(server: str, sample: int, body: bytes, attempt: int = 1) -> bytes:
    """The digest of everything that determines an answer: who is asked, what, and which draw and attempt it is."""
    draw = f"{sample}" if attempt == 1 else f"{sample}.{attempt}"
    return hashlib.sha256(b"%s\n%s\n%s" % (server.encode(), draw.encode(), body)).digest()


def _body(request: Request, model: Model, schema: bool) -> dict[str, Any]:
    turns = request.turns
    body: dict[str, Any] = {"model": model.name, "max_tokens": min(request.max_tokens, model.max_output)}
    fixed = [part for part in request.fixed if part]
    if len(fixed) > BREAKPOINTS:
        fixed = [*fixed[: BREAKPOINTS - 1], "\n\n".join(fixed[BREAKPOINTS - 1 :])]
    if fixed:
        body["system"] = [{"type": "text", "text": part, "cache_control": {"type": "ephemeral"}} for part in fixed]
    if request.temperature is not None and model.sampling:
        body["temperature"] = request.temperature
    if request.schema is not None and request.parse is None:
        output = _output_schema(orjson.dumps(request.schema)) if schema else None
        if output is None or request.in_words:
            speaker, text = turns[-1]
            turns = (*turns[:-1], (speaker, f"{text}\n\n{schema_in_words(request.schema)}"))
        if output is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": output}}
    body["messages"] = [{"role": role, "content": text} for role, text in turns]
    return body


@functools.lru_cache(maxsize=64)
def _output_schema(schema: bytes) -> Any:
    """The part of a JSON Schema that the API enforces, the rest as descriptions; None when it cannot be put so."""
    from anthropic import transform_schema

    try:
        return transform_schema(_plain(orjson.loads(schema)))
    except (ValueError, AssertionError):
        return None


def _plain(node: Any) -> Any:
    """Without our own keywords, and with ``anyOf`` for a list of types, which the API's helper does not know."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _plain(value) for key, value in node.items() if not key.startswith(("x-", "$schema", "$id"))}
    kinds = made.get("type")
    if isinstance(kinds, list) and "enum" not in made:
        description = {key: made.pop(key) for key in ("description", "title") if key in made}
        variants = [{**made, "type": kind} if kind != "null" else {"type": "null"} for kind in kinds]
        return {**description, "anyOf": variants}
    return made


def reply_of(request: Request, message: Mapping[str, Any]) -> Reply:
    """What a message says: its status decided before its text is read, its answer validated.

    ``message`` is a message object of the Messages API as the server sent it, perhaps without usage.
    """
    blocks = message.get("content") or []
    text = "".join(block.get("text", "") for block in blocks if block.get("type") == "text")
    status, answer, reason = _read(request, message.get("stop_reason"), text, message)
    model = message.get("model")
    return Reply(status, answer, text, reason, model if isinstance(model, str) else None, usage_of(message))


def _read(request: Request, stop: Any, text: str, message: Mapping[str, Any]) -> tuple[Status, Any, str]:
    if stop == "refusal":
        details = message.get("stop_details") or {}
        said = ", ".join(str(details[key]) for key in ("category", "explanation") if details.get(key))
        return "refused", None, f"declined by the model{f': {said}' if said else ''}"
    if stop in ("max_tokens", "model_context_window_exceeded"):
        return "truncated", None, f"cut off ({stop}, {request.max_tokens} tokens asked for)"
    if not text.strip():
        return "unparsable", None, f"no text (stop_reason {stop})"
    try:
        answer = _answer(request, text)
    except ValueError as error:
        return "unparsable", None, str(error)[:_LONGEST]
    problems = _problems(request, answer)
    return ("invalid", None, problems) if problems else ("answered", answer, "")


def _answer(request: Request, text: str) -> Any:
    if request.parse is not None:
        return request.parse(text)
    return text.strip() if request.schema is None else json_in(text)


def json_in(text: str) -> Any:
    """The one JSON value of a text: bare, in a code fence, or with prose around it. Raises ValueError."""
    fenced = _FENCED.fullmatch(text)
    bare = fenced[1] if fenced else text
    try:
        return orjson.loads(bare)
    except orjson.JSONDecodeError as error:
        first = str(error)
    spans = [(bare.find(opening), bare.rfind(closing)) for opening, closing in ("{}", "[]")]
    for start, end in sorted(span for span in spans if 0 <= span[0] < span[1]):
        try:
            return orjson.loads(bare[start : end + 1])
        except orjson.JSONDecodeError:
            continue
    raise ValueError(f"malformed JSON: {first}" if any(start >= 0 for start, _ in spans) else "no JSON value")


def _problems(request: Request, answer: Any) -> str:
    if request.schema is None:
        return ""
    errors = sorted(
        f"{_place(error.instance_path)}: {error.message}"
        for error in _validator(orjson.dumps(request.schema)).iter_errors(answer)
    )
    said = [error[:_LONGEST] for error in errors[:_SAID]]
    more = f" (and {len(errors) - _SAID} more)" if len(errors) > _SAID else ""
    return "; ".join(said) + more


def _place(path: list[str | int]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


@functools.lru_cache(maxsize=64)
def _validator(schema: bytes) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(orjson.loads(schema), validate_formats=True)


def usage_of(message: Mapping[str, Any]) -> Usage:
    """The tokens a server counted; zero for what it did not say."""
    usage = message.get("usage") or {}

    def count(name: str) -> int:
        value = usage.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    return Usage(
        count("input_tokens"),
        count("cache_creation_input_tokens"),
        count("cache_read_input_tokens"),
        count("output_tokens"),
    )
