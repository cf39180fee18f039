"""Audit decisions: two sentences, first person, plain language, no memory ids.

HEART-BENCH appendix G.4.3. The inner trace is held to the same rules as the decision, save the count
of sentences.

    python -m audits --benchmark heart --table decisions
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from audits import byfield, shape
from audits.criteria import Criterion
from audits.patterns import Match
from audits.reading import Subject, at_row, at_words, subjects
from audits.sentences import sentences
from audits.speech import Quotations
from schemas.findings import Finding
from schemas.tables import Row

KEY = ("character_id", "scenario_id")
SENTENCES = 2

_SOURCE = "HEART-BENCH appendix G.4.3"
_DECISION = "final_decision"
_FIELDS = (_DECISION, *(f"inner_consciousness.{name}" for name in ("summary", "core_reasoning", "value_orientation")))
_FIRST = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]ur|[Oo]urs|[Oo]urselves)\b")
_ABOUT_SELF = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b")
_ACTS = (
    r"(?:choos(?:e|es)|chose|decid(?:e|es|ed)|will|would|is going to|are going to|refus(?:e|es|ed)|agree[sd]?"
    r"|stay(?:s|ed)?|accept(?:s|ed)?|declin(?:e|es|ed)|opt(?:s|ed)?|walk(?:s|ed)?|says?|said|tells?|told|go(?:es)?|went|takes?|took"
    r"|tr(?:y|ies|ied)|turn(?:s|ed)?|step(?:s|ped)?|stands?|stood|keeps?|kept|makes?|made|ask(?:s|ed)?|gives?|gave|puts?"
    r"|repl(?:y|ies|ied)|pull(?:s|ed)?|look(?:s|ed)?|remain(?:s|ed)?|prefer(?:s|red)?|speaks?|spoke|raise[sd]?|sets?|lets?"
    r"|reach(?:es|ed)?|pick(?:s|ed)?|leaves?|left|holds?|held|propose[sd]?)"
)
# Told from outside: the sentence's subject is somebody else, or "the character".
_OUTSIDE = re.compile(
    r"(?:(?:The|This|Our) (?:character|protagonist|person|persona|agent|individual)|Role [A-Z]|CHAR_\d+)\b"
    rf"|(?:He|She|They)(?:, [^.,!?]{{1,40}},)? (?:\w+ly |then |also |still |would rather )?{_ACTS}\b"
    r"|(?:He|She|They)['\u2019](?:d|s|ll|re|ve) (?:rather|going|about|not|never|just|\w+ly )?"
    r"|(?:He|She|They), [^.,!?]{1,40}, \w+s\b"
)
_ANYWHERE = re.compile(
    r"\b(?:[Tt]he|[Tt]his) (?:character|protagonist) (?:chose|chooses|decided|decides|feels|felt|would|will|is|was"
    r"|has|had|says|said)\b"
)
_MEMORY_ID = re.compile(
    r"\b(?:MEM|mem)[_ -]?(?:CHAR[_ -]?)?\d{1,3}(?:[_ -](?:[OCEAN][_ -](?:HIGH|LOW)|NEUTRAL))?(?:[_ -]?\d{2,5})?\b"
    r"|\bM-\d{3,5}\b"
    r"|\b[Mm]emor(?:y|ies)[ _]?(?:ID|id|#|no\.?|nr\.?|number)? ?[#(\[]?(?:MEM\w+|#?\d{1,5})\b|\[\d{4,5}\]"
    r"|\b[Mm]emor(?:y|ies) (?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|\b(?:item|entry|number|no\.?) \d+ (?:of|on|in|from) (?:the|my) memor(?:y|ies)\b"
    r"|\b(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|last) (?:listed memory|memory"
    r" (?:I was (?:given|shown)|on (?:the|my) list|above|listed|in (?:the|my) (?:list|prompt|record)))"
)


def audit(
    rows: Sequence[Row], related: Mapping[str, Sequence[Row]], wanted: frozenset[str], first: int = 0
) -> list[Finding]:
    """Findings of each decision by itself."""
    read = subjects("decisions", KEY, rows, first)
    found = list(byfield.findings("decisions", read, wanted, _always))
    for subject in read:
        found += [*shape.audit(subject), *_count(subject), *_person(subject), *_ids(subject)]
    return found


def _always(criterion: Criterion, subject: Subject, match: Match) -> bool:
    return True


def _count(subject: Subject) -> Iterator[Finding]:
    text = subject.text(_DECISION)
    count = len(sentences(text))
    if text.strip() and count != SENTENCES:
        message = f"{count} sentences, {SENTENCES} expected: the choice, then the action"
        yield at_row(subject, "format.sentences", "warning", message, _DECISION, count, _SOURCE)


def _person(subject: Subject) -> Iterator[Finding]:
    for field in _FIELDS:
        text = subject.text(field)
        if not text.strip():
            continue
        quoted = Quotations(text)
        if found := _from_outside(quoted, field):
            message = "told from outside instead of by the character"
            yield at_words(subject, "person.third", "error", field, found, message, f"{_SOURCE} (rules 1 and 6)")
        elif field == _DECISION and not _FIRST.search(quoted.outside()):
            message = "no word of the first person outside quotations"
            yield at_row(subject, "person.missing", "warning", message, field, source=f"{_SOURCE} (rule 6)")


def _from_outside(quoted: Quotations, field: str) -> tuple[int, int] | None:
    text = quoted.text
    if (found := _ANYWHERE.search(text)) and quoted.around(found.start()) is None:
        return found.span()
    if field != _DECISION:
        return None
    for start, end in sentences(text)[:1]:
        found = _OUTSIDE.match(text, start)
        # "They laughed, and I left": others may open the sentence as long as the narrator is in it.
        if found and not _ABOUT_SELF.search(Quotations(text[start:end]).outside()):
            return found.span()
    return None


def _ids(subject: Subject) -> Iterator[Finding]:
    for field, text in shape.leaves(subject.row):
        if field.startswith(("final_decision", "inner_consciousness")):
            for found in _MEMORY_ID.finditer(text):
                message = "memories surface as associations, not by their ids"
                yield at_words(subject, "citation.memory", "error", field, found.span(), message, f"{_SOURCE} (rule 3)")
