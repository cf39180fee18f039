"""Words of which an expression needs one: text without them is not searched for it.

Hundreds of expressions are looked for in every text, and nearly none is there. From how an expression is written
follows what stands in all that it matches, such as ``hindsight``, or one of ``year`` and ``decade``: so one pass over a
text for the words of all expressions (``audits.patterns.matcher``) tells which few are worth trying, and where.

Only what ``audits/patterns/*.toml`` are written in is understood: characters, sets, groups, alternatives, repetitions
and assertions. Of an expression with anything else nothing is known, and it is tried everywhere.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

Words = frozenset[str]

_PIECE = re.compile(
    r"(?P<part>\{[a-z_]+\})|(?P<times>(?:[*+?]|\{\d*,?\d*\})[?+]?)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<assertion>\(\?<?[=!])|(?P<group>\((?:\?(?::|>|P<\w+>)|(?!\?)))|(?P<end>\))|(?P<either>\|)"
    r"|(?P<run>[a-z ',-]+(?![*+?]|\{[\d,]))|(?P<nowhere>\\[bBAZ]|[\^$])|(?P<any>\.|\\[dDsSwW])"
    r"|(?P<sign>\\u[0-9a-f]{4}|\\[^a-zA-Z0-9]|\\n|[^\\()\[{])",
    re.DOTALL,
)
_MOST, _LARGEST_SET = 64, 4
"""Strings that a stretch of an expression, and signs that a set is spelled out into."""

_FREQUENT = {" ": 0.18, "e": 0.1, ",": 0.015, ".": 0.015, "\n": 0.01}
_FREQUENT |= {**dict.fromkeys("taoinshr", 0.06), **dict.fromkeys("dlucmwfgypb", 0.02)}
_RARE = 0.005
_COMMON_WORD = 0.005


class _Needs(NamedTuple):
    """Of a piece of an expression all strings that it matches, where these are few, and words of which it needs one."""

    exact: Words | None
    words: Words | None = None

    @property
    def known(self) -> Words | None:
        return self.words if self.exact is None else self.exact


_NOTHING, _ANYTHING = _Needs(frozenset([""])), _Needs(None)


class _NotUnderstoodError(Exception):
    """Something else than what this module reads."""


class Parts(dict[str, str]):
    """The named parts of a file's expressions, and what each of them needs."""

    def __init__(self, lines: Mapping[str, str]) -> None:
        super().__init__(lines)
        self._needs: dict[str, _Needs] = {}

    def needs(self, name: str) -> _Needs:
        """What a part needs. Raises KeyError for an unknown one."""
        if name not in self._needs:
            self._needs[name] = _of_line(self[name], self)
        return self._needs[name]


def needed_words(line: str, parts: Parts) -> Words | None:
    """Words of which everything that an expression matches has one; None where no such are known.

    So it is for an expression that cannot be compiled, too.
    """
    try:
        found = _rarest([_of_line(line, parts).known])
    except (_NotUnderstoodError, LookupError):
        return None
    return found if math.isfinite(_frequency(found)) else None


def _of_line(line: str, parts: Parts) -> _Needs:
    pieces = _pieces(line)
    found, closed_by = _either(pieces, parts)
    if closed_by is not None:
        raise _NotUnderstoodError
    return found


def _pieces(line: str) -> Iterator[tuple[str, str]]:
    place = 0
    for found in _PIECE.finditer(line):
        if found.start() != place or found.lastgroup is None:
            break
        yield found.lastgroup, found[0]
        place = found.end()
    if place < len(line):
        raise _NotUnderstoodError


def _either(pieces: Iterator[tuple[str, str]], parts: Parts) -> tuple[_Needs, str | None]:
    """What alternatives up to the end of their group need, and what ended it."""
    branches: list[_Needs] = []
    run: list[_Needs] = []
    for kind, piece in pieces:
        if kind == "end":
            return _union([*branches, _in_a_row(run)]), piece
        if kind == "either":
            branches.append(_in_a_row(run))
            run = []
        elif kind == "times":
            run[-1] = _repeated(run[-1], piece)
        else:
            run.append(_of_piece(kind, piece, pieces, parts))
    return _union([*branches, _in_a_row(run)]), None


