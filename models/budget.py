"""The budget of a run, and what it used.

``--max-cost`` counts everything the journal has recorded, so that going on after a stop does not start a
new budget, and counts what is not known (sent without a reply seen, a reply without usage) at its worst. Every
attempt is reserved for before it is sent: what was spent, the worst that requests in flight can cost and the
worst of the attempt itself stay within the sum.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from models.prices import Prices
from models.request import Usage
from schemas.errors import MachineError, RequestError


class Budget:
    """The guard. ``most`` in US dollars, None: no limit; ``spent`` before this run."""

    def __init__(self, prices: Prices, most: float | None, spent: float, journal: Path) -> None:
        self.prices, self.most, self.spent, self.journal = prices, most, spent, journal
        self._reserved = 0.0
        self._holders = 0
        self._change = asyncio.Event()

    def check_prices(self, models: set[str]) -> None:
        """Raises RequestError when there is a limit and a model without a price."""
        for name in sorted(models):
            if self.most is not None and name not in self.prices.models:
                raise RequestError(
                    f"unknown price of {name}",
                    self.prices.path,
                    fix="Add it to a copy of that file and pass it with --prices, or leave --max-cost out",
                )

    def worst(self, model: str, most_tokens: int, max_tokens: int, batch: bool = False) -> float:
        """The most an attempt can cost, in US dollars; 0 without a price."""
        return self.prices.cost(model, Usage(cache_write_tokens=most_tokens, output_tokens=max_tokens), batch) or 0.0

    def fits(self, worst: float) -> bool:
        """May an attempt that costs at most ``worst`` be sent now?"""
        return self.most is None or self.spent + self._reserved + worst <= self.most

    async def reserve(self, worst: float) -> None:
        """Wait until an attempt that may cost ``worst`` fits. Raises MachineError when it never will."""
        while not self.fits(worst):
            if not self._holders:
                raise self.reached(worst)
            self._change.clear()
            await self._change.wait()
        self.hold(worst)

    def hold(self, worst: float) -> None:
        """Reserve at once what was found to fit."""
        self._holders += 1
        self._reserved += worst

    def release(self, worst: float, cost: float) -> None:
        """An attempt is over and has cost so much: give back what was reserved for it."""
        self.spent += cost
        self._holders -= 1
        self._reserved = self._reserved - worst if self._holders else 0.0
        self._change.set()

    def reached(self, worst: float) -> MachineError:
        """The error of a run whose budget does not allow the next request."""
        return MachineError(
            f"budget of {dollars(self.most)} reached",
            self.journal,
            expected=f"{dollars(self.spent)} spent, what comes next may cost {dollars(worst)}",
            fix="Raise --max-cost and run the same command again: finished replies are stored",
        )


@dataclass
class Used:
    """What a run used: requests sent and answered, replayed, sent in doubt, and tokens and dollars by model.

    ``cost`` is None when a model has no price; ``unmetered`` counts replies without usage, which are in the cost
    at their worst, ``doubt_cost`` is the most that doubts may have cost besides.
    """

    answered: int = 0
    replayed: int = 0
    doubts: int = 0
    unmetered: int = 0
    rows: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    doubt_cost: float = 0.0

    def add(self, usage: Usage, cost: float | None) -> None:
        """Count one reply that was paid for."""
        self.answered += 1
        before = self.usage
        self.usage = Usage(
            before.input_tokens + usage.input_tokens,
            before.cache_write_tokens + usage.cache_write_tokens,
            before.cache_read_tokens + usage.cache_read_tokens,
            before.output_tokens + usage.output_tokens,
        )
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    def line(self) -> str:
        """One line for people."""
        usage = self.usage
        total = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens
        parts = [f"{self.answered} answered"]
        parts += [f"{self.replayed} from the journal"] if self.replayed else []
        parts += [f"{self.doubts} sent without a reply seen (may have been billed)"] if self.doubts else []
        parts += [f"{self.unmetered} without usage (counted at the most they can have cost)"] if self.unmetered else []
        cached = f" ({usage.cache_read_tokens / total:.0%} from the cache)" if usage.cache_read_tokens else ""
        parts += [f"{total:,} tokens in{cached}, {usage.output_tokens:,} out"]
        return f"{', '.join(parts)}: {dollars(self.cost)}"


def dollars(cost: float | None) -> str:
    """A sum for people; "price unknown" for None."""
    if cost is None:
        return "price unknown"
    return f"${cost:,.2f}" if cost >= 1 or not cost else f"${cost:.4f}"
