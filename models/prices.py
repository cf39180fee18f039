"""What tokens cost: ``models/prices.toml``, or a user's own file instead of it.

A model without a price costs an unknown sum: None, never zero and never a guess.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.request import Usage
from models.roles import read_toml
from schemas.errors import RequestError, unknown

SHIPPED = Path(__file__).parent / "prices.toml"

_RATES = ("input", "cache_write", "cache_read", "output")
_MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens by model, the day they are of, and the factor for batches."""

    date: datetime.date
    batch: float
    models: Mapping[str, Mapping[str, float]]
    path: Path

    def cost(self, model: str, usage: Usage, batch: bool = False) -> float | None:
        """What these tokens cost, in US dollars; None when the model has no price."""
        rates = self.models.get(model)
        if rates is None:
            return None
        dollars = (
            usage.input_tokens * rates["input"]
            + usage.cache_write_tokens * rates["cache_write"]
            + usage.cache_read_tokens * rates["cache_read"]
            + usage.output_tokens * rates["output"]
        ) / _MILLION
        return dollars * self.batch if batch else dollars

    def most(self, model: str, most_tokens: int, max_tokens: int, batch: bool = False) -> float | None:
        """What a request of so many tokens can cost: all of it written to the cache, and an answer of all its room."""
        rates = self.models.get(model)
        if rates is None:
            return None
        dollars = (most_tokens * rates["cache_write"] + max_tokens * rates["output"]) / _MILLION
        return dollars * self.batch if batch else dollars


def read_prices(path: Path | None = None) -> Prices:
    """The price list. Raises RequestError, naming file and field, for a malformed one."""
    where = path or SHIPPED
    table = read_toml(where)
    date, batch = table.get("date"), table.get("batch", 1.0)
    if not isinstance(date, datetime.date):
        raise RequestError("price list without a date", where, field="date", expected="a day such as 2026-10-16")
    if not isinstance(batch, int | float) or not 0 < batch <= 1:
        raise RequestError("malformed factor", where, field="batch", expected="a number above 0, at most 1")
    models = {name: _rates(name, rates, where) for name, rates in table.get("models", {}).items()}
    return Prices(date, float(batch), models, where)


def _rates(name: str, rates: Mapping[str, Any], where: Path) -> dict[str, float]:
    for rate in rates:
        if rate not in _RATES:
            raise unknown("rate", rate, _RATES, f"{where}, models.{name}")
    for rate in _RATES:
        value = rates.get(rate)
        if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
            raise RequestError(
                "malformed price", where, field=f"models.{name}.{rate}", expected="US dollars per million tokens"
            )
    return {rate: float(rates[rate]) for rate in _RATES}
