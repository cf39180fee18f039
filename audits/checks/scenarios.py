"""Audit scenarios: nobody in particular, something to decide now, and all of the situation space.

Each row by itself: identity anchors for "you", urgency, lengths, value pairs that do not oppose each
other on the circumplex, references that do not cover what is assessed. All rows together: every
DIAMONDS dimension is exercised across both ends of its range, both great value axes occur.

HEART-BENCH 3.3, appendix C.2 and G.3.

    python -m audits --benchmark heart --table scenarios
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audits.checks import pattern_criteria, row_format
from audits.patterns.criteria import criteria
from audits.patterns.matcher import Match, matches
from audits.subjects import WHOLE_TABLE, Related, Subject, at_row
from audits.text.passage import Passage
from schemas.findings import Finding
from schemas.tables import term_ids, vocabulary

LIMITS = {"context_text": (150, 2_000), "trigger_event.message_content": (100, 1_500)}
"""Characters. Lower bounds are the prompt's; upper ones hold for every published scenario (at most 1,942; 1,373)."""

LOW_END, HIGH_END = (1, 2), (6, 7)
"""Ratings that count as an end of a DIAMONDS dimension."""

FEWEST_RATED = 8
"""Coverage is judged from so many rated scenarios on: one a dimension."""

PRESSING, OPEN_END = "time_presses", "open_end"
"""The strongest pattern of ``urgency.missing``, and that of ``urgency.deferred`` which counts where nothing presses."""

OPPOSED = (frozenset({"openness_to_change", "conservation"}), frozenset({"self_enhancement", "self_transcendence"}))
"""The two axes of the circumplex, as pairs of value groups."""

