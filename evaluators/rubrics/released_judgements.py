"""Judges of PersonaLens read as its released code reads them: text with a verdict or a score behind a name.

``judge --released-parsing`` asks one score a call, in plain text, in that form, and keeps what the released parser
makes of the reply: ``VERDICT: True`` alone is a verdict and anything else a failure of the task; ``Personalization
Score: 3`` alone is a score, and what cannot be read is left out of the mean. Where the strict reader makes something
else of the same reply, the row's reason says so. The released parser checks no range; here a score off the scale is
unscored, with the score in its reason. PersonaLens 3.2 and released code (``gather``).

    python -m evaluators judge build/evaluations/personalens@1.0.0/said.NAME.json --judge NAME --released-parsing
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluators.rubrics.compatibility import demand_released, read_released
from evaluators.rubrics.judging import Compose, Fields, judge_prompt, judged, scores_in_words
from evaluators.rubrics.loading import Part, Rubric
from evaluators.rubrics.verdicts import Verdict, read_reply
from models.request import Chain, Reply, Request
from schemas.errors import unknown

SCALES = {"personalization": (1, 4), "naturalness": (1, 5), "coherence": (1, 5)}
COMPLETION = "task_completion"
OTHERWISE = "strictly read: "
"""How the reason of a score begins where the strict reader makes something else of the reply."""

_PROMPT = Path(__file__).parent / "judge_released.md"
_RELEASED_VERDICT = re.compile(r"VERDICT: (True|False)", re.IGNORECASE)
_VERDICT = re.compile(r"verdict\W{0,6}\b(true|false)\b", re.IGNORECASE)
_LEADING = re.compile(r"\W*\b(true|false)\b", re.IGNORECASE)

Judged = Chain[tuple[dict[str, Verdict], tuple[Reply, ...]]]


def released_verdict(text: str) -> bool | None:
    """Whether the task was completed; None is what the released code could not read, and counts as not completed."""
    found = _RELEASED_VERDICT.search(text)
    return None if found is None else found[1].lower() == "true"


def strict_verdict(text: str) -> bool | None:
    """The last verdict that is named so, or the first word where it is one; None where neither stands there."""
    named = _VERDICT.findall(text)
    leading = _LEADING.match(text)
    said = named[-1] if named else leading[1] if leading else None
    return None if said is None else said.lower() == "true"


def released_score(text: str, dimension: str) -> int | None:
    """The score as the released code reads it, of any size."""
    found = re.search(rf"{dimension.capitalize()} Score: (\d+)", text)
    return None if found is None else int(found[1])


def strict_score(text: str, dimension: str) -> int | None:
    """A whole score within the scale, in whatever marks; None for anything else, two different scores too."""
    found = {match[1] for match in re.finditer(rf"{dimension}\s+score\W{{0,6}}(\d+(?:\.\d+)?)", text, re.IGNORECASE)}
    least, most = SCALES[dimension]
    one = found.pop() if len(found) == 1 else ""
    return int(one) if one.isdecimal() and least <= int(one) <= most else None


def asked_of_judges(rubric: Rubric, released: bool) -> Callable[[Rubric, str, Fields, Compose], Judged]:
    """How an item is judged by a rubric: strictly, or as the released code of its benchmark has it.

    Raises RequestError for a rubric whose ``released`` is nothing that the released judge scores.
    """
    if not released:
        return judged
    if rubric.released is None:
        demand_released(rubric)
        return functools.partial(judged, read=read_released)
    if rubric.released not in (COMPLETION, *SCALES):
        raise unknown("dimension", rubric.released, (COMPLETION, *SCALES), f"{rubric.path}, released")
    return _judged_as_released


def with_released_form(rubrics: Sequence[Rubric]) -> list[Rubric]:
    """Of a benchmark's rubrics those that its released judge has; all where none names one, for their own check."""
    return [one for one in rubrics if one.released] or list(rubrics)


def verdict_as_released(dimension: str, text: str) -> Verdict:
    """What the released code makes of a reply's text on a dimension; never raises."""
    value: int | None
    strict: int | None
    if dimension == COMPLETION:
        value, strict = released_verdict(text), strict_verdict(text)
        if value is None:
            return Verdict("scored", 0.0, f"no verdict, so a failure; {_otherwise(strict)}")
    else:
        value, strict = released_score(text, dimension), strict_score(text, dimension)
        if value is None:
            more = "" if strict is None else f"; {_otherwise(strict)}"
            return Verdict("unscored", reason=f"no score, so left out{more}")
        least, most = SCALES[dimension]
        if not least <= value <= most:
            return Verdict("unscored", reason=f"{value} is off the scale; {OTHERWISE}nothing")
    return Verdict("scored", float(value), None if strict == value else _otherwise(strict))


def _otherwise(strict: int | None) -> str:
    return OTHERWISE + ("nothing" if strict is None else str(strict).lower())


def _judged_as_released(rubric: Rubric, name: str, fields: Fields, compose: Compose) -> Judged:
    """A chain that has one item judged, a call a score."""
    verdicts, replies = {}, []
    for part in rubric.parts:
        reply = yield _request(rubric, part, name, fields, compose)
        replies.append(reply)
        if reply.status == "answered":
            verdicts[part.name] = verdict_as_released(str(rubric.released), str(reply.answer))
        else:
            verdicts[part.name] = read_reply(rubric, reply, fields)[part.name]
    return verdicts, tuple(replies)


def _request(rubric: Rubric, part: Part, name: str, fields: Fields, compose: Compose) -> Request:
    def text() -> str:
        return _in_words(rubric, compose(rubric, fields)[part.name])

    # The released judge gives every conversation a score: "does not apply" is not offered.
    scores = scores_in_words((replace(part, not_applicable=None),))
    said = judge_prompt(_PROMPT, rubric, fields, scores, _form(rubric))
    return Request(
        id=f"{name}/{rubric.id}/{part.name}",
        role="judge",
        fixed=said.fixed,
        prompt=said.prompt,
        prompt_id=rubric.name,
        prompt_digest=rubric.digest,
        compose=text,
        max_tokens=rubric.max_tokens,
        temperature=0.0,
    )


def _form(rubric: Rubric) -> str:
    if rubric.released == COMPLETION:
        return "VERDICT: True, or VERDICT: False"
    least, most = SCALES[str(rubric.released)]
    return f"{str(rubric.released).capitalize()} Score: a whole number from {least} to {most}"


def _in_words(rubric: Rubric, value: Any) -> str:
    """A judge's answer as the released judge writes it; a score that does not apply has no form there."""
    if rubric.released == COMPLETION:
        return f"VERDICT: {value}"
    return f"{str(rubric.released).capitalize()} Score: {value}"
