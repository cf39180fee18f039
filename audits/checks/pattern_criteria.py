"""Run the pattern criteria of a table over its rows: what memories, scenarios and decisions have in common.

What a pattern finds has the severity of its criterion. A sentence in which no pattern finds anything, but which reads
like a fault to the linear model, is a warning, and of identity a note: whose a name is, is seldom said in a sentence,
and ``--deep`` asks a model of the whole scene.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from audits.patterns.criteria import Criterion, criteria
from audits.patterns.matcher import Match, matches
from audits.subjects import Subject, at_words
from audits.text.linear_model import model
from audits.text.passage import Passage, weigh
from audits.text.quotations import Span
from audits.text.tokens import word_places
from schemas.findings import Finding, Severity

Applies = Callable[[Criterion, Subject], bool]
Judges = Callable[[Subject, str, Match], bool]

MODEL = "model"
"""The name of what the linear model finds, in place of that of a pattern."""

_NOTED = "identity"
_FEWEST_WORDS = 4


def passages(read: Sequence[Subject], field: str) -> list[Passage]:
    """The texts of a field."""
    return [Passage(subject.text(field)) for subject in read]


def findings(
    table: str,
    read: Sequence[Subject],
    wanted: frozenset[str],
    applies: Applies = lambda criterion, subject: True,
    judges: Judges = lambda subject, field, match: True,
    known: Mapping[str, Sequence[Passage]] | None = None,
    own: Mapping[str, Criterion] | None = None,
) -> Iterator[Finding]:
    """The findings of the table's wanted criteria, and of a user's own ones (``user_patterns.user_criteria``).

    ``applies`` says whether a criterion judges a row at all, ``judges`` whether a match in a field of it counts.
    ``known`` are the passages of fields that are read already.
    """
    chosen = [c for c in criteria().values() if c.table == table and c.at_least is None and c.code in wanted]
    chosen += [c for c in (own or {}).values() if c.table == table]
    for field in dict.fromkeys(field for criterion in chosen for field in criterion.fields):
        texts = (known or {}).get(field) or passages(read, field)
        here = [criterion for criterion in chosen if field in criterion.fields]
        if any(criterion.fields[0] == field and criterion.code in model().settings for criterion in here):
            weigh(texts)
        for subject, passage in zip(read, texts, strict=True):
            for criterion in here if passage.text else ():
                if applies(criterion, subject):
                    yield from _of_text(criterion, subject, field, passage, judges)
            passage.scans.clear()


def _of_text(criterion: Criterion, subject: Subject, field: str, passage: Passage, judges: Judges) -> Iterator[Finding]:
    found = matches(criterion, passage)
    for match in found:
        if judges(subject, field, match):
            message = f"{criterion.message} ({match.name})"
            span = (match.start, match.end)
            yield at_words(subject, match.code, criterion.severity, field, span, message, criterion.source)
    if field == criterion.fields[0] and criterion.code in model().settings:
        for span, words in read_like(criterion.code, passage, [(match.start, match.end) for match in found]):
            if judges(subject, field, Match(*span, criterion.code, MODEL)):
                severity: Severity = "note" if criterion.code.startswith(_NOTED) else "warning"
                message = f"{criterion.message} (linear model; strongest words: {', '.join(words)})"
                yield at_words(subject, criterion.code, severity, field, span, message, criterion.source)


def read_like(code: str, passage: Passage, judged: Collection[Span] = ()) -> Iterator[tuple[Span, list[str]]]:
    """The sentences that read like a fault to the model and hold none of the spans ``judged``.

    For each what is pointed at, from the first to the last of the words that say most for it, and these words.
    """
    for place in passage.likely(code):
        sentence = passage.read[place]
        start, end = sentence.span
        if len(sentence.tokens) < _FEWEST_WORDS or any(first < end and last > start for first, last in judged):
            continue
        words = word_places(passage.text, sentence.span, passage.spans)
        places = [words[each] for each in model().heaviest(sentence, code)]
        yield (places[0][0], places[-1][1]), [passage.text[slice(*each)] for each in places]
