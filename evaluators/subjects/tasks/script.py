"""What an assistant does, message by message, drawn by its behaviour: the planted quality before any word is said.

attentive   uses the right preference without asking, nearly always; completes
asking      asks for every preference and then uses it; completes
inventive   often claims a preference that the user does not have
ignoring    does the task without regard to preferences
failing     attentive, and never completes
forgetful   asks again for what it was told
robotic     attentive, in the form of a printed record
mixed       everything, in shares: what judges are examined with
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from evaluators.subjects.tasks.slots import Slot

Act = Literal["right", "wrong", "ask", "use", "ask_again", "ignore", "complete", "fail"]
"""``use``: the right preference, after it was asked for. The last act of a script is ``complete`` or ``fail``."""


@dataclass(frozen=True)
class Behaviour:
    """Chances of what is done with a slot, and of completing; ``again`` of asking for it twice, ``form`` of words."""

    right: float = 0.0
    wrong: float = 0.0
    ask: float = 0.0
    ignore: float = 0.0
    completes: float = 1.0
    again: float = 0.0
    form: Literal["plain", "record"] = "plain"

    def informed(self) -> Behaviour:
        """The same assistant when it knows what the user did before: it asks half as often and is right instead."""
        return replace(self, right=self.right + self.ask / 2, ask=self.ask / 2)


BEHAVIOURS: Mapping[str, Behaviour] = {
    "attentive": Behaviour(right=0.9, ask=0.1, completes=0.95),
    "asking": Behaviour(ask=1.0, completes=0.95),
    "inventive": Behaviour(right=0.3, wrong=0.6, ignore=0.1, completes=0.8),
    "ignoring": Behaviour(ignore=1.0, completes=0.9),
    "failing": Behaviour(right=0.9, ask=0.1, completes=0.0),
    "forgetful": Behaviour(right=0.2, ask=0.8, completes=0.8, again=0.7),
    "robotic": Behaviour(right=0.9, ask=0.1, completes=0.95, form="record"),
    "mixed": Behaviour(right=0.4, wrong=0.2, ask=0.2, ignore=0.2, completes=0.7, again=0.1),
}


@dataclass(frozen=True)
class Move:
    """One message of the assistant: its act, the slot it is about, and the value it names."""

    act: Act
    slot: Slot | None = None
    value: str | None = None


@dataclass(frozen=True)
class Script:
    """All messages of an assistant in order; ``slots`` are those of the task."""

    moves: tuple[Move, ...]
    slots: tuple[Slot, ...]
    form: Literal["plain", "record"]


def script(behaviour: Behaviour, slots: Sequence[Slot], rng: Random) -> Script:
    """Draw a script: a message or two a slot, then the last. A slot without a wrong value is asked about instead."""
    # What an informed assistant does instead stands side by side: the same draw turns from the one into the other.
    acts: list[Literal["right", "wrong", "ask", "ignore"]] = ["right", "ask", "wrong", "ignore"]
    shares = [behaviour.right, behaviour.ask, behaviour.wrong, behaviour.ignore]
    moves: list[Move] = []
    for slot in slots:
        act = rng.choices(acts, shares)[0]
        if act == "wrong" and not slot.others:
            act = "ask"
        if act == "ask":
            moves.append(Move("ask", slot))
            if rng.random() < behaviour.again:
                moves.append(Move("ask_again", slot))
            moves.append(Move("use", slot, rng.choice(slot.values)))
        else:
            value = {"right": slot.values, "wrong": slot.others, "ignore": ()}[act]
            moves.append(Move(act, slot, rng.choice(value) if value else None))
    last = Move("complete" if rng.random() < behaviour.completes else "fail")
    return Script((*moves, last), tuple(slots), behaviour.form)
