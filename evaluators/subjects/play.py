"""A whole conversation between a simulated user and an assistant of planted likability, with the true scores.

LikeBench Algorithm 1, without a model: sessions follow each other, the history carries over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluators.subjects.assistants import NOTHING, Noted, Spoken
from evaluators.subjects.truth import Scores, planted_scores
from evaluators.subjects.users import ASSISTANT, USER, Said, user_turn
from evaluators.subjects.wishes import wishes


@dataclass(frozen=True)
class Played:
    """One exchange: what the user said, what was answered, and what that was worth."""

    session: int
    turn: int
    user: str
    assistant: str
    scores: Scores


def play(
    profile: Mapping[str, Any],
    priors: Sequence[Mapping[str, Any]],
    assistant: Callable[[Sequence[Said], int, Noted], Spoken],
    seed: int,
    turns: int = 5,
    note: Callable[[Sequence[Said]], Noted] | None = None,
) -> list[Played]:
    """All sessions of a profile, in order; ``note`` is what the assistant writes down after each exchange."""
    history: list[Said] = []
    played: list[Played] = []
    shared, noted = False, NOTHING
    for prior in sorted(priors, key=lambda each: int(each["session"])):
        session = prior["session"]
        for turn in range(1, turns + 1):
            said = user_turn(profile, priors, session, turn, history)
            here = [each for each in history if each.session == session]
            last = next((each.text for each in reversed(here) if each.speaker == ASSISTANT), "")
            own = [each.text for each in here if each.speaker == USER]
            history.append(Said(session, turn, USER, said.text))
            spoken = assistant(history, seed, noted)
            history.append(Said(session, turn, ASSISTANT, spoken.text))
            wish = wishes(profile, prior, [*own, said.text], last)
            scores = planted_scores(wish, said, spoken.moves, shared)
            played.append(Played(session, turn, said.text, spoken.text, scores))
            noted = note(history) if note else NOTHING
            shared = shared or "seed" in said.acts
    return played
