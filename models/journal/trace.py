"""Requests with their prompts and replies, as they were sent and came: what ``journal show`` and ``export`` read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from models.journal.accounts import JOINED, Filter
from models.prices import Prices
from models.request import Usage
from models.wire.questions import Part, body_of, wire_of
from schemas.tables import Row

Read = Callable[..., list[Any]]

_TRACED = f"""
SELECT id, role, model, server, wire, sample, attempt, run, prompt_id, prompt_digest, asked_at, received_at, sent,
       doubts, billed, pending, problem, coalesce(status, 'open') AS status, reason, request_id,
       coalesce(batch, 0) AS batch, metered, hex(key) AS key, last_part, manner, settings.text AS settings, message,
       input_tokens, cache_write_tokens, cache_read_tokens, output_tokens
FROM {JOINED} LEFT JOIN settings ON settings.digest = requests.settings WHERE {{}} ORDER BY asked_at, id, key
"""

_PARTS = """
WITH RECURSIVE chain (previous, role, text, place) AS (
  SELECT previous, role, text, 0 FROM parts WHERE digest = ?
  UNION ALL
  SELECT parts.previous, parts.role, parts.text, place + 1 FROM parts JOIN chain ON parts.digest = chain.previous
)
SELECT role, text FROM chain ORDER BY place DESC
"""

_USAGE = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")


def traced(read: Read, prices: Prices, chosen: Filter) -> Iterator[Row]:
    """Requests in the order in which they were asked, with ``body``, ``message``, the reply's ``text`` and ``cost``.

    ``cost`` in US dollars is None without a price, a reply or its usage.
    """
    where, values = chosen.where()
    for row in read(_TRACED.format(where), *values):
        made = dict(row)
        parts = parts_of(read, made.pop("last_part"))
        settings, manner, message = made.pop("settings").encode(), made.pop("manner"), made.pop("message")
        made["body"] = body_of(made["wire"], settings, parts, manner)
        made["message"] = orjson.loads(message) if message else None
        made["text"] = wire_of(made["wire"]).content(made["message"]).text if message else None
        usage = [made.pop(name) for name in _USAGE]
        made["usage"] = dict(zip(_USAGE, usage, strict=True)) if message else None
        metered = made.pop("metered")
        made["cost"] = prices.cost(made["model"], Usage(*usage), bool(made["batch"])) if metered else None
        made["parts"] = parts
        yield made


def parts_of(read: Read, last: bytes) -> list[Part]:
    """The parts of a request, from the first to the last."""
    return [(role, text) for role, text in read(_PARTS, last)]
