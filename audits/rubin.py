"""Rubin's five dimensions in a narrative: sensory detail, dialogue, inner monologue, somatic response, aftermath.

Four are shown by patterns (``patterns/rubin.*.toml``; a thought between asterisks is a monologue
whatever its words), dialogue by its quotation marks. What is
reported is what is missing: a text that shows too little of a dimension. The patterns are broad on
purpose, as one plain sign is enough; whether the dimension is told well is for ``--deep`` and people.

HEART-BENCH appendix B.3 (3).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from audits.criteria import Criterion, criteria
from audits.patterns import Matcher
from audits.reading import Subject, at_row
from audits.speech import Quotations
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

# A title, an inscription, a word that is mentioned: nobody says it.
_MENTION = re.compile(
    r"\b(?:(?:is|was|are|were|been|being|be|'s|book|film|song|game|play|poem|shop|boat|one) called"
    r"|titled|entitled|labell?ed|so-called|the (?:book|film|song|word|words|title|play|poem|show)) $",
    re.IGNORECASE,
)


def audit(read: Sequence[Subject], quoted: Sequence[Quotations]) -> Iterator[Finding]:
    """One ``rubin.*`` finding for every dimension that a text does not show; blank texts are passed over."""
    matcher, wanted = _signs()
    shown = matcher.count(quoted, {c.code: (c.at_least or 1, c.from_share) for c in wanted})
    for subject, quotations, counts in zip(read, quoted, shown, strict=True):
        if not quotations.text.strip():
            continue
        for criterion in wanted:
            found = counts.get(criterion.code, 0)
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
    for start, end in quoted.spans:
        quotation = quoted.text[start:end]
        if quotation[0] in "*_" or _MENTION.search(quoted.text, max(0, start - 40), start):
            continue
        words = len(_WORDS.findall(quotation))
        if (
            words >= 3
            or (words and _SPOKEN.search(quotation))
            or (words and _TOLD.match(quoted.text, end))
            or (words and _UNSPACED.search(quotation) and end - start > 4)
        ):
            return True
    return False


@functools.cache
def _signs() -> tuple[Matcher, tuple[Criterion, ...]]:
    wanted = tuple(c for c in criteria().values() if c.table == "memories" and c.at_least is not None)
    return Matcher(wanted), wanted
