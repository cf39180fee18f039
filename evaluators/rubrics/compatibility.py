"""How the judge's replies were read in the released code of atomic persona fidelity, for comparing with its scores.

Of a longer reply it takes the first of 1, 2, 3, 4, 5, 9, in this order of preference, that occurs anywhere: "5 (not 1)"
is 1, "10" is 1. ``stand_alone`` is the least that is sound for plain text: the first digit that stands alone. Rubrics
ask for JSON and are read by ``verdicts``, more strictly than either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluators.rubrics.loading import Rubric
from evaluators.rubrics.verdicts import Verdict, read_reply
from models.request import Reply
from schemas.errors import RequestError

NO_CONTENT, REFUSED, UNREAD = 9, 99, 999

_ALONE = re.compile(r"(?<![\w.])([1-59])(?![\w]|\.\d)")


def released_score(reply: str) -> int:
    """1 to 5, 9 for no trait content, 999 for what has no digit, as the released code has it."""
    if len(reply) == 1:
        if not reply.isdigit():
            return NO_CONTENT
        return int(reply) if int(reply) in (1, 2, 3, 4, 5, NO_CONTENT) else UNREAD
    return next((digit for digit in (1, 2, 3, 4, 5, NO_CONTENT) if str(digit) in reply), UNREAD)


def read_released(rubric: Rubric, reply: Reply, fields: Mapping[str, str]) -> dict[str, Verdict]:
    """Score -> verdict of a reply as the released code would have read its text; it goes by digits, whatever the form.

    Raises RequestError for a rubric on another scale than 1 to 5.
    """
    demand_released(rubric)
    if reply.status == "failed":
        return read_reply(rubric, reply, fields)
    text = reply.text.strip() or (str(reply.answer[rubric.parts[0].name]) if reply.status == "answered" else "")
    return {rubric.parts[0].name: verdict_of(released_score(text))}


def demand_released(rubric: Rubric) -> None:
    """Raise RequestError for a rubric on another scale than the released judge's, one score from 1 to 5."""
    if rubric.scale.values != (1.0, 2.0, 3.0, 4.0, 5.0) or len(rubric.parts) != 1:
        raise RequestError(
            "--released-parsing for this rubric", rubric.path,
            expected="one score from 1 to 5, or one that the released judge of its benchmark gives",
            fix="Leave it out, or name other rubrics with --rubric",
        )  # fmt: skip


def stand_alone(reply: str) -> int:
    """The first digit from 1 to 5, or 9, that is no part of a number or word; 999 without one."""
    found = _ALONE.search(reply)
    return int(found[1]) if found else UNREAD


def verdict_of(score: int) -> Verdict:
    """A released score as a verdict; 9, 99 and 999 have no value. Raises ValueError for any other number."""
    if 1 <= score <= 5:
        return Verdict("scored", float(score))
    if score == NO_CONTENT:
        return Verdict("not_applicable")
    if score == REFUSED:
        return Verdict("refused", reason="99: the response declines")
    if score == UNREAD:
        return Verdict("unscored", reason="999: the judge's reply has no score")
    raise ValueError(f"score {score}: expected 1 to 5, 9, 99 or 999")
