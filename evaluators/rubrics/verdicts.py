"""What a judge's reply says of each score, strictly: a value of the scale, "not applicable", or nothing.

Out of range, a float, "4 out of 5", a number as text, an "N/A" that the rubric does not list, a quotation that does not
occur in the text: unscored with the reason, never 0 and never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluators.rubrics.loading import Part, Rubric
from evaluators.scoring.metrics import State
from models.request import Reply
from models.wire import json_in

NA = "NA"

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-", "…": "..."})
_SHOWN = 60
_PAIR_VALUES = {"first": 1.0, "second": 0.0, "tie": 0.5}


@dataclass(frozen=True)
class Verdict:
    """One score of one reply; ``value`` exactly where the state is "scored"."""

    state: State
    value: float | None = None
    reason: str | None = None
    evidence: str | None = None


def read_reply(rubric: Rubric, reply: Reply, fields: Mapping[str, str]) -> dict[str, Verdict]:
    """Score -> verdict of a judge's reply on an item with these fields."""
    if reply.status in ("answered", "unparsable", "invalid"):
        return read_answer(rubric, reply.answer if reply.status == "answered" else reply.text, fields)
    state: State = "failed" if reply.status == "failed" else "unscored"
    reason = f"{reply.status}: {reply.reason}" if reply.reason else reply.status
    return {part.name: Verdict(state, reason=reason) for part in rubric.parts}


def read_answer(rubric: Rubric, answer: Any, fields: Mapping[str, str]) -> dict[str, Verdict]:
    """Score -> verdict of an answer, parsed or as text."""
    if isinstance(answer, str):
        try:
            answer = json_in(answer)
        except ValueError as error:
            return {part.name: Verdict("unscored", reason=str(error)) for part in rubric.parts}
    if not isinstance(answer, Mapping):
        return {part.name: Verdict("unscored", reason="no JSON object") for part in rubric.parts}
    text = _plain(fields[rubric.evidence]) if rubric.evidence else None
    return {part.name: _verdict(rubric, part, answer, text) for part in rubric.parts}


def say_value(rubric: Rubric, value: float) -> Any:
    """A value of the scale in the form that a judge answers in."""
    if rubric.scale.kind == "integers":
        return int(value)
    if rubric.scale.kind == "boolean":
        return bool(value)
    if rubric.scale.kind == "labels":
        return rubric.scale.labels[int(value)]
    return next(name for name, one in _PAIR_VALUES.items() if one == value)


def _verdict(rubric: Rubric, part: Part, answer: Mapping[str, Any], text: str | None) -> Verdict:
    """``text``: what a quotation has to occur in, None where none is asked for."""
    names = [name for name in (part.name, *part.aliases) if name in answer]
    if not names:
        return Verdict("unscored", reason=f"no {part.name}")
    if len(names) > 1:
        return Verdict("unscored", reason=f"{part.name} twice, as {' and '.join(names)}")
    said = answer[names[0]]
    if part.not_applicable and isinstance(said, str) and said in (NA, *rubric.na_aliases):
        return Verdict("not_applicable")
    value = _value(rubric, said)
    if value is None:
        return Verdict("unscored", reason=f"{part.name} {said!r:.{_SHOWN}}: expected {rubric.scale.in_words()}")
    if text is None:
        return Verdict("scored", value)
    quoted = answer.get(f"{part.name}_evidence")
    words = _plain(quoted) if isinstance(quoted, str) else ""
    if not words:
        return Verdict("unscored", reason=f"no quotation for {part.name}")
    if words not in text:
        return Verdict("unscored", reason=f"quotation for {part.name} does not occur: {quoted:.{_SHOWN}}")
    return Verdict("scored", value, evidence=quoted)


def _value(rubric: Rubric, said: Any) -> float | None:
    """A value of the scale; None for anything else, numbers of another type and near misses too."""
    scale = rubric.scale
    if scale.kind == "integers":
        return float(said) if type(said) is int and scale.least <= said <= scale.most else None
    if scale.kind == "boolean":
        return float(said) if isinstance(said, bool) else None
    if not isinstance(said, str):
        return None
    if scale.kind == "labels":
        return float(scale.labels.index(said)) if said in scale.labels else None
    return _PAIR_VALUES.get(said)


def _plain(text: str) -> str:
    """A text for comparing: quotes and dashes straight, white space single, case folded, no marks round it."""
    return re.sub(r"\s+", " ", text.translate(_STRAIGHT)).strip().strip("\"'").casefold()
