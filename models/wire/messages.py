"""The Messages API: bodies, replies, streams. Pure: nothing is sent here.

The system part is marked for the cache at the end of each fixed part; in a conversation its last turn is
marked too, so that the next request, which begins with all of this one, reads it from the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from models.request import Usage
from models.wire.content import Content, counts, table, without_thoughts
from models.wire.schemas import enforceable

NAME = "messages"
BREAKPOINTS = 4  # the API's limit on cache breakpoints in one request
VERSION = "2026-10-21"

_PUBLIC = "https://api.anthropic.com"
_MARK = {"cache_control": {"type": "ephemeral"}}


def url(address: str) -> str:
    """Where requests are posted, for a server's address with or without /v1."""
    return f"{address.removesuffix('/v1')}/v1/messages"


def headers(address: str, key: str | None) -> dict[str, str]:
    """The headers that carry the key; other servers than Anthropic's look for it where older clients put it."""
    made = {"anthropic-version": VERSION}
    if key is not None:
        made["authorization"] = f"Bearer {key}"
        if address != _PUBLIC:
            made["x-api-key"] = key
    return made


def body(settings: Mapping[str, Any], parts: Sequence[tuple[str, str]], enforce: bool) -> dict[str, Any]:
    """The body of a request; ``enforce``: the schema goes along for the server to enforce."""
    made: dict[str, Any] = {"model": settings["model"], settings["limit_field"]: settings["max_tokens"]}
    fixed = [text for role, text in parts if role == "system"]
    turns: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in parts[len(fixed) :]]
    marks = BREAKPOINTS - (len(turns) > 1)
    if len(fixed) > marks:
        fixed = [*fixed[: marks - 1], "\n\n".join(fixed[marks - 1 :])]
    if fixed:
        made["system"] = [{"type": "text", "text": text, **_MARK} for text in fixed]
    if len(turns) > 1:
        turns[-1]["content"] = [{"type": "text", "text": turns[-1]["content"], **_MARK}]
    made["messages"] = turns
    if "temperature" in settings:
        made["temperature"] = settings["temperature"]
    output = enforceable(orjson.dumps(settings["schema"])) if enforce else None
    if output is not None:
        made["output_config"] = {"format": {"type": "json_schema", "schema": output}}
    return made


def streamed() -> dict[str, Any]:
    """What a body needs besides for its reply to come in pieces."""
    return {"stream": True}


def foreign(message: Any) -> str | None:
    """Why something is no reply of the Messages API; None for one."""
    if not isinstance(message, dict):
        return "the response is not a message of the Messages API"
    if "choices" in message:
        return 'what came is a chat completion: the server speaks that wire (set wire = "chat" for this model)'
    blocks = message.get("content")
    if not isinstance(blocks, list) or [block for block in blocks if not isinstance(block, dict)]:
        return "the response is not a message of the Messages API"
    return None


def content(message: Mapping[str, Any]) -> Content:
    """What a message says; it may come without usage."""
    blocks = message.get("content") or []
    if len(blocks) == 1 and blocks[0].get("type") == "text":
        text, thinking = str(blocks[0].get("text") or ""), ""
    else:
        text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
        thinking = "".join(str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking")
    text, thoughts = without_thoughts(text)
    stop, model = message.get("stop_reason"), message.get("model")
    usage = table(message.get("usage"))
    used = Usage(*counts(usage, _USAGE))
    return Content(
        text,
        "declined" if stop == "refusal" else "cut" if stop in _CUT else "whole",
        _details(message) if stop == "refusal" else str(stop),
        model if isinstance(model, str) else None,
        used,
        used.output_tokens > 0 or used.input_tokens > 0,
        thinking or thoughts,
    )


_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_CUT = ("max_tokens", "model_context_window_exceeded")


def _details(message: Mapping[str, Any]) -> str:
    details = table(message.get("stop_details"))
    return ", ".join(str(details[name]) for name in ("category", "explanation") if details.get(name))


def assembled(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The message of a stream's events. Raises ValueError for a stream that ended early."""
    message: dict[str, Any] = {}
    blocks: list[dict[str, Any]] = []
    whole = False
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            message = dict(event["message"])
        elif kind == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif kind == "content_block_delta":
            _extend(blocks[event["index"]], event["delta"])
        elif kind == "message_delta":
            message.update(event.get("delta") or {})
            message["usage"] = {**(message.get("usage") or {}), **(event.get("usage") or {})}
        elif kind == "message_stop":
            whole = True
    if not whole:
        raise ValueError("the stream ended before the message did")
    return {**message, "content": blocks}


def _extend(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for field in ("text", "thinking", "signature"):
        if isinstance(delta.get(field), str):
            block[field] = block.get(field, "") + delta[field]
