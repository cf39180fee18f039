"""What judges are shown of dialogues: items of the unit that a rubric names, made from the rows of what was said.

    turn       one exchange: ``history`` (all that was said before), ``message`` (what others said), ``reply``
    prefix     the dialogue up to and with a reply: ``transcript``
    session    one session: ``transcript``
    dialogue   the whole: ``transcript``, and the ``first_message`` by itself

Each has the groups of its dialogue, and the texts of its dialogue and session that the benchmark wrote down for judges
(profile, agenda, task). An exchange whose reply did not come is an item in the state of that reply, without text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from evaluators.scoring.metrics import UnitName
from evaluators.scoring.said_rows import Said, read_said, said_frame

SUBJECT = "subject"
NOTHING = "(nothing was said)"
"""What stands for the words of a dialogue that was over before anybody spoke."""

Row = Mapping[str, Any]

_OWN = ("item", "state", "reason", "model", "input_tokens", "output_tokens", "cost", "role", "speaker", "text")


def read_items(path: Path, header: Mapping[str, Any], unit: UnitName) -> Said:
    """The items of a unit: a table of the result, or made from its dialogues. Raises RequestError as ``read_said``."""
    units = {entry["unit"] for entry in header["tables"].values()}
    if unit not in _MAKERS or "message" not in units or (unit in units and unit not in ("dialogue", "session")):
        return read_said(path, header, unit)[1]
    messages, talks = read_said(path, header, "message")[1], read_said(path, header, "dialogue")[1]
    about = {row["item"]: row for row in talks.rows.rows(named=True)}
    sessions: dict[str, Row] = {}
    if "session" in units:
        sessions = {row["item"]: row for row in read_said(path, header, "session")[1].rows.rows(named=True)}
    groups = (*talks.groups, *_GROUPS[unit])
    rows: list[dict[str, Any]] = []
    if unit == "dialogue":
        silent = about.keys() - set(messages.rows["dialogue"])
        whole = {"transcript": NOTHING, "first_message": NOTHING}
        rows += [{**_shared(unit, about[name], {}), **_state(about[name], name), **whole} for name in sorted(silent)]
    ordered = messages.rows.sort("dialogue", "item").rows(named=True)
    for name, own in groupby(ordered, key=lambda row: row["dialogue"]):
        for made in _MAKERS[unit](list(own)):
            shared = _shared(unit, about[name], sessions.get(f"{name}/{made.get('session')}", {}))
            rows.append({**shared, **made, "item": f"{name}{made['item']}"})
    columns = dict.fromkeys(["item", "state", "reason", *groups])
    for row in rows:
        columns |= dict.fromkeys(row)
    return Said(unit, groups, said_frame(rows, list(columns)))


def _shared(unit: UnitName, talk: Row, session: Row) -> dict[str, Any]:
    """The groups and texts of a dialogue and a session; what was planted in the whole is no part's."""
    return {
        name: value
        for row in (talk, session)
        for name, value in row.items()
        if name not in _OWN and (unit == "dialogue" or not name.startswith("planted"))
    }


def as_text(rows: Sequence[Row]) -> str:
    """Messages as text, a heading a session where there are several."""
    lines: list[str] = []
    several = len({row["session"] for row in rows}) > 1
    session = None
    for row in rows:
        if several and row["session"] != session:
            session = row["session"]
            lines.append(f"[Session {int(session)}]")
        lines.append(line_of(row))
    return "\n".join(lines)


def line_of(row: Row) -> str:
    """One message with who said it."""
    return f"{str(row['speaker']).capitalize()}: {row['text']}"


def _turns(rows: list[Row]) -> Iterator[dict[str, Any]]:
    said: list[str] = []
    heading = None
    for (session, turn), own in groupby(rows, key=lambda row: (row["session"], row["turn"])):
        exchange = list(own)
        replies = [row for row in exchange if row["role"] == SUBJECT]
        others = [row for row in exchange if row["role"] != SUBJECT and row["text"]]
        if session != heading:
            heading = session
            said.append(f"[Session {int(session)}]")
        if not replies:
            yield _unsaid(exchange[-1], session, turn)
            continue
        reply = replies[-1]
        before = "\n".join(said) if len(said) > 1 else "(nothing)"
        message = "\n\n".join(row["text"] for row in others)
        yield {
            **_state(reply, f"/{session}/{turn}"),
            "session": session,
            "turn": turn,
            "history": before,
            "message": message,
            "reply": reply["text"],
            **{name: value for name, value in reply.items() if name.startswith("planted")},
        }
        said += [line_of(row) for row in exchange if row["text"]]


def _prefixes(rows: list[Row]) -> Iterator[dict[str, Any]]:
    seen: list[Row] = []
    number = 0
    for row in rows:
        if row["text"]:
            seen.append(row)
        if row["role"] == SUBJECT:
            number += 1
            made = {**_state(row, f"/{number:03}"), "prefix": f"{number:03}", "session": row["session"]}
            planted = {name: value for name, value in row.items() if name.startswith("planted")}
            yield {**made, "transcript": as_text(seen), **planted}


def _sessions(rows: list[Row]) -> Iterator[dict[str, Any]]:
    for session, own in groupby(rows, key=lambda row: row["session"]):
        yield {**_whole(list(own), f"/{session}"), "session": session}


def _dialogues(rows: list[Row]) -> Iterator[dict[str, Any]]:
    first = next((row["text"] for row in rows if row["text"]), NOTHING)
    yield {**_whole(rows, ""), "first_message": first}


def _whole(rows: list[Row], item: str) -> dict[str, Any]:
    said = [row for row in rows if row["text"]]
    gone = next((row for row in rows if not row["text"]), None)
    if not said and gone is not None:
        return {**_state(gone, item), "transcript": None}
    return {"item": item, "state": "said", "reason": None, "transcript": as_text(said)}


def _state(row: Row, item: str) -> dict[str, Any]:
    return {"item": item, "state": row["state"], "reason": row["reason"]}


def _unsaid(row: Row, session: str, turn: str) -> dict[str, Any]:
    """An exchange without a reply, because somebody before it said nothing: no fault of the model that is judged."""
    state = "failed" if row["state"] == "failed" else "unreadable"
    reason = f"no message of the {row['speaker']}: {row['reason']}"
    about = {"item": f"/{session}/{turn}", "state": state, "reason": reason, "session": session, "turn": turn}
    return {**about, "history": None, "message": row["text"], "reply": None}


_MAKERS: Mapping[str, Callable[[list[Row]], Iterator[dict[str, Any]]]] = {
    "turn": _turns,
    "prefix": _prefixes,
    "session": _sessions,
    "dialogue": _dialogues,
}
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "turn": ("session", "turn"),
    "prefix": ("prefix",),
    "session": ("session",),
    "dialogue": (),
}
