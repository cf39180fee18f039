"""One character in one scenario: the coarse and the fine step of activation, and what is checked in between.

HEART-BENCH appendix D.1, G.4.1 and G.4.2; the budget rule is that of the released code. ``activations`` is
the command.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.activations.recollection import Recollection
from builders.pipeline.provenance import built, computed
from builders.pipeline.streams import Streams
from models.remedies import Failure, ask, failure
from models.request import Chain, Reply, Request
from schemas.tables import Row

TARGET = 50  # memories of the fine step
BUFFER = 1.5  # the coarse step aims at TARGET * BUFFER
MOST = 0.5  # and at no more than this share of what is eligible

Found = tuple[list[Row], list[Failure]]


def budget_ratio(eligible: int) -> float:
    """The share of the eligible memories the coarse step aims at: min(0.5, 75 / eligible)."""
    return min(MOST, TARGET * BUFFER / max(eligible, 1))


def batch_budget(offered: int, ratio: float) -> int:
    """The upper bound told for one batch: at least one, halves to even, as the released code rounds."""
    return max(1, round(offered * ratio))


@dataclass(frozen=True)
class Pair:
    """One character in one scenario: what may be remembered, and the memories by age."""

    character: Row
    scenario: Row
    memories: tuple[Row, ...]

    def eligible(self) -> list[Row]:
        """The memories of ages up to the scenario's; what comes after is the future."""
        return [memory for memory in self.memories if memory["age"] <= self.scenario["age"]]


def activate(pair: Pair, known: Recollection, seed: int, backend: str) -> Chain[Found]:
    """The two rows of a pair, coarse and fine; or what failed."""
    screened = yield from _coarse(pair, known)
    if isinstance(screened, Failure):
        return [], [screened]
    coarse, last, batches = screened
    ranked = yield from _fine(pair, known, coarse)
    if isinstance(ranked, Failure):
        return [], [ranked]
    eligible = len(pair.eligible())
    shared = {
        "character_id": pair.character["character_id"],
        "scenario_id": pair.scenario["id"],
        "scenario_age": pair.scenario["age"],
        "published": [],
    }
    first = {
        **shared,
        "step": "coarse",
        "eligible": eligible,
        "ratio": round(budget_ratio(eligible), 3),
        "offered": None,
        "activated": len(coarse),
        "skipped": None,
        "compact": None,
        "topped_up": 0,
        "dropped_ids": last.dropped,
        "memories": coarse,
        "batches": batches,
        "provenance": last.provenance(seed, backend),
    }
    second = {
        **shared,
        "step": "fine",
        "eligible": None,
        "ratio": None,
        "offered": len(coarse),
        "activated": len(ranked.memories),
        "skipped": ranked.skipped,
        "compact": False,
        "topped_up": ranked.topped_up,
        "dropped_ids": ranked.dropped,
        "memories": ranked.memories,
        "batches": [],
        "provenance": ranked.provenance(seed, backend),
    }
    return [first, second], []


@dataclass
class _Asked:
    """What a step kept of the replies: ids it had to drop, and the last exchange for the provenance."""

    dropped: list[str]
    memories: list[Row]
    exchange: tuple[Request, Reply] | None = None
    skipped: bool = False
    topped_up: int = 0

    def provenance(self, seed: int, backend: str) -> Row:
        return built(*self.exchange, seed, backend) if self.exchange else computed(seed)


def _coarse(pair: Pair, known: Recollection) -> Chain[tuple[list[Row], _Asked, list[Row]] | Failure]:
    eligible = pair.eligible()
    asked = _Asked([], [])
    if len(eligible) < TARGET:  # all of them come up, nobody is asked
        return [{"memory_id": m["id"], "type": None, "cue": None} for m in eligible], asked, []
    ratio = budget_ratio(len(eligible))
    batches = []
    by_age: dict[int, list[Row]] = {}
    for memory in eligible:
        by_age.setdefault(memory["age"], []).append(memory)
    for age, offered in sorted(by_age.items()):
        budget = batch_budget(len(offered), ratio)
        request = known.screening(pair.scenario, age, offered, budget)
        reply = yield from ask(request)
        if reply.status != "answered":
            return failure(request, reply)
        cues = _members(reply.answer, {memory["id"] for memory in offered}, asked.dropped)
        asked.memories += [{"memory_id": item["memory_id"], "type": None, "cue": item["cue"]} for item in cues]
        asked.exchange = (request, reply)
        batches.append({"age": age, "offered": len(offered), "suggested": budget, "activated": len(cues)})
    return asked.memories, asked, batches


def _fine(pair: Pair, known: Recollection, coarse: Sequence[Row]) -> Chain[_Asked | Failure]:
    if len(coarse) <= TARGET:
        return _Asked([], [{**item, "type": None} for item in coarse], skipped=True)
    cues = {item["memory_id"]: item["cue"] for item in coarse}
    request = known.ranking(pair.scenario, coarse, TARGET)
    reply = yield from ask(request)
    if reply.status != "answered":
        return failure(request, reply)
    asked = _Asked([], [], (request, reply))
    ranked = _members(reply.answer, cues.keys(), asked.dropped)[:TARGET]
    asked.memories = [{**item, "cue": cues[item["memory_id"]]} for item in ranked]
    missing = [known.memory[memory_id] for memory_id in cues if memory_id not in {i["memory_id"] for i in ranked}]
    spare = sorted(missing, key=lambda m: (-m["emotion_signature"]["intensity"], m["id"]))[: TARGET - len(ranked)]
    asked.memories += [{"memory_id": m["id"], "type": None, "cue": cues[m["id"]]} for m in spare]
    asked.topped_up = len(spare)
    return asked


def _members(answer: Mapping[str, Any], offered: Collection[str], dropped: list[str]) -> list[Row]:
    """The items whose ids were offered, each once; the other ids go to ``dropped``."""
    kept: dict[str, Row] = {}
    for item in answer["activated"]:
        if item["memory_id"] in offered and item["memory_id"] not in kept:
            kept[item["memory_id"]] = item
        else:
            dropped.append(item["memory_id"])
    return list(kept.values())


def of_character(
    character: Row, scenarios: Sequence[Row], memories: Sequence[Row], streams: Streams, backend: str
) -> Chain[Found]:
    """The chain of one character: all its pairs, one after the other, over one index of its memories."""
    known = Recollection(character, memories, streams.benchmark)
    rows: list[Row] = []
    failures: list[Failure] = []
    for scenario in scenarios:
        found, failed = yield from activate(Pair(character, scenario, tuple(memories)), known, streams.seed, backend)
        rows += found
        failures += failed
    return rows, failures
