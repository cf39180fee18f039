"""One memory being told: its beats in order, cut to length, with everybody named.

Rubin's five dimensions are beats, so no memory lacks one: the senses (``ambience``, ``notice``), what was
said (in the scene's own beats), what was thought (``think``), the body (``body``) and what came of it
within the week (``after``, ``night``). HEART-BENCH appendices B.3 and G.2. In tiers A and B the turn is
the voice's own core pattern (``think``, ``act``) and the outcome depends on whether it faced the matter;
in tiers C and D it is plain life with a trace of the voice (``small``).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from builders.offline.banks import PLOT, VOICE_BEATS, pieces, voice
from builders.offline.cast import PRONOUNS, mark, named
from builders.offline.grammar import parse, render, straight, tidy
from builders.offline.lines import sentences, told
from builders.offline.scenes import Frame
from schemas.randomness import rng_for

# Paragraphs of beats; a beat with "?" is told only where there is room.
_TURNING = (
    ("open", "ambience", "before?", "where?", "setup", "detail?", "portrait?", "weather?", "detail?"),
    ("chat?", "detail?", "ambience?", "detail?", "notice", "arrive", "body", "detail?"),
    ("think", "press", "act", "outcome"),
    ("linger?", "detail?", "talk?", "close", "ambience?", "evening?", "after", "night"),
)
_PLAIN = (
    ("open", "ambience", "before?", "before?", "where?", "weather?", "setup", "detail?", "portrait?", "detail?"),
    ("chat?", "detail?", "aside?", "ambience?", "detail?", "chat?", "weather?"),
    ("arrive", "body", "small", "press", "detail?", "outcome"),
    ("linger?", "small?", "talk?", "detail?", "close", "ambience?", "linger?", "evening?", "after"),
)
# Which lines come when in the last paragraph, by the first slot of time they have.
_AFTERMATH = ("{Later}", "{Soon}", "{Days}")
_LEVELS = ((0.45, "low"), (0.68, "mid"), (1.01, "high"))

# The part of a thousand memories in each language, and how often a scene of adult life comes in them.
_SHARES = {"child": 0.165, "teen": 0.165, "adult": 0.67}
_SCENE_USES = 14

# How often two clauses are joined by "and" rather than a semicolon, past childhood.
_JOINED = 0.55

# No memory is told in fewer or more characters (criterion 5, appendix B.4, with a margin).
SHORTEST, LONGEST = 2040, 4380


@dataclass
class _Part:
    """A stretch of the text: where it stands, and whether it may be left out."""

    paragraph: int
    optional: bool
    text: str


class _Told(NamedTuple):
    """A line chosen for a beat: its how-manieth use this is, of how many in a thousand memories."""

    beat: str
    line: str
    use: int
    uses: float


class Teller:
    """Tells frames of one character; keeps the order in which its lines take turns."""

    def __init__(self, character_id: str, seed: int) -> None:
        self._who = character_id
        self._seed = seed
        self._orders: dict[tuple[str, int], list[int]] = {}

    def tell(self, frame: Frame, length: float, salt: int = 0) -> tuple[str, list[str]]:
        """The narrative, near ``length`` characters, and the facts it mentions; another ``salt``, other words."""
        rng = rng_for(self._seed, "heart", "words", frame.plan.id, salt)
        parts = self._parts(frame, rng, salt)
        kept = _fitted(parts, length, rng)
        paragraphs: dict[int, list[str]] = {}
        for part in kept:
            paragraphs.setdefault(part.paragraph, []).append(part.text)
        text, facts = named("\n\n".join(tidy(" ".join(texts)) for texts in paragraphs.values()), frame.members)
        return straight(tidy(text)), facts

    def phrase(self, frame: Frame, lines: Sequence[str], key: str, salt: int = 0) -> str:
        """One of some lines, rendered for a short field."""
        rng = rng_for(self._seed, "heart", key, frame.plan.id, salt)
        line = lines[self._order(key, len(lines))[(frame.plan.number + salt) % len(lines)]]
        said = render(parse(line), scope(frame, rng), lambda count: int(rng.random() * count))
        return straight(tidy(named(said, frame.members)[0]))

    def _parts(self, frame: Frame, rng: random.Random, salt: int) -> list[_Part]:
        fill = scope(frame, rng)
        parts: list[_Part] = []
        for number, paragraph in enumerate(self._chosen(frame, salt)):
            for beat, line, use, uses in sorted(paragraph, key=_when):
                for sentence in sentences(line):
                    text = told(sentence, use, uses, fill, rng, bound=beat in PLOT)
                    if text:
                        parts.append(_Part(number, sentence.optional or beat.endswith("?"), text))
        return parts

    def _chosen(self, frame: Frame, salt: int) -> list[list[_Told]]:
        """The lines of each paragraph, with their beats; none twice, and no two of the same later time."""
        used: set[str] = set()
        chosen: list[list[_Told]] = []
        for paragraph in _TURNING if frame.pattern else _PLAIN:
            chosen.append([])
            for place, beat in enumerate(paragraph):
                name = beat.rstrip("?")
                lines = _lines(frame, name)
                if not lines:
                    continue
                order = self._order(name, len(lines))
                first, uses = _turn(frame, name, place + salt)
                times = {_time(said.line) for said in chosen[-1]} - {None}
                turns = [turn for turn in range(first, first + len(lines)) if lines[_pick(order, turn)] not in used]
                turns = [turn for turn in turns if _time(lines[_pick(order, turn)]) not in times] or turns
                if turns:
                    line = lines[_pick(order, turns[0])]
                    used.add(line)
                    chosen[-1].append(_Told(beat, line, turns[0] // len(lines), uses / len(lines)))
        return chosen

    def _order(self, key: str, size: int) -> list[int]:
        """The order in which the lines of a beat take turns, the character's own."""
        if (key, size) not in self._orders:
            rng = rng_for(self._seed, "heart", "turns", f"{self._who}/{key}")
            self._orders[key, size] = rng.sample(range(size), size)
        return self._orders[key, size]


