"""What a run of memories would ask and cost, before anything is asked.

Counts pieces and requests exactly. Tokens are estimates (``models.tokens``): a reply as long as Table 7 says
its character's memories are, a window of earlier contexts as full as it will be; repairs are not foreseen.

    python -m builders.memories --char CHAR_04 --dry-run
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from builders.plan import targets
from builders.windows import BATCH, RECENT, Room, Window
from models.backends import BackendSettings
from models.request import Request, Usage
from models.roles import Model
from models.tokens import estimate

_CONTEXT = "x" * 28  # as long as contexts are aimed to be
_AROUND = 700  # characters of the other fields of a memory in the text form


def forecast(windows: Sequence[Window], settings: BackendSettings) -> dict[str, Any]:
    """Pieces, requests, tokens by kind and dollars (None: the price is unknown) on the model of the settings."""
    model = settings.roles["memory"]
    written: set[tuple[str, ...]] = set()
    used = Usage()
    requests = 0
    for request, reply in _requests(windows):
        used = _sum(used, _usage(request, reply, model, written))
        requests += 1
    return {
        "memories": sum(len(window.plans) for window in windows),
        "windows": len(windows),
        "requests": requests,
        "role": "memory",
        "model": model.name,
        "input_tokens": used.input_tokens,
        "cache_write_tokens": used.cache_write_tokens,
        "cache_read_tokens": used.cache_read_tokens,
        "output_tokens": used.output_tokens,
        "dollars": settings.prices.cost(model.name, used, settings.batch),
        "prices_of": str(settings.prices.date),
    }


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The same for people."""
    pieces = f"{document['memories']:,} memories in {document['windows']:,} windows"
    yield f"to be written: {pieces}, {document['requests']:,} requests"
    yield f"offline: nothing to pay. On {document['model']} (estimated, without repairs):"
    for name, label in (
        ("input_tokens", "input tokens"),
        ("cache_write_tokens", "written to the cache"),
        ("cache_read_tokens", "read from the cache"),
        ("output_tokens", "output tokens"),
    ):
        yield f"  {label:<22}{document[name]:>14,}"
    cost = document["dollars"]
    price = "unknown" if cost is None else f"about ${cost:,.2f}"
    yield f"  {'price':<22}{price:>14}  (prices of {document['prices_of']})"


def _requests(windows: Sequence[Window]) -> Iterator[tuple[Request, str]]:
    """Every request that will be asked, with a stand-in for its reply."""
    for window in windows:
        reply = "x" * round(targets(window.character).length + _AROUND)
        for start in range(0, len(window.plans), BATCH):
            room = Room(window, [_CONTEXT] * min(start, RECENT))
            batch = [plan.id for plan in window.plans[start : start + BATCH]]
            yield room.make(batch, ""), reply * len(batch)


def _usage(request: Request, reply: str, model: Model, written: set[tuple[str, ...]]) -> Usage:
    """Tokens of one request; ``written`` are the beginnings a server has cached so far."""
    fresh = read = wrote = before = 0
    for place, part in enumerate(request.fixed):
        tokens = estimate(part, model.bytes_per_token)
        before += tokens
        start = request.fixed[: place + 1]
        if before < model.cache_minimum:
            fresh += tokens
        elif start in written:
            read += tokens
        else:
            wrote += tokens
            written.add(start)
    fresh += estimate(request.prompt, model.bytes_per_token)
    return Usage(fresh, wrote, read, estimate(reply, model.bytes_per_token))


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input_tokens + other.input_tokens,
        one.cache_write_tokens + other.cache_write_tokens,
        one.cache_read_tokens + other.cache_read_tokens,
        one.output_tokens + other.output_tokens,
    )
