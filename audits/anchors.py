"""Anchors: the words an expression cannot match without, taken from the expression itself.

A text that holds none of the anchors of an expression does not have to be searched for it. An
anchor set is a set of strings of which every match contains at least one; of several such sets the
one is chosen that ordinary text contains least. ``tests/test_audits_patterns.py`` draws random matches
of every expression and looks for its anchors in them.

Expressions are taken apart by the parser of ``re`` itself, so that both mean the same.
"""

from __future__ import annotations

import functools
import itertools
import math
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ahocorasick_rs

MOST = 2_500
"""Strings of one set at most; what would be more is cut in two parts."""

SHORTEST, LONGEST = 3, 12
"""Characters of an anchor; a longer one would only be a little rarer."""

_CLASS = 16
_NOTHING = frozenset({""})
_ZERO_WIDTH = frozenset({sre.AT, sre.ASSERT, sre.ASSERT_NOT})
# How often letters stand in English text, in thousandths; all other signs are rare.
_LETTERS = dict(
    zip(
        " etaoinsrhlducmfwgpybvk",
        (180, 102, 75, 65, 61, 57, 57, 52, 49, 49, 33, 33, 23, 22, 20, 18, 17, 16, 15, 14, 12, 8, 5),
        strict=True,
    )
)


@dataclass(frozen=True)
class _Part:
    """A part of an expression.

    ``exact`` are all strings it can be, where these are few; ``best`` is its best anchor set; of
    ``ends`` every match of it has one at its end. One that is ``optional`` can be left out.
    """

    exact: frozenset[str] | None
    best: frozenset[str] | None = None
    ends: frozenset[str] = _NOTHING
    optional: bool = False


@functools.cache
def anchors(expression: str) -> tuple[str, ...]:
    """An anchor set of an expression, in order; () where it has none."""
    found = _sequence(parser.parse(expression))
    return tuple(sorted(_least(found.best))) if found.best else ()


def _sequence(items: Iterable[Any]) -> _Part:
    run, best, whole = _NOTHING, None, True
    for item in _flat(items):
        part = _item(*item)
        if part.exact is not None and len(run) * len(part.exact) <= MOST:
            run = frozenset(map("".join, itertools.product(run, part.exact)))
            continue
        best = _better(_better(best, run), part.best)
        run = _ends([part, _Part(run)] if part.optional else [part])
        whole = False
    return _Part(run if whole else None, _better(best, run), run)


def _ends(parts: Iterable[_Part]) -> frozenset[str]:
    """How a text ends behind one of the parts, or another."""
    ends = frozenset(itertools.chain.from_iterable(part.exact or part.ends for part in parts))
    return _NOTHING if "" in ends or len(ends) > MOST else ends


def _flat(items: Iterable[Any]) -> Iterator[Any]:
    """The items with those of plain groups in their place."""
    for kind, value in items:
        if kind is sre.SUBPATTERN:
            yield from _flat(value[-1])
        else:
            yield kind, value


def _item(kind: Any, value: Any) -> _Part:
    if kind is sre.LITERAL:
        return _Part(frozenset({chr(value)}))
    if kind is sre.IN:
        signs = _signs(value)
        return _Part(frozenset(signs) if signs else None)
    if kind in _ZERO_WIDTH:
        return _Part(_NOTHING)
    if kind is sre.BRANCH:
        return _either([_sequence(branch) for branch in value[1]])
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return _repeated(*value)
    return _Part(None)


def _signs(items: Iterable[Any]) -> list[str] | None:
    """The characters of a small class; None for a large or negated one."""
    signs: list[str] = []
    for kind, value in items:
        if kind is sre.LITERAL:
            signs.append(chr(value))
        elif kind is sre.RANGE and value[1] - value[0] < _CLASS:
            signs += map(chr, range(value[0], value[1] + 1))
        else:
            return None
    return signs if len(signs) <= _CLASS else None


def _either(parts: Sequence[_Part]) -> _Part:
    exact: frozenset[str] | None = None
    if all(part.exact is not None for part in parts):
        exact = frozenset(itertools.chain.from_iterable(part.exact or () for part in parts))
    if exact is not None and len(exact) > MOST:
        exact = None
    sets = [_better(part.best, part.exact) for part in parts]
    best = None if None in sets else frozenset(itertools.chain.from_iterable(each or () for each in sets))
    return _Part(exact, best, _ends(parts))


def _repeated(least: int, most: Any, items: Iterable[Any]) -> _Part:
    part = _sequence(items)
    if part.exact is not None and most is not sre.MAXREPEAT and len(part.exact) ** most <= MOST:
        times = range(least, most + 1)
        strings = itertools.chain.from_iterable(itertools.product(part.exact, repeat=count) for count in times)
        exact = frozenset(map("".join, strings))
        if len(exact) <= MOST:
            return _Part(exact)
    return _Part(None, _better(part.best, part.exact) if least else None, _ends([part]), optional=not least)


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """The rarer of two sets; a set with a string too short to help is none."""
    sets = [each for each in (one, other) if each and all(len(text) >= SHORTEST for text in each)]
    return min(sets, key=_frequency) if sets else None


def _frequency(strings: frozenset[str]) -> float:
    return sum(map(_likelihood, strings))


def _least(strings: Iterable[str]) -> set[str]:
    """As few and as short strings as stand in all of the given ones and are hardly more frequent."""
    cut = sorted({text[:LONGEST] for text in strings})
    automaton = ahocorasick_rs.AhoCorasick(cut)
    return {text for text in cut if len(automaton.find_matches_as_indexes(text, overlapping=True)) == 1}


@functools.cache
def _likelihood(text: str) -> float:
    return math.prod(_LETTERS.get(sign, 1) / 1000 for sign in text)
