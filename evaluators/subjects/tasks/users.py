"""A composed user: what a person of a profile says in a dialogue about a task, by reading what the assistant said.

PersonaLens 3.1. ``steady`` opens with the request alone, answers what it is asked, confirms what suits, corrects what
does not, and ends when the task is done or given up. It reads texts, so it talks to any assistant. The others are
``steady`` with one fault that audits have to find:

    hasty          states a preference in the first message
    leaking        tells the goal, which a user does not know
    swapped        answers as the assistant would
    contradicting  claims a value that is not in its profile
    reciting       reads out its demographics
    endless        never ends
    abrupt         ends at once
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from evaluators.subjects.tasks.assistants import bank
from evaluators.subjects.tasks.requests import request_in_first_person
from evaluators.subjects.tasks.slots import Slot
from schemas.tables import Row

USERS = ("steady", "hasty", "leaking", "swapped", "contradicting", "reciting", "endless", "abrupt")

Heard = Literal["asked", "right", "wrong", "done", "failed", "other"]

_DONE = re.compile(
    r"\b(?:all set|it is done|is done\b|everything is (?:now )?(?:settled|booked|set|done|arranged)|all in place"
    r"|completed|confirmed your booking|(?:is|are|has been|have been) (?:now )?(?:booked|reserved|set up|scheduled)"
    r"|anything else)\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:cannot (?:finish|complete|do) this|could not get this done|does not work|(?:am|'m) unable to|aborted)\b",
    re.IGNORECASE,
)
_PATIENCE = 4  # messages beyond two a slot after which a user leaves


@dataclass(frozen=True)
class Part:
    """Whose part is played: the profile, the task, its slots, and how."""

    user: Row
    task: Row
    slots: tuple[Slot, ...]
    manner: str


@dataclass(frozen=True)
class UserWords:
    """What the user says, and whether that ends the dialogue."""

    text: str
    ends: bool = False


def user_words(part: Part, heard: Sequence[str], said: Sequence[str], rng: Random) -> UserWords:
    """The user's next message; ``heard`` are the assistant's messages so far, ``said`` the user's own."""
    if part.manner == "abrupt":
        return UserWords("", ends=True)
    if not heard:
        return UserWords(_opening(part, rng))
    if part.manner == "swapped":
        return UserWords(_line("swapped", rng))
    what, slot = read(heard[-1], part.slots)
    ends = part.manner != "endless"
    if ends and what == "done":
        return UserWords(_line("thanks", rng), ends=True)
    if ends and what == "failed":
        return UserWords(_line("give_up", rng), ends=True)
    if ends and len(said) >= 2 * len(part.slots) + _PATIENCE:
        return UserWords(_line("impatient", rng), ends=True)
    return UserWords(_reply(part, what, slot, said, rng))


def read(message: str, slots: Sequence[Slot]) -> tuple[Heard, Slot | None]:
    """What an assistant did in a message, and about which slot, as far as its words show."""
    folded = message.casefold()
    named = next((slot for slot in slots if slot.preference.casefold() in folded), None)
    if _FAILED.search(message):
        return "failed", None
    if _DONE.search(message):
        return "done", None
    if "?" in message:
        return "asked", named
    for slot in [named] if named else slots:
        if any(value.casefold() in folded for value in slot.values):
            return "right", slot
        if any(value.casefold() in folded for value in slot.others):
            return "wrong", slot
    return "other", None


def _opening(part: Part, rng: Random) -> str:
    request = request_in_first_person(part.task["intent"])
    if part.manner == "hasty" and part.slots:
        slot = part.slots[0]
        return _line("hasty", rng, request=request, value=slot.values[0], type=slot.preference.lower())
    if part.manner == "leaking":
        return _line("leaking", rng, request=request, goal=part.task["goal"])
    if part.manner == "reciting":
        return _line("reciting", rng, text=request, **_lowered(part.user["demographics"]))
    return _line("opening", rng, request=request)


def _reply(part: Part, what: Heard, slot: Slot | None, said: Sequence[str], rng: Random) -> str:
    if part.manner == "contradicting" and len(said) == 1:
        wrong = next((one for one in part.slots if one.others), None)
        if wrong is not None:
            return _line("contradicting", rng, value=rng.choice(wrong.others), type=wrong.preference.lower())
    if what == "right":
        return _line("confirm", rng)
    if what == "other":
        return _line("go_on", rng)
    chosen = slot or _unsaid(part.slots, said)
    if chosen is None:
        return _line("open", rng)
    value = rng.choice(chosen.values)
    if what == "wrong":
        return _line("correct", rng, value=value)
    repeated = any(own.casefold() in " ".join(said).casefold() for own in chosen.values)
    return _line("repeat" if repeated else "answer", rng, value=value, type=chosen.preference.lower())


def _unsaid(slots: Sequence[Slot], said: Sequence[str]) -> Slot | None:
    """The first slot of which the user has named no value."""
    folded = " ".join(said).casefold()
    return next((slot for slot in slots if not any(value.casefold() in folded for value in slot.values)), None)


def _line(name: str, rng: Random, **slots: str) -> str:
    lines: Sequence[str] = bank("user")[name]
    text = rng.choice(lines).format(**slots)
    return text[0].upper() + text[1:]


def _lowered(demographics: Mapping[str, str]) -> dict[str, str]:
    kept = ("reside_country", "birth_country")
    return {name: value if name in kept else value.lower() for name, value in demographics.items()}
