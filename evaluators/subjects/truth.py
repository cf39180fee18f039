"""The answer key: what a reply is worth to a person, by what was done in it and what that person wants.

One score a metric, 1 to 5, or None where the metric does not apply: the conditions are those of the vocabulary
``likability_metrics``. A judge reads texts; this reads the moves behind them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluators.subjects.assistants import Moves
from evaluators.subjects.users import UserTurn
from evaluators.subjects.wishes import DEPTHS, LENGTHS, Wishes
from evaluators.subjects.wording import REGISTERS

Scores = Mapping[str, int | None]

_BY_DISTANCE = (5, 3, 1)
_REFERENCE = {"picked_up": 5, "polite": 3, "none": 2}
_EMOTION = {"matched": 5, "stock": 3, "over": 2, "none": 2}


def planted_scores(wish: Wishes, said: UserTurn, moves: Moves, shared_before: bool) -> Scores:
    """The true scores of a reply by metric; ``shared_before``: a personal detail had been mentioned earlier."""
    return {
        "emotional_adaptation": _EMOTION[moves.emotion] if "feel" in said.acts else None,
        "formality_matching": _apart(REGISTERS, wish.register, moves.register),
        "knowledge_adaptation": _apart(DEPTHS, wish.depth, moves.depth) if moves.explains else None,
        "reference_understanding": _REFERENCE[moves.reference] if "allude" in said.acts else None,
        "conversation_length": _apart(LENGTHS, wish.length, moves.length),
        "humor_fit": _humor(wish, "joke" in said.acts, moves.humor),
        "callback": _callback("callback" in said.acts, moves.recall) if shared_before else None,
    }


def turn_score(scores: Scores) -> float | None:
    """Mean over the metrics that apply; None where none does (LikeBench 3.1.1)."""
    given = [score for score in scores.values() if score is not None]
    return sum(given) / len(given) if given else None


def _apart(order: Sequence[str], wanted: str, given: str) -> int:
    return _BY_DISTANCE[abs(order.index(wanted) - order.index(given))]


def _humor(wish: Wishes, joked: bool, given: str | None) -> int | None:
    if given is None:
        # A joke answered in earnest; a wish for humour left open; or nothing to judge.
        return 2 if joked else 3 if wish.humor else None
    if wish.humor is None:
        return 1
    return 5 if given == wish.humor else 2 if given == "canned" else 3


def _callback(opened: bool, recall: str) -> int | None:
    if recall == "right":
        return 5 if opened else 4
    if recall == "none":
        return 2 if opened else None
    return 3 if recall == "tacked_on" else 2
