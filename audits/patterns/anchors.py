"""Anchors: the words an expression cannot match without, taken from the expression itself.

A text that holds none of the anchors of an expression does not have to be searched for it. An
anchor set is a set of strings of which every match contains at least one; of several such sets the
one is chosen that ordinary text contains least. ``tests/test_audits_patterns.py`` draws random matches
of every expression and looks for its anchors in them.

Expressions are taken apart by the parser of ``re`` itself, so that both mean the same. Lists of words
that many expressions hold are taken apart once: in an expression a sign stands for such a group.
"""

from __future__ import annotations

import functools
import itertools
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audits.patterns.runs import MOST, Anchors, Lead, Run, Runs, around, better, from_start, least, united

WIDEST = 1_000
"""What stands for a width without a limit, in characters."""

_CLASS = 16
_FIRST_SIGN = 0xF0000  # a plane for private use; no text is searched for its characters
_LONG = 40
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|:))?|\)", re.DOTALL)
_NOTHING = frozenset({""})
_ONE_SIGN = frozenset({sre.ANY, sre.NOT_LITERAL})
_ZERO_WIDTH = frozenset({sre.AT, sre.ASSERT, sre.ASSERT_NOT})


@dataclass(frozen=True)
class _Part:
    """A part of an expression.

    ``exact`` are all strings it can be, where these are few; ``best`` is its best anchor set; of
    ``ends`` every match of it has one at its end. ``width`` is how long a match is. One that is
    ``optional`` can be left out.
    """

    width: Lead
    exact: frozenset[str] | None = None
    best: Runs | None = None
    ends: frozenset[str] = _NOTHING
    optional: bool = False


@functools.cache
def anchors(expression: str) -> Anchors:
    """An anchor set of an expression, in order; empty where it has none. Raises re.error for a malformed one."""
    _, run, _, best = _walked(parser.parse(_with_signs(expression)))
    return least(better(best, (run,)) or ())


_NUMBERS = itertools.count(_FIRST_SIGN)
_GROUPS: dict[int, str] = {}


def _with_signs(expression: str) -> str:
    """An expression with a sign for each long group, which may hold signs itself."""
    levels: list[tuple[int, list[str]]] = [(0, [])]
    place = 0
    for token in _TOKEN.finditer(expression):
        if token[0].startswith("("):
            levels[-1][1].append(expression[place : token.start()])
            levels.append((token.start(), [token[0]]))
            place = token.end()
        elif token[0] == ")":
            begin, texts = levels.pop()
            if not levels:
                return expression  # malformed, as the parser will say
            group = "".join([*texts, expression[place : token.end()]])
            if texts[0].startswith("(?<"):
                group = expression[begin : token.end()]  # the parser has to see how wide it is
            levels[-1][1].append(_sign(group) if texts[0] == "(?:" and len(group) >= _LONG else group)
            place = token.end()
    return "".join([*levels[-1][1], expression[place:]]) if len(levels) == 1 else expression


@functools.cache
def _sign(group: str) -> str:
    number = next(_NUMBERS)
    _GROUPS[number] = group
    return chr(number)


@functools.cache
def _group(number: int) -> tuple[_Part, ...]:
    """The parts of the group that a sign stands for."""
    return tuple(_parts(parser.parse(_GROUPS[number])))


def _is_sign(item: Any) -> bool:
    return bool(item[0] is sre.LITERAL and item[1] >= _FIRST_SIGN)


def _sequence(items: Iterable[Any]) -> _Part:
    width, run, whole, best = _walked(items)
    strings = frozenset(run.strings())
    return _Part(width, strings if whole else None, better(best, (run,)), strings)


