"""What a run would ask and cost, without asking: the same chains, answered by the offline writer and measured.

The plan is exact where the chains do not depend on what a model writes; tokens are estimated (``tokens``): of
prompts from their text, of answers from the composed ones. Of fixed parts that are long enough for the model's
cache, each distinct prefix is counted as written once and read ever after: runs that pause for more than five
minutes write it again. Nothing is added for replies that have to be asked for again. How much a model writes is known
once it has written something: ``usual_lengths`` of a small run's replies, which the journal holds, take the place of
the composed ones' lengths; in dialogues they are in all later prompts too.
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
from models.journal import read_only
from models.request import Chain, Reply, Request, Role, Usage
from models.roles import OFFLINE, Model
from models.settings import BackendSettings
from models.wire.messages import BREAKPOINTS
from schemas.command import say

ENOUGH = 2
"""Replies of one kind that have to be in the journal before their length is taken for the usual one."""

Lengths = Mapping[tuple[str, str], float]
"""(model, prompt) -> tokens of a reply."""


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
    starts: Sequence[Callable[[], Chain[Any]]],
    settings: BackendSettings,
    workers: int | None = None,
    usual: Lengths | None = None,
) -> list[Estimate]:
    """The plan of a run by role, in order of role; chains are driven as by the offline backend.

    ``usual`` has the length of replies by model and prompt, in place of the composed ones' own."""
    total: dict[Role, _Tally] = {}
    measured = [functools.partial(_measured, start, settings.roles, usual or {}) for start in starts]
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


def usual_lengths(settings: BackendSettings) -> dict[tuple[str, str], float]:
    """(model, prompt) -> tokens of a reply in the mean, of those that the journal holds at least ``ENOUGH`` of."""
    if not settings.journal.is_file():
        return {}
    with read_only(settings.journal) as read:
        rows = read(
            "SELECT model, prompt_id, AVG(output_tokens) FROM requests JOIN replies USING (key)"
            " WHERE metered AND status = 'answered' GROUP BY model, prompt_id HAVING COUNT(*) >= ?",
            ENOUGH,
        )
    return {(model, prompt): tokens for model, prompt, tokens in rows}


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


def _measured(
    start: Callable[[], Chain[Any]], roles: Mapping[Role, Model], usual: Lengths
) -> Chain[dict[Role, _Tally]]:
    """A chain that does as another one, and returns what that one asked for."""
    tallies: dict[Role, _Tally] = {}
    chain = start()
    try:
        asked = next(chain)
        while True:
            composed = yield asked
            single = isinstance(asked, Request)
            requests = [asked] if isinstance(asked, Request) else list(asked)
            given = zip(requests, [composed] if single else composed, strict=True)
            replies = [_lengthened(request, reply, roles, usual) for request, reply in given]
            for request, reply in zip(requests, replies, strict=True):
                if roles[request.role] != OFFLINE:
                    _count(tallies.setdefault(request.role, _Tally()), request, reply, roles[request.role], usual)
            asked = chain.send(replies[0] if single else replies)
    except StopIteration:
        return tallies


def _lengthened(request: Request, reply: Reply, roles: Mapping[Role, Model], usual: Lengths) -> Reply:
    """A composed text in the length that the model's texts usually have; other answers as they are."""
    model = roles[request.role]
    length = None if model == OFFLINE else usual.get((model.name, request.prompt_id))
    if length is None or request.schema is not None or not isinstance(reply.answer, str) or not reply.answer:
        return reply
    size = max(1, round(length * model.bytes_per_token))
    return reply._replace(answer=(reply.answer * (size // len(reply.answer) + 1))[:size])


def _count(tally: _Tally, request: Request, reply: Reply, model: Model, usual: Lengths) -> None:
    tally.requests += 1
    tally.tokens_in += sum(tokens.estimate(text, model.bytes_per_token) + tokens.TURN for _, text in request.turns)
    if request.schema is not None:
        tally.tokens_in += tokens.estimate(_text(request.schema), model.bytes_per_token)
    written = usual.get((model.name, request.prompt_id))
    composed = tokens.estimate(_text(reply.answer), model.bytes_per_token)
    tally.tokens_out += composed if written is None else round(written)
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
