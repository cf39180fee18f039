"""Whether a memory is in the first person at all: counted, as no single sentence shows it.

Sentences that tell of the protagonist from outside are found by ``patterns/person.third.toml`` and the linear model.

HEART-BENCH appendix G.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from audits.subjects import Subject, at_row
from audits.text.quotations import Quotations
from schemas.findings import Finding

FEWEST_WORDS = 40
"""A text of fewer words outside quotations is not judged by counting."""

FEWEST_FIRST = 1 / 100
"""The share of "I", "my" and "we" below which a narrative is not in the first person; usual are six of a hundred."""

_FIELD = "content_full"
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['\u2019][A-Za-z]+)?")
_FIRST = re.compile(r"(?:i|me|my|mine|myself|we|us|our|ours|ourselves)(?:'(?:m|d|ve|ll|re|s))?")


def third_person_narrative(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """``person.third`` for a narrative that hardly ever says "I"."""
    text = quoted.outside()
    if text.count(" I ") + text.count(" my ") >= FEWEST_FIRST * (len(text) + 1) / 2:
        return  # there cannot be more words than every other sign begins one
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]
    first = sum(1 for word in words if _FIRST.fullmatch(word))
    if len(words) >= FEWEST_WORDS and first < FEWEST_FIRST * len(words):
        message = f"{first} words of the first person among {len(words)} outside quotations"
        yield at_row(subject, "person.third", "error", message, _FIELD, source="HEART-BENCH appendix G.2")
