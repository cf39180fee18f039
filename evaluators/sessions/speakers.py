"""The two sides of a LikeBench dialogue: what each is told, and who plays them without a model.

The user sees profile, agenda of the session and the whole history; the assistant the history and, with
``--memory dup``, the summary that it keeps (LikeBench 3, 4, Tables 26 to 28; wording ours). Offline, both sides are
``evaluators.subjects``: pure functions of what they may see.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evaluators.protocols.dialogue import SUBJECT, USER
from evaluators.protocols.prompting import PROMPTS
from evaluators.running import OFFLINE
from evaluators.sessions.portrait import label, portrait
from evaluators.sessions.preferences import noted
from evaluators.subjects import users
from evaluators.subjects.assistants import ASSISTANTS, Spoken
from models.dialogue import Moment, Said, Speaker, Turn, plain
from models.prompts import Prompt, Rendered, load
from schemas.tables import Row

Memory = Literal["none", "full", "dup"]
MEMORIES: tuple[Memory, ...] = ("none", "full", "dup")
"""The assistant sees the present session alone; everything; everything and the summary that it keeps."""

USER_TOKENS = 200
MAX_TOKENS = 1024

_TYPICAL = "forgetful"  # whose texts stand for a model's in estimates


@dataclass(frozen=True)
class Case:
    """One profile with its priors in order of session, and how it is played: ``subject`` is an offline
    name without its prefix or a model, ``user`` as in ``--user``."""

    profile: Row
    priors: Sequence[Row]
    subject: str
    user: str
    memory: Memory
    seed: int
    room: int

    @property
    def persona(self) -> str:
        """The profile's id."""
        return str(self.profile["persona_id"])


def prompt(name: str) -> Prompt:
    """A prompt file of sessions."""
    return load(PROMPTS / f"sessions_{name}.md")


def speakers(case: Case, session: int, _: tuple[Turn, ...], notes: tuple[Turn, ...]) -> tuple[Speaker, Speaker]:
    """User and assistant in a session; the last of the notes is the summary that the assistant keeps."""
    return user_speaker(case, session), assistant_speaker(case, notes[-1].answer if notes else {})


def user_speaker(case: Case, session: int) -> Speaker:
    """The simulated user in a session."""
    prior = next(each for each in case.priors if each["session"] == session)
    file = prompt("user")
    profile, mood = portrait(case.profile), label("session_moods", prior["mood"]).lower()

    def rendered(session: int, turn: int) -> Rendered:
        return file.render(profile=profile, agenda=prior["agenda"], mood=mood, turn=turn, session=session)

    return Speaker(
        name="user",
        role=USER,
        compose=functools.partial(_user, case),
        fixed=rendered(session, 1).fixed,
        opening=prompt("opening").render().prompt,
        reminder=lambda session, turn: rendered(session, turn).prompt,
        read=_read,
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        max_tokens=USER_TOKENS,
    )


def assistant_speaker(case: Case, summary: Mapping[str, str]) -> Speaker:
    """The assistant, with the summary it has kept so far."""
    file = prompt("assistant")
    rendered = file.render().fixed
    kept = "\n".join(f"- {name}: {text}" for name, text in summary.items() if text)
    return Speaker(
        name="assistant",
        role=SUBJECT,
        compose=functools.partial(_assistant, case, summary),
        fixed=(*rendered, f"What you noted about this person:\n{kept}") if kept else rendered,
        read=_read,
        remembers=case.memory != "none",
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        max_tokens=case.room,
    )


def said_so_far(turns: Sequence[Turn], session: int | None = None) -> list[users.Said]:
    """Turns as the offline speakers read them; those of one session alone, or all."""
    return [
        users.Said(turn.session, turn.number, users.USER if turn.speaker == "user" else users.ASSISTANT, turn.text)
        for turn in turns
        if session is None or turn.session == session
    ]


def _read(answer: Any) -> Said:
    """Offline speakers answer with what they did beside the words."""
    return Said(answer.text) if isinstance(answer, users.UserTurn | Spoken) else plain(answer)


def _user(case: Case, moment: Moment) -> Any:
    name = case.user.removeprefix(OFFLINE) if case.user.startswith(OFFLINE) else "planned"
    said = users.USERS[name](case.profile, case.priors, moment.session, moment.number, said_so_far(moment.turns))
    return said if case.user.startswith(OFFLINE) else said.text


def _assistant(case: Case, summary: Mapping[str, str], moment: Moment) -> Any:
    seen = said_so_far(moment.turns, moment.session if case.memory == "none" else None)
    spoken = ASSISTANTS.get(case.subject, ASSISTANTS[_TYPICAL])(seen, case.seed, noted(summary))
    return spoken if case.subject in ASSISTANTS else spoken.text
