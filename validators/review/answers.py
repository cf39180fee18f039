"""One answer of one person, as it came back from a sheet or from Label Studio, made into a row of ``reviews``.

An answer that lacks something, or says two things at once, is not taken: ``UnusableError`` names what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from schemas.records import record_schema, term_ids
from schemas.tables import Row
from validators.review.items import TRACE, Item, trace_of

Role = Literal["annotator", "arbitrator"]

# What a person fills in; the names of columns and of controls.
FIELDS: Mapping[tuple[str, Role], tuple[str, ...]] = {
    ("decisions", "annotator"): (
        "suitable",
        "verdict",
        "edit",
        "trace_verdict",
        "trace_edit",
        "rationale",
        "reason",
    ),
    ("decisions", "arbitrator"): ("ruling", "edit", "trace_edit", "reason", "rationale"),
    ("pairs", "annotator"): ("preference", "rationale"),
    ("ratings", "annotator"): ("rating", "rationale"),
}

_LISTED = ("verdict", "trace_verdict", "ruling", "preference")
_OTHER_WAY = {"first": "second", "second": "first"}
SAID = (
    "suitable",
    "verdict",
    "ruling",
    "preference",
    "rating",
    "reason",
    "rationale",
    "edit",
    "trace_verdict",
    "trace_edit",
)
"""The columns of ``reviews`` that a person fills in."""

_WORDS = ("rationale", "edit", "trace_edit")


@dataclass(frozen=True)
class Answer:
    """What one person gave back for one item; ``given`` has no empty values. ``where`` is named in errors.

    ``seal`` makes the line this person's (``Round.seal``); ``shown`` is what came back of what was only shown.
    """

    where: str
    kind: str
    item: str
    digest: str
    annotator: str
    given: Mapping[str, str]
    cancelled: bool = False
    seal: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)


class UnusableError(ValueError):
    """An answer that cannot be taken: ``code`` and the reason in words."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def judgement(answer: Answer, item: Item, role: Role, swapped: bool) -> Row:
    """The row of ``reviews``, revision 0. Raises UnusableError."""
    given = {name: _term(name, value) for name, value in answer.given.items()}
    for name, own in (("edit", item.text), ("trace_edit", item.shown.get("thoughts"))):
        if own is not None and given.get(name) == own:
            del given[name]  # the box was opened and left as it was
    _terms(given)
    {"decisions": _decision if role == "annotator" else _ruling, "pairs": _pair, "ratings": _rating}[item.kind](given)
    said: Row = {field: given.get(field) for field in SAID}
    if said["suitable"]:
        said["suitable"] = said["suitable"] == "yes"
    if said["rating"]:
        said["rating"] = int(said["rating"])
    if swapped:
        said["preference"] = _OTHER_WAY[said["preference"]]
    return {
        "item": item.name,
        "digest": item.digest,
        "role": role,
        "annotator": answer.annotator,
        "revision": 0,
        "kind": item.kind,
        "row_id": item.row_id,
        "character_id": item.character_id,
        "scenario_id": item.scenario_id,
        "text": item.text,
        "other_text": item.other_text,
        "expected": item.expected,
        **said,
        "thoughts": item.shown.get("thoughts"),
    }


def _term(name: str, value: str) -> str:
    """A term as the lists have it, however it was typed: "Yes " is yes, "As is" and "as-is" are as_is."""
    return value if name in _WORDS else "_".join(value.casefold().replace("-", " ").split())


def _terms(given: Mapping[str, str]) -> None:
    """Raise UnusableError for a term that is not in its list, or a text that is too long."""
    properties = record_schema("reviews")["properties"]
    lists = {field: [term for term in properties[field]["enum"] if term] for field in _LISTED}
    lists |= {"suitable": ["yes", "no"], "rating": list("12345"), "reason": list(term_ids("review_reasons"))}
    for name, value in given.items():
        if name in lists and value not in lists[name]:
            raise UnusableError("review.unknown_term", f"{name} is {value!r}, expected {', '.join(lists[name])}")
        most = properties[name].get("maxLength")
        if most and len(value) > most:
            raise UnusableError("review.too_long", f"{name} has {len(value)} characters, at most {most} are kept")


def _need(given: Mapping[str, str], field: str, when: str) -> None:
    if field not in given:
        raise UnusableError("review.incomplete", f"{field} is empty; it is needed {when}")


def _forbid(given: Mapping[str, str], field: str, when: str) -> None:
    if field in given:
        raise UnusableError("review.contradictory", f"{field} is filled in ({given[field][:40]!r}), {when}")


def _decision(given: Mapping[str, str]) -> None:
    _need(given, "suitable", "first of all")
    if given["suitable"] == "no":
        _need(given, "reason", "when the pair is unsuitable")
        for name in ("verdict", "edit", "trace_verdict", "trace_edit"):
            _forbid(given, name, "yet the pair is said to be unsuitable")
        return
    _need(given, "verdict", "when the pair is suitable")
    _forbid(given, "reason", "yet the pair is said to be suitable")
    _need(given, "trace_verdict", "when the pair is suitable")
    for what, verdict, edit in (("decision", "verdict", "edit"), ("inner trace", "trace_verdict", "trace_edit")):
        if given[verdict] == "as_is":
            _forbid(given, edit, f"yet the {what} is said to be acceptable as it is")
        elif given[verdict] == "with_modifications":
            _need(given, edit, f"with other words than the {what}'s, when it is acceptable with modifications")
        else:
            _need(given, "rationale", f"when the {what} is unacceptable")
    _trace(given)


def _trace(given: Mapping[str, str]) -> None:
    if "trace_edit" in given and trace_of(given["trace_edit"]) is None:
        parts = ", ".join(part.replace("_", " ") for part in TRACE)
        raise UnusableError("review.malformed_trace", f"trace_edit has to have a line each for {parts}")


def _ruling(given: Mapping[str, str]) -> None:
    _need(given, "ruling", "from the arbitrator")
    if given["ruling"] == "drop":
        _need(given, "reason", "when the item is dropped")
        _forbid(given, "edit", "yet the item is dropped")
        _forbid(given, "trace_edit", "yet the item is dropped")
        return
    _trace(given)
    _forbid(given, "reason", "yet the item is not dropped")
    if given["ruling"] == "confirm":
        _forbid(given, "edit", "yet the decision is confirmed")
    else:
        _need(given, "edit", "with other words than the decision's, when it is edited or rewritten")


def _pair(given: Mapping[str, str]) -> None:
    _need(given, "preference", "of a pair")


def _rating(given: Mapping[str, str]) -> None:
    _need(given, "rating", "of a rating")
