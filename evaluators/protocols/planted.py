"""Subjects without a model whose fidelity is known: each sentence carries the level that was planted in it.

    steady     every sentence in the third of the persona's level: the ceiling
    slipping   as steady, but each sentence slips into another third with probability 0.15
    drifting   the chance of a slip grows along a text, from 0 to 0.3
    flat       every sentence in the middle, whoever the persona is: the floor

One sentence in ten shows nothing of the dimension ("not applicable"). Sentences are in ``planted_sentences.toml``.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

SUBJECTS = ("steady", "slipping", "drifting", "flat")
SLIP, DRIFT, EMPTY = 0.15, 0.3, 0.1
LENGTHS: Mapping[str, tuple[int, int]] = {"questionnaire": (3, 6), "essay": (8, 12), "social_media": (4, 8)}
"""Task -> fewest and most sentences."""

THIRDS: Mapping[str, tuple[int, ...]] = {"low": (1, 2), "neutral": (3,), "high": (4, 5)}
"""Level -> the scores in its third of the scale."""

_FILE = Path(__file__).with_name("planted_sentences.toml")


@dataclass(frozen=True)
class Planted:
    """A response; ``levels`` has the planted score of each sentence, None where it shows nothing."""

    sentences: tuple[str, ...]
    levels: tuple[int | None, ...]

    @property
    def text(self) -> str:
        """The response as it would come from a model."""
        return " ".join(self.sentences)


def response(subject: str, dimension: str, level: str, task: str, chance: Random) -> Planted:
    """What a subject writes as a persona. Raises KeyError for an unknown dimension, level or task."""
    count = chance.randint(*LENGTHS[task])
    levels = [score(subject, level, place / max(1, count - 1), chance) for place in range(count)]
    return Planted(tuple(sentence(dimension, one, chance) for one in levels), tuple(levels))


def score(subject: str, level: str, along: float, chance: Random) -> int | None:
    """The planted score of one sentence; ``along`` says where in the text it stands, 0 to 1."""
    if chance.random() < EMPTY:
        return None
    if subject == "flat":
        return THIRDS["neutral"][0]
    slip = {"steady": 0.0, "slipping": SLIP, "drifting": DRIFT * along}[subject]
    slipped = chance.random() < slip
    return chance.choice([one for third, scores in THIRDS.items() for one in scores if (third != level) == slipped])


def sentence(dimension: str, level: int | None, chance: Random) -> str:
    """A sentence of the bank that shows a level, 1 to 5; None one that shows nothing."""
    bank = _bank()
    sentences: list[str] = bank["empty"] if level is None else bank[dimension][str(level)]
    return chance.choice(sentences)


@functools.cache
def _bank() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text("utf-8"))
