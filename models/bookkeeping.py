"""What the journal's figures come to: requests, tokens and dollars by role and model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from models.prices import Prices
from models.request import Usage

Read = Callable[..., list[Any]]

_USED = """
SELECT role, model, coalesce(batch, 0), count(*), count(replies.key), sum(doubts), coalesce(sum(metered = 0), 0),
       coalesce(sum(input_tokens), 0), coalesce(sum(cache_write_tokens), 0), coalesce(sum(cache_read_tokens), 0),
       coalesce(sum(output_tokens), 0), sum(doubts * most_tokens), sum(doubts * max_tokens), sum(in_flight)
FROM requests LEFT JOIN replies USING (key) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""


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


def accounts(read: Read, prices: Prices) -> list[Account]:
    """The accounts of a journal, by role, model and batch; ``read`` runs a query on it."""
    return [_account(row, prices) for row in read(_USED)]


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
