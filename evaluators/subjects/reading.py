"""What an assistant can tell from a conversation: register, length and depth wanted, humour, details, open doors.

It reads the user's words and nothing else: no profile, no agenda, no score (LikeBench 3, information asymmetry).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.subjects.users import USER, Said, length_of
from evaluators.subjects.wishes import LENGTHS, Depth, Length
from evaluators.subjects.wording import Register, bank, register_signs, without_emoji, written_out
from schemas.records import vocabulary

_HUMOR = ("affiliative", "self_enhancing", "aggressive", "self_defeating")
_MOODS = {"positive": 1, "even": 0, "negative": -1}
_LENGTH_CUES = {"too_long": -1, "too_short": 1, "right_length": 0}
_DEPTH_CUES: dict[str, Depth] = {"novice": "basic", "familiar": "middle", "expert": "expert"}


@dataclass(frozen=True)
class Detail:
    """A personal detail the user let drop: how it is named and what is true of it, in the second person."""

    session: int
    mention: str
    text: str


@dataclass(frozen=True)
class Moment:
    """What the user's last message shows by itself."""

    mood: int | None
    allusion: str | None
    joke: str | None
    opens_callback: bool
    closes: bool


@dataclass(frozen=True)
class Known:
    """What the whole conversation shows; None where there is no sign yet."""

    register: Register | None
    length: Length | None
    depth: Depth | None
    humor: str | None
    details: tuple[Detail, ...]
    topic: str


@dataclass(frozen=True)
class _Signs:
    """All that one message of a user shows; ``wants`` is -1 for shorter, 1 for longer, 0 for as it was."""

    moment: Moment
    register: int
    wants: int | None
    depth: Depth | None
    details: tuple[tuple[str, str], ...]
    topic: str | None


def moment(text: str) -> Moment:
    """Reads one message."""
    return _signs(text).moment


@functools.lru_cache(maxsize=1 << 14)
def _signs(text: str) -> _Signs:
    said, cues = written_out(text), bank("assistant")["cues"]

    def seen(name: str) -> bool:
        return re.search(cues[name], said, re.IGNORECASE) is not None

    topic = re.search(cues["topic"], text, re.IGNORECASE)
    return _Signs(
        moment=Moment(
            mood=next((value for name, value in _MOODS.items() if seen(name)), None),
            allusion=next(
                (term["pickup"] for term in vocabulary("allusions") if term["cue"].lower() in text.lower()), None
            ),
            joke=next((kind for kind in _HUMOR if seen(kind)), None),
            opens_callback=seen("callback"),
            closes=seen("close"),
        ),
        register=register_signs(text),
        wants=next((by for name, by in _LENGTH_CUES.items() if seen(name)), None),
        depth=next((depth for name, depth in _DEPTH_CUES.items() if seen(name)), None),
        details=tuple(
            (your(seed["mention"]), your(seed["text"])) for seed in re.finditer(cues["seed"], said, re.IGNORECASE)
        ),
        topic=without_emoji(topic["topic"]) if topic else None,
    )


def known(history: Sequence[Said]) -> Known:
    """Reads all messages, the last of which is the user's."""
    own = [(each.session, _signs(each.text)) for each in history if each.speaker == USER]
    here = [signs for session, signs in own if session == own[-1][0]]
    jokes = [signs.moment.joke for _, signs in own if signs.moment.joke]
    depths = [signs.depth for signs in here if signs.depth]
    return Known(
        register=_register([signs.register for _, signs in own]),
        length=_length(history),
        depth=depths[-1] if depths else None,
        humor=max(sorted(set(jokes)), key=jokes.count) if jokes else None,
        details=tuple(Detail(session, *detail) for session, signs in own for detail in signs.details),
        topic=next((signs.topic for signs in here if signs.topic), "this"),
    )


def _register(signs: Sequence[int]) -> Register | None:
    """By the signs of the last messages: one may mislead, three together seldom do."""
    recent = sum(signs[-3:])
    if recent >= 3:
        return "casual"
    if recent <= -2 or (len(signs) >= 3 and not any(signs[-3:])):
        return "formal"
    return "neutral" if recent > 0 else None


def _length(history: Sequence[Said]) -> Length | None:
    """What the last complaint or praise asked for, counted from the reply it was about."""
    wanted: Length | None = None
    last = ""
    for each in history:
        if each.speaker != USER:
            last = each.text
        elif last and (by := _signs(each.text).wants) is not None:
            wanted = LENGTHS[min(max(LENGTHS.index(length_of(last)) + by, 0), len(LENGTHS) - 1)]
    return wanted


_SECOND_PERSON = {"my": "your", "me": "you", "i": "you", "mine": "yours", "am": "are"}


def your(text: str) -> str:
    """First person turned to second: "my sister Nora" is "your sister Nora" to whom it is said back."""
    return " ".join(_SECOND_PERSON.get(word.lower(), word) for word in text.split(" "))
