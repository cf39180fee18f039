"""How old a summary says its user is: in brackets, in years, in decades, in digits or in words.

``stated_ages.toml`` has the forms. The words beside an age say whose it is: "the 62-year-old user",
"at 62, she", "a student aged 18-24"; "her 12-year-old son" tells nothing of the user.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from audits.patterns.wording import Wording

Years = tuple[int, int]
"""The first and the last year that somebody may be of."""

Span = tuple[int, int]

OLDEST = 120

_WORDS = Wording(Path(__file__).with_suffix(".toml"))
EXAMPLES: Mapping[str, Any] = _WORDS.data["examples"]
"""Summaries that tell an age of their user, with its first and last year, and some that do not."""

_WITHIN = {"early": (0, 4), "mid": (3, 7), "late": (6, 9), None: (0, 9)}
_BEFORE = 60


def ages(text: str) -> list[tuple[Span, Years]]:
    """Where a text tells an age of its user, and the years that it may be, in order; words count once."""
    found = sorted((span, years) for span, years in _every(text) if not _of_another(text, span[0]))
    return [each for place, each in enumerate(found) if not place or each[0][0] >= found[place - 1][0][1]]


def _every(text: str) -> Iterator[tuple[Span, Years]]:
    lowered = text.lower()
    for form in (form for form in _WORDS.data["in_any_case"] if _WORDS.data["signs"].get(form, "") in lowered):
        for match in _WORDS[form].finditer(text):
            parts = {name: value for name, value in match.groupdict().items() if value is not None}
            yield _where(match, parts), _years(parts)


def _where(match: re.Match[str], parts: Mapping[str, str]) -> Span:
    if "decade" in parts:
        return match.span()
    first = "low" if "low" in parts else "bare"
    return match.start(first), match.end("high" if "high" in parts else first)


def _years(parts: Mapping[str, str]) -> Years:
    if "decade" in parts:
        low = _number(parts["decade"]) + _WITHIN[_part(parts.get("part"))][0]
        last, part = ("last_decade", "last_part") if "last_decade" in parts else ("decade", "part")
        return low, _number(parts[last]) + _WITHIN[_part(parts.get(part))][1]
    low = _number(parts.get("low") or parts["bare"])
    return low, _number(parts["high"]) if "high" in parts else OLDEST if "open" in parts else low


def _part(name: str | None) -> str | None:
    return name and name.lower()


def _of_another(text: str, start: int) -> bool:
    """Whether what stands before an age makes it somebody else's."""
    return _WORDS.says("of_another", text[max(start - _BEFORE, 0) : start])


def _number(words: str) -> int:
    """The number of "62", "sixty-two", "60s" or "sixties"."""
    if words[:2].isdigit():
        return int(words[:2])
    return sum(_numbers()[part] for part in re.split(r"[\s-]", words.lower()))


@functools.cache
def _numbers() -> Mapping[str, int]:
    tens, units, teens = (_WORDS.words[name].split("|") for name in ("tens", "units", "below_twenty"))
    known = {word: 10 * place for place, word in enumerate(tens, 2)}
    known |= {f"{word.removesuffix('y')}ies": years for word, years in known.items()}
    known |= {word: place for place, word in enumerate(units, 1)}
    return known | {word: place for place, word in enumerate(teens, 10)} | {"teens": 10}
