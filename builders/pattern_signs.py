"""Core patterns that show the other pole of a trait than the character's Big Five say.

A memory turns on one of its character's eight patterns (HEART-BENCH 3.2, appendix G.1), so a nervous character who
"never worries" would be two people. Signs are words of everyday behaviour, a list a pole
(``seeds/pattern_signs.toml``); only traits near an end of the scale are judged.

    python -m builders.personas --spec mine.toml
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_SIGNS = Path(__file__).parent / "seeds" / "pattern_signs.toml"
_DENIED = re.compile(
    r"\b(?:never|not|no|nothing|nobody|without|hardly|rarely|seldom|cannot|n['\u2019]t)(?: \w+)? $", re.IGNORECASE
)
LOW, HIGH = 0.2, 0.8
"""From here on a trait is near an end of its scale."""


def contradictions(big_five: Mapping[str, float], patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The patterns that show the other pole of a trait near its end, each with the trait as ``N = 0.95``.

    ``big_five`` are traits in [0, 1] by letter. A pattern with as many signs of the right pole is not among them.
    """
    for pattern in patterns:
        for trait, value in big_five.items():
            own = "high" if value >= HIGH else "low" if value <= LOW else None
            if own is None:
                continue
            shown = poles_shown(trait, pattern)
            other = "low" if own == "high" else "high"
            if shown[other] > shown[own]:
                yield pattern, f"{trait} = {value:g}"


def poles_shown(trait: str, pattern: str) -> dict[str, int]:
    """How many signs of each pole of a trait a pattern has."""
    counts = {"high": 0, "low": 0}
    for pole, other in (("high", "low"), ("low", "high")):
        for found in _signs()[trait][pole].finditer(pattern):
            denied = _DENIED.search(pattern, max(0, found.start() - 30), found.start())
            counts[other if denied else pole] += 1
    return counts


@functools.cache
def _signs() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    return {
        trait: {pole: re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE) for pole, words in poles.items()}
        for trait, poles in tomllib.loads(_SIGNS.read_text("utf-8")).items()
    }