def _of_piece(kind: str, piece: str, pieces: Iterator[tuple[str, str]], parts: Parts) -> _Needs:
    if kind in ("group", "assertion"):
        inside, closed_by = _either(pieces, parts)
        if closed_by is None:
            raise _NotUnderstoodError
        return inside if kind == "group" else _NOTHING
    if kind == "part":
        return parts.needs(piece[1:-1])
    if kind == "set":
        return _of_set(piece)
    if kind == "run":
        return _Needs(frozenset([piece]))
    if kind == "sign":
        return _Needs(frozenset([_sign(piece)]))
    return _NOTHING if kind == "nowhere" else _ANYTHING


def _sign(piece: str) -> str:
    if piece.startswith("\\u"):
        return chr(int(piece[2:], 16))
    return "\n" if piece == "\\n" else piece[-1]


def _of_set(piece: str) -> _Needs:
    signs = re.findall(r"\\u[0-9a-f]{4}|\\.|.", piece[1:-1], re.DOTALL)
    plain = all(not re.match(r"\\[a-zA-Z](?<!\\n)$", sign) for sign in signs)
    if signs[0] == "^" or "-" in signs[1:-1] or len(signs) > _LARGEST_SET or not plain:
        return _ANYTHING
    return _Needs(frozenset(map(_sign, signs)))


def _repeated(one: _Needs, times: str) -> _Needs:
    if times[0] == "?" or times.startswith(("{0,1}", "{,1}")):
        return _ANYTHING if one.exact is None else _Needs(one.exact | {""})
    if times[0] == "*" or times.startswith(("{0", "{,")):
        return _ANYTHING
    return _Needs(None, one.known)


def _in_a_row(several: Sequence[_Needs]) -> _Needs:
    if len(several) == 1 and len(several[0].exact or ()) <= _MOST:
        return several[0]
    run: Words = frozenset([""])
    candidates: list[Words | None] = []
    whole = True
    for each in several:
        if each.exact is not None and len(run) * len(each.exact) <= _MOST:
            run = frozenset(first + second for first in run for second in each.exact)
            continue
        candidates += [run, each.words]
        whole = False
        run = frozenset([""]) if each.exact is None else frozenset(_shared_end(run) + word for word in each.exact)
    return _Needs(run) if whole else _Needs(None, _rarest([*candidates, run]))


def _shared_end(words: Words) -> str:
    """The longest end that all have."""
    if len(words) == 1:
        return next(iter(words))
    turned = [word[::-1] for word in words]
    first, last = min(turned), max(turned)
    differs = next(
        (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )
    return first[:differs][::-1]


def _union(branches: list[_Needs]) -> _Needs:
    if len(branches) == 1:
        return branches[0]
    exact = [each.exact for each in branches if each.exact is not None]
    if len(exact) == len(branches) and sum(map(len, exact)) <= _MOST * 4:
        return _Needs(frozenset().union(*exact))
    words = [each.known for each in branches]
    return _Needs(None, None if None in words else frozenset().union(*(each for each in words if each is not None)))


def _rarest(candidates: Iterable[Words | None]) -> Words | None:
    return min((each for each in candidates if each is not None), key=_frequency, default=None)


@functools.lru_cache(maxsize=1 << 12)  # what a group needs is compared with what stands round it, and again outside
def _frequency(words: Words | None) -> float:
    """About how often one of some words stands in a character of text; infinite where one is empty."""
    if not words or "" in words:
        return math.inf
    return sum(map(_of_word, words))


def _of_word(word: str) -> float:
    if " " not in word:
        return _of_piece_of_word(word)
    pieces = word.split(" ")
    among_others = 1.0 if not _common_words().isdisjoint(pieces) else _FREQUENT[" "] ** (len(pieces) - 1)
    return among_others * math.prod(map(_of_piece_of_word, pieces))


@functools.lru_cache(maxsize=1 << 16)
def _of_piece_of_word(piece: str) -> float:
    by_letters = math.prod(_FREQUENT.get(sign, _RARE) for sign in piece)
    return max(by_letters, _COMMON_WORD) if piece in _common_words() else by_letters


@functools.cache
def _common_words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("common_words.txt").read_text("utf-8").split())
