"""Sentences of a text, as spans: what a reader would count.

A quotation belongs to the sentence it stands in: its own full stops end nothing but itself, unless
it closes the sentence ("He says: 'Go. Now.' Then I leave." are two). Abbreviations, initials, decimals,
ellipses and web addresses do not end sentences. No library, as a count decides findings and has to be the
same everywhere.

HEART-BENCH appendix G.4.3 (two sentences), Table 6 (one sentence).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from schemas.text.quotation_marks import Span, around, inside, spans

_END = re.compile("[.!?\u2026\u3002\uff01\uff1f]+[)\\]\"'\u201d\u2019\u00bb\u300d\u300f*]*")
_ABBREVIATIONS = re.split(
    r"\s+",
    """Mr Mrs Ms Mx Dr Prof St Sr Jr Mt Ft Gen Col Capt Lt Sgt Rev Hon Pres Gov Sen Rep vs etc approx dept est fig vol
    ed eds Inc Ltd Co Corp Ave Blvd Rd No Nos Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thur
    Thurs Fri cf al ca viz a.m p.m e.g i.e Ph.D U.S U.K D.C B.A M.A""",
)
_ABBREVIATION = re.compile(rf"(?:\b(?:{'|'.join(map(re.escape, _ABBREVIATIONS))})|(?<![\w'\u2019])[A-HJ-Z])\.$")
_LAST_LETTERS = frozenset(each[-2:] for each in _ABBREVIATIONS)
_MONTH_OR_END = re.compile(r"(?:a\.m|p\.m|etc|Inc|Ltd|Co|U\.S|U\.K|Jr|Sr|No|al|Ph\.D|D\.C)\.$", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")
_ATTRIBUTION = re.compile(
    r"[\s,\u2014\u2013-]*(?:[A-Z]\w*|(?:My|The|Our|His|Her)\s+\w+)\s+(?:\w+ly\s+)?(?:say|said|tell|told|ask|whisper|answer|reply|repl|shout|add|mutter|murmur|think"
    r"|thought|call|explain|manage|type|write|wrote|announce|insist|promise|offer|suggest|blurt|yell|snap|state|declare)\w*\b"
)
_WORD = re.compile(r"\w")


def sentences(text: str, quoted: Sequence[Span] | None = None) -> list[Span]:
    """Half-open spans of the sentences, in order, without the white space between them.

    ``quoted`` are the spans of the text's quotations, where at hand.
    """
    first = _END.search(text)
    if (first is None or first.end() >= len(text.rstrip())) and "\n" not in text:
        return [(len(text) - len(text.lstrip()), len(text.rstrip()))] if _WORD.search(text) else []
    quoted = spans(text) if quoted is None else quoted
    starts = [start for start, _ in quoted]
    cuts = [found.end() for found in _END.finditer(text) if _plainly_ends(text, found, quoted, starts)]
    cuts += [gap.start() for gap in _PARAGRAPH.finditer(text)]
    made: list[Span] = []
    start = 0
    word = _WORD.search(text)
    for cut in sorted({*cuts, len(text)}):
        if word is not None and word.start() < start:
            word = _WORD.search(text, start)
        if word is not None and word.start() < cut:
            piece = text[start:cut]
            made.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
            start = cut
        elif made:
            # Marks without a word ("…", a lone quotation mark) belong to the sentence before.
            if piece := text[start:cut].rstrip():
                made[-1] = (made[-1][0], start + len(piece))
            start = cut
    return made


def _plainly_ends(text: str, found: re.Match[str], quoted: Sequence[Span], starts: Sequence[int]) -> bool:
    """As ``_ends``, at once for what nearly all ends are: a mark outside quotations, and a blank behind a long word."""
    start, end = found.span()
    follows = text[end : end + 2]
    plain = end - start == 1 and follows[:1] == " " and not follows[1:].isspace() and text[start] in ".!?"
    if not plain or len(follows) < 2 or text[start - 1 : start].isupper() or text[start - 2 : start] in _LAST_LETTERS:
        return _ends(text, found, quoted)
    number = bisect_right(starts, start) - 1
    if number >= 0 and start < quoted[number][1]:
        return _ends(text, found, quoted)
    return not follows[1].islower()


def _ends(text: str, found: re.Match[str], quoted: Sequence[Span]) -> bool:
    marks, end = found[0], found.end()
    after = text[end : end + 60]
    stop = marks.rstrip(")]\"'\u201d\u2019\u00bb\u300d\u300f*")
    if inside(quoted, found.start()) and inside(quoted, end):
        return False
    if not after.strip():
        return True
    if stop[-1] in "\u3002\uff01\uff1f":
        return True
    if not after[0].isspace():
        return False
    follows = after.lstrip()
    if inside(quoted, found.start()):
        return _quote_ends(text, found, quoted, stop)
    if stop in ("\u2026",) or stop.startswith(".."):
        return not (follows[0].islower() or re.match(r"I\b", follows))
    before = text[max(0, found.start() - 12) : found.start() + 1]
    if stop == "." and _ABBREVIATION.search(before):
        return bool(_MONTH_OR_END.search(before)) and follows[0].isupper()
    return not follows[0].islower() or (stop in ("?", "!") and "\n" in after[:2])


def _quote_ends(text: str, found: re.Match[str], quoted: Sequence[Span], stop: str) -> bool:
    """Whether the end of a quotation ends the sentence round it: not where its clause or "I said" goes on."""
    after = text[found.end() : found.end() + 60]
    if after.lstrip()[0].islower():
        return False
    number = around(quoted, found.start())
    lead = "" if number is None else text[max(0, quoted[number][0] - 40) : quoted[number][0]].rstrip()
    opens = not lead or lead[-1] in ".!?\u2026"
    return stop == "." or not opens or not _ATTRIBUTION.match(after)
