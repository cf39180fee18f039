"""Chat completions: bodies, replies, streams. Pure: nothing is sent here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson

from models.request import Usage
from models.wire.content import Content, counts, table, without_thoughts
from models.wire.schemas import enforceable

NAME = "chat"


def url(address: str) -> str:
    """Where requests are posted: below the address, and below /v1 when the address is a host alone."""
    base = address if urlsplit(address).path else f"{address}/v1"
    return f"{base}/chat/completions"


def headers(address: str, key: str | None) -> dict[str, str]:
    """The headers that carry the key; Azure looks for it under a name of its own."""
    if key is None:
        return {}
    azure = (urlsplit(address).hostname or "").endswith(".azure.com")
    return {"api-key": key} if azure else {"authorization": f"Bearer {key}"}


def body(settings: Mapping[str, Any], parts: Sequence[tuple[str, str]], enforce: bool) -> dict[str, Any]:
    """The body of a request; ``enforce``: the schema goes along for the server to enforce."""
    fixed = "\n\n".join(text for role, text in parts if role == "system")
    turns = [{"role": role, "content": text} for role, text in parts if role != "system"]
    made: dict[str, Any] = {
        "model": settings["model"],
        settings["limit_field"]: settings["max_tokens"],
        "messages": [*([{"role": "system", "content": fixed}] if fixed else []), *turns],
    }
    if "temperature" in settings:
        made["temperature"] = settings["temperature"]
    output = enforceable(orjson.dumps(settings["schema"])) if enforce else None
    if output is not None:
        form = {"name": "answer", "schema": output, "strict": requires_everything(output)}
        made["response_format"] = {"type": "json_schema", "json_schema": form}
    return made


def requires_everything(schema: Any) -> bool:
    """Does every object of a schema require all its properties? Only such schemas may be asked for strictly."""
    if isinstance(schema, list):
        return all(requires_everything(child) for child in schema)
    if not isinstance(schema, dict):
        return True
    named = schema.get("properties", {})
    return set(schema.get("required", ())) >= set(named) and all(
        requires_everything(child) for word, child in schema.items() if word not in ("enum", "const", "default")
    )


def streamed() -> dict[str, Any]:
    """What a body needs besides for its reply to come in pieces, with what it used at the end."""
    return {"stream": True, "stream_options": {"include_usage": True}}


def foreign(message: Any) -> str | None:
    """Why something is no chat completion; None for one."""
    choices = message.get("choices") if isinstance(message, dict) else None
    if isinstance(message, dict) and message.get("type") == "message":
        return 'what came is a message of the Messages API (set wire = "messages" for this model)'
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return "the response is not a chat completion"
    if not isinstance(choices[0].get("message"), dict):
        return "the response is not a chat completion"
    return None


def content(message: Mapping[str, Any]) -> Content:
    """What a chat completion says: its first choice."""
    choice = message["choices"][0]
    said, stop = choice["message"], choice.get("finish_reason")
    text, thoughts = without_thoughts(_text(said.get("content")))
    aside = said.get("reasoning_content") or said.get("reasoning")
    refusal = said.get("refusal")
    usage, model = table(message.get("usage")), message.get("model")
    declined = stop == "content_filter" or (bool(refusal) and not text.strip())
    read, written = counts(usage, ("prompt_tokens", "completion_tokens"))
    (cached,) = counts(table(usage.get("prompt_tokens_details")), ("cached_tokens",))
    return Content(
        text=text,
        ended="declined" if declined else "cut" if stop == "length" else "whole",
        detail=str(refusal or stop) if declined else str(stop),
        model=model if isinstance(model, str) else None,
        usage=Usage(
            input_tokens=max(0, read - cached),
            cache_read_tokens=cached,
            output_tokens=written,
        ),
        metered=written > 0 or read > 0,
        thoughts=aside if isinstance(aside, str) else thoughts,
    )


def _text(content: Any) -> str:
    if isinstance(content, list):  # some servers send parts
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def assembled(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The completion of a stream's events. Raises ValueError for a stream that ended early."""
    made: dict[str, Any] = {}
    said: dict[str, Any] = {"role": "assistant", "content": ""}
    stop = None
    for event in events:
        made = {**made, **{name: event[name] for name in ("id", "model") if event.get(name)}}
        if event.get("usage"):
            made["usage"] = event["usage"]
        for choice in event.get("choices") or []:
            stop = choice.get("finish_reason") or stop
            for field, piece in (choice.get("delta") or {}).items():
                if field != "role" and isinstance(piece, str):
                    said[field] = said.get(field, "") + piece
    if stop is None:
        raise ValueError("the stream ended before the completion did")
    return {**made, "choices": [{"index": 0, "message": said, "finish_reason": stop}]}
