"""What the rehearsal server counted: calls, replies, what they used, and what each fault did."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from models.rehearsal.calls import Response


class Counts:
    """The counters of one server. A reply counts as answered when its last byte was handed to the system."""

    def __init__(self) -> None:
        self.attempts: Counter[bytes] = Counter()
        self.answered: Counter[bytes] = Counter()
        self.faults: Counter[str] = Counter()
        self.batches = 0
        self.lost = 0
        self._statuses: Counter[str] = Counter()
        self._tokens: dict[str, Counter[str]] = {}
        self._billable: dict[str, Counter[str]] = {}
        self._by_fault: dict[str, Counter[str]] = {}

    def attempt(self, key: bytes) -> int:
        """Count an attempt of a request; which one it is."""
        self.attempts[key] += 1
        return self.attempts[key]

    def made(self, model: str, usage: Mapping[str, int]) -> None:
        """Count a reply that was written: it may be billed, whatever becomes of it."""
        self._billable.setdefault(model, Counter()).update(_numbers(usage))

    def sent(self, response: Response, whole: bool) -> None:
        """Count a response whose last byte is out (``whole``), or whose client was gone before."""
        self._statuses[str(response.status)] += 1
        by_fault = self._by_fault.setdefault(response.fault or "none", Counter())
        by_fault["sent"] += 1
        if response.key is None or response.usage is None:
            return
        if not whole:
            self.lost += 1
            by_fault["lost"] += 1
            return
        by_fault["answered"] += 1
        self.answer(response.key, response.model, response.usage)

    def answer(self, key: bytes, model: str, usage: Mapping[str, int]) -> None:
        """Count an answered request."""
        self.answered[key] += 1
        self._tokens.setdefault(model, Counter()).update(_numbers(usage))

    def stats(self) -> dict[str, Any]:
        """All of it. ``lost``: replies whose client was gone or dropped; ``billable``: tokens of all replies made."""
        return {
            "received": sum(self.attempts.values()),
            "answered": sum(self.answered.values()),
            "distinct": len(self.answered),
            "answered_twice": sum(1 for times in self.answered.values() if times > 1),
            "lost": self.lost,
            "batches": self.batches,
            "responses": dict(sorted(self._statuses.items())),
            "faults": dict(sorted(self.faults.items())),
            "by_fault": {kind: dict(sorted(counted.items())) for kind, counted in sorted(self._by_fault.items())},
            "tokens": _sorted(self._tokens),
            "billable": _sorted(self._billable),
            "cpu_seconds": time.process_time(),
        }


def _numbers(usage: Mapping[str, Any]) -> dict[str, int]:
    return {name: count for name, count in usage.items() if isinstance(count, int)}


def _sorted(by_model: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {model: dict(sorted(used.items())) for model, used in sorted(by_model.items())}
