"""Who speaks: the stretches of a narrative that stand in quotation marks, or are marked as thought.

A narrator who tells what happens now may quote an aunt who says what will be known years later; so
the perspective criteria look outside quotations only, and the identity criteria inside them. Marks
of several languages, straight and curly, nested, and carried over paragraphs; a single mark is told
from an apostrophe by its neighbours.

Used by ``audits.patterns``, ``audits.identity`` and ``audits.rubin``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

Span = tuple[int, int]

_PAIRS = {"\u201c": "\u201d", "\u00ab": "\u00bb", "\u300c": "\u300d", "\u300e": "\u300f", "\u2039": "\u203a"}
_DOUBLE = re.compile('["\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f]')
_ELISIONS = (
    r"(?:em|tis|twas|til|till|cause|cos|coz|cuz|round|bout|bye|neath|n|im|er|ere|tween|kay|nuff|sup|[0-9]{2}s)\b"
)
_OPEN_SINGLE = re.compile(
    rf"(?<![^\s(\[\u2014\u2013\-/\"\u201c])['\u2018](?!{_ELISIONS})(?=[^\W_]|[\"\u201c\u2026(.])", re.I
)
_CLOSE_SINGLE = re.compile(r"(?<=[^\s'\u2018])['\u2019](?![^\W_])")
_STRONG = frozenset('.,!?\u2026\u2014\u2013-;:)"\u201d')
_THOUGHT = re.compile(
    r"(?<![*\w])\*(?=[^\s*])[^*\n]{1,400}(?<=[^\s*])\*(?![*\w])|(?<![_\w])_(?=[^\s_])[^_\n]{1,400}(?<=[^\s_])_(?![_\w])"
)
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")


def spans(text: str) -> list[Span]:
    """Half-open ranges of quoted speech and marked thought, marks included, in order and disjoint.

    A mark that is opened and never closed counts for nothing, unless the next paragraph opens again
    (speech carried over paragraphs): then it reaches to the paragraph's end.
    """
    found: list[Span] = []
    starts = [0, *(gap.end() for gap in _PARAGRAPH.finditer(text))]
    ends = [*(gap.start() for gap in _PARAGRAPH.finditer(text)), len(text)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        following = text[starts[number + 1] : starts[number + 1] + 1] if number + 1 < len(starts) else ""
        doubles = _double(text, start, end, following)
        found += doubles + _single(text, start, end, doubles, following)
    if "*" in text or "_" in text:
        found += [mark.span() for mark in _THOUGHT.finditer(text)]
    return _merged(found)


def inside(ranges: Sequence[Span], position: int) -> bool:
    """Whether a place lies in one of the ordered, disjoint ranges."""
    number = bisect_right(ranges, (position, len_max)) - 1
    return number >= 0 and ranges[number][0] <= position < ranges[number][1]


len_max = 1 << 62


def _double(text: str, start: int, end: int, following: str) -> list[Span]:
    found: list[Span] = []
    opened: int | None = None
    closer = ""
    for mark in _DOUBLE.finditer(text, start, end):
        place, sign = mark.start(), mark[0]
        before = text[place - 1] if place > start else " "
        after = text[place + 1] if place + 1 < end else " "
        if opened is not None and _closes(sign, closer, before, after):
            found.append((opened, place + 1))
            opened = None
        elif sign in _PAIRS:
            opened, closer = place, _PAIRS[sign]
        elif sign == "\u201e":
            opened, closer = place, "\u201c\u201d"
        elif sign == '"' and not after.isspace() and (not before.isalnum() or before.isspace()):
            opened, closer = place, '"\u201d'
    if opened is not None and following and following == text[opened]:
        found.append((opened, end))
    return found


def _closes(sign: str, closer: str, before: str, after: str) -> bool:
    if sign not in closer:
        return False
    return sign != '"' or not before.isspace() or not after.isalnum()


def _single(text: str, start: int, end: int, doubles: Sequence[Span], following: str) -> list[Span]:
    if text.find("'", start, end) < 0 and text.find("\u2018", start, end) < 0:
        return []
    opens = [m.start() for m in _OPEN_SINGLE.finditer(text, start, end) if not inside(doubles, m.start())]
    if not opens:
        return []
    closes = [m.start() for m in _CLOSE_SINGLE.finditer(text, start, end) if not inside(doubles, m.start())]
    found: list[Span] = []
    done = start - 1
    next_close = 0
    for number, opened in enumerate(opens):
        if opened <= done:
            continue
        limit = opens[number + 1] if number + 1 < len(opens) else end
        while next_close < len(closes) and closes[next_close] <= opened:
            next_close += 1
        close = _closing(text, closes, next_close, limit, end)
        if close is not None:
            found.append((opened, close + 1))
            done = close
        elif limit == end and following and following == text[opened]:
            found.append((opened, end))
    return found


def _closing(text: str, closes: Sequence[int], first: int, limit: int, end: int) -> int | None:
    """The mark that closes: the first one, or past possessives and elisions the first after punctuation."""
    if first >= len(closes) or closes[first] >= limit:
        return None
    for place in closes[first:]:
        if place >= limit:
            break
        if text[place - 1] in _STRONG or text[place + 1 : place + 2] in {"", ".", ",", "!", "?", ";", ":"}:
            return place
        if not text[place + 1 : place + 3].strip().islower():
            return place
    return closes[first]


def _merged(found: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
