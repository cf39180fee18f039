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
    """Whether something is said in quotation marks: three words, or one that ends as speech does."""
    for start, end in quoted.spans:
        quotation = quoted.text[start:end]
        if quotation[0] in "*_":
            continue
        words = len(_WORDS.findall(quotation))
        if (
            words >= 3
            or (words and _SPOKEN.search(quotation))
            or (words and not quotation.isascii() and end - start > 4)
        ):
            return True
    return False


@functools.cache
def _signs() -> tuple[Matcher, tuple[Criterion, ...]]:
    wanted = tuple(c for c in criteria().values() if c.table == "memories" and c.at_least is not None)
    return Matcher(wanted), wanted
