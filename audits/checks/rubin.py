"""Rubin's five dimensions in a narrative: sensory detail, dialogue, inner monologue, somatic response, aftermath.

Four are shown by the linear model and by patterns (``patterns/rubin.*.toml``; a thought between asterisks is a
monologue whatever its words), dialogue by its quotation marks. What is reported is what is missing: a text that shows
too little of a dimension. A sentence that reads like a sign to the linear model is one; patterns are only looked for
where these are too few. One plain sign is enough, and whether the dimension is told well is for ``--deep`` and people.

HEART-BENCH appendix B.3 (3).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from audits.patterns.criteria import Criterion, criteria
from audits.patterns.matcher import first_spans, matches
from audits.patterns.wording import Wording
from audits.subjects import Subject, at_row
from audits.text.passage import Passage
from audits.text.quotations import Quotations, Span
from schemas.findings import Finding

FIELD = "content_full"
_WORDING = Wording(Path(__file__).with_suffix(".toml"))
_DIALOGUE = "HEART-BENCH appendix B.3 (3b), G.2"
_WORDS = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_SPOKEN = re.compile("[.,!?\u2026\u2014\u3002\uff01\uff1f-][\"'\u201d\u2019\u00bb\u300d\u300f]$")


_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff]")
"""A letter of a script that sets no spaces between words."""


def audit(read: Sequence[Subject], passages: Sequence[Passage]) -> Iterator[Finding]:
    """One ``rubin.*`` finding for every dimension that a text does not show; blank texts are passed over."""
    for subject, passage in zip(read, passages, strict=True):
        if not passage.text.strip():
            continue
        for criterion in _criteria():
            found = signs(criterion, passage)
            if criterion.code == "rubin.monologue":
                found += any(passage.text[start] in "*_" for start, _ in passage.spans)
            if found < (criterion.at_least or 1):
                message = f"{criterion.message} ({found} found, {criterion.at_least} needed)"
                yield at_row(subject, criterion.code, criterion.severity, message, FIELD, source=criterion.source)
        passage.scans.clear()
        if not has_dialogue(passage):
            message = "no dialogue: no words in quotation marks"
            yield at_row(subject, "rubin.dialogue", "warning", message, FIELD, source=_DIALOGUE)


def has_dialogue(quoted: Quotations) -> bool:
    """Whether something is said in quotation marks: three words, or one that ends or is told as speech."""
    spans = [span for span in quoted.spans if quoted.text[span[0]] not in "*_"]
    return any(_is_attributed(quoted.text, *span) for span in spans) or any(
        _is_said(quoted.text, *span) for span in spans
    )


def _is_attributed(text: str, start: int, end: int) -> bool:
    """Whether words are followed by who says them: enough by itself, and quickly seen."""
    return _WORDING["said_behind"].match(text, end) is not None and _WORDS.search(text, start, end) is not None


def _is_said(text: str, start: int, end: int) -> bool:
    """Whether words are said that nobody is seen to say behind them."""
    quotation = text[start:end]
    words = _WORDS.findall(quotation)
    low = max(0, start - 80)
    ended = bool(words and _SPOKEN.search(quotation))
    if _WORDING["mention"].search(text, low, start):
        return False
    spoken = bool(words and _WORDING["said_before"].search(text, low, start))
    if not spoken and not ended and (_WORDING["shown"].search(text, low, start) or _is_title(words)):
        return False
    return spoken or ended or len(words) >= 3 or bool(words and _UNSPACED.search(quotation) and end - start > 4)


def _is_title(words: Sequence[str]) -> bool:
    """Whether all words but small ones have capitals."""
    large = [word for word in words if _WORDING["small_word"].match(word) is None]
    return len(large) >= 2 and all(word[0].isupper() for word in large)


def signs(criterion: Criterion, passage: Passage) -> int:
    """How many signs of a dimension a text shows, counted up to the number needed.

    A sentence by itself may show one to the model. In running text, where among many sentences one always reads a
    little like a sign, only patterns count; where one sign is enough, the likeliest sentences are read first.
    """
    needed, least = criterion.at_least or 1, int(criterion.from_share * len(passage.text))
    if not passage.running:
        likely = [passage.stretches[place] for place in passage.likely(criterion.code)]
        shown = len([end for _, end in likely if end > least])
        if shown >= needed:
            return needed
        matched = [match for match in matches(criterion, passage) if match.start >= least]
        alone = [match for match in matched if not any(start <= match.start < end for start, end in likely)]
        return min(max(shown + len(alone), len(matched)), needed)
    found: list[Span] = []
    for first, last in first_spans(criterion, passage, least, likeliest=needed == 1):
        if first >= least and all(last <= low or first >= high for low, high in found):
            found.append((first, last))
        if len(found) >= needed:
            return needed
    return len(found)


@functools.cache
def _criteria() -> tuple[Criterion, ...]:
    return tuple(c for c in criteria().values() if c.table == "memories" and c.at_least is not None)
