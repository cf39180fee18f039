"""What the journal's figures come to: requests, tokens and dollars by role and model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from models.prices import Prices
from models.request import Usage
from schemas.tables import Row

Read = Callable[..., list[Any]]

_JOINED = "requests LEFT JOIN replies USING (key)"

_USED = """
SELECT role, model, coalesce(batch, 0), count(*), count(replies.key), sum(doubts), coalesce(sum(metered = 0), 0),
       coalesce(sum(input_tokens), 0), coalesce(sum(cache_write_tokens), 0), coalesce(sum(cache_read_tokens), 0),
       coalesce(sum(output_tokens), 0), sum(doubts * most_tokens), sum(doubts * max_tokens),
       sum(in_flight AND replies.key IS NULL)
FROM {} WHERE {} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""

_LISTED = """
SELECT id, role, model, server, asked_at, received_at, problem, doubts,
       in_flight AND replies.key IS NULL AS in_flight, coalesce(batch, 0) AS batch,
       CASE WHEN replies.key IS NULL THEN 'open' ELSE 'answered' END AS state,
       input_tokens, cache_write_tokens, cache_read_tokens, output_tokens, hex(key) AS key
FROM {} WHERE {} ORDER BY id, asked_at, key LIMIT ?
"""

_EXPORTED = """
SELECT id, role, model, server, sample, prompt_id, prompt_digest, asked_at, received_at, problem, doubts,
       hex(key) AS key, body, fixed.text AS system, message, request_id, coalesce(batch, 0) AS batch
FROM requests LEFT JOIN replies USING (key) LEFT JOIN fixed ON fixed.digest = requests.fixed
WHERE {} ORDER BY id, asked_at, key
"""


@dataclass(frozen=True)
class Filter:
    """Which requests: an id as a shell pattern, a role, "answered" or "open", asked before a day, ids; None: all."""

    id: str | None = None
    role: str | None = None
    state: str | None = None
    before: str | None = None
    ids: tuple[str, ...] | None = None

    def where(self) -> tuple[str, tuple[str, ...]]:
        """An SQL condition over requests and replies, and its values."""
        parts, values = ["1"], []
        for condition, value in (("id GLOB ?", self.id), ("role = ?", self.role), ("asked_at < ?", self.before)):
            if value is not None:
                parts.append(condition)
                values.append(value)
        if self.ids is not None:
            parts.append("id IN (SELECT value FROM json_each(?))")
            values.append(orjson.dumps(self.ids).decode())
        if self.state:
            parts.append(f"replies.key IS {'NOT NULL' if self.state == 'answered' else 'NULL'}")
        return " AND ".join(parts), tuple(values)


EVERYTHING = Filter()


@dataclass(frozen=True)
class Account:
    """What one role used on one model; dollars None when the model has no price.

    ``doubts`` were sent without a reply seen, ``doubt_cost`` is the most they may have cost; ``unmetered``
    replies came without usage.
    """

    role: str
    model: str
    batch: bool
    requests: int
    answered: int
    in_flight: int
    doubts: int
    unmetered: int
    usage: Usage
    cost: float | None
    doubt_cost: float | None


def accounts(read: Read, prices: Prices, chosen: Filter = EVERYTHING) -> list[Account]:
    """The accounts of a journal, by role, model and batch; ``read`` runs a query on it."""
    where, values = chosen.where()
    return [_account(tuple(row), prices) for row in read(_USED.format(_JOINED, where), *values)]


def count(read: Read, chosen: Filter, answered: bool = False) -> int:
    """How many requests a filter chooses, and how many of them are answered."""
    where, values = chosen.where()
    counted = "replies.key" if answered else "*"
    ((found,),) = read(f"SELECT count({counted}) FROM {_JOINED} WHERE {where}", *values)
    return int(found)


def listed(read: Read, chosen: Filter, limit: int) -> list[Row]:
    """Requests and what became of them, in order of id."""
    where, values = chosen.where()
    return [dict(row) for row in read(_LISTED.format(_JOINED, where), *values, limit)]


def exported(read: Read, chosen: Filter) -> Iterator[Row]:
    """Requests with their bodies as they were sent, and replies as they came, in order of id."""
    where, values = chosen.where()
    for row in read(_EXPORTED.format(where), *values):
        made = dict(row)
        system, body, message = made.pop("system"), orjson.loads(made["body"]), made["message"]
        made["body"] = {**body, "system": orjson.loads(system)} if system else body
        made["message"] = orjson.loads(message) if message else None
        yield made


def _account(row: Sequence[Any], prices: Prices) -> Account:
    role, model, batch, requests, answered, doubts, unmetered, *used, doubt_in, doubt_out, in_flight = row
    usage = Usage(*used)
    worst = Usage(cache_write_tokens=doubt_in, output_tokens=doubt_out)
    return Account(
        role=role,
        model=model,
        batch=bool(batch),
        requests=requests,
        answered=answered,
        in_flight=in_flight,
        doubts=doubts,
        unmetered=unmetered,
        usage=usage,
        cost=prices.cost(model, usage, bool(batch)),
        doubt_cost=prices.cost(model, worst, bool(batch)),
    )


def spent(read: Read, prices: Prices) -> float:
    """Dollars a journal has recorded, doubts at their worst; models without a price count nothing."""
    return sum((account.cost or 0.0) + (account.doubt_cost or 0.0) for account in accounts(read, prices))
