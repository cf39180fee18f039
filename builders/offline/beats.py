"""The lines each beat of a story can be told with, and what fills their slots.

A beat is answered by the scene (what happens), the voice in this scene (what is thought and done), the voice
anywhere (the week after it) or a bank that all share (senses, weather, body, the day around it).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from builders.offline import turns
from builders.offline.banks import VOICE_BEATS, pieces
from builders.offline.cast import PRONOUNS, mark
from builders.offline.grammar import parse, render, slots
from builders.offline.scenes import Frame
from builders.offline.voices import Lines, suiting, voice

_LEVELS = ((0.45, "low"), (0.68, "mid"), (1.01, "high"))
# What shakes a body: where a scene is of none of these kinds it is a trifle, however strongly it was felt.
_SHAKING = frozenset(
    {"danger", "sorrow", "wronged", "guilty", "dispute", "decider", "watched", "apart", "troubled", "stranger"}
)
_BRIGHT = ("sun", "heat")


def scope(frame: Frame, rng: random.Random) -> Callable[[str], str]:
    """What fills the slots of a frame's lines; no small word (a snack, a topic) comes twice until all have come."""
    left: dict[str, list[str]] = {}

    def choose(count: int) -> int:
        return int(rng.random() * count)

    def small_word(name: str) -> str:
        if not left.get(name):
            words = pieces("words", name)
            if not words:
                raise KeyError(f"{name} in scene {frame.scene.id}")
            left[name] = rng.sample(words, len(words))
        return left[name].pop()

    def fill(name: str) -> str:
        head, _, form = name.partition(".")
        if head in frame.members:
            return mark(head, form) if not form or form in PRONOUNS else frame.members[head].form(form)
        said = frame.handles.get(name)
        if said is None and frame.moment.words(name) is not None:
            return time(name)
        if said is None:
            said = small_word(name)
        return render(parse(said), fill, choose)

    def time(name: str) -> str:
        """A phrase of time: made of such phrases only, whatever a scene calls its own things."""
        return render(parse(frame.moment.words(name) or ""), time, choose)

    return fill


def lines_of(frame: Frame, beat: str) -> Sequence[str]:
    """All lines a beat of a frame can be told with; none where it does not belong, or where none suits the scene."""
    if beat in frame.scene.skip:
        return ()
    if beat == "outcome":
        return frame.scene.beats[frame.stance]
    if beat in frame.scene.beats:
        return frame.scene.beats[beat]
    if beat == "week":
        return [line for line in _spoken(voice(frame.archetype).beats[beat], frame) if _knows_whoever(line, frame)]
    if beat == turns.SMALL:
        return (turns.part(frame.scene.id, frame.archetype).small,)
    if beat in frame.turn:
        return (frame.turn[beat],)
    if beat in VOICE_BEATS:
        return _spoken(voice(frame.archetype).beats[beat], frame)
    if beat == "body":
        return _body(frame)
    if beat == "ambience":
        return _ambience(frame.scene.setting, frame)
    if beat == "weather":
        return _weather(frame)
    if beat == "tempted":
        return pieces("tempted", frame.language)
    if beat in {"at_home", "at_home_later"}:
        return _home(frame, "before" if beat == "at_home" else "evening")
    if beat == "ailment":
        return pieces("home", "ailment", frame.members["ailment"].role) if "ailment" in frame.members else ()
    return ()


def _spoken(lines: Lines, frame: Frame) -> Sequence[str]:
    """The lines of a voice that suit the scene."""
    return suiting(lines[frame.language], frame.scene.kinds)


def _knows_whoever(line: str, frame: Frame) -> bool:
    """Whether those whom a line of a later day names are people of the ledger: one does not ring up a stranger."""
    named = {slot.partition(".")[0] for slot in slots(parse(line))}
    return all(frame.members[slot].fact for slot in named & {"other", "second"})


def _ambience(setting: str, frame: Frame) -> Sequence[str]:
    kind = "child" if frame.language == "child" else "any"
    bright = frame.weather in _BRIGHT and not frame.moment.dark
    day = "child_day" if frame.language == "child" else "day"
    return (*pieces("settings", setting, kind), *(pieces("settings", setting, day) if bright else ()))


def _weather(frame: Frame) -> Sequence[str]:
    """What the weather is like by day, outside or through a window; nothing under a roof that is open to the sides."""
    outdoors = pieces("settings", frame.scene.setting, "outdoors")
    if frame.moment.dark or "partly" in outdoors:
        return ()
    side = "out" if outdoors else "in"
    return pieces("weather", frame.weather, f"child_{side}" if frame.language == "child" else side)


def _home(frame: Frame, when: str) -> Sequence[str]:
    """Lines about those at home whom the frame has room for: before the scene, or (``evening``) after one by day."""
    if frame.household is None or frame.household.when != when:
        return ()
    return pieces("home", *frame.household.path, when)


def _body(frame: Frame) -> Sequence[str]:
    """What the body did: the voice's own way where it has one, else what bodies do at that strength of feeling."""
    level = next(name for limit, name in _LEVELS if frame.plan.intensity < limit)
    if level == "high" and _SHAKING.isdisjoint(frame.scene.kinds):
        level = "mid"
    own = voice(frame.archetype).beats.get(f"body_{level}")
    return (own and _spoken(own, frame)) or pieces("body", "child" if frame.language == "child" else "older", level)
