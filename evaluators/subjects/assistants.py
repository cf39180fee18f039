"""Assistants of planted likability: what they say is composed, so how good it is, is known.

Each is a pure function of the history (whose last message is the user's) and a seed. ``ceiling`` picks up what
the user shows and remembers it, the better the longer it has listened; ``static`` treats everybody alike;
``forgetful`` knows only the present session; ``wrong_register``, ``verbose`` and ``sycophant`` are ceilings with
one fault. ``evaluators.subjects.truth`` scores what they did against the profile they never saw. A summary of
preferences that was kept (``Noted``) counts as known to those who adapt; ``static`` and ``sycophant`` ignore it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from evaluators.subjects.reading import Detail, Known, Moment, known, moment
from evaluators.subjects.users import USER, Said, length_of
from evaluators.subjects.wishes import Depth, Length
from evaluators.subjects.wording import Register, bank, in_register, word_count, written_out
from schemas.randomness import rng_for

Emotion = Literal["none", "stock", "matched", "over"]
Recall = Literal["none", "right", "tacked_on", "vague"]
Reference = Literal["none", "polite", "picked_up"]

_FIRST, _FULL = 0.35, 40
"""Share of what it knows that a ceiling uses at first, and the user's messages after which it uses all."""
_WITHIN_SESSION = 0.7
"""The share at first of who is attentive and forgets."""
_WORDS: Mapping[Length, tuple[int, int]] = {"brief": (12, 40), "moderate": (60, 100), "elaborate": (118, 165)}
_TEASES = 0.3  # chance of a canned joke from whoever has no ear for tone
_RECALL_UNASKED = 0.5  # chance of a callback as a session opens
_ROOM = 14  # words that a further sentence may need


@dataclass(frozen=True)
class Moves:
    """What an assistant does in one reply: the planted qualities, before anybody judges them."""

    register: Register = "neutral"
    length: Length = "moderate"
    depth: Depth = "middle"
    emotion: Emotion = "none"
    reference: Reference = "none"
    humor: str | None = None
    recall: Recall = "none"
    detail: Detail | None = None
    praise: bool = False
    explains: bool = True


@dataclass(frozen=True)
class Spoken:
    """A reply and what was done in it."""

    text: str
    moves: Moves


@dataclass(frozen=True)
class Noted:
    """Preferences that an assistant wrote down for itself; None where it knows nothing."""

    register: Register | None = None
    length: Length | None = None
    humor: str | None = None


NOTHING = Noted()


def ceiling(history: Sequence[Said], seed: int, noted: Noted = NOTHING) -> Spoken:
    """Adapts to what the user shows and recalls what they told."""
    return _spoken(history, seed, _adapted(history, seed, noted))


def static(history: Sequence[Said], seed: int, _: Noted = NOTHING) -> Spoken:
    """The same polite, middling manner for everybody, always."""
    now, knows = moment(history[-1].text), known(history)
    rng = _rng(history, seed, "moves")
    moves = Moves(
        emotion="none" if now.mood is None else "stock",
        reference="polite" if now.allusion else "none",
        recall="tacked_on" if now.opens_callback and knows.details else "none",
        detail=rng.choice(knows.details) if now.opens_callback and knows.details else None,
        explains=not now.closes,
    )
    return _spoken(history, seed, moves)


def forgetful(history: Sequence[Said], seed: int, noted: Noted = NOTHING) -> Spoken:
    """Adapts within a session and begins each new one knowing nothing."""
    here = [each for each in history if each.session == history[-1].session]
    moves = _adapted(here, seed, noted, _WITHIN_SESSION)
    if moment(history[-1].text).opens_callback:
        moves = replace(moves, recall="vague")
    return _spoken(history, seed, moves)


def wrong_register(history: Sequence[Said], seed: int, noted: Noted = NOTHING) -> Spoken:
    """Does everything right in the wrong tone of voice, jokes included."""
    moves = _adapted(history, seed, noted)
    tease = moves.humor is not None or _rng(history, seed, "tease").random() < _TEASES
    other: Register = "formal" if (known(history).register or moves.register) == "casual" else "casual"
    return _spoken(history, seed, replace(moves, register=other, humor="canned" if tease else None))


def verbose(history: Sequence[Said], seed: int, noted: Noted = NOTHING) -> Spoken:
    """Does everything right at the greatest length."""
    return _spoken(history, seed, replace(_adapted(history, seed, noted), length="elaborate"))


def sycophant(history: Sequence[Said], seed: int, _: Noted = NOTHING) -> Spoken:
    """Praises, gushes and agrees, whatever was said."""
    now, knows = moment(history[-1].text), known(history)
    rng = _rng(history, seed, "moves")
    moves = Moves(
        register="neutral",
        emotion="over" if now.mood is not None else "none",
        humor="canned" if now.joke or rng.random() < _TEASES else None,
        recall="vague" if knows.details else "none",
        praise=True,
        explains=not now.closes,
    )
    return _spoken(history, seed, moves)


ASSISTANTS: Mapping[str, Callable[[Sequence[Said], int, Noted], Spoken]] = {
    "ceiling": ceiling,
    "static": static,
    "forgetful": forgetful,
    "wrong_register": wrong_register,
    "verbose": verbose,
    "sycophant": sycophant,
}
"""By name, as in ``offline:ceiling``."""


