"""Which stretches of a text stand in quotation marks, or are marked as thought.

Marks of several languages, straight and curly, nested; a single mark is told from an apostrophe by its neighbours.
Used by ``audits.text.quotations``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

Span = tuple[int, int]

_MARKS = re.compile("[\"'\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f\u2018\u2019]")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")
# A whole clause between asterisks or underscores is a thought; a word or two are stress.
_THOUGHT = re.compile(
    r"(?<![*\w])\*(?=\S)(?:[^*\s]+\s){3,60}[^*\s]+\*(?![*\w])|(?<![_\w])_(?=\S)(?:[^_\s]+\s){3,60}[^_\s]+_(?![_\w])"
)

_PAIRS = {"\u201c": "\u201d", "\u00ab": "\u00bb", "\u300c": "\u300d", "\u300e": "\u300f", "\u201e": "\u201c\u201d"}
_SINGLE = frozenset("'\u2018\u2019")
_ELISION = re.compile(
    r"(?:em|tis|twas|til|till|cause|cos|coz|cuz|round|bout|bye|neath|n|im|er|ere|tween|kay|nuff|sup|[0-9]{2}s)\b", re.I
)
_BEFORE_OPEN = frozenset('([\u2014\u2013-/"\u201c')
_AFTER_OPEN = frozenset('"\u201c\u2026(.')
_STRONG = frozenset('.,!?\u2026\u2014\u2013-;:)"\u201d')


def spans(text: str) -> list[Span]:
    """Half-open ranges of quoted speech and marked thought, marks included, in order and disjoint.

    A mark that is opened and never closed counts for nothing, unless the next paragraph opens again
    (speech carried over paragraphs): then it reaches to the paragraph's end.
    """
    marks = [found.start() for found in _MARKS.finditer(text)]
    found: list[Span] = []
    if marks:
        gaps = [gap.span() for gap in _PARAGRAPH.finditer(text)] if "\n" in text else []
        starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(text)]
        first = 0
        for start, end in zip(starts, ends, strict=True):
            last = bisect_right(marks, end - 1, first)
            if last > first:
                found += _in_paragraph(text, marks[first:last], start, end)
                first = last
    if "*" in text or "_" in text:
        found += [thought.span() for thought in _THOUGHT.finditer(text)]
    return _merged(found)


def around(ranges: Sequence[Span], place: int) -> int | None:
    """The number of the ordered, disjoint range that a place lies in, or None."""
    number = bisect_right(ranges, place, key=lambda span: span[0]) - 1
    return number if number >= 0 and place < ranges[number][1] else None


def inside(ranges: Sequence[Span], place: int) -> bool:
    """Whether a place lies in one of the ordered, disjoint ranges."""
    return around(ranges, place) is not None


def _merged(found: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _in_paragraph(text: str, marks: Sequence[int], start: int, end: int) -> list[Span]:
    """The quotations of a paragraph whose marks, of either kind, stand at ``marks``."""
    after = text[end : end + 40].lstrip()
    following = after[:1]
    doubles = _double(text, [place for place in marks if text[place] not in _SINGLE], start, end, following)
    opens, closes = [], []
    for place in marks:
        if text[place] in _SINGLE and not inside(doubles, place):
            if _opens(text, place, start, end):
                opens.append(place)
            elif _may_close(text, place, start, end):
                closes.append(place)
    return doubles + _single(text, opens, closes, end, following) if opens else doubles


def _double(text: str, marks: Sequence[int], start: int, end: int, following: str) -> list[Span]:
    found: list[Span] = []
    opened: int | None = None
    closer = ""
    for place in marks:
        sign = text[place]
        before = text[place - 1] if place > start else " "
        after = text[place + 1] if place + 1 < end else " "
        if opened is not None and sign in closer and (sign != '"' or not before.isspace() or not after.isalnum()):
            found.append((opened, place + 1))
            opened = None
        elif sign in _PAIRS:
            opened, closer = place, _PAIRS[sign]
        elif sign == '"' and not after.isspace() and not before.isalnum():
            opened, closer = place, '"\u201d'
    if opened is not None and following == text[opened]:
        found.append((opened, end))
    return found


def _opens(text: str, place: int, start: int, end: int) -> bool:
    if text[place] == "\u2019" or place + 1 >= end:
        return False
    before, after = text[place - 1] if place > start else " ", text[place + 1]
    if not (before.isspace() or before in _BEFORE_OPEN) or not (after.isalnum() or after in _AFTER_OPEN):
        return False
    return _ELISION.match(text, place + 1) is None


def _may_close(text: str, place: int, start: int, end: int) -> bool:
    if text[place] == "\u2018" or place == start or text[place - 1].isspace():
        return False
    return place + 1 >= end or not text[place + 1].isalnum()


def _single(text: str, opens: Sequence[int], closes: Sequence[int], end: int, following: str) -> list[Span]:
    found: list[Span] = []
    done = next_close = 0
    for number, opened in enumerate(opens):
        if opened < done:
            continue
        limit = opens[number + 1] if number + 1 < len(opens) else end
        next_close = bisect_right(closes, opened, next_close)
        close = _closing(text, closes, next_close, limit)
        if close is not None:
            done = close + 1
            found.append((opened, done))
        elif limit == end and following == text[opened]:
            found.append((opened, end))
    return found


def _closing(text: str, closes: Sequence[int], first: int, limit: int) -> int | None:
    """The mark that closes: the first one, or past possessives and elisions the first after punctuation."""
    for number in range(first, len(closes)):
        place = closes[number]
        if place >= limit:
            break
        follows = text[place + 1 : place + 3]
        if text[place - 1] in _STRONG or follows[:1] in {"", ".", ",", "!", "?", ";", ":"}:
            return place
        if not follows.strip().islower():
            return place
    return closes[first] if first < len(closes) and closes[first] < limit else None
