"""Banks of lines and the registers they are put into.

Lines are written out in full once; formal leaves them so, neutral contracts, casual contracts, adds slang and
drops capitals. ``written_out`` undoes that, so that cues are looked for in one form.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any, Literal

FOLDER = Path(__file__).parent / "banks"

Register = Literal["formal", "neutral", "casual"]
REGISTERS: tuple[Register, ...] = ("formal", "neutral", "casual")

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_START = re.compile(r"(?:^|(?<=[.!?]\s))(?!I\b)[A-Z](?=[a-z]|\s)")


@functools.cache
def bank(name: str) -> dict[str, Any]:
    """A bank as it stands in its file."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


def word_count(text: str) -> int:
    """Words of a text; "don't" and "half-marathon" are one each."""
    return len(_WORD.findall(text))


def in_register(text: str, register: Register, rng: Random, mood: int | None = None, lower: bool = False) -> str:
    """A text written out in full, as it is said in a register.

    ``mood`` (-1, 0, 1) lets a casual text end on an emoji, ``lower`` makes all of it lower case.
    """
    if register == "formal":
        return text
    text = _replaced(text, _pairs("contractions"))
    if register == "neutral":
        return text
    text = _START.sub(lambda first: first[0].lower(), _replaced(text, _pairs("slang"))).rstrip(".")
    if mood is not None:
        text = f"{text} {rng.choice(bank('registers')['emoji'][str(mood)])}"
    return text.lower() if lower else text


def written_out(text: str) -> str:
    """A text with contractions and slang written out."""
    text = text.replace("’", "'")
    for name in ("slang", "contractions"):
        for pattern, full in _reversed(name):
            text = pattern.sub(full, text)
    return text


def without_emoji(text: str) -> str:
    """A text without the emoji that a casual register ends on."""
    for each in _emoji():
        text = text.replace(each, "")
    return text.strip()


def register_signs(text: str) -> int:
    """Whether a text sounds casual (above 0) or formal (below 0): signs of the one less signs of the other."""
    folded = text.lower()
    casual, formal = (len(set(_signs(name).findall(folded))) for name in ("casual", "formal"))
    emoji = any(each in text for each in _emoji())
    contracted = _contracted().search(folded) is not None
    return 2 * casual + 2 * emoji + contracted - 2 * formal


@functools.cache
def _emoji() -> tuple[str, ...]:
    return tuple(each for row in bank("registers")["emoji"].values() for each in row)


@functools.cache
def _signs(name: str) -> re.Pattern[str]:
    return _any_of(bank("registers")["signs"][name])


@functools.cache
def _contracted() -> re.Pattern[str]:
    return _any_of([short.lower() for _, (_, short) in _pairs("contractions")])


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of the words or phrases, whole, the longest first."""
    listed = "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
    return re.compile(rf"(?<![\w'])(?:{listed})(?![\w'])")


@functools.cache
def _reversed(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(rf"(?<![\w']){re.escape(short)}(?![\w'])", re.IGNORECASE), full)
        for _, (full, short) in _pairs(name)
    )


@functools.cache
def _pairs(name: str) -> tuple[tuple[re.Pattern[str], tuple[str, str]], ...]:
    return tuple(
        (re.compile(rf"(?<![\w']){re.escape(full)}(?![\w'])", re.IGNORECASE), (full, short))
        for full, short in bank("registers")[name]
        if full != short
    )


def _replaced(text: str, pairs: tuple[tuple[re.Pattern[str], tuple[str, str]], ...]) -> str:
    for pattern, (_, short) in pairs:
        text = pattern.sub(lambda found, to=short: _like(found[0], to), text)  # type: ignore[misc]
    return text


def _like(found: str, short: str) -> str:
    return short[:1].upper() + short[1:] if found[:1].isupper() else short
