"""What a journal's figures add up to: requests, tokens and dollars by role and model, and what is in doubt.

Costs are those of replies as the server counted them. What is not known is counted at its worst: a reply without
usage, a request that was sent and whose reply nobody saw, and one that is being sent or waits in a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from models.prices import Prices
from models.request import Usage
from schemas.tables import Row

Read = Callable[..., list[Any]]

JOINED = "requests LEFT JOIN replies USING (key)"

_USED = """
SELECT role, model, coalesce(batch, 0), count(*), count(replies.key), sum(doubts), sum(billed),
       coalesce(sum(metered = 0), 0), sum(pending AND replies.key IS NULL),
       coalesce(sum(input_tokens), 0), coalesce(sum(cache_write_tokens), 0), coalesce(sum(cache_read_tokens), 0),
       coalesce(sum(output_tokens), 0),
       sum(doubts * most_tokens), sum(doubts * max_tokens),
       sum((billed + coalesce(metered = 0, 0)) * most_tokens), sum((billed + coalesce(metered = 0, 0)) * max_tokens),
       sum((pending AND replies.key IS NULL) * most_tokens), sum((pending AND replies.key IS NULL) * max_tokens)
FROM {} WHERE {} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""

_LISTED = """
SELECT id, role, model, server, asked_at, received_at, coalesce(status, 'open') AS status, coalesce(reason, problem)
       AS problem, sent, doubts, pending, coalesce(batch, 0) AS batch,
       CASE WHEN replies.key IS NULL THEN 'open' ELSE 'answered' END AS state,
       input_tokens, cache_write_tokens, cache_read_tokens, output_tokens, hex(key) AS key
FROM {} WHERE {} ORDER BY id, asked_at, key LIMIT ?
"""

_DOUBTFUL = """
SELECT id, role, model, server, asked_at, doubts, problem, most_tokens, max_tokens, replies.key IS NOT NULL AS answered
FROM {} WHERE doubts AND {} ORDER BY id, asked_at, key
"""


@dataclass(frozen=True)
class Filter:
    """Which requests; None: all.

    ``id`` is a shell pattern, ``state`` "answered" or "open", ``status`` what a reply came to or "open",
    ``before`` a day, ``ids`` are whole ids, ``run`` is the number of the last run that asked.
    """

    id: str | None = None
    role: str | None = None
    state: str | None = None
    before: str | None = None
    ids: tuple[str, ...] | None = None
    status: str | None = None
    run: int | None = None

    def where(self) -> tuple[str, tuple[Any, ...]]:
        """An SQL condition over requests and replies, and its values."""
        conditions = (
            ("id GLOB ?", self.id),
            ("role = ?", self.role),
            ("asked_at < ?", self.before),
            ("coalesce(status, 'open') = ?", self.status),
            ("run = ?", self.run),
            ("id IN (SELECT value FROM json_each(?))", None if self.ids is None else orjson.dumps(self.ids).decode()),
        )
        chosen = [(condition, value) for condition, value in conditions if value is not None]
        parts = ["1", *(condition for condition, _ in chosen)]
        if self.state:
            parts.append(f"replies.key IS {'NOT NULL' if self.state == 'answered' else 'NULL'}")
        return " AND ".join(parts), tuple(value for _, value in chosen)


EVERYTHING = Filter()


@dataclass(frozen=True)
class Account:
    """What one role used on one model; dollars None when the model has no price.

    ``cost`` is that of replies, those without usage (``unmetered``) and of doubts that were billed at their worst.
    ``doubts`` were sent without a reply seen, ``doubt_cost`` is the most they may have cost; ``pending`` are being
    sent or wait in a batch, ``pending_cost`` is the most they may come to.
    """

    role: str
    model: str
    batch: bool
    requests: int
    answered: int
    pending: int
    doubts: int
    billed: int
    unmetered: int
    usage: Usage
    cost: float | None
    doubt_cost: float | None
    pending_cost: float | None


def accounts(read: Read, prices: Prices, chosen: Filter = EVERYTHING) -> list[Account]:
    """The accounts of a journal, by role, model and batch; ``read`` runs a query on it."""
    where, values = chosen.where()
    return [_account(tuple(row), prices) for row in read(_USED.format(JOINED, where), *values)]


def count(read: Read, chosen: Filter, answered: bool = False) -> int:
    """How many requests a filter chooses, and how many of them are answered."""
    where, values = chosen.where()
    counted = "replies.key" if answered else "*"
    ((found,),) = read(f"SELECT count({counted}) FROM {JOINED} WHERE {where}", *values)
    return int(found)


def listed(read: Read, chosen: Filter, limit: int) -> list[Row]:
    """Requests and what became of them, in order of id."""
    where, values = chosen.where()
    return [dict(row) for row in read(_LISTED.format(JOINED, where), *values, limit)]


def doubtful(read: Read, prices: Prices, chosen: Filter) -> list[Row]:
    """Requests that were sent without a reply seen, with the most that may have cost (``worst``, in US dollars)."""
    where, values = chosen.where()
    made = []
    for row in read(_DOUBTFUL.format(JOINED, where), *values):
        one = dict(row)
        most = Usage(cache_write_tokens=one.pop("most_tokens"), output_tokens=one.pop("max_tokens"))
        cost = prices.cost(one["model"], most)
        made.append({**one, "answered": bool(one["answered"]), "worst": None if cost is None else cost * one["doubts"]})
    return made


def _account(row: Sequence[Any], prices: Prices) -> Account:
    role, model, batch, requests, answered, doubts, billed, unmetered, pending, *rest = row
    usage, (doubt_in, doubt_out, known_in, known_out, open_in, open_out) = Usage(*rest[:4]), rest[4:]

    def worst(tokens_in: int, tokens_out: int) -> float | None:
        return prices.most(model, tokens_in, tokens_out, bool(batch))

    metered = prices.cost(model, usage, bool(batch))
    unknown = worst(known_in, known_out)
    return Account(
        role=role,
        model=model,
        batch=bool(batch),
        requests=requests,
        answered=answered,
        pending=pending,
        doubts=doubts,
        billed=billed,
        unmetered=unmetered,
        usage=usage,
        cost=None if metered is None or unknown is None else metered + unknown,
        doubt_cost=worst(doubt_in, doubt_out),
        pending_cost=worst(open_in, open_out),
    )


def spent(read: Read, prices: Prices) -> float:
    """Dollars a journal has recorded, what is not known at its worst; models without a price count nothing."""
    return sum(
        (account.cost or 0.0) + (account.doubt_cost or 0.0) + (account.pending_cost or 0.0)
        for account in accounts(read, prices)
    )
