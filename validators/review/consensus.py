"""What the judgements of one decision come to: consensus, then arbitration (HEART-BENCH appendix D.2).

One annotator who finds the pair of character and scenario unsuitable discards it; a decision that all three
find acceptable as it is, with its inner trace, becomes gold; everything else goes to the arbitrator, whose
word is the last.
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
    """``text`` and ``thoughts`` are the gold (None unless unanimous or arbitrated), ``reason`` why it was dropped."""

    state: State
    people: int
    text: str | None = None
    reason: str | None = None
    by: str | None = None
    thoughts: str | None = None


def disagreement(judged: Iterable[Row]) -> int:
    """How far the annotators of one text are apart: the most apart come first to the arbitrator."""
    rows = list(judged)
    apart = 0
    for tier in ("verdict", "trace_verdict"):
        places = [TIERS.index(row[tier]) for row in rows if row[tier]]
        apart += max(places) - min(places) if places else 0
    return apart


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
        if all(row["verdict"] == row["trace_verdict"] == "as_is" for row in primary):
            return Outcome("unanimous", people, text=primary[0]["text"], thoughts=primary[0]["thoughts"])
        return Outcome("queued", people)
    if ruled["ruling"] == "drop":
        return Outcome("dropped", people, reason=ruled["reason"], by=ruled["annotator"])
    text, thoughts = ruled["edit"] or ruled["text"], ruled["trace_edit"] or ruled["thoughts"]
    return Outcome("arbitrated", people, text=text, thoughts=thoughts, by=ruled["annotator"])
