"""Audit memories: the six criteria of HEART-BENCH appendix B.4 and what its constraints imply.

Criteria 1, 2 and 6 (perspective, vocabulary) and the identity criteria are patterns; 3 and 5
(lengths) are here; 4 (duplicates) compares rows and is ``audits.duplicates``. Limits are in
characters, as the paper counts them.

    python -m audits --benchmark heart --table memories
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from audits.checks import age_register, continuity, memory_fields, pattern_criteria, person, row_format, rubin
from audits.patterns.criteria import Criterion
from audits.subjects import Related, Subject, at_row, at_words, counted
from audits.text.quotations import Quotations
from schemas.findings import Finding
from schemas.tables import Row

KEY = ("id",)
NARRATIVE = "content_full"
SHORTEST, LONGEST = 2_000, 4_500
CHILD = 12
"""The last year in which a narrator is one."""

_AT_A_TIME = 200
"""Memories whose words are read at a time: of more there is nothing to gain, and what is known of them takes room."""

FIELD_LIMITS = {"context": 60, "content_summary": 100}
FIELD_TARGETS = {"context": (15, 30), "content_summary": (20, 40)}

_LENGTHS = "HEART-BENCH appendix B.4 (5), Table 6"
_FIELDS = "HEART-BENCH appendix B.4 (3)"
_AGE = re.compile(r"\((?:age )?(\d{1,3})(?: years old)?\)")


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each row by itself; the words of those of ``judged`` are English.

    ``related["ledgers"]`` are the life ledgers; without them nothing is said of continuity. Only
    audits that can raise a code of ``wanted`` are run.
    """
    families = {code.split(".")[0] for code in wanted}
    known = continuity.ledgers(related.get("ledgers", ())) if "continuity" in families else {}
    found = [finding for subject in read for finding in _of_row(subject, families)]
    if "continuity" in families:  # names of the ledger are the same in every language
        english = {subject.place for subject in judged}
        for subject in (each for each in read if each.place not in english):
            found += continuity.audit(subject, age_of(subject), known, Quotations(subject.text(NARRATIVE)))
    for start in range(0, len(judged), _AT_A_TIME):
        found += _of_words(judged[start : start + _AT_A_TIME], known, wanted, families)
    return found


def not_checked(rows: Sequence[Row], related: Related, wanted: Collection[str]) -> Iterator[str]:
    """A line where there are characters without a ledger to compare their memories with."""
    if not any(code.startswith("continuity.") for code in wanted):
        return
    known = continuity.ledgers(related.get("ledgers", ()))
    lacking = Counter(str(row.get("character_id")) for row in rows if row.get("character_id") not in known)
    if lacking:
        names = ", ".join(sorted(lacking)[:3]) + (f" and {len(lacking) - 3:,} more" if len(lacking) > 3 else "")
        yield f"continuity not checked: no ledger for {names} ({counted(lacking.total(), 'memory', 'memories')})"


def _of_words(
    read: Sequence[Subject], known: Mapping[str, continuity.Ledger], wanted: frozenset[str], families: set[str]
) -> list[Finding]:
    texts = pattern_criteria.passages(read, NARRATIVE)
    found = [
        *pattern_criteria.findings("memories", read, wanted, applies=_applies, known={NARRATIVE: texts}),
        *(rubin.audit(read, texts) if "rubin" in families else ()),
    ]
    for subject, passage in zip(read, texts, strict=True):
        if "person" in families:
            found += person.third_person_narrative(subject, passage)
        if "continuity" in families:
            found += continuity.audit(subject, age_of(subject), known, passage)
        age = age_of(subject)
        if age_register.CODE in wanted and age is not None and age <= CHILD:
            found += age_register.audit(subject, age, passage, passage.sentence_spans)
    return found


def _of_row(subject: Subject, families: set[str]) -> Iterator[Finding]:
    if "format" in families:
        yield from _shape(subject, age_of(subject))
    if families & {"length", "fields"}:
        yield from _lengths(subject)


def _shape(subject: Subject, age: int | None) -> Iterator[Finding]:
    yield from memory_fields.audit(subject, age)
    for field in ("triggers", "relevance_tags"):
        yield from row_format.count_of(subject, field, 4, "HEART-BENCH Table 6")
    for field in ("psych_conclusion", "behavior_policy"):
        yield from row_format.one_sentence(subject, field, "HEART-BENCH Table 6")


def age_of(subject: Subject) -> int | None:
    """The age in years: of the column, else of the timeline."""
    age = subject.number("age")
    if age is None and (stated := _AGE.search(subject.text("timeline"))):
        return int(stated[1])
    return None if age is None else int(age)


def _applies(criterion: Criterion, subject: Subject) -> bool:
    if criterion.max_age is not None:
        age = age_of(subject)
        return age is not None and age <= criterion.max_age
    if criterion.below_intensity is not None:
        intensity = subject.number("emotion_signature.intensity")
        return intensity is not None and intensity < criterion.below_intensity
    return True


def _lengths(subject: Subject) -> Iterator[Finding]:
    yield from row_format.length_of(subject, NARRATIVE, (SHORTEST, LONGEST), "error", _LENGTHS)
    for field, limit in FIELD_LIMITS.items():
        text = subject.text(field)
        low, high = FIELD_TARGETS[field]
        if len(text) > limit:
            message = f"{counted(len(text), 'character')}, at most {limit} allowed: narrative leaks into the field"
            yield at_words(subject, "fields.inverted", "error", field, (limit, len(text)), message, _FIELDS)
        elif text and not low <= len(text) <= high:
            message = f"{counted(len(text), 'character')}, {low} to {high} aimed at"
            yield at_row(subject, "fields.target", "note", message, field, len(text), "HEART-BENCH Table 6")
