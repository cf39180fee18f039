"""Whole conversations: two or three speakers, each with its own view of what was said, until a rule ends them.

A dialogue is a chain, so it runs on every backend (each speaker has a ``compose``), its speakers may be
played by different models at different servers or by none, and a run that was killed goes on with the
speaker whose turn it was: what was said comes from the journal and is asked of nobody again.

    user = Speaker("user", "user", typical_words, fixed=(persona,), opening="Begin the conversation.")
    subject = Speaker("assistant", "subject", typical_reply)
    talk = yield from dialogue("likebench/talks/U_01", (user, subject), StopRule(turns=5, sessions=3))
    rows = [(turn.session, turn.speaker, turn.text) for turn in talk.turns]      # also when talk.ended == "failed"

A model is always shown itself as the assistant and the others as the user. A simulated user therefore has
the roles exchanged: its opening words are the assistant's in its own view and stay there, because a
simulator that no longer sees them begins the conversation anew. What it is asked as a session begins
(``opening``) stands before them in the user's place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from models.remedies import TRIES, Failure, ask, failure
from models.request import Chain, Message, Reply, Request, Role

Ended = Literal["limit", "stop_word", "signal", "failed"]
"""All sessions and turns were held; the stop word was said; an answer said so; a speaker did not answer."""


class Said(NamedTuple):
    """What an answer comes to: the words the others hear, and whether the speaker ends the conversation."""

    text: str
    stop: bool = False


class Turn(NamedTuple):
    """What one speaker said: ``session`` and ``number`` (of the exchange in it) count from 1.

    ``answer`` is the whole answer of the request ``request``, of which ``text`` is what was said aloud.
    """

    speaker: str
    role: Role
    text: str
    session: int
    number: int
    request: str
    answer: Any
    reply: Reply


class Moment(NamedTuple):
    """What a speaker knows when its turn comes: ``messages`` is its view, the last of them the user's."""

    speaker: str
    session: int
    number: int
    messages: tuple[Message, ...]
    turns: tuple[Turn, ...]


def plain(answer: Any) -> Said:
    """The reading of an answer that is nothing but what is said. Raises ValueError for any other."""
    if not isinstance(answer, str):
        raise ValueError("the answer is not plain text")
    return Said(answer)


@dataclass(frozen=True)
class Speaker:
    """One side of a dialogue.

    ``name`` tells the speakers apart, ``role`` says which model plays it. ``compose`` answers offline.
    ``fixed`` is its system part; ``opening`` is what it is asked as a session begins (the speaker who begins
    needs one); ``reminder``, or what it is of session and number, stands under what it is to answer, each time, and in
    no later view.
    ``read`` turns its answer into what is said, raising ValueError with the reason when it cannot.
    ``remembers``: it sees all sessions so far, else only the present one.
    """

    name: str
    role: Role
    compose: Callable[[Moment], Any]
    fixed: tuple[str, ...] = ()
    opening: str = ""
    reminder: str | Callable[[int, int], str] = ""
    read: Callable[[Any], Said] = plain
    remembers: bool = True
    schema: Mapping[str, Any] | None = None
    parse: Callable[[str], Any] | None = None
    prompt_id: str = ""
    prompt_digest: str = ""
    max_tokens: int = 1024
    temperature: float | None = None


@dataclass(frozen=True)
class StopRule:
    """When a dialogue ends: after ``sessions`` of ``turns`` exchanges, in each of which every speaker speaks once.

    Before that when a speaker of ``stop_by`` (empty: any) says ``stop_word``, or when a reading says ``stop``; where
    ``answered``, those who come after it in the exchange speak once more, unless nothing was said aloud. With
    ``last_word`` the first speaker speaks once more when all exchanges of a session were held.
    """

    turns: int
    sessions: int = 1
    stop_word: str | None = None
    stop_by: tuple[str, ...] = ()
    answered: bool = False
    last_word: bool = False


@dataclass(frozen=True)
class Dialogue:
    """What was said, how it ended and, for people, why; ``failure`` is what a speaker did not answer.

    ``notes`` are what was written down between exchanges, heard by nobody.
    """

    turns: tuple[Turn, ...]
    ended: Ended
    reason: str
    failure: Failure | None = None
    notes: tuple[Turn, ...] = ()


Cast = Sequence[Speaker] | Callable[[int, tuple[Turn, ...], tuple[Turn, ...]], Sequence[Speaker]]
"""The speakers in their order, or a function of the session's number, all turns and all notes that names them."""

Between = Callable[
    [Sequence[Speaker], tuple[Turn, ...], tuple[Turn, ...]], Chain[tuple[Sequence[Speaker], Turn | None]]
]
"""A chain run after each exchange, given the speakers, all turns and all notes so far: the speakers as they go on, and
a note, for example one that a speaker is shown in its system part from now on. Names and openings stay."""


