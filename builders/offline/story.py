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

from builders.offline.banks import VOICE_BEATS, pieces, voice
from builders.offline.cast import mark, named
from builders.offline.grammar import Template, parse, parse_line, render, tidy
from builders.offline.scenes import Frame
from schemas.randomness import rng_for

# Paragraphs of beats; a beat with "?" is told only where there is room.
_TURNING = (
    ("open", "ambience", "before?", "where?", "setup", "detail?", "portrait?", "weather?", "detail?"),
    ("chat?", "detail?", "ambience?", "detail?", "notice", "arrive", "body", "detail?"),
    ("think", "press", "act", "outcome"),
    ("linger?", "detail?", "chat?", "close", "ambience?", "evening?", "after", "night"),
)
_PLAIN = (
    ("open", "ambience", "before?", "before?", "where?", "weather?", "setup", "detail?", "portrait?", "detail?"),
    ("chat?", "detail?", "aside?", "ambience?", "detail?", "chat?", "weather?"),
    ("arrive", "body", "small", "press", "detail?", "outcome"),
    ("linger?", "small?", "chat?", "detail?", "close", "ambience?", "linger?", "evening?", "after"),
)
# Which lines come when in the last paragraph, by the first slot of time they have.
_AFTERMATH = ("{Later}", "{Soon}", "{Days}")
_LEVELS = ((0.45, "low"), (0.68, "mid"), (1.01, "high"))

# No memory is told in fewer or more characters (criterion 5, appendix B.4, with a margin).
SHORTEST, LONGEST = 2040, 4380


@dataclass
class _Part:
    """A stretch of the text: where it stands, and whether it may be left out."""

    paragraph: int
    optional: bool
    text: str


class Teller:
    """Tells frames of one character; keeps the order in which its lines take turns."""

    def __init__(self, character_id: str, seed: int) -> None:
        self._who = character_id
        self._seed = seed
        self._turns: dict[tuple[str, int], list[int]] = {}

    def tell(self, frame: Frame, length: float, salt: int = 0) -> tuple[str, list[str]]:
        """The narrative, near ``length`` characters, and the facts it mentions; another ``salt``, other words."""
        rng = rng_for(self._seed, "heart", "words", frame.plan.id, salt)
        parts = self._parts(frame, rng, salt)
        kept = _fitted(parts, length, rng)
        paragraphs: dict[int, list[str]] = {}
        for part in kept:
            paragraphs.setdefault(part.paragraph, []).append(part.text)
        text, facts = named("\n\n".join(tidy(" ".join(texts)) for texts in paragraphs.values()), frame.members)
        return tidy(text), facts

    def phrase(self, frame: Frame, lines: Sequence[str], key: str, salt: int = 0) -> str:
        """One of some lines, rendered for a short field."""
        rng = rng_for(self._seed, "heart", key, frame.plan.id, salt)
        said = render(parse(self._turn(lines, key, frame.plan.number + salt)), scope(frame, rng), _chooser(rng))
        return tidy(named(said, frame.members)[0])

    def _parts(self, frame: Frame, rng: random.Random, salt: int) -> list[_Part]:
        fill, choose = scope(frame, rng), _chooser(rng)
        parts: list[_Part] = []
        for number, paragraph in enumerate(self._chosen(frame, salt)):
            for beat, line in sorted(paragraph, key=_when):
                for optional, template in parse_line(line):
                    text = render(template, fill, choose).strip()
                    if text:
                        parts.append(_Part(number, optional or beat.endswith("?"), text))
        return parts

    def _chosen(self, frame: Frame, salt: int) -> list[list[tuple[str, str]]]:
        """The lines of each paragraph, with their beats; none twice, and no two of the same later time."""
        used: set[str] = set()
        chosen: list[list[tuple[str, str]]] = []
        for paragraph in _TURNING if frame.plan.pattern is not None else _PLAIN:
            chosen.append([])
            for beat in paragraph:
                name = beat.rstrip("?")
                times = {_time(line) for _, line in chosen[-1]} - {None}
                lines = [line for line in _lines(frame, name) if line not in used]
                lines = [line for line in lines if _time(line) not in times] or lines
                if lines:
                    line = self._turn(lines, name, frame.plan.number + salt + len(used))
                    used.add(line)
                    chosen[-1].append((beat, line))
        return chosen

    def _turn(self, lines: Sequence[str], key: str, number: int) -> str:
        """The line whose turn it is: all lines take turns over the numbers, in an order of the character's own."""
        size = len(lines)
        if (key, size) not in self._turns:
            self._turns[key, size] = rng_for(self._seed, "heart", "turns", f"{self._who}/{key}").sample(
                range(size), size
            )
        return lines[self._turns[key, size][number % size]]


def scope(frame: Frame, rng: random.Random):  # type: ignore[no-untyped-def]
    """What fills the slots of a frame's lines."""
    choose = _chooser(rng)

    def fill(name: str) -> str:
        head, _, form = name.partition(".")
        if head in frame.members:
            return frame.members[head].form(form) if form else mark(head)
        said = frame.handles.get(name) or frame.moment.words(name)
        if said is None:
            words = pieces("words", name)
            if not words:
                raise KeyError(f"{name} in scene {frame.scene.id}")
            said = words[choose(len(words))]
        return render(_template(said), fill, choose)

    return fill


def _template(text: str) -> Template:
    return parse(text)


def _chooser(rng: random.Random):  # type: ignore[no-untyped-def]
    # Much faster than randrange, and as even as needed for a handful of wordings.
    return lambda count: int(rng.random() * count)


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
    if beat in {"before", "linger", "chat"}:
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


def _when(said: tuple[str, str]) -> int:
    """Where a line belongs in its paragraph: in order, but what comes later comes later."""
    beat, line = said
    time = _time(line)
    return 1 if beat == "evening?" else 0 if time is None else 2 + _AFTERMATH.index(time)


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
