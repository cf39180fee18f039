"""JSON as it was published: read strictly, compared to the letter.

A published file is read only if it is UTF-8, one whole JSON document, and names no key twice (a
parser would silently keep the last and lose the first).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

from schemas.errors import RequestError

_FIX = "Fetch the file again"


def parse(content: bytes, where: str) -> Any:
    """The value of a JSON document. Raises RequestError, naming file and place, for anything else."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise _malformed(content, where, error) from None
    try:
        # Every key ends in `":`. Two counts that differ are rare and mean a repeated key, or unusual white space.
        if content.count(b'":') != orjson.dumps(value).count(b'":'):
            json.loads(content, object_pairs_hook=lambda pairs: _distinct(pairs, where))
    except (orjson.JSONEncodeError, ValueError, RecursionError) as error:
        raise RequestError("malformed JSON", where, expected=str(error), fix=_FIX) from None
    return value


def parse_lines(content: bytes, where: str) -> Iterator[Any]:
    """The values of a JSON Lines document, blank lines left out."""
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            yield parse(line, f"{where}:{number}")


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same, the order of keys aside; 1, 1.0 and true are three values."""
    return orjson.dumps(one, option=orjson.OPT_SORT_KEYS) == orjson.dumps(other, option=orjson.OPT_SORT_KEYS)


def text(value: Any) -> str:
    """A value as JSON text."""
    return orjson.dumps(value).decode()


def _malformed(content: bytes, where: str, error: orjson.JSONDecodeError) -> RequestError:
    try:
        if content.startswith(b"\xef\xbb\xbf"):
            return RequestError("wrong encoding", where, expected="UTF-8 without a byte order mark", fix=_FIX)
        content.decode("utf-8")
    except UnicodeDecodeError as bad:
        return RequestError("wrong encoding", where, expected=f"UTF-8, but byte {bad.start} is none", fix=_FIX)
    if not content.strip():
        return RequestError("empty file", where, expected="a JSON document", fix=_FIX)
    return RequestError("malformed JSON", where, expected=str(error), fix=_FIX)


def _distinct(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise RequestError("duplicate key", where, field=key, expected="each key once in an object", fix=_FIX)
        made[key] = value
    return made
