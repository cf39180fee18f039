"""Text as the patterns see it: lower case, one kind of apostrophe, one space between words.

Patterns stay readable because they need not care about capitals, typographic apostrophes, line
wraps or odd spaces; spans stay true because every character of the folded text knows its place in
the original (``Folded.at``). Folding keeps the length of nearly every text, so that knowing costs
nothing; a text with runs of white space pays for a table of positions.

Used by ``audits.patterns`` and every audit that reads words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

BREAK = "\x1e"
"""Stands for each newline of a paragraph's end; no expression crosses it."""

_SWAPS = (
    ("\u2019", "'"),
    ("\u02bc", "'"),
    ("\u00a0", " "),
    ("\u202f", " "),
    ("\u2009", " "),
    # The one character whose lower case is longer than itself.
    ("\u0130", "I"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"[ \t\r\n\v\f]+")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text; ``places`` is None where every character kept its place."""

    text: str
    places: Sequence[int] | None = None

    def at(self, position: int) -> int:
        """The place in the original of a place in the folded text (its end included)."""
        return position if self.places is None else self.places[position]


def fold(text: str) -> Folded:
    """Fold one text. Linear in its length, for any string: NUL, lone surrogates and all."""
    same = lowered(text)
    return Folded(same) if same is not None else _squeezed(text)


def lowered(text: str) -> str | None:
    """The folded text where folding keeps every place; None where runs of white space have to go."""
    if not text.isascii():
        text = _swapped(text)
    text = text.lower().replace("\n\n", BREAK + BREAK).replace("\n", " ").replace("\t", " ")
    return None if "  " in text or "\r" in text else text


def _swapped(text: str) -> str:
    for odd, plain in _SWAPS:
        if odd in text:
            text = text.replace(odd, plain)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
    return text


def _squeezed(text: str) -> Folded:
    source = (text if text.isascii() else _swapped(text)).lower()
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for run in _SPACES.finditer(source):
        parts += [source[done : run.start()], BREAK if run[0].count("\n") > 1 else " "]
        places.extend(range(done, run.start() + 1))
        done = run.end()
    parts.append(source[done:])
    places.extend(range(done, len(source) + 1))
    return Folded("".join(parts), places)
