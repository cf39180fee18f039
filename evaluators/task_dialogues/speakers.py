"""The two sides of a dialogue about a task: what each is told, and who plays them without a model.

PersonaLens 3.1, prompts of our own. The user agent sees who it is, what it prefers and did before in the task's
domains, the situation and the intent, never the goal. The assistant sees the history and what ``--context`` names. Its
instruction is the same whatever it knows, so that variants differ in what is known alone; ``vanilla`` is asked for by
name and has neither instruction nor context.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluators.protocols.dialogue import SUBJECT, USER
from evaluators.protocols.prompting import PROMPTS
from evaluators.subjects.tasks.assistants import assistant_message
from evaluators.subjects.tasks.play import script_of, stream
from evaluators.subjects.tasks.script import Script
from evaluators.subjects.tasks.slots import Menus
from evaluators.subjects.tasks.users import Part, user_words
from evaluators.task_dialogues.known import Scene
from models.dialogue import Moment, Said, Speaker, Turn
from models.prompts import Prompt, load

CONTEXTS = ("demographics", "interactions", "situation")
VANILLA = "vanilla"
STOP_WORD = "TERMINATE"
ENDINGS = ("word", "signal")
"""The user agent ends a dialogue by writing the word, or in a field of its answer."""

MAX_TOKENS = 800
USER_TEMPERATURE, TEMPERATURE = 0.5, 0.0

_TYPICAL, _STEADY = "mixed", "steady"  # whose texts stand for a model's in estimates
_INSTRUCTION = (
    " Suit the person: use what you know or learn about them, and do not claim to know of them what you do not."
)
_END = {
    "word": f"When the task is done, or you give it up, end your message with the word {STOP_WORD}.",
    "signal": 'When the task is done, or you give it up, set "ends" to true with your last message.',
}
_HEADINGS = {
    "demographics": "Who the person is",
    "interactions": "What the person did with assistants before",
    "situation": "Where the person is now",
}
_ANSWER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message", "ends"],
    "properties": {
        "message": {"type": "string", "description": "The person's message."},
        "ends": {"type": "boolean", "description": "Whether it is the person's last."},
    },
}


@dataclass(frozen=True)
class Casting:
    """How dialogues are played: ``subject`` and ``user`` are offline names without prefix, or None for a model.

    ``context`` is what the assistant knows, ``vanilla`` that it is not asked to suit anybody.
    """

    subject: str | None
    user: str | None
    context: tuple[str, ...]
    vanilla: bool
    ending: str
    seed: int
    room: int
    offered: Menus


@functools.cache
def prompt(side: str) -> Prompt:
    """The prompt file of a side: ``user`` or ``assistant``."""
    return load(PROMPTS / f"task_{side}.md")


def speakers(scene: Scene, casting: Casting, texts: Mapping[str, str]) -> tuple[Speaker, Speaker]:
    """User agent and assistant of a scene, in the order in which they speak; ``texts`` are its ``known.fields``."""
    return user_agent(scene, casting, texts), assistant(scene, casting, texts)


def user_agent(scene: Scene, casting: Casting, texts: Mapping[str, str]) -> Speaker:
    """The simulated user."""
    file = prompt("user")
    told = {name: text for name, text in texts.items() if name != "goal"}
    rendered = file.render(ending=_END[casting.ending], **told)
    return Speaker(
        name="user",
        role=USER,
        compose=functools.partial(_user, scene, casting),
        fixed=rendered.fixed,
        opening=rendered.prompt,
        read=_read_word if casting.ending == "word" else _read_signal,
        schema=None if casting.ending == "word" else _ANSWER,
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        max_tokens=MAX_TOKENS,
        temperature=USER_TEMPERATURE,
    )


def assistant(scene: Scene, casting: Casting, texts: Mapping[str, str]) -> Speaker:
    """The assistant, with what it knows of the user."""
    file = prompt("assistant")
    shown = "\n\n".join(f"# {_HEADINGS[name]}\n\n{texts[name]}" for name in CONTEXTS if name in casting.context)
    rendered = file.render(instruction="" if casting.vanilla else _INSTRUCTION, known=shown)
    return Speaker(
        name="assistant",
        role=SUBJECT,
        compose=functools.partial(_assistant, scene, casting),
        fixed=(*rendered.fixed, *([rendered.prompt] if shown else [])),
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        max_tokens=casting.room,
        temperature=TEMPERATURE,
    )


def script(scene: Scene, casting: Casting) -> Script:
    """What a planted assistant does; for a model, what stands for it in estimates."""
    name = casting.subject or _TYPICAL
    informed = "interactions" in casting.context
    return script_of(scene.user, scene.task, casting.offered, name, casting.seed, informed)


def _user(scene: Scene, casting: Casting, moment: Moment) -> Any:
    plan = script(scene, casting)
    heard, said = _by_speaker(moment.turns)
    part = Part(scene.user, scene.task, plan.slots, casting.user or _STEADY)
    words = user_words(part, heard, said, stream(casting.seed, "user", scene.user, scene.task, len(heard)))
    if casting.ending == "signal":
        return {"message": words.text, "ends": words.ends}
    return f"{words.text} {STOP_WORD}".strip() if words.ends else words.text


def _assistant(scene: Scene, casting: Casting, moment: Moment) -> str:
    heard, said = _by_speaker(moment.turns)
    rng = stream(casting.seed, "assistant", scene.user, scene.task, len(heard))
    return assistant_message(script(scene, casting), len(heard), said[-1] if said else "", rng)


def _by_speaker(turns: Sequence[Turn]) -> tuple[list[str], list[str]]:
    """The assistant's messages and the user's."""
    heard = [turn.text for turn in turns if turn.role == SUBJECT]
    return heard, [turn.text for turn in turns if turn.role == USER]


def _read_word(answer: Any) -> Said:
    """A message; every stop word in it is taken out, as the released code does."""
    if not isinstance(answer, str):
        raise ValueError("the answer is not plain text")
    return Said(answer.replace(STOP_WORD, "").strip(), stop=STOP_WORD in answer)


def _read_signal(answer: Any) -> Said:
    if not isinstance(answer, Mapping) or not isinstance(answer.get("message"), str):
        raise ValueError("the answer has no message")
    return Said(answer["message"].strip(), stop=answer.get("ends") is True)
