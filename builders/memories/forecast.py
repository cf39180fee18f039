"""What a run of memories would write, ask and cost, before anything is asked.

The plan is that of all windows asked for, by life stage and tier, written already or not. The requests are those of
the run; in place of an answer stands a text as long as Table 7 says the character's memories are, and in place of the
contexts before it a window as full as it will be. Repairs are not included. The estimate is ``models.estimate``'s.

    python -m builders.memories --char CHAR_04 --dry-run
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from builders.memories.plan import targets
from builders.memories.windows import BATCH, RECENT, Window, WindowState
from models.backends import BackendSettings
from models.estimate import Estimate, estimate, say_estimate, total_cost
from models.request import Chain
from schemas.command import say
from schemas.tables import term_ids, vocabulary

_CONTEXT = "x" * 28  # as long as contexts are aimed to be
_AROUND = 700  # characters of the other fields of a memory in the text form


@dataclass(frozen=True)
class Forecast:
    """What is planned by stage and tier, what of it is to be written, and the cost on the models of the settings."""

    planned: Mapping[tuple[str, str], int]
    memories: int
    windows: int
    estimates: Sequence[Estimate]

    def document(self) -> dict[str, Any]:
        """For ``--json``; ``dollars`` is None when a model has no price."""
        return {
            "plan": [
                {"stage": stage, "tier": tier, "memories": self.planned.get((stage, tier), 0)}
                for stage in term_ids("memory_stages")
                for tier in term_ids("intensity_tiers")
            ],
            "memories": self.memories,
            "windows": self.windows,
            "requests": sum(each.requests for each in self.estimates),
            "roles": [asdict(each) for each in self.estimates],
            "dollars": total_cost(self.estimates),
        }

    def say(self, settings: BackendSettings) -> None:
        """For people."""
        for line in self.lines():
            say(line, quiet=settings.quiet)
        written = sum(self.planned.values()) - self.memories
        say(f"to be written: {self.memories:,} memories in {self.windows:,} windows", quiet=settings.quiet)
        say(f"written already: {written:,} memories", quiet=settings.quiet or not written)
        if settings.name == "offline":
            say("offline there is nothing to pay; on a model (--backend messages):", quiet=settings.quiet)
        say_estimate(self.estimates, settings)

    def lines(self) -> Iterator[str]:
        """The plan as a table: a row a life stage, a column a tier."""
        tiers = term_ids("intensity_tiers")
        yield f"{'planned':<32}" + "".join(f"{tier:>8}" for tier in tiers) + f"{'all':>8}"
        for stage in vocabulary("memory_stages"):
            name = f"{stage['label']} ({stage['from_age']}-{stage['to_age']})"
            yield _line(name, [self.planned.get((stage["id"], tier), 0) for tier in tiers])
        stages = term_ids("memory_stages")
        yield _line("all", [sum(self.planned.get((stage, tier), 0) for stage in stages) for tier in tiers])


def _line(name: str, counts: Sequence[int]) -> str:
    return f"{name:<32}" + "".join(f"{count:>8,}" for count in [*counts, sum(counts)])


def forecast(asked: Sequence[Window], due: Sequence[Window], settings: BackendSettings) -> Forecast:
    """The forecast of the windows asked for, of which some are due. Asks nothing, writes nothing."""
    planned = Counter((plan.stage, plan.tier) for window in asked for plan in window.plans)
    starts = [functools.partial(stand_in_chain, window) for window in due]
    estimates = estimate(starts, settings, workers=1)
    return Forecast(planned, sum(len(window.plans) for window in due), len(due), estimates)


def stand_in_chain(window: Window) -> Chain[None]:
    """The chain of a window without a writer: the same requests, stand-ins for the answers."""
    answer = "x" * round(targets(window.character).length + _AROUND)
    for start in range(0, len(window.plans), BATCH):
        state = WindowState(window, [_CONTEXT] * min(start, RECENT))
        batch = [plan.id for plan in window.plans[start : start + BATCH]]
        yield state.make(batch, "")._replace(compose=functools.partial(_repeated, answer, len(batch)))


def _repeated(answer: str, times: int) -> str:
    return answer * times
