"""A text as the linear model reads it: words, numbers and marks, each known by whether it is quoted.

Names stand for themselves no longer: ``(name)`` is a given name, or a word with a capital inside a sentence that
no word list has; ``(other name)`` is one that is said in a quotation and that the narrator uses outside, so that it
is somebody else's. A token inside a quotation differs from the same one outside (``>``), as "I never saw her
again" is another matter when an aunt says it.

Used by ``audits.text.linear_model``.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from audits.text.names import is_common, is_given_name, titles
from schemas.text.quotation_marks import Span, spans
from schemas.text.sentences import sentences

QUOTED = ">"
"""What a token inside a quotation begins with."""

NAME, OTHER_NAME, CAPITALS, NUMBER, MARK = "(name)", "(other name)", "(capitals)", "(number)", '"'

_MARKS = frozenset("\"'\u201c\u201d\u2018\u2019\u00ab\u00bb")
_ENDS = frozenset((".", "!", "?", ":", "\n", MARK))
_TOKEN = re.compile(
    r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\d+|[\"\u201c\u201d\u00ab\u00bb]|(?<!\w)['\u2018\u2019](?=\w)|['\u2019](?!\w)"
    r"|[,;:?!.\u2013\u2014*\n-]"
)
_GENITIVE = re.compile(r"['\u2019]s$")

MOST_TOKENS = 400
"""Tokens of a sentence; a longer one is read in parts, so that a text without a full stop has parts, too."""


@dataclass(frozen=True)
class Sentence:
    """A stretch of a text: half-open ``span``, its tokens and where each begins and ends."""

    span: Span
    tokens: Sequence[str]
    places: Sequence[Span]


def tokenized(text: str, quoted: Sequence[Span] | None = None, told: Sequence[Span] | None = None) -> list[Sentence]:
    """The sentences of a text that have words.

    ``quoted`` are the spans of its quotations and ``told`` those of its sentences, where at hand. Linear in its length.
    """
    quoted = spans(text) if quoted is None else quoted
    told = sentences(text, quoted) if told is None else told
    found = [(match[0], *match.span()) for match in _TOKEN.finditer(text)]
    tokens = _tokens(found, quoted)
    starts = [start for _, start, _ in found]
    made = []
    for start, end in told:
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        for low in range(first, last, MOST_TOKENS):
            high = min(low + MOST_TOKENS, last)
            whole = (start, end) if last - first <= MOST_TOKENS else (starts[low], found[high - 1][2])
            made.append(Sentence(whole, tokens[low:high], [(at, to) for _, at, to in found[low:high]]))
    return made


def _tokens(found: Sequence[tuple[str, int, int]], quoted: Sequence[Span]) -> list[str]:
    tokens: list[str] = []
    begins, number, inside = True, 0, False
    for word, start, _ in found:
        while number < len(quoted) and quoted[number][1] <= start:
            number += 1
        inside = number < len(quoted) and quoted[number][0] <= start
        token = _token(word, begins)
        begins = token in _ENDS
        tokens.append(QUOTED + token if inside else token)
    if QUOTED + NAME not in tokens or NAME not in tokens:
        return tokens
    told = {_bare(word) for token, (word, _, _) in zip(tokens, found, strict=True) if token == NAME}
    return [
        QUOTED + OTHER_NAME if token == QUOTED + NAME and _bare(word) in told else token
        for token, (word, _, _) in zip(tokens, found, strict=True)
    ]


def _bare(name: str) -> str:
    return _GENITIVE.sub("", name)


@functools.lru_cache(maxsize=1 << 16)  # texts have few different words, and many of each
def _token(word: str, begins: bool) -> str:
    if word[0].isdigit():
        return NUMBER
    if word in _MARKS:
        return MARK
    if word[0].isupper() and len(word) > 1 and word[:2] not in ("I'", "I\u2019"):
        if is_given_name(word):
            return NAME
        if not begins and word.lower() not in titles() and not is_common(word):
            return CAPITALS if word.isupper() else NAME
    return word.lower().replace("\u2019", "'")
