"""A simulated user without a model: what a person of a profile says in a turn of a session.

LikeBench 4 and Tables 26, 27. A pure function of profile, prior, history and turn: the acts that the prior plans
for the turn, in the words the person's style and facets choose. Never more than 50 words; openings of one
person differ from session to session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from evaluators.subjects.wishes import LENGTHS, Length, Wishes, facet_values, wishes
from evaluators.subjects.wording import bank, in_register, register_signs, word_count, written_out
from schemas.randomness import rng_for
from schemas.records import vocabulary

MOST_WORDS = 50
IN_CHARACTER, WRONG_REGISTER, AS_ASSISTANT = 5, 2, 1
"""How well a message fits the person: a planned one fits; one of ``drifting`` may not."""
USER, ASSISTANT = "user", "assistant"

_KNOWS = {"basic": "novice", "middle": "familiar", "expert": "expert"}
_BRIEF, _LONG = 45, 110
_BREAKS = 0.5  # of the messages out of part, those that speak as an assistant
_EMOJI = 0.5  # chance that an expressive person ends a casual message on an emoji


@dataclass(frozen=True)
class Said:
    """One message; ``session`` and ``turn`` count from 1."""

    session: int
    turn: int
    speaker: str
    text: str


@dataclass(frozen=True)
class UserTurn:
    """What the user says, and which acts of ``user_acts`` it really has in it."""

    text: str
    acts: tuple[str, ...]
    fits: int = IN_CHARACTER


def user_turn(
    profile: Mapping[str, Any], priors: Sequence[Mapping[str, Any]], session: int, turn: int, history: Sequence[Said]
) -> UserTurn:
    """The user's message of a turn. ``priors`` are all of the profile, ``history`` all that was said before.

    Raises KeyError for a session without a prior.
    """
    by_session = {prior["session"]: prior for prior in priors}
    prior, persona = by_session[session], profile["persona_id"]
    here = [each for each in history if each.session == session]
    last = next((each.text for each in reversed(here) if each.speaker == ASSISTANT), "")
    wish = wishes(profile, prior, [each.text for each in here if each.speaker == USER], last)
    composer = _Composer(
        profile, priors, prior, wish, last, rng_for(0, "subjects", "user", persona, session * 100 + turn)
    )
    steps = [step for step in prior["plan"] if step["turn"] == turn] or [
        {"act": "follow_up", "hook": None, "note": None}
    ]
    parts = [composer.part(step) for step in steps]
    complaint = composer.complaint(turn)
    if complaint and not any(act == "react" for act, _ in parts):
        parts.insert(0, ("react", complaint))
    parts = _within(parts, _greeting(profile, session, wish) if turn == 1 else "")
    text = composer.spoken(" ".join(words for _, words in parts))
    if turn == 1:
        text = f"{_greeting(profile, session, wish)} {text}"
    return UserTurn(text, tuple(act for act, _ in parts))


def drifting_turn(
    profile: Mapping[str, Any], priors: Sequence[Mapping[str, Any]], session: int, turn: int, history: Sequence[Said]
) -> UserTurn:
    """As ``user_turn``, of a user who leaves their part more and more often once half of the sessions are over.

    LikeBench A: a user model is said to have spoken as the assistant after session 5.
    """
    said = user_turn(profile, priors, session, turn, history)
    rng = rng_for(0, "subjects", "drift", profile["persona_id"], session * 100 + turn)
    half = len(priors) / 2
    if session <= half or rng.random() > (session - half) / half:
        return said
    if rng.random() < _BREAKS:
        return UserTurn(rng.choice(bank("user")["break"]["any"]), (), AS_ASSISTANT)
    casual = register_signs(said.text) > 0
    other = written_out(said.text) if casual else in_register(said.text, "casual", rng, 0, lower=True)
    return UserTurn(other, said.acts, WRONG_REGISTER) if other != said.text else said


USERS: Mapping[str, Callable[..., UserTurn]] = {"planned": user_turn, "drifting": drifting_turn}
"""By name, as in ``offline:planned``."""


def _within(parts: list[tuple[str, str]], greeting: str) -> list[tuple[str, str]]:
    """As many of the parts, from the first on, as a message holds."""
    kept: list[tuple[str, str]] = []
    room = MOST_WORDS - word_count(greeting)
    for act, words in parts:
        if not kept or word_count(words) <= room:
            kept.append((act, words))
            room -= word_count(words)
    return kept


def _greeting(profile: Mapping[str, Any], session: int, wish: Wishes) -> str:
    """Each greeting once before any comes again, in an order of the person's own that begins as strangers do."""
    lines: list[str] = bank("user")["greeting"][wish.register]
    again = bank("user")["greeting_again"][wish.register]
    order = rng_for(0, "subjects", "greeting", profile["persona_id"]).sample(lines, len(lines))
    first = next(line for line in order if line not in again)
    order = [first, *(line for line in order if line != first)]
    return order[(session - 1) % len(order)]


