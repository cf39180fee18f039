"""Texts that a simple regular expression matches, for the rehearsal server's inventions.

Known are literals, classes, groups, alternatives and repeats: what patterns of JSON Schemas are made of. Anything
else raises ValueError.
"""

from __future__ import annotations

import random

_CLASSES = {"d": "0123456789", "w": "abcdefghijklmnopqrstuvwxyz", "s": " "}
_ANY = "abcdefgh"
_MORE = 8  # repeats beyond the fewest


def matching(pattern: str, chance: random.Random) -> str:
    """A text that matches. Raises ValueError for a pattern of another kind."""
    reader = _Reader(pattern, chance)
    text = reader.alternatives()
    if reader.place != len(pattern):
        raise ValueError(f"a pattern that is not known: {pattern!r}")
    return text


class _Reader:
    """Reads a pattern from the left and writes a text as it goes."""

    def __init__(self, pattern: str, chance: random.Random) -> None:
        self.pattern, self.chance, self.place = pattern, chance, 0

    def alternatives(self) -> str:
        """One of the alternatives from here to the end of the group."""
        made = [self._sequence()]
        while self._next() == "|":
            self.place += 1
            made.append(self._sequence())
        return self.chance.choice(made)

    def _sequence(self) -> str:
        made = ""
        while self._next() not in ("", "|", ")"):
            start = self.place
            once = self._atom()
            end = self.place
            least, most = self._repeats()
            after = self.place
            texts = []
            for _ in range(self.chance.randint(least, most)):
                self.place = start
                texts.append(self._atom())
            self.place = after if after > end else end
            made += "".join(texts) if (least, most) != (1, 1) else once
        return made

    def _atom(self) -> str:
        sign = self._next()
        self.place += 1
        if sign in "^$":
            return ""
        if sign == ".":
            return self.chance.choice(_ANY)
        if sign == "[":
            return self.chance.choice(self._members())
        if sign == "\\":
            self.place += 1
            letter = self.pattern[self.place - 1]
            return self.chance.choice(_CLASSES.get(letter, letter))
        if sign == "(":
            if self.pattern.startswith("?:", self.place):
                self.place += 2
            made = self.alternatives()
            if self._next() != ")":
                raise ValueError(f"an open group: {self.pattern!r}")
            self.place += 1
            return made
        return sign

    def _members(self) -> str:
        """The characters of a class."""
        end = self.pattern.index("]", self.place + 1)
        inside, self.place = self.pattern[self.place : end], end + 1
        if inside.startswith("^"):
            return "".join(sign for sign in _ANY if sign not in inside) or "0"
        made, at = "", 0
        while at < len(inside):
            if inside[at] == "\\":
                made += _CLASSES.get(inside[at + 1], inside[at + 1])
                at += 2
            elif inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
                made += "".join(map(chr, range(ord(inside[at]), ord(inside[at + 2]) + 1)))
                at += 3
            else:
                made += inside[at]
                at += 1
        return made

    def _repeats(self) -> tuple[int, int]:
        sign = self._next()
        if sign in ("*", "+", "?") and sign:
            self.place += 1
            return {"*": (0, _MORE), "+": (1, 1 + _MORE), "?": (0, 1)}[sign]
        if sign != "{":
            return 1, 1
        end = self.pattern.index("}", self.place)
        least, comma, most = self.pattern[self.place + 1 : end].partition(",")
        self.place = end + 1
        fewest = int(least or 0)
        return fewest, min(int(most), fewest + _MORE) if most else fewest + _MORE if comma else fewest

    def _next(self) -> str:
        return self.pattern[self.place : self.place + 1]