def _walked(items: Iterable[Any]) -> tuple[Lead, Run, bool, Runs | None]:
    """The width of an expression, the run at its end, whether that is all of it, and the best set before that."""
    run = Run({"": (0, 0)})
    best: Runs | None = None
    whole, width = True, (0, 0)
    for part in _parts(items):
        before, width = width, (width[0] + part.width[0], min(WIDEST, width[1] + part.width[1]))
        if part.exact is not None and run.size * len(part.exact) <= MOST:
            run = Run(run.starts, run.tails if part.exact == _NOTHING else (*run.tails, part.exact))
            continue
        best = better(better(best, (run,)), part.best and tuple(each.behind(before) for each in part.best))
        left = run.strings() if part.optional else {}
        ends = _ends([part, _Part((0, 0), frozenset(left))] if part.optional else [part])
        run = Run({text: around(left.get(text), _before(width, text)) for text in ends})
        whole = False
    return width, run, whole, best


def _before(place: Lead, text: str) -> Lead:
    """Where a text begins that ends at a place."""
    return max(0, place[0] - len(text)), max(0, place[1] - len(text))


def _ends(parts: Iterable[_Part]) -> frozenset[str]:
    """How a text ends behind one of the parts, or another."""
    ends = frozenset(itertools.chain.from_iterable(part.exact or part.ends for part in parts))
    return _NOTHING if "" in ends or len(ends) > MOST else ends


def _parts(items: Iterable[Any]) -> Iterator[_Part]:
    """The parts of an expression; letters that stand one behind the other are one."""
    for kind, run in itertools.groupby(_flat(items), key=lambda item: "sign" if _is_sign(item) else item[0]):
        if kind == "sign":
            for _, number in run:
                yield from _group(number)
        elif kind is sre.LITERAL:
            text = "".join(chr(code) for _, code in run)
            yield _Part((len(text), len(text)), frozenset({text}))
        else:
            yield from (_item(*item) for item in run)


def _flat(items: Iterable[Any]) -> Iterator[Any]:
    """The items with those of plain groups in their place."""
    for kind, value in items:
        if kind is sre.SUBPATTERN:
            yield from _flat(value[-1])
        else:
            yield kind, value


def _item(kind: Any, value: Any) -> _Part:
    if kind is sre.IN and any(map(_is_sign, value)):  # what the parser makes of alternatives of one character each
        return _either([_sequence([each if _is_sign(each) else (sre.IN, [each])]) for each in value])
    if kind is sre.IN:
        signs = _signs(value)
        return _Part((1, 1), frozenset(signs) if signs else None)
    if kind in _ONE_SIGN:
        return _Part((1, 1))
    if kind in _ZERO_WIDTH:
        _check_behind(kind, value)
        return _Part((0, 0), _NOTHING)
    if kind is sre.BRANCH:
        return _either([_sequence(branch) for branch in value[1]])
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return _repeated(*value)
    return _Part((0, WIDEST))


def _check_behind(kind: Any, value: Any) -> None:
    """Raise re.error as ``re.compile`` would, which is put off until an expression is needed."""
    if kind is not sre.AT and value[0] < 0 and len(set(value[1].getwidth())) > 1:
        raise re.error("look-behind requires fixed-width pattern")


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
    sets = [better(part.best, from_start(part.exact)) for part in parts]
    width = (min(part.width[0] for part in parts), max(part.width[1] for part in parts))
    return _Part(width, exact, united(sets), _ends(parts))


def _repeated(least: int, most: Any, items: Iterable[Any]) -> _Part:
    part = _sequence(items)
    endless = most is sre.MAXREPEAT
    width = (least * part.width[0], WIDEST if endless else min(WIDEST, most * part.width[1]))
    if part.exact is not None and not endless and len(part.exact) ** most <= MOST:
        times = range(least, most + 1)
        strings = itertools.chain.from_iterable(itertools.product(part.exact, repeat=count) for count in times)
        exact = frozenset(map("".join, strings))
        if len(exact) <= MOST:
            return _Part(width, exact)
    best = better(part.best, from_start(part.exact)) if least else None
    return _Part(width, None, best, _ends([part]), optional=not least)