def _pick(order: Sequence[int], turn: int) -> int:
    """Which line has this turn. Every second round is shifted in beats whose order begins with an odd line, so that
    two memories that share a line in one beat do not share it in all."""
    lap, place = divmod(turn, len(order))
    return order[(place + lap * (order[0] % 2)) % len(order)]


def _turn(frame: Frame, beat: str, shift: int) -> tuple[int, float]:
    """The how-manieth use of a beat's lines a memory is, and how many uses there are in a thousand memories."""
    share = _SHARES[frame.language]
    if beat in frame.scene.beats or beat == "outcome":
        return frame.use + shift, _SCENE_USES * share / _SHARES["adult"]
    if frame.pattern and beat in {"think", "act"}:
        return frame.plan.number * 3 // 40 + shift, 75 * share
    return frame.plan.number + shift * 7, 1000 * share


def scope(frame: Frame, rng: random.Random):  # type: ignore[no-untyped-def]
    """What fills the slots of a frame's lines."""

    def choose(count: int) -> int:
        return int(rng.random() * count)

    def fill(name: str) -> str:
        head, _, form = name.partition(".")
        if head in frame.members:
            return mark(head, form) if not form or form in PRONOUNS else frame.members[head].form(form)
        if name == "joint":
            return ", and" if frame.language == "child" or rng.random() < _JOINED else ";"
        said = frame.handles.get(name)
        if said is None and frame.moment.words(name) is not None:
            return time(name)
        if said is None:
            words = pieces("words", name)
            if not words:
                raise KeyError(f"{name} in scene {frame.scene.id}")
            said = words[choose(len(words))]
        return render(parse(said), fill, choose)

    def time(name: str) -> str:
        """A phrase of time: made of such phrases only, whatever a scene calls its own things."""
        return render(parse(frame.moment.words(name) or ""), time, choose)

    return fill


def _lines(frame: Frame, beat: str) -> Sequence[str]:
    if beat in frame.scene.skip:
        return ()
    if beat == "outcome":
        return frame.scene.beats[frame.stance]
    if beat in frame.scene.beats:
        return frame.scene.beats[beat]
    if beat in VOICE_BEATS:
        return voice(frame.archetype).beats[beat][frame.language]
    if beat == "think" and frame.pattern is not None:
        return frame.pattern.think[frame.language]
    if beat == "act" and frame.pattern is not None:
        return frame.pattern.act[frame.stance][frame.language]
    if beat == "body":
        return _body(frame)
    if beat == "ambience":
        return _ambience(frame.scene.setting, frame)
    if beat == "weather":
        side = "out" if pieces("settings", frame.scene.setting, "outdoors") else "in"
        return pieces("weather", frame.weather, f"child_{side}" if frame.language == "child" else side)
    if beat in {"before", "linger", "chat", "talk"}:
        return pieces("days", beat, frame.language)
    if beat == "evening":
        return pieces("days", "morning" if frame.moment.part in {"evening", "night"} else "evening", frame.language)
    if beat == "portrait":
        return pieces("portraits", frame.language) if frame.members["other"].detail else ()
    if beat == "aside":
        return pieces("portraits", "second", frame.language) if frame.members["second"].detail else ()
    if beat == "where":
        known = "ground" in frame.members
        return pieces("portraits", "where", "child" if frame.language == "child" else "older") if known else ()
    return ()


def _ambience(setting: str, frame: Frame) -> Sequence[str]:
    if frame.language == "child":
        return pieces("settings", setting, "child")
    return (*pieces("settings", setting, "any"), *pieces("settings", setting, frame.moment.part))


def _body(frame: Frame) -> Sequence[str]:
    """What the body did: the voice's own way where it has one, else what bodies do at that strength of feeling."""
    level = next(name for limit, name in _LEVELS if frame.plan.intensity < limit)
    own = voice(frame.archetype).beats.get(f"body_{level}", {}).get(frame.language)
    return own or pieces("body", "child" if frame.language == "child" else "older", level)


def _time(line: str) -> str | None:
    return next((slot for slot in _AFTERMATH if slot in line), None)


def _when(said: _Told) -> int:
    """Where a line belongs in its paragraph: in order, but what comes later comes later."""
    time = _time(said.line)
    return 1 if said.beat == "evening?" else 0 if time is None else 2 + _AFTERMATH.index(time)


def _fitted(parts: Sequence[_Part], length: float, rng: random.Random) -> list[_Part]:
    """The parts that stay: all that must, and as many others, in chance order, as bring it nearest to ``length``."""
    total = sum(len(part.text) + 1 for part in parts if not part.optional)
    chosen: set[int] = set()
    spare = [index for index, part in enumerate(parts) if part.optional]
    rng.shuffle(spare)
    for index in spare:
        size = len(parts[index].text) + 1
        if total + size / 2 <= length:
            chosen.add(index)
            total += size
    return [part for index, part in enumerate(parts) if not part.optional or index in chosen]
