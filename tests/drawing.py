"""Texts that an expression may match, drawn from its parse: quick enough to try all expressions of all patterns.

What stands before a place or behind it (look-behind, look-ahead) is written down only now and then, and what must not
stand there and edges of words are left to chance: a drawn text need not match.
"""

import functools
import random
import re._constants as sre
import re._parser as parser
from collections.abc import Iterable
from typing import Any

WORD = "abcdefghijklmnopqrstuvwxyz0123456789_äéñ"
OTHER = " .,;:!?'\"()-\u00a0"
ANY = WORD + OTHER
_CATEGORIES = {
    sre.CATEGORY_WORD: WORD,
    sre.CATEGORY_NOT_WORD: OTHER,
    sre.CATEGORY_DIGIT: "0123456789",
    sre.CATEGORY_NOT_DIGIT: WORD[:26] + OTHER,
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_NOT_SPACE: WORD + OTHER[1:-1],
}
_MORE = 3
"""How often more than the least something without an end is repeated."""


def drawn(expression: str, chance: random.Random) -> str:
    """A text that an expression may match."""
    return "".join(_pieces(_parsed(expression), chance, {}))


@functools.lru_cache(maxsize=1)
def _parsed(expression: str) -> Any:
    return parser.parse(expression)


def _pieces(items: Iterable[Any], chance: random.Random, groups: dict[int, str]) -> list[str]:
    return [_piece(kind, value, chance, groups) for kind, value in items]


def _piece(kind: Any, value: Any, chance: random.Random, groups: dict[int, str]) -> str:
    if kind is sre.LITERAL:
        return chr(value)
    if kind is sre.NOT_LITERAL:
        return chance.choice(ANY.replace(chr(value), ""))
    if kind is sre.ANY:
        return chance.choice(ANY)
    if kind is sre.IN:
        return _one_of(value, chance)
    if kind is sre.BRANCH:
        return "".join(_pieces(chance.choice(value[1]), chance, groups))
    if kind is sre.SUBPATTERN:
        made = "".join(_pieces(value[-1], chance, groups))
        if value[0] is not None:
            groups[value[0]] = made
        return made
    if kind is sre.ATOMIC_GROUP:
        return "".join(_pieces(value, chance, groups))
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, repeated = value
        times = chance.randint(least, min(most, least + _MORE))
        return "".join(text for _ in range(times) for text in _pieces(repeated, chance, groups))
    if kind is sre.GROUPREF:
        return groups.get(value, "")
    if kind is sre.ASSERT and chance.random() < 0.5:
        return "".join(_pieces(value[1], chance, groups))
    assert kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT), kind
    return ""


def _one_of(items: list[Any], chance: random.Random) -> str:
    signs: list[str] = []
    for kind, value in items:
        if kind is sre.LITERAL:
            signs.append(chr(value))
        elif kind is sre.RANGE:
            signs += map(chr, range(value[0], min(value[1], value[0] + 60) + 1))
        elif kind is sre.CATEGORY:
            signs += _CATEGORIES[value]
    if items[0][0] is not sre.NEGATE:
        return chance.choice(signs)
    # Many a gap between words is written like that, and an edge follows.
    return " " if " " not in signs and chance.random() < 0.5 else chance.choice([s for s in ANY if s not in signs])
