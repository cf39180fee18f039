"""The budget of a run, and what it used.

``--max-cost`` counts everything the journal has recorded, so that going on after a stop does not start a
new budget, and counts what is not known (sent without a reply seen, a reply without usage) at its worst. Every
attempt is reserved for before it is sent: what was spent, the worst that requests in flight can cost and the
worst of the attempt itself stay within the sum.

With ``--budget FILE`` several processes, each with a journal of its own, stay within one sum together: each takes a
share of it before it reserves, and what it took counts until it gives back what it did not spend. The share of one
that was killed counts on, until its command is run again. The processes of one command have one journal, one share and
one reckoning (``Sums``) in memory that they have in common.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
from collections.abc import Callable, Iterable, MutableSequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from models.pacing import StoppedError
from models.prices import Prices
from models.request import Usage
from models.roles import OFFLINE
from models.settings import BackendSettings
from schemas.errors import MachineError, RequestError
from schemas.rows import write_whole

_AHEAD = 0.005
"""The part of a shared sum that is taken beyond what is needed now, so that not every request asks the file."""

_SPENT, _RESERVED, _HOLDERS, _SHARE = range(4)
_LOOK_AGAIN = 0.05  # seconds until it is seen whether another process gave something back


@dataclass(frozen=True)
class Sums:
    """What was spent and is reserved, in US dollars, by how many attempts, and the share of a sum with others.

    ``values`` are four numbers; where several processes have them in common, each changes them in its ``turn``.
    """

    values: MutableSequence[float]
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    common: bool = False


class Shares:
    """The file in which processes write how much of one sum each may spend, by journal."""

    def __init__(self, path: Path, journal: Path) -> None:
        self.path, self._own = path, str(journal.resolve())
        self.others = 0.0

    def take(self, wanted: float, least: float, most: float) -> float:
        """Set the own share to what is wanted, or to what others leave of ``most``; at least ``least``, its spending.

        Raises RequestError for a file that is none, MachineError where it cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.with_name(f".{self.path.name}.lock").open("wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # for an instant: nobody waits long
                shares = self._read()
                self.others = sum(share for name, share in shares.items() if name != self._own)
                shares[self._own] = max(least, min(wanted, most - self.others))
                write_whole(self.path, [orjson.dumps(shares, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)])
        except OSError as error:
            fix = "Free some room or name another --budget, and run the same command again"
            raise MachineError("shared budget cannot be written", self.path, expected=error.strerror, fix=fix) from None
        return shares[self._own]

    def _read(self) -> dict[str, float]:
        try:
            shares = orjson.loads(self.path.read_bytes()) if self.path.exists() else {}
            return {str(name): float(share) for name, share in shares.items()}
        except (orjson.JSONDecodeError, AttributeError, TypeError, ValueError):
            fix = "Name another file with --budget; this one is left as it is"
            raise RequestError("malformed shared budget", self.path, expected="journal: dollars", fix=fix) from None


class Budget:
    """The guard. ``most`` in US dollars, None: no limit; ``spent`` before this run, where ``sums`` do not say.

    With ``shares`` the limit is for all processes that use that file, with ``sums`` in common for all of one command.
    """

    def __init__(
        self,
        prices: Prices,
        most: float | None,
        spent: float,
        journal: Path,
        shares: Shares | None = None,
        sums: Sums | None = None,
    ) -> None:
        self.prices, self.most, self.journal = prices, most, journal
        self._shares = shares
        self.sums = sums or Sums([spent, 0.0, 0.0, 0.0])
        self._change = asyncio.Event()
        self._stopped = False

    @property
    def spent(self) -> float:
        """Dollars that are known to be gone, before this run too."""
        return self.sums.values[_SPENT]

    @spent.setter
    def spent(self, dollars: float) -> None:
        self.sums.values[_SPENT] = dollars

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
        return self.prices.most(model, most_tokens, max_tokens, batch) or 0.0

    def fits(self, worst: float) -> bool:
        """May an attempt that costs at most ``worst`` be sent now?"""
        if self.most is None:
            return True
        values = self.sums.values
        used = values[_SPENT] + values[_RESERVED]
        needed = used + worst
        if self._shares is None:
            return needed <= self.most
        if needed > values[_SHARE]:
            values[_SHARE] = self._shares.take(needed + self.most * _AHEAD, used, self.most)
        return needed <= values[_SHARE]

    def close(self) -> None:
        """Give back what was not spent, where other processes share the sum."""
        if self._shares is not None and self.most is not None:
            self.sums.values[_SHARE] = self._shares.take(self.spent, self.spent, self.most)

    async def reserve(self, worst: float) -> None:
        """Wait until an attempt that may cost ``worst`` fits. Raises MachineError when it never will.

        Raises StoppedError where the run ends while others would have to give something back.
        """
        while not self._hold_if_it_fits(worst):
            if self._stopped:
                raise StoppedError
            self._change.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._change.wait(), _LOOK_AGAIN if self.sums.common else None)

    def _hold_if_it_fits(self, worst: float) -> bool:
        with self.sums.turn():
            if self.fits(worst):
                self.hold(worst)
                return True
            if not self.sums.values[_HOLDERS]:
                raise self.reached(worst)
            return False

    def hold(self, worst: float) -> None:
        """Reserve at once what was found to fit."""
        values = self.sums.values
        values[_HOLDERS] += 1
        values[_RESERVED] += worst

    def release(self, worst: float, cost: float) -> None:
        """An attempt is over and has cost so much: give back what was reserved for it."""
        values = self.sums.values
        with self.sums.turn():
            values[_SPENT] += cost
            values[_HOLDERS] -= 1
            values[_RESERVED] = values[_RESERVED] - worst if values[_HOLDERS] else 0.0
        self._change.set()

    def stop(self) -> None:
        """The run is ending: nobody waits for other processes any more."""
        self._stopped = self.sums.common
        if self._stopped:
            self._change.set()

    def reached(self, worst: float) -> MachineError:
        """The error of a run whose budget does not allow the next request."""
        others = f", {dollars(self._shares.others)} taken by others" if self._shares else ""
        return MachineError(
            f"budget of {dollars(self.most)} reached",
            self.journal,
            expected=f"{dollars(self.spent)} spent{others}, what comes next may cost {dollars(worst)}",
            fix="Raise --max-cost and run the same command again: finished replies are stored",
        )


def budget_of(settings: BackendSettings, journal: Path, sums: Sums | None = None) -> Budget:
    """The guard that settings ask for; what was spent before is said later. Raises RequestError as ``check_prices``."""
    if settings.budget and settings.max_cost is None:
        raise RequestError("--budget without --max-cost", expected="the sum that is shared", fix="Add --max-cost")
    shares = Shares(settings.budget, journal) if settings.budget else None
    budget = Budget(settings.prices, settings.max_cost, 0.0, journal, shares, sums)
    budget.check_prices({model.name for model in settings.roles.values() if model != OFFLINE})
    return budget


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


def total(parts: Iterable[Used]) -> Used:
    """What all of them used."""
    found = Used()
    for part in parts:
        answered = found.answered + part.answered
        found.add(part.usage, part.cost)
        found.answered = answered
        for name in ("replayed", "doubts", "unmetered", "rows", "doubt_cost"):
            setattr(found, name, getattr(found, name) + getattr(part, name))
    return found


def dollars(cost: float | None) -> str:
    """A sum for people; "price unknown" for None."""
    if cost is None:
        return "price unknown"
    return f"${cost:,.2f}" if cost >= 1 or not cost else f"${cost:.4f}"
