"""Dialogues as rows: who said what, how each dialogue ended, what was asked afterwards.

    turns       one row a message: session, turn, speaker, role, text, model, tokens, dollars
    dialogues   one row a dialogue: how it ended, the texts that judges may be shown
    sessions    one row a session, where sessions have texts of their own
    notes       one row a note that a speaker kept, where one is kept
    and the table of what was asked afterwards

A message that did not come (declined, not readable, cut off, no reply) is a row without text and ends its dialogue: it
is counted, and nothing is put in its place. ``planted_<metric>`` is what a judge should say of a turn or a dialogue,
where offline speakers said it and so know.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from evaluators.running import used
from evaluators.scoring.said_rows import Said, said_frame
from models.backends import BackendSettings
from models.dialogue import Dialogue, Turn
from models.remedies import Failure
from models.request import Reply, Role

# A reply without text, or of another form than was asked for, did not decline: it could not be read.
_STATE = {
    "answered": "said",
    "refused": "refused",
    "unparsable": "unreadable",
    "invalid": "unreadable",
    "truncated": "truncated",
}
_USED = ("input_tokens", "output_tokens", "cost")
_WHO = ("session", "turn", "speaker", "role", "text", "model")

Scores = Mapping[str, float | None]
"""Metric -> value, None where it does not apply."""


@dataclass(frozen=True)
class Planted:
    """What judges should say: of turns by session and number, of the dialogue as a whole. Empty: nobody knows."""

    turns: Mapping[tuple[int, int], Scores] = field(default_factory=dict)
    dialogue: Scores = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One row of what was asked when a dialogue was over; ``columns`` are its texts, ``replies`` what it cost."""

    item: str
    role: Role
    state: str
    reason: str | None
    columns: Mapping[str, str | None]
    replies: Sequence[Reply] = ()


class AboutTalk(Protocol):
    """What rows say of a talk beside what was said."""

    @property
    def id(self) -> str: ...
    @property
    def groups(self) -> Mapping[str, str]: ...
    @property
    def fields(self) -> Mapping[str, str]: ...
    @property
    def sessions(self) -> Mapping[int, Mapping[str, str]]: ...


class HeldTalk(Protocol):
    """A talk and what came of it."""

    @property
    def talk(self) -> AboutTalk: ...
    @property
    def dialogue(self) -> Dialogue: ...
    @property
    def asked(self) -> Sequence[Asked]: ...
    @property
    def planted(self) -> Planted: ...


def dialogue_tables(found: Sequence[HeldTalk], settings: BackendSettings, extra: str | None) -> dict[str, Said]:
    """The tables of a run, by name; ``extra`` names the one of what was asked afterwards."""
    groups = tuple(dict.fromkeys(("dialogue", "ended", *(name for one in found for name in one.talk.groups))))
    made = {
        "turns": _table("message", (*groups, "session", "turn", "speaker"), _turns(found, settings), _WHO),
        "dialogues": _table("dialogue", groups, (_dialogue(one, settings) for one in found)),
    }
    for name, unit, rows in (
        ("sessions", "session", _sessions(found)),
        ("notes", "note", _notes(found, settings)),
        (extra or "asked", "item", _asked(found, settings)),
    ):
        if rows:
            made[name] = _table(unit, groups, rows)
    return made


def _table(unit: Any, groups: tuple[str, ...], rows: Any, always: Sequence[str] = ()) -> Said:
    """The rows as a table, which has its columns without any row, too."""
    rows = list(rows)
    columns = dict.fromkeys(["item", "state", "reason", *groups, *always, *_USED])
    for names in dict.fromkeys(tuple(row) for row in rows):
        columns |= dict.fromkeys(names)
    return Said(unit, groups, said_frame(rows, list(columns)))


def _about(one: HeldTalk) -> dict[str, str]:
    return {"dialogue": one.talk.id, "ended": one.dialogue.ended, **one.talk.groups}


def _turns(found: Sequence[HeldTalk], settings: BackendSettings) -> Iterator[dict[str, Any]]:
    for one in found:
        about = _about(one)
        spoken: Counter[tuple[int, int]] = Counter()
        for turn in one.dialogue.turns:
            spoken[turn.session, turn.number] += 1
            order = spoken[turn.session, turn.number]
            row = {**about, **_message(one.talk.id, turn, order, settings), "state": "said", "reason": None}
            planted = one.planted.turns.get((turn.session, turn.number)) if turn.role == "subject" else None
            yield {**row, **_planted(planted)}
        if one.dialogue.failure is not None:
            yield {**about, **_unsaid(one.talk.id, one.dialogue.failure, spoken)}


