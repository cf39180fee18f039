"""Audit decisions: two sentences, first person, plain language, no memory ids.

HEART-BENCH appendix G.4.3. The inner trace is held to the same rules as the decision, save the count
of sentences.

    python -m audits --benchmark heart --table decisions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audits.checks import narration, pattern_criteria
from audits.subjects import Related, Subject, at_row, at_words, counted
from audits.text.quotations import Quotations
from schemas.findings import Finding
from schemas.text.sentences import sentences

SENTENCES = 2

_SOURCE = "HEART-BENCH appendix G.4.3"
_DECISION = "final_decision"
_FIELDS = (_DECISION, *(f"inner_consciousness.{name}" for name in ("summary", "core_reasoning", "value_orientation")))


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each decision by itself; the words of those of ``judged`` are English."""
    found = list(pattern_criteria.findings("decisions", judged, wanted))
    for subject in read:
        found += _count(subject)
    for subject in judged:
        found += _person(subject)
    return found


def _count(subject: Subject) -> Iterator[Finding]:
    text = subject.text(_DECISION)
    count = len(sentences(text))
    if text.strip() and count != SENTENCES:
        message = f"{counted(count, 'sentence')}, {SENTENCES} expected: the choice, then the action"
        yield at_row(subject, "format.sentences", "warning", message, _DECISION, count, _SOURCE)


def _person(subject: Subject) -> Iterator[Finding]:
    for field in _FIELDS:
        text = subject.text(field)
        if not text.strip():
            continue
        quoted = Quotations(text)
        if found := narration.narrated_from_outside(quoted, decision=field == _DECISION):
            message = "narrated by somebody else instead of the character"
            yield at_words(subject, "person.third", "error", field, found, message, f"{_SOURCE} (rules 1 and 6)")
        elif field == _DECISION and not narration.FIRST.search(quoted.outside()):
            message = "no word of the first person outside quotations"
            yield at_row(subject, "person.missing", "warning", message, field, source=f"{_SOURCE} (rule 6)")
