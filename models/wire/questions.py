"""A request as it is identified, stored and sent.

A question is known by what determines its answer: who is asked (the server, or the name the settings give it),
over which wire, with which settings, about which parts, and which draw and attempt it is. How the schema is
conveyed (enforced by the server, in words, or both) is no part of that: it is found out while a run goes on,
and finding it out must not pay for the same answers again.

The parts (system texts and turns) form a chain of digests, each of the one before it and the text, so that
conversations that begin alike share what they begin with, in the journal and in the server's cache.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import orjson

from models.request import Request
from models.roles import Model
from models.wire import chat, messages
from models.wire.content import Content
from models.wire.schemas import enforceable, schema_in_words
from schemas.errors import RequestError

Manner = Literal["none", "enforced", "words", "both"]
"""How the schema is conveyed: there is none; for the server to enforce; in the prompt; in both ways."""

Part = tuple[str, str]

ROOT = b""
"""The digest before the first part."""


class Wire(Protocol):
    """An API: the modules ``messages`` and ``chat`` are one each."""

    NAME: str

    def url(self, address: str) -> str: ...
    def headers(self, address: str, key: str | None) -> dict[str, str]: ...
    def body(self, settings: Mapping[str, Any], parts: Sequence[Part], enforce: bool) -> dict[str, Any]: ...
    def streamed(self) -> dict[str, Any]: ...
    def foreign(self, message: Any) -> str | None: ...
    def content(self, message: Mapping[str, Any]) -> Content: ...
    def assembled(self, events: Iterator[Mapping[str, Any]]) -> dict[str, Any]: ...


WIRES: Mapping[str, Any] = {messages.NAME: messages, chat.NAME: chat}


def wire_of(name: str) -> Wire:
    """The API of that name."""
    wire: Wire = WIRES[name]
    return wire


class Question(NamedTuple):
    """A request ready to be stored and sent; ``digests`` are those of ``parts``, ``settings`` canonical JSON."""

    key: bytes
    wire: str
    settings: bytes
    parts: tuple[Part, ...]
    digests: tuple[bytes, ...]
    manner: Manner

    @property
    def body(self) -> bytes:
        """The exact bytes that are sent, made anew each time; what is replayed needs none."""
        return orjson.dumps(body_of(self.wire, self.settings, self.parts, self.manner), option=orjson.OPT_SORT_KEYS)


def question(request: Request, model: Model, server: str, enforces: bool | None = None) -> Question:
    """The question of a request to a model; ``server`` identifies who is asked.

    ``enforces``: what is known of whether the server enforces a schema; None: what the model's entry says.
    Raises RequestError when the prompt holds what is no Unicode text.
    """
    parts = (*[("system", text) for text in request.fixed if text], *request.turns)
    try:
        schema = None if request.schema is None or request.parse is not None else orjson.dumps(request.schema)
        settings = _settings(
            model.served_as,
            model.limit_field,
            min(request.max_tokens, model.max_output),
            request.temperature if model.sampling else None,
            schema,
            request.in_words,
            orjson.dumps(model.extra) if model.extra else None,
        )
        digests = chain(parts)
    except (TypeError, UnicodeEncodeError) as error:
        raise RequestError("the prompt is not valid Unicode", row=request.id, expected=str(error)) from None
    key = question_key(server, model.wire, request.sample, request.attempt, settings, digests[-1])
    manner = _manner(request, model, schema, enforces)
    return Question(key, model.wire, settings, parts, digests, manner)


def question_key(server: str, wire: str, sample: int, attempt: int, settings: bytes, last: bytes) -> bytes:
    """The digest of everything that determines an answer; ``last`` is the last digest of the parts."""
    who = orjson.dumps([server, wire, sample, attempt])
    return hashlib.sha256(who + b"\n" + settings + b"\n" + last).digest()


def chain(parts: Sequence[Part]) -> tuple[bytes, ...]:
    """The digest of each part, which covers all before it."""
    parts = tuple(parts)
    if not parts:
        return ()
    before = parts[:-1]
    made = _begun.get(parts[:-3])  # of a conversation: without the last message, its answer and the next message
    made = _begun.get(before) if made is None else made
    digests = list(made or ())
    if len(digests) < len(before):
        digest = _digest.__wrapped__ if made else _digest
        for role, text in before[len(digests) :]:
            digests.append(digest(digests[-1] if digests else ROOT, role, text))
        while len(_begun) >= _BEGUN:
            _begun.popitem(last=False)
        _begun[before] = tuple(digests)
    digests.append(_digest.__wrapped__(digests[-1] if digests else ROOT, *parts[-1]))
    return tuple(digests)


_BEGUN = 2**12
_begun: OrderedDict[tuple[Part, ...], tuple[bytes, ...]] = OrderedDict()
"""What the latest requests began with, all but their last parts, with its digests: most parts were seen before."""


@functools.lru_cache(maxsize=2**12)  # what the first requests of many conversations begin with
def _digest(previous: bytes, role: str, text: str) -> bytes:
    return hashlib.sha256(b"%s%s\n%s" % (previous, role.encode(), text.encode())).digest()


def body_of(wire: str, settings: bytes, parts: Sequence[Part], manner: Manner) -> dict[str, Any]:
    """The body of a question, from what identifies it and how its schema is conveyed."""
    said = _loaded(settings)
    if manner in ("words", "both"):
        *before, (role, text) = parts
        words = schema_in_words(orjson.dumps(said["schema"], option=orjson.OPT_SORT_KEYS))
        parts = (*before, (role, f"{text}\n\n{words}"))
    body = wire_of(wire).body(said, parts, enforce=manner in ("enforced", "both"))
    return merged(body, said["extra"]) if "extra" in said else body


@functools.lru_cache(maxsize=64)
def _loaded(settings: bytes) -> Mapping[str, Any]:
    said: Mapping[str, Any] = orjson.loads(settings)
    return said


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A tree with another one laid over it."""
    made = dict(below)
    for name, value in above.items():
        under = made.get(name)
        made[name] = merged(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return made


@functools.lru_cache(maxsize=64, typed=True)  # 0 and 0.0 are written differently
def _settings(
    served_as: str,
    limit_field: str,
    max_tokens: int,
    temperature: float | None,
    schema: bytes | None,
    in_words: bool,
    extra: bytes | None,
) -> bytes:
    made: dict[str, Any] = {"model": served_as, "limit_field": limit_field, "max_tokens": max_tokens}
    if temperature is not None:
        made["temperature"] = temperature
    if schema is not None:
        made["schema"] = orjson.loads(schema)
        if in_words:
            made["in_words"] = True
    if extra is not None:
        made["extra"] = orjson.loads(extra)
    return orjson.dumps(made, option=orjson.OPT_SORT_KEYS)


def _manner(request: Request, model: Model, schema: bytes | None, enforces: bool | None) -> Manner:
    if schema is None:
        return "none"
    heeded = model.schema if enforces is None else enforces
    if heeded is False or not _enforceable(schema):
        return "words"
    return "both" if heeded == "probe" or request.in_words else "enforced"


@functools.lru_cache(maxsize=64)
def _enforceable(schema: bytes) -> bool:
    return enforceable(schema) is not None
