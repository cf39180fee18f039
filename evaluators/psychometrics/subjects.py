"""Subjects without a model whose answers are known: agreement with a statement, 1 to 5, and an interview that shows it.

    faithful      follows the release's vector, with normal noise of standard deviation 0.7 before rounding
    indifferent   the same for every character: a level drawn for each statement, with the same noise
    agreeing      agrees with whatever is said, 4 or 5
    first         takes the option that is listed first

The first is the ceiling at that noise; the rest are the floor and two faults that figures must show.
"""

from __future__ import annotations

from random import Random

from evaluators.protocols.planted import sentence
from evaluators.psychometrics.statements import Asked
from schemas.randomness import rng_for

SUBJECTS = ("faithful", "indifferent", "agreeing", "first")
NOISE = 0.7
LEAST, MOST = 1, 5

_SENTENCES = 3


def agreement(subject: str, one: Asked, seed: int) -> int:
    """How far a subject agrees with a statement as a character, 1 to 5."""
    chance = rng_for(seed, "evaluators", f"psychometrics.{subject}", one.id)
    if subject == "first":
        return LEAST if one.order == 0 else MOST
    if subject == "agreeing":
        return chance.choice((4, 5))
    level = one.truth
    if subject == "indifferent":
        level = rng_for(seed, "evaluators", "psychometrics.level", one.statement.id).random()
    elif one.statement.keyed < 0:
        level = 1 - level
    return min(MOST, max(LEAST, round(LEAST + (MOST - LEAST) * level + chance.gauss(0, NOISE))))


def interview(subject: str, one: Asked, seed: int) -> tuple[str, int]:
    """What a subject says about a statement, and the agreement with it that the text shows."""
    said = agreement(subject, one, seed)
    chance: Random = rng_for(seed, "evaluators", f"psychometrics.{subject}.interview", one.id)
    # The bank's high pole of N is emotional stability, the release's is neuroticism.
    towards = one.statement.keyed * (-1 if one.statement.trait == "N" else 1)
    level = said if towards > 0 else LEAST + MOST - said
    return " ".join(sentence(one.statement.trait, level, chance) for _ in range(_SENTENCES)), said