def _message(dialogue: str, turn: Turn, order: int, settings: BackendSettings) -> dict[str, Any]:
    """A message; ``order`` is its place among those of its exchange, so that items are in the order of speaking."""
    session, number = f"{turn.session:03}", f"{turn.number:03}"
    return {
        "item": f"{dialogue}/{session}/{number}/{order}.{turn.speaker}",
        "session": session,
        "turn": number,
        "speaker": turn.speaker,
        "role": turn.role,
        "text": turn.text,
        "model": turn.reply.model,
        **_used([turn.reply], turn.role, settings),
    }


def _unsaid(dialogue: str, failure: Failure, spoken: Mapping[tuple[int, int], int]) -> dict[str, Any]:
    """The row of a message that did not come."""
    session, number, speaker = failure.item.rsplit("/", 3)[1:]
    place = f"{int(session):03}/{int(number):03}"
    return {
        "item": f"{dialogue}/{place}/{spoken.get((int(session), int(number)), 0) + 1}.{speaker}",
        "session": place[:3],
        "turn": place[4:],
        "speaker": speaker,
        "role": failure.role,
        "text": None,
        "model": failure.model,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost": 0.0,
        "state": _STATE.get(failure.status, "failed"),
        "reason": failure.reason or failure.status,
    }


def _dialogue(one: HeldTalk, settings: BackendSettings) -> dict[str, Any]:
    found = one.dialogue
    replies: dict[Role, list[Reply]] = {}
    for turn in (*found.turns, *found.notes):
        replies.setdefault(turn.role, []).append(turn.reply)
    spent = [_used(own, role, settings) for role, own in replies.items()]
    costs = [own["cost"] for own in spent]
    last = found.turns[-1] if found.turns else None
    return {
        **_about(one),
        "item": one.talk.id,
        "state": "failed" if found.ended == "failed" else "said",
        "reason": found.reason,
        "last_session": f"{last.session:03}" if last else None,
        "messages": str(len(found.turns)),
        **one.talk.fields,
        **_planted(one.planted.dialogue),
        "input_tokens": sum(own["input_tokens"] for own in spent),
        "output_tokens": sum(own["output_tokens"] for own in spent),
        "cost": None if None in costs else math.fsum(costs),
    }


def _sessions(found: Sequence[HeldTalk]) -> list[dict[str, Any]]:
    return [
        {
            **_about(one),
            "item": f"{one.talk.id}/{session:03}",
            "session": f"{session:03}",
            "state": "said" if any(turn.session == session for turn in one.dialogue.turns) else "failed",
            **fields,
            **_nothing(),
        }
        for one in found
        for session, fields in one.talk.sessions.items()
    ]


def _notes(found: Sequence[HeldTalk], settings: BackendSettings) -> list[dict[str, Any]]:
    return [
        {**_about(one), **_message(one.talk.id, note, 1, settings), "state": "said", "reason": None}
        for one in found
        for note in one.dialogue.notes
    ]


def _asked(found: Sequence[HeldTalk], settings: BackendSettings) -> list[dict[str, Any]]:
    return [
        {
            **_about(one),
            "item": f"{one.talk.id}/{asked.item}",
            "state": asked.state,
            "reason": asked.reason,
            **asked.columns,
            **_used(asked.replies, asked.role, settings),
        }
        for one in found
        for asked in one.asked
    ]


def _planted(scores: Scores | None) -> dict[str, Any]:
    if not scores:
        return {}
    return {**{f"planted_{name}": value for name, value in scores.items()}, "planted_state": "scored"}


def _nothing() -> dict[str, Any]:
    return {"input_tokens": 0, "output_tokens": 0, "cost": 0.0}


def _used(replies: Sequence[Reply], role: Role, settings: BackendSettings) -> dict[str, Any]:
    """Tokens and dollars of replies; nothing for a role that is played without a model."""
    return used((reply.usage for reply in replies), settings.roles[role].name, settings)
