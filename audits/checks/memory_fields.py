"""What the id, the timeline, the age and the stage of a memory say about each other (``format.*``).

HEART-BENCH Tables 6 and 8, appendix B.2. What a row does not say itself follows from its other columns
(``schemas.derived``); what it does say has to agree with them.

    python -m audits --benchmark heart --table memories --only format.id format.timeline format.stage
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from audits.subjects import Subject, at_row
from schemas.derived import derivations
from schemas.findings import Finding
from schemas.records import record_schema, term_between, vocabulary

YOUNGEST, OLDEST = 6, 50

_TABLE_6 = "HEART-BENCH Table 6"
_TAGGED = re.compile(r"_(?:[OCEAN]_(?:HIGH|LOW)|NEUTRAL)_")
_TIMELINE = re.compile(r"(.+) \((\d{1,2})\)")


def audit(subject: Subject, age: int | None) -> Iterator[Finding]:
    """The findings of a memory; ``age`` is that of its column, else of its timeline."""
    yield from _id(subject)
    if age is None:
        yield at_row(subject, "format.missing", "error", "neither age nor timeline gives the age", "timeline")
    elif not YOUNGEST <= age <= OLDEST:
        message = f"age outside {YOUNGEST} to {OLDEST}"
        yield at_row(subject, "format.range", "error", message, "age", age, "HEART-BENCH appendix B.2")
    intensity = subject.number("emotion_signature.intensity")
    if intensity is not None and not 0 <= intensity <= 1:
        message = "intensity outside 0 to 1"
        yield at_row(subject, "format.range", "error", message, "emotion_signature.intensity", intensity, _TABLE_6)
    if age is not None and YOUNGEST <= age <= OLDEST:
        yield from _timeline(subject, age)


def _id(subject: Subject) -> Iterator[Finding]:
    identifier, character = subject.row.get("id"), subject.text("character_id")
    if not isinstance(identifier, str) or not identifier:
        return
    if not re.search(record_schema("memories")["properties"]["id"]["pattern"], identifier):
        message = "not a memory id" + ("; the id carries an archetype" if _TAGGED.search(identifier) else "")
        yield at_row(subject, "format.id", "error", message, "id", identifier, _TABLE_6)
    elif character and character != derivations("memories")["character_id"].value(identifier):
        yield at_row(subject, "format.id", "error", f"the id is not one of {character}", "id", identifier, _TABLE_6)


def _timeline(subject: Subject, age: int) -> Iterator[Finding]:
    timeline, stage = subject.text("timeline"), term_between(vocabulary("memory_stages"), age)
    if not timeline or stage is None:
        return
    wanted = f"{stage['label']} ({age})"
    if timeline != wanted:
        read = _TIMELINE.fullmatch(timeline)
        what = "another form" if read is None else "another age" if int(read[2]) != age else "another stage"
        source = "HEART-BENCH Tables 6 and 8"
        yield at_row(subject, "format.timeline", "error", f"{what}: expected {wanted!r}", "timeline", timeline, source)
    if subject.text("stage") not in ("", stage["id"]):
        message = f"expected {stage['id']} at {age}"
        yield at_row(subject, "format.stage", "error", message, "stage", subject.text("stage"), "HEART-BENCH Table 8")
