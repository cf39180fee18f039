"""Server-sent events: the pieces in which long answers come, as the JSON values they carry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson


class StreamError(Exception):
    """An error that a server sent in the middle of a stream; the value is what it sent."""

    def __init__(self, value: Any) -> None:
        super().__init__(str(value))
        self.value = value


def events(raw: bytes) -> Iterator[dict[str, Any]]:
    """The values of all events of a stream that is over.

    Raises StreamError for one that tells of an error, ValueError for a value that is no JSON object.
    """
    for block in raw.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].removeprefix(b" ") for line in block.split(b"\n") if line.startswith(b"data:")]
        data = b"\n".join(lines)
        if not data or data == b"[DONE]":
            continue
        value = orjson.loads(data)
        if not isinstance(value, dict):
            raise ValueError("an event of the stream is not a JSON object")
        if value.get("error") or value.get("type") == "error":
            raise StreamError(value)
        yield value