@dataclass(frozen=True)
class _Composer:
    """One turn's lines."""

    profile: Mapping[str, Any]
    priors: Sequence[Mapping[str, Any]]
    prior: Mapping[str, Any]
    wish: Wishes
    last: str
    rng: Random

    def part(self, step: Mapping[str, Any]) -> tuple[str, str]:
        """The act really done for a planned one, and its line in full."""
        act = str(step["act"])
        lines = bank("user")
        if act == "ask":
            return act, self._line(lines["ask"]["direct" if self.wish.direct else "indirect"])
        if act == "follow_up":
            return act, self._line(lines["follow_up"][_KNOWS[self.wish.depth]])
        if act == "feel":
            return act, self._line(lines["feel"][str(self.mood)], note=step["note"])
        if act == "seed":
            hook = self._hook(step["hook"])
            return act, self._line(lines["seed"]["any"], mention=hook["mention"], text=hook["text"])
        if act == "callback":
            return act, self._line(lines["callback"][self._hook(step["hook"])["kind"]])
        if act == "joke":
            kind = self.wish.humor if self.wish.jokes and self.wish.humor else "none"
            return ("joke" if kind != "none" else "plain"), self._line(lines["joke"][kind])
        if act == "allude":
            if self.wish.alludes:
                return act, self._line(lines["allude"]["any"], note=step["note"])
            # Who makes no allusions asks on instead.
            return "follow_up", self._line(lines["follow_up"][_KNOWS[self.wish.depth]])
        if act == "react":
            return act, self._reaction()
        return act, self._line(lines[act]["any"], note=step["note"])

    @property
    def mood(self) -> int:
        """-1, 0 or 1."""
        moods = {term["id"]: int(term["valence"]) for term in vocabulary("session_moods")}
        return moods[self.prior["mood"]]

    def complaint(self, turn: int) -> str | None:
        """A word about an answer that was far too long or too short, from whoever says such things."""
        if not self.last:
            return None
        apart = LENGTHS.index(length_of(self.last)) - LENGTHS.index(self.wish.length)
        patient = facet_values(self.profile)["cooperation"] > 3
        if abs(apart) < (2 if patient else 1) or turn % 2:
            return None
        return self._line(bank("user")["react"]["too_long" if apart > 0 else "too_short"])

    def spoken(self, text: str) -> str:
        """The lines as this person types them."""
        values = facet_values(self.profile)
        lower = values["orderliness"] <= 2
        expressive = values["cheerfulness"] >= 4 or values["emotionality"] >= 4
        mood = self.mood if expressive and self.rng.random() < _EMOJI else None
        return in_register(text, self.wish.register, self.rng, mood, lower)

    def _reaction(self) -> str:
        lines = bank("user")["react"]
        apart = LENGTHS.index(length_of(self.last)) - LENGTHS.index(self.wish.length) if self.last else 0
        kind = "too_long" if apart > 0 else "too_short" if apart < 0 else "right"
        wanted = [each["option"] for each in self.profile["styles"] if each["option"] in bank("user")["wish"]]
        option = wanted[self.prior["session"] % len(wanted)]
        return f"{self._line(lines[kind])} {bank('user')['wish'][option]}"

    def _hook(self, name: str) -> Mapping[str, Any]:
        return next(hook for prior in self.priors for hook in prior["hooks_seeded"] if hook["hook"] == name)

    def _line(self, lines: Sequence[str], **slots: Any) -> str:
        return self.rng.choice(lines).format(focus=self.prior["focus"], **slots)


def length_of(text: str) -> Length:
    """How long a reply is: brief up to 45 words, elaborate from 111 on."""
    words = word_count(text)
    return "brief" if words <= _BRIEF else "moderate" if words <= _LONG else "elaborate"
