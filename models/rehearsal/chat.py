"""Chat completions of the rehearsal server: translated to the Messages API and back, so that one answers both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from models.rehearsal.calls import Response

_STOPS = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter"}
_ROLES = ("system", "developer", "user", "assistant")
_LIMITS = ("max_tokens", "max_completion_tokens")
_DEFAULT_LIMIT = 4096
_COPIED = ("model", "temperature", "stream")


def chat_problem(body: Any) -> str | None:
    """Why chat completions would refuse a body; None for a good one."""
    return next(_problems(body), None)


def _problems(body: Any) -> Iterator[str]:
    if not isinstance(body, dict):
        yield "we expected a JSON object"
        return
    for name in ("model", "messages"):
        if name not in body:
            yield f"you must provide a {name} parameter"
            return
    messages = body["messages"]
    if not isinstance(messages, list) or not messages:
        yield "'messages' is an array of at least one message"
        return
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            yield f"messages[{place}].role: expected one of {', '.join(_ROLES)}"
        elif not isinstance(message.get("content"), str):
            yield f"messages[{place}].content: expected a string"
    for name in ("system", "output_config"):
        if name in body:
            yield f"unknown parameter: {name}"
    form = body.get("response_format")
    if form is not None and (not isinstance(form, dict) or form.get("type") not in ("json_schema", "text")):
        yield "response_format.type: expected json_schema or text"
    elif form is not None and form["type"] == "json_schema" and "schema" not in (form.get("json_schema") or {}):
        yield "response_format.json_schema: missing schema"


def as_messages(body: Mapping[str, Any]) -> dict[str, Any]:
    """A good body of chat completions as one of the Messages API."""
    made = {name: body[name] for name in _COPIED if name in body}
    made["max_tokens"] = next((body[name] for name in _LIMITS if name in body), _DEFAULT_LIMIT)
    system = [message["content"] for message in body["messages"] if message["role"] in ("system", "developer")]
    if system:
        made["system"] = [{"type": "text", "text": text} for text in system]
        made["system"][-1]["cache_control"] = {"type": "ephemeral"}  # such servers cache by themselves
    made["messages"] = [message for message in body["messages"] if message["role"] in ("user", "assistant")]
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        made["output_config"] = {"format": {"type": "json_schema", "schema": form["json_schema"]["schema"]}}
    return made


def as_completion(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of the Messages API as a chat completion."""
    text = "".join(block["text"] for block in message["content"])
    made: dict[str, Any] = {
        "id": f"chatcmpl-{message['id'].removeprefix('msg_')}",
        "object": "chat.completion",
        "created": 0,
        "model": message["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "finish_reason": _STOPS[message["stop_reason"]],
            }
        ],
    }
    if "usage" in message:
        usage = message["usage"]
        cached = usage["cache_read_input_tokens"]
        prompt = usage["input_tokens"] + usage["cache_creation_input_tokens"] + cached
        made["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": usage["output_tokens"],
            "total_tokens": prompt + usage["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": cached},
        }
    return made


def as_error(response: Response) -> Response:
    """An error of the Messages API as chat completions word it."""
    error = orjson.loads(response.body)["error"]
    response.body = orjson.dumps({"error": {"message": error["message"], "type": error["type"], "code": None}})
    return response


def completion_events(completion: Mapping[str, Any]) -> list[Any]:
    """A chat completion as the events of a stream."""
    base = {"id": completion["id"], "object": "chat.completion.chunk", "model": completion["model"]}
    (choice,) = completion["choices"]
    text = choice["message"]["content"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[place : place + 64]} for place in range(0, len(text), 64)]
    chunks = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if "usage" in completion:
        chunks.append({**base, "choices": [], "usage": completion["usage"]})
    return chunks