def _adapted(history: Sequence[Said], seed: int, noted: Noted, first: float = _FIRST) -> Moves:
    """What somebody attentive does; each thing known is used with a chance that grows with listening."""
    knows, now = _with(known(history), noted), moment(history[-1].text)
    heard = sum(each.speaker == USER for each in history)
    skill = min(1.0, first + (1 - first) * heard / _FULL)
    rng = _rng(history, seed, "moves")

    def use() -> bool:
        return rng.random() < skill

    detail = _detail(history, knows, now, rng) if use() else None
    joke = now.joke or (knows.humor if rng.random() < 0.2 else None)
    return Moves(
        register=knows.register if knows.register and use() else "neutral",
        length=knows.length if knows.length and use() else "moderate",
        depth=knows.depth if knows.depth and use() else "middle",
        emotion="none" if now.mood is None else "matched" if use() else "stock",
        reference="picked_up" if now.allusion and use() else "none",
        humor=joke if joke and now.mood != -1 and use() else None,
        recall="right" if detail else "none",
        detail=detail,
        explains=not now.closes,
    )


def _with(knows: Known, noted: Noted) -> Known:
    """What a conversation shows, and what was noted where it shows nothing."""
    return replace(
        knows,
        register=knows.register or noted.register,
        length=knows.length or noted.length,
        humor=knows.humor or noted.humor,
    )


def _detail(history: Sequence[Said], knows: Known, now: Moment, rng: Random) -> Detail | None:
    """A detail of an earlier session, when the user opens the door or a session begins."""
    session = history[-1].session
    earlier = [detail for detail in knows.details if detail.session < session]
    opening = all(each.session < session for each in history[:-1])
    if not earlier or not (now.opens_callback or (opening and rng.random() < _RECALL_UNASKED)):
        return None
    return rng.choice(earlier)


def _spoken(history: Sequence[Said], seed: int, moves: Moves) -> Spoken:
    """The words for what is to be done. The length in the answer is that of the text as it came out."""
    now, topic = moment(history[-1].text), known(history).topic
    rng = _rng(history, seed, "words")
    before = _before(moves, now, rng)
    after = _after(moves, rng)
    content = _content(moves, topic, _said_here(history), word_count(" ".join([*before, *after])), rng)
    mood = now.mood if moves.register == "casual" else None
    text = in_register(" ".join([*before, *content, *after]), moves.register, rng, mood)
    return Spoken(text, replace(moves, length=length_of(text)))


def _before(moves: Moves, now: Moment, rng: Random) -> list[str]:
    """Praise, the feeling, the allusion and the joke, as far as they are made."""
    lines, parts = bank("assistant"), []
    if moves.praise:
        parts.append(rng.choice(lines["praise"]["any"]))
    if moves.emotion == "matched":
        parts.append(rng.choice(lines["emotion"][str(now.mood)]))
    elif moves.emotion != "none":
        parts.append(rng.choice(lines["emotion"][moves.emotion]))
    if moves.reference == "picked_up" and now.allusion:
        parts.append(f"{now.allusion[0].upper()}{now.allusion[1:]}.")
    elif moves.reference == "polite":
        parts.append(rng.choice(lines["reference"]["polite"]))
    if moves.humor:
        parts.append(rng.choice(lines["humor"][moves.humor]))
    return parts


def _after(moves: Moves, rng: Random) -> list[str]:
    """The detail recalled, and a close where nothing is left to explain."""
    lines, parts = bank("assistant"), []
    if moves.recall != "none":
        mention = moves.detail.mention if moves.detail else ""
        parts.append(rng.choice(lines["callback"][moves.recall]).format(mention=mention))
    if not moves.explains:
        parts.append(rng.choice(lines["close"]["any"]))
    return parts


def _content(moves: Moves, topic: str, earlier: str, said: int, rng: Random) -> list[str]:
    """Sentences of the depth until the length is reached; what was said before comes last."""
    first, *rest = bank("assistant")["content"][moves.depth]
    lines = [*([] if earlier else [first]), *rng.sample(rest, len(rest))]
    lines.sort(key=lambda line: line.lower().rstrip(".") in earlier)
    least, most = _WORDS[moves.length]
    sentences: list[str] = []
    for line in lines if moves.explains or moves.length != "brief" else []:
        words = said + word_count(" ".join(sentences))
        if (words >= least and sentences) or words + _ROOM > most:
            break
        sentences.append(line.format(topic=topic))
    return sentences


def _said_here(history: Sequence[Said]) -> str:
    """What was answered so far in the session, in one form."""
    here = [each.text for each in history if each.session == history[-1].session and each.speaker != USER]
    return " ".join(_written_out(text).lower() for text in here)


_written_out = functools.lru_cache(maxsize=1 << 12)(written_out)


def _rng(history: Sequence[Said], seed: int, what: str) -> Random:
    """One stream a place in the conversation and what was said there."""
    last = history[-1]
    return rng_for(seed, "subjects", what, last.text, last.session * 100 + last.turn)
