"""What the judgements of one decision come to: consensus, then arbitration (HEART-BENCH appendix D.2).

One annotator who finds the pair of character and scenario unsuitable discards it; a decision that all three
find acceptable as it is becomes gold; everything else goes to the arbitrator, whose word is the last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from schemas.tables import Row

TIERS = ("unacceptable", "with_modifications", "as_is")

State = Literal["open", "queued", "unanimous", "arbitrated", "dropped"]
STATES: tuple[State, ...] = ("open", "queued", "unanimous", "arbitrated", "dropped")


@dataclass(frozen=True)
class Outcome:
    """``text`` is the gold (None unless unanimous or arbitrated), ``reason`` why it was dropped."""

    state: State
    people: int
    text: str | None = None
    reason: str | None = None
    by: str | None = None


def disagreement(judged: Iterable[Row]) -> int:
    """How far the annotators of one text are apart: the most apart come first to the arbitrator."""
    places = [TIERS.index(row["verdict"]) for row in judged if row["verdict"]]
    return max(places) - min(places) if places else 0


def outcome(judged: Collection[Row], annotators: int) -> Outcome:
    """The outcome for the judgements that count of one text, of which ``annotators`` are wanted."""
    primary = sorted((row for row in judged if row["role"] == "annotator"), key=lambda row: str(row["annotator"]))
    ruled = next((row for row in judged if row["role"] == "arbitrator"), None)
    people = len(judged)
    if len(primary) < annotators:
        return Outcome("open", people)
    unsuitable = next((row for row in primary if not row["suitable"]), None)
    if unsuitable:
        return Outcome("dropped", people, reason=unsuitable["reason"], by=unsuitable["annotator"])
    if ruled is None:
        if all(row["verdict"] == "as_is" for row in primary):
            return Outcome("unanimous", people, text=primary[0]["text"])
        return Outcome("queued", people)
    if ruled["ruling"] == "drop":
        return Outcome("dropped", people, reason=ruled["reason"], by=ruled["annotator"])
    return Outcome("arbitrated", people, text=ruled["edit"] or ruled["text"], by=ruled["annotator"])