_CONTEXT, _URGENCY = "context_text", "urgency.missing"
_PROMPT, _COVERAGE = "HEART-BENCH appendix G.3", "HEART-BENCH 3.3, appendix C.2"
_YOU = re.compile(r"\byou(?:r|rs|rself|'re|'ve|'d|'ll|\u2019re|\u2019ve|\u2019d|\u2019ll)?\b", re.IGNORECASE)
_FAMILY = re.compile(
    r"husband|wife|spouse|fianc|partner|(?:boy|girl)friend|marri|wedding|engage|in-law|divorc|widow|honeymoon|anniversar"
    r"|together|in love|separated",
    re.IGNORECASE,
)


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each row by itself; the words of those of ``judged`` are English."""
    found = list(pattern_criteria.findings("scenarios", judged, wanted, judges=_judges))
    for subject in read:
        found += [*_lengths(subject), *_values(subject), *_ratings(subject)]
    for subject in judged:
        found += [*_second_person(subject), *_urgency(subject)]
    return found


def coverage(read: Sequence[Subject], related: Related) -> list[Finding]:
    """``coverage.*``: what the scenarios leave out when taken together. Nothing is said of fewer than 8 rated ones."""
    table, rows = Subject("scenarios", WHOLE_TABLE, {}), [subject.row for subject in read]
    return [*_diamonds_coverage(table, rows), *_value_coverage(table, rows)]


def circumplex_distance(one: str, other: str) -> int:
    """Steps between two of the 19 values on the circle: 0 to 9. Raises ValueError for an unknown value."""
    order = term_ids("schwartz_values")
    apart = abs(order.index(one) - order.index(other))
    return min(apart, len(order) - apart)


def presses(texts: Sequence[str]) -> bool:
    """Whether one of the texts of a trigger asks for an answer now.

    A countdown or somebody waiting does; what else reads so, to the linear model or by a pattern, does unless there is
    no hurry.
    """
    return any(_presses(Passage(text)) for text in texts if text.strip())


def _presses(passage: Passage) -> bool:
    names = {match.name for match in matches(criteria()[_URGENCY], passage)}
    if PRESSING in names:
        return True
    return bool(names or passage.likely(_URGENCY)) and not matches(criteria()["urgency.deferred"], passage)


def _judges(subject: Subject, field: str, match: Match) -> bool:
    """Family may be named where the scenario requires it of the character; "some day" where something presses."""
    if match.name == OPEN_END:
        return not presses(_trigger(subject))
    requires = subject.row.get("requires")
    if match.name != "family" or not isinstance(requires, list):
        return True
    words = subject.text(field)[match.start : match.end]
    return ("partner" if _FAMILY.search(words) else "child") not in requires


def _lengths(subject: Subject) -> Iterator[Finding]:
    for field, limits in LIMITS.items():
        yield from row_format.length_of(subject, field, limits, "warning", _PROMPT)
    yield from row_format.one_sentence(subject, "description_for_agent", _PROMPT)


def _second_person(subject: Subject) -> Iterator[Finding]:
    context = subject.text(_CONTEXT)
    if context.strip() and not _YOU.search(context):
        message = 'no "you": the character cannot step in'
        yield at_row(subject, "person.second", "warning", message, _CONTEXT, source=f"{_PROMPT} (principle 4)")


def _trigger(subject: Subject) -> list[str]:
    return [subject.text(f"trigger_event.{name}") for name in ("message_content", "action_required")]


def _urgency(subject: Subject) -> Iterator[Finding]:
    trigger = subject.row.get("trigger_event")
    texts = _trigger(subject)
    if not isinstance(trigger, Mapping) or not any(text.strip() for text in texts):
        return
    if not presses(texts):
        criterion = criteria()[_URGENCY]
        yield at_row(
            subject, criterion.code, criterion.severity, criterion.message, "trigger_event", source=criterion.source
        )
    if not texts[1].strip():
        message = "no action_required: it is not said what has to be decided"
        yield at_row(subject, "action.missing", "warning", message, "trigger_event.action_required", source=_PROMPT)


def _conflicts(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    assessed = row.get("assessed_dimensions")
    pairs = assessed.get("value_conflicts") if isinstance(assessed, Mapping) else None
    known = set(term_ids("schwartz_values"))
    if not isinstance(pairs, list):
        return []
    named = [(pair.get("value_a"), pair.get("value_b")) for pair in pairs if isinstance(pair, Mapping)]
    return [(a, b) for a, b in named if a in known and b in known]


def _values(subject: Subject) -> Iterator[Finding]:
    terms = {term["id"]: term for term in vocabulary("schwartz_values")}
    for one, other in _conflicts(subject.row):
        apart = circumplex_distance(one, other)
        pair = f"{one} vs {other}"
        field = "assessed_dimensions.value_conflicts"
        if apart <= 1 or terms[one]["family"] == terms[other]["family"]:
            message = "the two are the same or neighbours on the circumplex: compatible, not opposed"
            yield at_row(subject, "values.adjacent", "error", message, field, pair, _COVERAGE)
        elif terms[one]["group"] == terms[other]["group"]:
            message = f"the two belong to one group ({terms[one]['group']}): hardly opposed"
            yield at_row(subject, "values.related", "warning", message, field, pair, _COVERAGE)


def _ratings(subject: Subject) -> Iterator[Finding]:
    dominant, rated = subject.row.get("diamonds_dimension"), _rated(subject.row)
    if isinstance(dominant, str) and rated and rated.get(dominant, 8) < max(rated.values()):
        higher = [name for name, rating in rated.items() if rating > rated[dominant]]
        message = f"rated {rated[dominant]}, below {', '.join(higher)}"
        yield at_row(
            subject, "diamonds.dominant", "warning", message, "diamonds_dimension", dominant, f"{_PROMPT} (principle 6)"
        )


def _rated(row: Mapping[str, Any]) -> dict[str, int]:
    ratings = row.get("diamonds")
    if not isinstance(ratings, Mapping):
        return {}
    known = term_ids("diamonds")
    return {name: rating for name, rating in ratings.items() if name in known and isinstance(rating, int)}


def _diamonds_coverage(table: Subject, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    rated = [ratings for ratings in map(_rated, rows) if ratings]
    if len(rated) < FEWEST_RATED:
        return
    for dimension in term_ids("diamonds"):
        given = [ratings[dimension] for ratings in rated if dimension in ratings]
        for name, (low, high) in (("low", LOW_END), ("high", HIGH_END)):
            if not any(low <= rating <= high for rating in given):
                message = f"no scenario rates {dimension} at its {name} end ({low} or {high})"
                yield at_row(table, "coverage.diamonds", "warning", message, "diamonds", dimension, _COVERAGE)
    dominant = {row.get("diamonds_dimension") for row in rows}
    for dimension in term_ids("diamonds"):
        if dimension not in dominant:
            message = f"{dimension} dominates no scenario"
            yield at_row(table, "coverage.diamonds", "warning", message, "diamonds_dimension", dimension, _COVERAGE)


def _value_coverage(table: Subject, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    groups = {term["id"]: term["group"] for term in vocabulary("schwartz_values")}
    pairs = [frozenset({groups[a], groups[b]}) for row in rows for a, b in _conflicts(row)]
    if len(pairs) < FEWEST_RATED:
        return
    for axis in OPPOSED:
        if axis not in pairs:
            named = " vs ".join(sorted(axis))
            message = f"no conflict runs along the axis {named}"
            yield at_row(table, "coverage.values", "warning", message, "assessed_dimensions", named, _COVERAGE)
