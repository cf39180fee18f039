"""The answer key: what a dialogue is worth, by the acts that were really done in it.

A judge reads texts; this reads the script. Personalization 1 to 4 after PersonaLens appendix B: 4 where every
preference of the task was used, 3 where half of them, 2 where any, 1 where none; a preference that had to be asked for
counts half; a preference that the user does not have caps the score at 2, and at 1 where such are not outnumbered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluators.subjects.tasks.script import Move, Script

Scores = Mapping[str, float | None]
"""By metric; None where a metric does not apply."""

_ROBOTIC, _BEST = 2.0, 5.0
_MACHINE: Mapping[str, float] = {"reciting": 3.0, "leaking": 3.0}
_BREAKS: Mapping[str, float] = {"swapped": 1.0, "contradicting": 3.0}


def planted_scores(script: Script, messages: int) -> dict[str, float | None]:
    """The true scores of a dialogue in which the assistant spoke so many ``messages`` of its script."""
    done = script.moves[:messages]
    asked_again = sum(move.act == "ask_again" for move in done)
    return {
        "task_completion": float(any(move.act == "complete" for move in done)),
        "personalization": personalization(done, len(script.slots)),
        "hallucinated_personalization": float(invented(done) > 0),
        "assistant_naturalness": _ROBOTIC if script.form == "record" else _BEST,
        "assistant_coherence": max(1.0, _BEST - 2 * asked_again),
    }


def planted_of_user(manner: str) -> dict[str, float | None]:
    """What is true of a user by its manner, whatever the assistant does."""
    return {
        "user_naturalness": _MACHINE.get(manner, _BEST),
        "user_coherence": _BREAKS.get(manner, _BEST),
        "preference_first": float(manner == "hasty"),
    }


def personalization(done: Sequence[Move], slots: int) -> float | None:
    """1 to 4; None for a task that draws on no preference of the user."""
    if not slots:
        return None
    acts = [move.act for move in done]
    right, used, wrong = acts.count("right"), acts.count("use"), acts.count("wrong")
    if wrong:
        return 2.0 if right + used > wrong else 1.0
    share = (right + used / 2) / slots
    return 4.0 if share == 1 else 3.0 if share >= 1 / 2 else 2.0 if share > 0 else 1.0


def invented(done: Sequence[Move]) -> int:
    """How many preferences were claimed that the user does not have."""
    return sum(move.act == "wrong" for move in done)
