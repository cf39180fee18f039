"""What an assistant says it learned when all sessions are over, and the user's marks (LikeBench 3.3, memory).

The assistant lists memories, each explicit (the user said it) or implicit (inferred). The user side marks each
correct or not, by number. A list that does not come is one row without text; a memory without a mark has no mark:
neither counts as wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluators.dialogues.rows import Asked
from evaluators.protocols.dialogue import SUBJECT, USER
from evaluators.sessions.portrait import portrait
from evaluators.sessions.speakers import Case, assistant_speaker, prompt, said_so_far
from evaluators.subjects.memories import is_true, listed
from models.dialogue import Dialogue, Turn, View
from models.prompts import Rendered
from models.remedies import ask
from models.request import Chain, Reply, Request

MOST = 30
_ROOM = 2048


def learned(case: Case, name: str, found: Dialogue) -> Chain[Sequence[Asked]]:
    """Have the assistant list what it learned, and the user mark it."""
    summary: Mapping[str, str] = found.notes[-1].answer if found.notes else {}
    listing = yield from ask(_listing(case, name, summary, found.turns))
    if listing.status != "answered":
        nothing = {"memory": None, "kind": None, "correct": None}
        state = {"refused": "refused", "truncated": "truncated"}.get(listing.status, "failed")
        return [Asked("memory/000", SUBJECT, state, listing.reason or listing.status, nothing, [listing])]
    memories = [one for one in listing.answer["memories"] if str(one["memory"]).strip()][:MOST]
    if not memories:
        return []
    marking = yield from ask(_marking(case, name, memories, found.turns))
    return list(_rows(memories, listing, marking))


def _rows(memories: Sequence[Mapping[str, str]], listing: Reply, marking: Reply) -> Iterator[Asked]:
    marks: dict[int, bool] = {}
    reason = None
    if marking.status == "answered":
        marks = {one["number"]: one["correct"] for one in marking.answer["marks"]}
    else:
        reason = f"marks {marking.status}: {marking.reason}"
    for number, one in enumerate(memories, 1):
        mark = marks.get(number)
        why = None if mark is not None else reason or "no mark for this number"
        columns = {
            "memory": one["memory"],
            "kind": one["type"],
            "correct": None if mark is None else str(mark).lower(),
        }
        # The list was one reply: what it used stands with its first memory.
        yield Asked(f"memory/{number:03}", SUBJECT, "said", why, columns, [listing] if number == 1 else [])


def _listing(case: Case, name: str, summary: Mapping[str, str], turns: Sequence[Turn]) -> Request:
    speaker = assistant_speaker(case, summary)
    view = View(speaker, False, turns, turns[-1].session).messages()
    file = prompt("learned")
    properties = {
        "memory": {"type": "string", "description": "One fact about the user, in a sentence."},
        "type": {"enum": ["explicit", "implicit"]},
    }
    return Request(
        id=f"{name}/learned",
        role=SUBJECT,
        fixed=speaker.fixed,
        messages=view,
        prompt=file.render(most=MOST).prompt,
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        compose=functools.partial(_listed, case, turns),
        schema=_list_of("memories", properties),
        max_tokens=_ROOM,
    )


def _marking(case: Case, name: str, memories: Sequence[Mapping[str, str]], turns: Sequence[Turn]) -> Request:
    file = prompt("mark")
    rendered: Rendered = file.render(
        profile=portrait(case.profile),
        said="\n".join(f"- {turn.text}" for turn in turns if turn.speaker == "user"),
        memories="\n".join(f"{number}. {one['memory']}" for number, one in enumerate(memories, 1)),
    )
    properties = {"number": {"type": "integer"}, "correct": {"type": "boolean"}}
    return Request(
        id=f"{name}/marks",
        role=USER,
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        compose=functools.partial(_marks, case, memories),
        schema=_list_of("marks", properties),
        max_tokens=_ROOM,
        temperature=0.0,
    )


def _list_of(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with one list of objects, all properties required."""
    item = {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": dict(properties),
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name],
        "properties": {name: {"type": "array", "items": item}},
    }


def _listed(case: Case, turns: Sequence[Turn]) -> dict[str, Any]:
    """What an offline assistant lists; with the memory of one session, of the last one alone."""
    session = turns[-1].session if case.memory == "none" else None
    return {"memories": listed(case.subject, said_so_far(turns, session))[:MOST]}


def _marks(case: Case, memories: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """What an offline user marks: a memory is correct when it says a thing that is so."""
    return {
        "marks": [
            {"number": number, "correct": is_true(one["memory"], case.profile, case.priors)}
            for number, one in enumerate(memories, 1)
        ]
    }
