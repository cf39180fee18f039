"""A message of the rehearsal server as server-sent events, on either wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson


def message_events(message: Mapping[str, Any]) -> list[Any]:
    """A message of the Messages API as the events of its stream."""
    usage = message.get("usage") or {}
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1} if usage else {}}
    made: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        made.append({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}})
        text = block["text"]
        for place in range(0, len(text), 64):
            delta = {"type": "text_delta", "text": text[place : place + 64]}
            made.append({"type": "content_block_delta", "index": index, "delta": delta})
        made.append({"type": "content_block_stop", "index": index})
    ended = {name: message.get(name) for name in ("stop_reason", "stop_sequence", "stop_details")}
    used = {"usage": {"output_tokens": usage["output_tokens"]}} if usage else {}
    made += [{"type": "message_delta", "delta": ended, **used}, {"type": "message_stop"}]
    return made


def as_stream(events: list[Any], done: bool) -> bytes:
    """Events as they go over the wire; ``done``: with the last line that chat completions send."""
    lines = []
    for event in events:
        name = f"event: {event['type']}\n".encode() if "type" in event else b""
        lines.append(name + b"data: " + orjson.dumps(event) + b"\n\n")
    return b"".join(lines) + (b"data: [DONE]\n\n" if done else b"")
