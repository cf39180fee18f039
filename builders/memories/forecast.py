"""What a run of memories would ask and cost, before anything is asked.

The requests are those of the run; in place of an answer stands a text as long as Table 7 says the character's
memories are, and in place of the contexts before it a window as full as it will be. Repairs are not
included. The estimate is ``models.estimate``'s.

    python -m builders.memories --char CHAR_04 --dry-run
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from builders.memories.plan import targets
from builders.memories.windows import BATCH, RECENT, Window, WindowState
from models.backends import BackendSettings
from models.estimate import Estimate, estimate, say_estimate, total_cost
from models.request import Chain
from schemas.command import say

_CONTEXT = "x" * 28  # as long as contexts are aimed to be
_AROUND = 700  # characters of the other fields of a memory in the text form


@dataclass(frozen=True)
class Forecast:
    """What would be written, and what that would cost on the models of the settings."""

    memories: int
    windows: int
    estimates: Sequence[Estimate]

    def document(self) -> dict[str, Any]:
        """For ``--json``; ``dollars`` is None when a model has no price."""
        return {
            "memories": self.memories,
            "windows": self.windows,
            "requests": sum(each.requests for each in self.estimates),
            "roles": [asdict(each) for each in self.estimates],
            "dollars": total_cost(self.estimates),
        }

    def say(self, settings: BackendSettings) -> None:
        """For people."""
        say(f"to be written: {self.memories:,} memories in {self.windows:,} windows", quiet=settings.quiet)
        if settings.name == "offline":
            say("offline there is nothing to pay; on a model (--backend messages):", quiet=settings.quiet)
        say_estimate(self.estimates, settings)


def forecast(windows: Sequence[Window], settings: BackendSettings) -> Forecast:
    """The forecast of some windows. Asks nothing, writes nothing."""
    starts = [functools.partial(stand_in_chain, window) for window in windows]
    estimates = estimate(starts, settings, workers=1)
    return Forecast(sum(len(window.plans) for window in windows), len(windows), estimates)


def stand_in_chain(window: Window) -> Chain[None]:
    """The chain of a window without a writer: the same requests, stand-ins for the answers."""
    answer = "x" * round(targets(window.character).length + _AROUND)
    for start in range(0, len(window.plans), BATCH):
        state = WindowState(window, [_CONTEXT] * min(start, RECENT))
        batch = [plan.id for plan in window.plans[start : start + BATCH]]
        yield replace(state.make(batch, ""), compose=functools.partial(_repeated, answer, len(batch)))


def _repeated(answer: str, times: int) -> str:
    return answer * times
