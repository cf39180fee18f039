"""The answer in a reply: its status decided before its text is read, its form and schema checked. Pure.

The one reader of what models write: whatever asks, over whichever wire, and whoever reads a stored text
(``json_in``) reads it here.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any

import orjson

from models.request import Reply, Request, Status
from models.wire.content import Content

_NAMED = 3  # schema errors named in a reason
_LONGEST = 300  # characters of one of them
_FENCED = re.compile(r"\s*```[a-zA-Z]*\n(.*?)\n?```\s*", re.DOTALL)


def reply_of(request: Request, content: Content) -> Reply:
    """What a model's reply comes to."""
    status, answer, reason = _read(request, content)
    return Reply(status, answer, content.text, reason, content.model, content.usage, content.thoughts)


def _read(request: Request, content: Content) -> tuple[Status, Any, str]:
    if content.ended == "declined":
        return "refused", None, f"declined by the model{f': {content.detail}' if content.detail else ''}"
    if content.ended == "cut":
        return "truncated", None, f"cut off ({content.detail}, {request.max_tokens} tokens asked for)"
    if not content.text.strip():
        return "unparsable", None, f"no text ({'only thoughts' if content.thoughts else content.detail})"
    try:
        answer = _answer(request, content.text)
    except ValueError as error:
        return "unparsable", None, str(error)[:_LONGEST]
    problems = schema_problems(request, answer)
    return ("invalid", None, problems) if problems else ("answered", answer, "")


def _answer(request: Request, text: str) -> Any:
    if request.parse is not None:
        return request.parse(text)
    return text.strip() if request.schema is None else json_in(text)


def json_in(text: str) -> Any:
    """The one JSON value of a text: bare, in a code fence, or with prose around it.

    Raises ValueError, for an object that says one key twice too: which of the two is meant nobody knows."""
    fenced = _FENCED.fullmatch(text)
    bare = fenced[1] if fenced else text
    try:
        return _loads(bare)
    except orjson.JSONDecodeError as error:
        first = str(error)
    spans = [(bare.find(opening), bare.rfind(closing)) for opening, closing in ("{}", "[]")]
    for start, end in sorted(span for span in spans if 0 <= span[0] < span[1]):
        try:
            return _loads(bare[start : end + 1])
        except orjson.JSONDecodeError:
            continue
    raise ValueError(f"malformed JSON: {first}" if any(start >= 0 for start, _ in spans) else "no JSON value")


def _loads(text: str) -> Any:
    value = orjson.loads(text)
    if isinstance(value, dict | list):
        try:  # orjson takes the last of doubled keys and says nothing
            json.loads(text, object_pairs_hook=_without_doubles)
        except RecursionError:
            raise ValueError("JSON nested too deeply") from None
    return value


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} twice in one object")
    return made


def is_bare_json(text: str) -> bool:
    """Is a text one JSON value and nothing else: what a server that enforces a schema cannot but send."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def schema_problems(request: Request, answer: Any) -> str:
    """What is wrong with an answer by the request's schema; "" when nothing is."""
    if request.schema is None:
        return ""
    errors = sorted(
        f"{_place(error.instance_path)}: {error.message}"
        for error in _validator(orjson.dumps(request.schema)).iter_errors(answer)
    )
    named = [error[:_LONGEST] for error in errors[:_NAMED]]
    more = f" (and {len(errors) - _NAMED} more)" if len(errors) > _NAMED else ""
    return "; ".join(named) + more


def _place(path: list[str | int]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


@functools.lru_cache(maxsize=64)
def _validator(schema: bytes) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(orjson.loads(schema), validate_formats=True)
