"""What a run would ask and cost, without asking: the same chains, answered by the offline writer and measured.

The plan is exact where the chains do not depend on what a model writes; tokens are estimated (``tokens``): of
prompts from their text, of answers from the composed ones. Of fixed parts that are long enough for the model's
cache, each distinct prefix is counted as written once and read ever after: runs that pause for more than five
minutes write it again. Nothing is added for replies that have to be asked for again.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from models import offline, tokens
from models.budget import dollars
from models.request import Chain, Reply, Request, Role, Usage
from models.roles import OFFLINE, Model
from models.settings import BackendSettings
from models.wire.messages import BREAKPOINTS
from schemas.command import say


@dataclass
class _Tally:
    """What one role asks for; ``cached`` counts tokens of prefixes, ``written`` the distinct ones by digest."""

    requests: int = 0
    tokens_in: int = 0
    cached: int = 0
    tokens_out: int = 0
    written: dict[bytes, int] = field(default_factory=dict)

    def add(self, other: _Tally) -> None:
        self.requests += other.requests
        self.tokens_in += other.tokens_in
        self.cached += other.cached
        self.tokens_out += other.tokens_out
        self.written |= other.written


@dataclass(frozen=True)
class Estimate:
    """One role of a planned run; ``cost`` in US dollars, None when the model has no price."""

    role: Role
    model: str
    requests: int
    usage: Usage
    cost: float | None


def estimate(
    starts: Sequence[Callable[[], Chain[Any]]], settings: BackendSettings, workers: int | None = None
) -> list[Estimate]:
    """The plan of a run by role, in order of role; chains are driven as by the offline backend."""
    total: dict[Role, _Tally] = {}
    measured = [functools.partial(_measured, start, settings.roles) for start in starts]
    for tallies in offline.run(measured, workers):
        for role, tally in tallies.items():
            total.setdefault(role, _Tally()).add(tally)
    made = []
    for role, tally in sorted(total.items()):
        model = settings.roles[role].name
        written = sum(tally.written.values())
        usage = Usage(tally.tokens_in, written, max(0, tally.cached - written), tally.tokens_out)
        cost = settings.prices.cost(model, usage, settings.batch)
        made.append(Estimate(role, model, tally.requests, usage, cost))
    return made


def total_cost(estimates: Sequence[Estimate]) -> float | None:
    """The price of a plan; None when a part of it has none."""
    costs = [each.cost for each in estimates]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def say_estimate(estimates: Sequence[Estimate], settings: BackendSettings) -> None:
    """The plan as a table for people."""
    head = f"{'role':<10}{'model':<24}{'requests':>10}{'input':>13}{'cached':>13}{'output':>13}{'price':>15}"
    say(head, quiet=settings.quiet)
    for each in estimates:
        read = each.usage.cache_read_tokens
        fresh = each.usage.input_tokens + each.usage.cache_write_tokens
        say(
            f"{each.role:<10}{each.model:<24}{each.requests:>10,}{fresh:>13,}{read:>13,}"
            f"{each.usage.output_tokens:>13,}{dollars(each.cost):>15}",
            quiet=settings.quiet,
        )
    prices = settings.prices
    batch = ", at the price of batches" if settings.batch else ""
    say(
        f"about {dollars(total_cost(estimates))}{batch}; list prices of {prices.date} in {prices.path.name},"
        " tokens estimated, nothing asked twice",
        quiet=settings.quiet,
    )


def _measured(start: Callable[[], Chain[Any]], roles: Mapping[Role, Model]) -> Chain[dict[Role, _Tally]]:
    """A chain that does as another one, and returns what that one asked for."""
    tallies: dict[Role, _Tally] = {}
    chain = start()
    try:
        asked = next(chain)
        while True:
            replies = yield asked
            pairs = [(asked, replies)] if isinstance(asked, Request) else zip(asked, replies, strict=True)
            for request, reply in pairs:
                if roles[request.role] != OFFLINE:
                    _count(tallies.setdefault(request.role, _Tally()), request, reply, roles[request.role])
            asked = chain.send(replies)
    except StopIteration:
        return tallies


def _count(tally: _Tally, request: Request, reply: Reply, model: Model) -> None:
    tally.requests += 1
    tally.tokens_in += sum(tokens.estimate(text, model.bytes_per_token) for _, text in request.turns)
    if request.schema is not None:
        tally.tokens_in += tokens.estimate(_text(request.schema), model.bytes_per_token)
    tally.tokens_out += tokens.estimate(_text(reply.answer), model.bytes_per_token)
    digest = hashlib.sha256(model.name.encode())
    prefix = cached = 0
    for place, part in enumerate(request.fixed, 1):
        digest.update(part.encode("utf-8", "replace"))
        prefix += tokens.estimate(part, model.bytes_per_token)
        breakpoint_here = place < BREAKPOINTS or place == len(request.fixed)
        if breakpoint_here and prefix >= model.cache_minimum:
            tally.written.setdefault(digest.digest(), prefix - cached)
            cached = prefix
    tally.cached += cached
    tally.tokens_in += prefix - cached


def _text(answer: Any) -> str:
    return answer if isinstance(answer, str) else orjson.dumps(answer, default=str).decode()