def dialogue(
    name: str,
    speakers: Cast,
    rule: StopRule,
    *,
    history: tuple[Turn, ...] = (),
    between: Between | None = None,
    sample: int = 0,
    tries: int = TRIES,
) -> Chain[Dialogue]:
    """Hold a dialogue; requests are named ``<name>/<session>/<number>/<speaker>``.

    ``history`` are turns of earlier sessions, which count on from the last of them. The turns returned are
    those of this dialogue alone. ``between`` runs after each exchange. Raises ValueError for speakers of the same
    name, for none or one, and for a first speaker without an opening.
    """
    turns = history
    notes: tuple[Turn, ...] = ()
    first = history[-1].session + 1 if history else 1
    for session in range(first, first + rule.sessions):
        cast = speakers(session, turns, notes) if callable(speakers) else speakers
        _check(cast)
        views = {speaker.name: View(speaker, len(cast) > 2, turns, session) for speaker in cast}
        for number in range(1, rule.turns + rule.last_word + 1):
            ending: tuple[str, Ended] | None = None
            for speaker in cast:
                moment = Moment(speaker.name, session, number, views[speaker.name].messages(), turns)
                request = _request(f"{name}/{session}/{number:02}/{speaker.name}", speaker, moment, sample)
                reply: Reply = yield from ask(request, functools.partial(_problem, speaker), tries)
                if reply.status != "answered":
                    failed = failure(request, reply)
                    return Dialogue(turns[len(history) :], "failed", reply.reason or reply.status, failed, notes)
                said, ended = _heard(speaker, rule, speaker.read(reply.answer))
                if said:
                    turn = Turn(speaker.name, speaker.role, said, session, number, request.id, reply.answer, reply)
                    turns = (*turns, turn)
                    for one in views.values():
                        one.hear(turn)
                if ended and ending is None:
                    ending = speaker.name, ended
                if (ending and not (rule.answered and said)) or (number > rule.turns and not ending):
                    break
            if ending:
                reason = f"{ending[0]} ended it ({ending[1]})"
                return Dialogue(turns[len(history) :], ending[1], reason, notes=notes)
            if between is not None:
                cast, note = yield from between(cast, turns, notes)
                notes = (*notes, note) if note else notes
    limit = f"{rule.sessions} x {rule.turns} turns were held and the dialogue did not end"
    if rule.stop_word is not None:
        limit = f"nobody said {rule.stop_word!r} within {rule.sessions} x {rule.turns} turns"
    return Dialogue(turns[len(history) :], "limit", limit, notes=notes)


class View:
    """The turns as one speaker is shown them: its own as the assistant's, all others' and its openings as the user's.

    Turns of one side that follow each other are one message; among ``several`` speakers the others are named.
    """

    def __init__(self, speaker: Speaker, several: bool, turns: Sequence[Turn], session: int) -> None:
        self._speaker, self._several = speaker, several
        self._messages: list[Message] = []
        self._session = 0
        for turn in turns:
            if speaker.remembers or turn.session == session:
                self.hear(turn)
        self._enter(session)

    def messages(self) -> tuple[Message, ...]:
        """What the speaker is shown now."""
        return tuple(self._messages)

    def hear(self, turn: Turn) -> None:
        """A further turn was said."""
        self._enter(turn.session)
        if turn.speaker == self._speaker.name:
            self._add("assistant", turn.text)
        else:
            self._add("user", f"{turn.speaker}: {turn.text}" if self._several else turn.text)

    def _enter(self, session: int) -> None:
        if session != self._session and self._speaker.opening:
            self._add("user", self._speaker.opening)
        self._session = session

    def _add(self, role: Literal["user", "assistant"], text: str) -> None:
        if self._messages and self._messages[-1][0] == role:
            text = f"{self._messages.pop()[1]}\n\n{text}"
        self._messages.append((role, text))


def _request(name: str, speaker: Speaker, moment: Moment, sample: int) -> Request:
    *before, (_, last) = moment.messages
    reminder = speaker.reminder
    if callable(reminder):
        reminder = reminder(moment.session, moment.number)
    return Request(
        id=name,
        role=speaker.role,
        fixed=speaker.fixed,
        messages=tuple(before),
        prompt=f"{last}\n\n{reminder}" if reminder else last,
        prompt_id=speaker.prompt_id,
        prompt_digest=speaker.prompt_digest,
        compose=functools.partial(speaker.compose, moment),
        schema=speaker.schema,
        parse=speaker.parse,
        max_tokens=speaker.max_tokens,
        temperature=speaker.temperature,
        sample=sample,
    )


def _problem(speaker: Speaker, answer: Any) -> str | None:
    try:
        said = speaker.read(answer)
    except ValueError as error:
        return str(error)
    return None if said.text.strip() or said.stop else "the message is empty"


def _heard(speaker: Speaker, rule: StopRule, said: Said) -> tuple[str, Ended | None]:
    """The words before a stop word, and whether and how the dialogue ends here."""
    word = rule.stop_word
    if word and word in said.text and (not rule.stop_by or speaker.name in rule.stop_by):
        return said.text.partition(word)[0].strip(), "stop_word"
    return said.text.strip(), "signal" if said.stop else None


def _check(cast: Sequence[Speaker]) -> None:
    names = [speaker.name for speaker in cast]
    if not 2 <= len(names) <= 3 or len(set(names)) != len(names):
        raise ValueError(f"a dialogue takes two or three speakers of different names, not {names}")
    if not cast[0].opening:
        raise ValueError(f"{names[0]} speaks first and needs an opening")
