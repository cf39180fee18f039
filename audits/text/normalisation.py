"""Text as the patterns see it: lower case, one kind of apostrophe, one space between words.

Patterns stay readable because they need not care about capitals, typographic apostrophes, line
wraps or odd spaces; spans stay true because every character of the folded text knows its place in
the original (``Folded.at``). Folding keeps the length of nearly every text, so that knowing costs
nothing; a text with runs of white space pays for a table of positions.

Used by ``audits.patterns.matcher`` and every audit that reads words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

BREAK = "\n"
"""What is left of line breaks: those between paragraphs. No expression crosses one."""

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
_BLANKS = re.compile(r"[ \t\r\n\v\f]+")
ODD_BLANKS = ("  ", "\t", "\r")
"""What keeps a lowered text from being a folded one."""

_ASIDE = "\x1c"


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text; ``places`` is None where every character kept its place."""

    text: str
    places: Sequence[int] | None = None

    def at(self, position: int) -> int:
        """The place in the original of a place in the folded text (its end included)."""
        return position if self.places is None else self.places[position]

    def place(self, position: int) -> int:
        """The place in the folded text of a place in the original."""
        return position if self.places is None else bisect_left(self.places, position)


def fold(text: str) -> Folded:
    """Fold one text. Linear in its length, for any string: NUL, lone surrogates and all."""
    same = unwrapped(plain(text)).lower()
    return _squeezed(same) if any(odd in same for odd in ODD_BLANKS) else Folded(same)


def plain(text: str) -> str:
    """The text with plain apostrophes and spaces, every character in its place; its lower case is as long.

    Lone surrogates, which no other library takes, become U+FFFD.
    """
    if not text.isascii():
        for odd, usual in _SWAPS:
            if odd in text:
                text = text.replace(odd, usual)
        text = _SURROGATE.sub("\ufffd", text)
    return text


def unwrapped(text: str) -> str:
    """The text with single line breaks as spaces, every character in its place; two in a row end a paragraph and stay.

    The lower case of a plain and unwrapped text is its fold, where none of ``ODD_BLANKS`` is in it.
    """
    return text.replace("\n\n", _ASIDE + _ASIDE).replace("\n", " ").replace(_ASIDE, "\n")


def _squeezed(text: str) -> Folded:
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for run in _BLANKS.finditer(text):
        parts += [text[done : run.start()], BREAK if run[0].count("\n") > 1 else " "]
        places.extend(range(done, run.start() + 1))
        done = run.end()
    parts.append(text[done:])
    places.extend(range(done, len(text) + 1))
    return Folded("".join(parts), places)
