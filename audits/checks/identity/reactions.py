"""What comes of a name that is said: what the narrator tells behind it, and who answers.

Used by ``audits.checks.identity.said``; the words looked for are those of ``naming.toml``.
"""

from __future__ import annotations

import re

from audits.checks.identity.framing import WORDS
from audits.text.names import Name, Names
from audits.text.quotations import Quotations

_NEAR, _FAR = 130, 600
_WAY = 6
_BY_THE_WAY = re.compile(r"\b(?:with|and|in|at|of|from|for|on|by|than|like|near) $")


def told_behind(names: Names, name: Name, after: str, called: bool) -> str:
    """What the narrator tells behind a quotation, if the name is the last that was said before it; else nothing."""
    text, spans, number = names.quoted.text, names.quoted.spans, name.number or 0
    end = spans[number][1]
    others = (each for each in names.between(name.end, end) if not each.words[0].startswith(name.words))
    if any(each.proper and not _BY_THE_WAY.search(text, each.start - _WAY, each.start) for each in others):
        return ""
    turn = names.quoted.scene.turns.turn(number).numbers
    first, last = max(spans[turn[0]][0], name.start - _FAR), min(spans[turn[-1]][1], name.end + _FAR)
    # What comes behind a paragraph in which several are called may be anything.
    several = (each for each in names.between(first, last) if not set(each.words) & set(name.words))
    if any(each.given and (each.start >= end or called) for each in several):
        return after
    return f"{after} {names.quoted.scene.reaction(number)}"


def is_cared_for(quoted: Quotations, number: int) -> bool:
    """ "Don't move, Ben." I have the tweezers, and he is trying not to cry."""
    start, end = quoted.spans[number]
    alone = quoted.scene.turns.told(number) is None and not re.search(r"\w", quoted.text[:start])
    return alone and WORDS["i_with_another"].match(quoted.text, end) is not None


def is_denied(quoted: Quotations, number: int) -> bool:
    """ "Is that Lea?" - "Wrong number," I said."""
    if number + 1 >= len(quoted.spans) or not quoted.mine(number + 1):
        return False
    return WORDS.says("i_deny", quoted.text[slice(*quoted.spans[number + 1])].lower().replace("\u2019", "'"))


def is_affirmed(quoted: Quotations, number: int) -> bool:
    """ "Is that Lea?" - "It is," I said."""
    turns = quoted.scene.turns
    if number + 1 >= len(quoted.spans) or not (quoted.mine(number + 1) or turns.perhaps_mine(number + 1)):
        return False
    low, high = quoted.spans[number + 1]
    near = low - quoted.spans[number][1] < _NEAR
    return near and WORDS.says("i_answer_first", quoted.text[low:high].lower())


def answers_me(quoted: Quotations, number: int) -> bool:
    """ "Who's there?" I said. "Arthur," said the voice."""
    if number == 0 or not quoted.mine(number - 1):
        return False
    start, end = quoted.spans[number - 1]
    return WORDS.says("asked", quoted.text[start:end])


def end_of_paragraph(quoted: Quotations, number: int) -> int:
    """Where the paragraph of a quotation ends."""
    end = quoted.text.find("\n", quoted.spans[number][1])
    return end if end >= 0 else len(quoted.text)
