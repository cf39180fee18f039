"""Rubin's five dimensions in a narrative: sensory detail, dialogue, inner monologue, somatic response, aftermath.

Four are shown by patterns (``patterns/rubin.*.toml``; a thought between asterisks is a monologue
whatever its words), dialogue by its quotation marks. What is
reported is what is missing: a text that shows too little of a dimension. The patterns are broad on
purpose, as one plain sign is enough; whether the dimension is told well is for ``--deep`` and people.
The patterns of a file are looked for one after the other, until a text shows enough: the first
holds the signs most narratives have, so that the many others are seldom needed.

HEART-BENCH appendix B.3 (3).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from functools import partial
from operator import is_

from audits.patterns.criteria import Criterion, criteria
from audits.patterns.matcher import Matcher
from audits.subjects import Subject, at_row
from audits.text.quotations import Quotations
from schemas.findings import Finding

FIELD = "content_full"
_DIALOGUE = "HEART-BENCH appendix B.3 (3b), G.2"
_WORDS = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_SPOKEN = re.compile("[.,!?\u2026\u2014\u3002\uff01\uff1f-][\"'\u201d\u2019\u00bb\u300d\u300f]$")


_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff]")
"""A letter of a script that sets no spaces between words."""

_TOLD = re.compile(
    r",? (?:(?:I|he|she|they|we|my|the|his|her) (?:\w+ )?)?"
    r"(?:said|says|asked|asks|answered|whispered|shouted|called|cried|told|replied|muttered|murmured|yelled)\b"
)

_TELLS = re.compile(
    r"\b(?:said|says|say|saying|asked|answered|whispered|shouted|cried|replied|muttered|murmured|yelled|repeated|added"
    r"|went|goes|snapped|mumbled|hissed|began|begged|mouthed|screamed|gasped|grunted|barked)(?: \w+ly)?[,:]? $",
    re.IGNORECASE,
)

# A title, an inscription, a word that is mentioned: nobody says it.
_MENTION = re.compile(
    r"\b(?:(?:is|was|are|were|been|being|be|'s|book|film|song|game|play|poem|shop|boat|ship|band|dog|cat|horse|one|it"
    r"|them|him|her|us|me|something|which|that) called"
    r"|call(?:ed|ing|s)? (?:it|him|her|me|them|us|this|that|his|the)(?: \w+){0,2}"
    r"|(?:re-?|nick)?named|(?:en)?titled|labell?ed|marked|stamped|so-called|known as|spelled|spelt|mean(?:s|t|ing)?"
    r"|the (?:\w+ )?(?:book|film|song|words?|title|play|poem|show|caption|letters|sentence|phrase|motto|slogan|heading)"
    r"|(?:sign|plate|board|label|badge|poster|banner|notice|sticker|plaque|stone|mug|t-?shirt|shirt|jumper|cap|stamp|tattoo"
    r"|door|screen|display|headline|inscription|blackboard|card|ribbon|cake|form|envelope|folder|tag|button|key|wall)s?"
    r"(?: \w+){0,5} (?:said|says|saying|read|reads|reading|with|bore|bearing)"
    r"):? $",
    re.IGNORECASE,
)

# What is read, sung or ticked is not said, unless it ends like speech.
_SHOWN = re.compile(
    r"\b(?:(?:read|reading|sang|sing|singing|watch(?:ed|ing)?|play(?:ed|ing)?|hummed|humming|whistled|tick(?:ed|ing)?|wrote"
    r"|written|painted|printed|typed|carved|underlined|crossed out|pressed|clicked|chose|circled|scrawled|filed under"
    r"|saw|performed|recited|from|of|in|about|to)(?: (?:the|a|her|his|my|our))?):? $",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"(?:an?|the|of|and|in|on|at|to|for|with|from|by|n?or|but|as|is|my|your|our|not?|its?)$", re.IGNORECASE
)


def audit(read: Sequence[Subject], quoted: Sequence[Quotations]) -> Iterator[Finding]:
    """One ``rubin.*`` finding for every dimension that a text does not show; blank texts are passed over."""
    wanted = _criteria()
    shown = _shown(quoted, wanted)
    for subject, quotations, counts in zip(read, quoted, shown, strict=True):
        if not quotations.text.strip():
            continue
        for criterion in wanted:
            found = counts[criterion.code]
            if criterion.code == "rubin.monologue":
                found += any(quotations.text[start] in "*_" for start, _ in quotations.spans)
            if found < (criterion.at_least or 1):
                message = f"{criterion.message} ({found} found, {criterion.at_least} needed)"
                yield at_row(subject, criterion.code, criterion.severity, message, FIELD, source=criterion.source)
        if not has_dialogue(quotations):
            message = "nobody speaks: no words in quotation marks"
            yield at_row(subject, "rubin.dialogue", "warning", message, FIELD, source=_DIALOGUE)


def has_dialogue(quoted: Quotations) -> bool:
    """Whether something is said in quotation marks: three words, or one that ends or is told as speech."""
    spans = [span for span in quoted.spans if quoted.text[span[0]] not in "*_"]
    return any(_is_told(quoted.text, *span) for span in spans) or any(_is_said(quoted.text, *span) for span in spans)


def _is_told(text: str, start: int, end: int) -> bool:
    """Whether words are followed by who says them: enough by itself, and quickly seen."""
    return _TOLD.match(text, end) is not None and _WORDS.search(text, start, end) is not None


def _is_said(text: str, start: int, end: int) -> bool:
    """Whether words are said that nobody is seen to say behind them."""
    quotation = text[start:end]
    words = _WORDS.findall(quotation)
    low = max(0, start - 80)
    ended = bool(words and _SPOKEN.search(quotation))
    if _MENTION.search(text, low, start):
        return False
    told = bool(words and _TELLS.search(text, low, start))
    if not told and not ended and (_SHOWN.search(text, low, start) or _is_title(words)):
        return False
    return told or ended or len(words) >= 3 or bool(words and _UNSPACED.search(quotation) and end - start > 4)


def _is_title(words: Sequence[str]) -> bool:
    """Whether all words but small ones have capitals."""
    large = [word for word in words if _SMALL.match(word) is None]
    return len(large) >= 2 and all(word[0].isupper() for word in large)


def _shown(quoted: Sequence[Quotations], wanted: Sequence[Criterion]) -> list[dict[str, int]]:
    """Signs per code and text, up to the number needed."""
    needed = {c.code: (c.at_least or 1, c.from_share) for c in wanted}
    first, others = _signs()
    shown = first.count(quoted, needed)
    for code, matcher in others:
        lacking = [number for number, counts in enumerate(shown) if counts[code] < needed[code][0]]
        more = matcher.count([quoted[number] for number in lacking], {code: needed[code]})
        for number, counts in zip(lacking, more, strict=True):
            shown[number][code] += counts[code]
    return shown


@functools.cache
def _criteria() -> tuple[Criterion, ...]:
    return tuple(c for c in criteria().values() if c.table == "memories" and c.at_least is not None)


@functools.cache
def _signs() -> tuple[Matcher, tuple[tuple[str, Matcher], ...]]:
    """What finds the first pattern of every file, and then what finds each of the others, with its code."""
    wanted = _criteria()
    first = [criterion.patterns[0] for criterion in wanted]
    others = [(criterion, pattern) for criterion in wanted for pattern in criterion.patterns[1:]]
    return Matcher(wanted, first.__contains__), tuple((c.code, Matcher([c], partial(is_, p))) for c, p in others)
