"""A whole dialogue between a composed user and a planted assistant, with its true scores, without any model.

The turns are those that the protocol holds: the user begins, and after the user's last words the assistant answers
once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from evaluators.subjects.tasks.assistants import assistant_message
from evaluators.subjects.tasks.script import BEHAVIOURS, Script, script
from evaluators.subjects.tasks.slots import Menus, slots
from evaluators.subjects.tasks.truth import planted_scores
from evaluators.subjects.tasks.users import Part, user_words
from schemas.randomness import rng_for
from schemas.tables import Row


@dataclass(frozen=True)
class Played:
    """A dialogue as messages (speaker, text), whether the user ended it, and what it is worth."""

    messages: tuple[tuple[str, str], ...]
    ended: bool
    script: Script
    scores: dict[str, float | None]


def script_of(user: Row, task: Row, offered: Menus, assistant: str, seed: int, informed: bool = False) -> Script:
    """The script of an assistant for a user's task, the same whoever plays the user.

    ``informed``: it knows what the user did before.
    """
    behaviour = BEHAVIOURS[assistant].informed() if informed else BEHAVIOURS[assistant]
    return script(behaviour, slots(user, task, offered), stream(seed, f"script.{assistant}", user, task))


def stream(seed: int, what: str, user: Row, task: Row, number: int = 0) -> Random:
    """Random choices of one message or script of a dialogue."""
    return rng_for(seed, "subjects", f"tasks.{what}", f"{user['user_id']}/{task['task_id']}", number)


def play(
    user: Row, task: Row, offered: Menus, assistant: str, seed: int, manner: str = "steady", max_turns: int = 20
) -> Played:
    """The dialogue. Raises KeyError for an unknown assistant."""
    plan = script_of(user, task, offered, assistant, seed)
    part = Part(user, task, plan.slots, manner)
    heard: list[str] = []
    said: list[str] = []
    messages: list[tuple[str, str]] = []
    for number in range(max_turns + 1):
        words = user_words(part, heard, said, stream(seed, "user", user, task, number))
        if words.text:
            said.append(words.text)
            messages.append(("user", words.text))
        if not words.text or (number == max_turns and not words.ends):
            return Played(tuple(messages), words.ends, plan, planted_scores(plan, len(heard)))
        heard.append(assistant_message(plan, number, words.text, stream(seed, "assistant", user, task, number)))
        messages.append(("assistant", heard[-1]))
        if words.ends:
            return Played(tuple(messages), True, plan, planted_scores(plan, len(heard)))
    raise AssertionError("the last round returns")
