"""Replay items of the raters that are evaluated: 300 by the published hard selection, 300 by a blind one.

python -m builders.replay_items --benchmark persturn
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from builders.pipeline.command import COUNT, StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Option, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from builders.pipeline.streams import Streams
from builders.replay_items.selection import BUDGET, Candidate, Selected, blind_selection, hard_selection
from schemas.tables import Row
from schemas.workspace import Workspace

READS = ("conversations", "ratings", "splits")
MAKES = ("replay_items",)

ITEMS = Option("--replay-items", "turns in each selection", default=BUDGET, read=COUNT, metavar="N")
OPTIONS = (ITEMS,)


def candidates(conversations: Iterable[Row], ratings: Iterable[Row]) -> Iterator[Candidate]:
    """Every rated turn with the user message before it, in order of conversation and turn."""
    gold = {row["sample_id"]: row for row in ratings}
    for row in conversations:
        user, turn = "", 0
        for message in row["messages"]:
            if message["role"] == "user":
                user = message["content"]
                continue
            rated = gold.get(f"{row['conversation_id']}.json__turn_{turn}")
            if rated:
                yield Candidate(
                    rated["sample_id"], row["conversation_id"], row["rater_id"], row["task"], turn, user,
                    message["content"], rated["score"], rated["reason"],
                )  # fmt: skip
            turn += 1


def replay_rows(turns: Sequence[Candidate], budget: int, streams: Streams) -> list[Row]:
    """The items of both selections."""
    found = {"hard": hard_selection(turns, budget), "blind": blind_selection(turns, streams, budget)}
    return [
        _row(selection, place, each, streams.seed) for selection, own in found.items() for place, each in enumerate(own)
    ]


def build(run: Run) -> Done:
    """Write the items of both selections."""
    digest = inputs_digest(run.space, READS, seed=run.seed, items=ITEMS.of(run))
    make = functools.partial(_rows, run.space, ITEMS.of(run), run.streams)
    return Done([write_if_stale(run.space, "replay_items", digest, make, run.fresh)])


def _rows(space: Workspace, budget: int, streams: Streams) -> list[Row]:
    test = {row["rater_id"] for row in space.rows("splits") if row["split"] == "test"}
    pool = [turn for turn in candidates(space.rows("conversations"), space.rows("ratings")) if turn.rater_id in test]
    return replay_rows(pool, budget, streams)


def _row(selection: str, place: int, each: Selected, seed: int) -> Row:
    turn = each.turn
    return {
        "selection": selection,
        "sample_id": turn.sample_id,
        "conversation_id": turn.conversation_id,
        "rater_id": turn.rater_id,
        "task": turn.task,
        "turn": turn.turn,
        "place": place,
        "selection_score": each.value,
        "selection_reasons": list(each.reasons),
        "published": [],
        "provenance": computed(seed),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Write replay items; see ``--help``."""
    return StepCommand(
        "replay_items",
        "Select the turns that candidates answer again.",
        "python -m builders.replay_items --benchmark persturn",
        build,
        OPTIONS,
        asks=False,
    ).main(argv)
