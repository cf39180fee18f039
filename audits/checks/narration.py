"""Whether a decision is narrated by somebody else instead of the character; the words are in ``narration.toml``.

A decision without any word of the first person is narrated from outside if somebody else is who acts: he,
she, they, a name, a trade. One with such words is if it speaks of "the character", or opens with what
he or she chooses. Of an inner trace only "the character" counts.

HEART-BENCH appendix G.4.3 (rules 1 and 6). Used by ``audits.checks.decisions``.
"""

from __future__ import annotations

import re
from pathlib import Path

from audits.patterns.wording import Wording
from audits.text.names import given_names
from audits.text.quotations import Quotations, Span
from schemas.text.sentences import sentences

FIRST = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]ur|[Oo]urs|[Oo]urselves)\b")

_ABOUT_SELF = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b")
_WORDS = Wording(Path(__file__).with_suffix(".toml"))


def narrated_from_outside(quoted: Quotations, decision: bool) -> Span | None:
    """The words that narrate a decision, or else a field of its inner trace, from outside."""
    text = quoted.text
    found = _unquoted(_WORDS["character_feels"], quoted, 0, len(text))
    if found or not decision:
        return found
    alone = not FIRST.search(_WORDS["speech"].sub("", quoted.outside()))
    for number, (start, end) in enumerate(sentences(text, quoted.spans)):
        # "They laughed, and I left": others may open a sentence as long as the narrator is in it.
        about_self = _ABOUT_SELF.search(Quotations(text[start:end]).outside())
        found = None if about_self else _unquoted(_WORDS["character"], quoted, start, end)
        if alone:
            found = found or _stranger(quoted, start, end)
            if number == 0 and not _WORDS["order_given"].match(text, start, end):
                found = found or _unquoted(_WORDS["somebody"], quoted, start, end)
        elif number == 0 and not about_self and (chosen := _WORDS["chooses"].match(text, start, end)):
            found = found or chosen.span()
        if found:
            return found
    return None


def _stranger(quoted: Quotations, start: int, end: int) -> Span | None:
    """Who acts in a sentence, at its beginning or behind a quotation, and is not the narrator."""
    places = [start, *(after for _, after in quoted.spans if start < after < end)]
    for found in (_WORDS["stranger"].match(quoted.text, place, end) for place in places):
        if found and (not found["name"] or found["name"].lower() in given_names()):
            return found.span()
    return _unquoted(_WORDS["done_by"], quoted, start, end)


def _unquoted(pattern: re.Pattern[str], quoted: Quotations, start: int, end: int) -> Span | None:
    found = (each.span() for each in pattern.finditer(quoted.text, start, end))
    return next((span for span in found if quoted.around(span[0]) is None), None)
