"""One memory being told: its beats in order, cut to length, with everybody named.

Rubin's five dimensions are beats, so no memory lacks one: the senses (``detail``, ``ambience``), what was
said (in the scene's own beats), what was thought (``think``), the body (``body``) and what came of it
within the week (``after``, ``week``). HEART-BENCH appendices B.3 and G.2. In tiers A and B the turn is
the voice's own core pattern (``think``, ``act``) and the outcome depends on whether it faced the matter;
in tiers C and D it is plain life with a trace of the voice (``small``).

Each beat takes the line told least so far; what may be left out goes first when it was told most often. See
``builders.offline.draft`` for the words.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from builders.offline.beats import lines_of
from builders.offline.lines import Sentence, fewest_wordings, fixed, sentences
from builders.offline.scenes import Frame
from builders.offline.uses import Uses

# Paragraphs of beats; a beat with "?" is told where there is room.
# What a scene tells of itself comes first: shared lines know nothing of it.
_TURNING = (
    ("open", "setup", "detail?", "detail?"),
    ("at_home", "earlier", "ailment?", "detail?", "detail?", "detail?"),
    (),
    ("arrive", "body", "think?", "tempted?", "press", "act?", "outcome"),
    ("close", "at_home_later", "later", "after", "week"),
)
_PLAIN = (
    ("open", "setup", "detail?", "detail?"),
    ("at_home", "earlier", "ailment?", "detail?", "detail?", "detail?"),
    (),
    ("arrive", "body", "small?", "press", "outcome"),
    ("close", "at_home_later", "later", "after"),
)
# Beats that are small stories of their own, told whole or not at all.
EPISODES = ("earlier", "later")
# The evening is told once: with those at home, or as the scene tells it.
_INSTEAD = {"later": "at_home_later"}
# What a memory is filled with when all of these are told, in which paragraph, where, how often at most, and how many
# characters it has to lack for it: first the scene's own, then what could be told of any.
_MORE = (
    ("detail", 1, 100, 2, 0),
    ("detail", 0, 100, 2, 0),
    ("earlier", 2, 0, 1, 330),
    ("detail", 1, 101, 4, 0),
    ("ambience", 0, 90, 1, 0),
    ("weather", 0, 91, 1, 0),
    ("detail", 1, 102, 6, 0),
    ("earlier", 2, 0, 1, 120),
)
# Which lines come when in the last paragraph, by the first slot of time they have.
_LATER = "{Later}"
_AFTERMATH = (_LATER, "{Soon}", "{Days}")
# Beats of the evening of that day, which come before what is told with a time of its own.
_AT_NIGHT = {"at_home_later": 0.5, "later": 1.0}
# What makes a stretch be left out sooner: each time its line was told, chance.
_WORN, _CHANCE = 0.02, 0.1
# So much sooner goes what could be told of any scene than what belongs to this one, or to the voice.
_ANYWHERE, _LAST = 0.2, 10.0
# Lines that know nothing of a scene, whatever wording they have, are told in this share of a life's memories at most.
_DISPENSABLE = frozenset({"week", "tempted", "weather", "ambience", "ailment", "at_home", "at_home_later"})
_STALE = 0.025
_SHARES = {"act": -2.0, "think": -1.0, "small": -1.0, "detail": 0.0}


@dataclass(frozen=True, eq=False)
class Piece:
    """Sentences of a line that stay or go together, each with its number in the line.

    ``order`` is where the line stands: paragraph, later time, place. ``rank`` orders what may be left out,
    the last first; it is None where the piece must stay.
    """

    beat: str
    line: str
    order: tuple[int, float, int]
    sentences: tuple[tuple[int, Sentence], ...]
    rank: float | None

    @functools.cached_property
    def size(self) -> float:
        """Characters, as far as can be said before it is told."""
        return sum(sentence.size + 1 for _, sentence in self.sentences)

    @functools.cached_property
    def handles(self) -> Mapping[str, float]:
        """How often it names each handle of the scene, on average."""
        total: dict[str, float] = {}
        for _, sentence in self.sentences:
            for name, count in sentence.handles.items():
                total[name] = total.get(name, 0.0) + count
        return total


class Outline:
    """Which lines a memory is told with; lines that were set aside are replaced by the next of their beat.

    ``place`` is the memory's in the life that ``uses`` counts; ``skip`` passes over so many of the least told
    lines of every beat: another telling of the same event.
    """

    def __init__(self, frame: Frame, uses: Uses, rng: random.Random, place: int, skip: int = 0) -> None:
        self._frame = frame
        self._place = place
        self._uses = uses
        self._rng = rng
        self._skip = skip
        self._left: dict[str, list[str]] = {}
        self._added = 0
        self._more = [0] * len(_MORE)
        self._used: set[str] = set()

    def pieces(self) -> list[Piece]:
        """All pieces."""
        made: list[Piece] = []
        for number, paragraph in enumerate(_TURNING if self._frame.pattern else _PLAIN):
            times: set[str] = set()
            told: set[str] = set()
            for place, beat in enumerate(paragraph):
                name = beat.rstrip("?")
                if _INSTEAD.get(name) in told:
                    continue
                line = self._next(name, times)
                if line is not None:
                    told.add(name)
                    times |= {time} if (time := _LATER if name in _AT_NIGHT else _time(line)) else set()
                    made += self._split(beat, line, number, place)
        return made

    def instead(self, piece: Piece) -> list[Piece]:
        """The pieces of another line for the beat of ``piece``; none when there is no other."""
        line = self._next(piece.beat, set())
        paragraph, _, place = piece.order
        beat = piece.beat if piece.rank is None else f"{piece.beat}?"
        return list(self._split(beat, line, paragraph, place)) if line is not None else []

    def more(self, crowded: Collection[str], room: float) -> list[Piece]:
        """One more piece for a memory that lacks ``room`` characters; none when all is told.

        ``crowded`` are handles of the scene that it must not name.
        """
        for number, (beat, paragraph, place, most, least) in enumerate(_MORE):
            wanted = self._more[number] < most and room >= least
            line = self._next(beat, set(), crowded) if wanted else None
            if line is not None:
                self._added += 1
                self._more[number] += 1
                return list(self._split(f"{beat}+", line, paragraph, place + self._added))
        return []

    def _next(self, beat: str, times: set[str], crowded: Collection[str] = ()) -> str | None:
        """The least told line of a beat that is not used yet and names none of the ``crowded`` handles.

        One of another later time than ``times``, and rather one that has no sentence told too often; a beat that can
        be left out has no other.
        """
        if beat not in self._left:
            lines = lines_of(self._frame, beat)
            ranked = [lines[number] for number in self._uses.ranked(lines, self._rng)]
            start = self._skip % len(ranked) if ranked else 0
            self._left[beat] = ranked[start:] + ranked[:start]
        any_line = another_time = fresh = None
        for line in self._left[beat]:
            if line in self._used or (crowded and _names(line, crowded)) or self._is_stale(beat, line):
                continue
            any_line = any_line or line
            if _time(line) in times:
                continue
            another_time = another_time or line
            if not self._is_worn(line):
                fresh = line
                break
        chosen = fresh if beat in _DISPENSABLE else fresh or another_time or any_line
        if chosen is not None:
            self._used.add(chosen)
        return chosen

    def _is_stale(self, beat: str, line: str) -> bool:
        """Whether a line that belongs to no scene, and that a memory can do without, was told often enough."""
        return beat in _DISPENSABLE and beat not in self._frame.scene.beats and self._uses.share(line) > _STALE

    def _is_worn(self, line: str) -> bool:
        """Whether a sentence of a line was told as often as it may be."""
        full = any(self._uses.full(said, self._place) for said in fixed(line))
        return full or self._uses.spent(line, fewest_wordings(line))

    def _split(self, beat: str, line: str, paragraph: int, place: int) -> Iterator[Piece]:
        """A line as what must be told of it, if it is told, and what may be left out besides."""
        whole = list(enumerate(sentences(line)))
        name = beat.rstrip("?+")
        kept = tuple((number, sentence) for number, sentence in whole if not sentence.optional)
        order = (paragraph, _when(name, line), place)
        rank = None if name == beat else self._rank(name, line) + (_LAST if beat.endswith("+") else 0.0)
        yield Piece(name, line, order, kept, rank)
        if rank is None:
            for number, sentence in whole:
                if sentence.optional:
                    alone = ((number, sentence),)
                    yield Piece(name, line, order, alone, self._rank(name, line))

    def _rank(self, beat: str, line: str) -> float:
        return _SHARES.get(beat, _ANYWHERE) + _WORN * self._uses.of(line) + _CHANCE * self._rng.random()


def _names(line: str, handles: Collection[str]) -> bool:
    return any(name in sentence.handles for sentence in sentences(line) for name in handles)


@functools.cache
def _time(line: str) -> str | None:
    return next((slot for slot in _AFTERMATH if slot in line), None)


def _when(beat: str, line: str) -> float:
    """Where a line belongs in its paragraph: in order, but what comes later comes later."""
    time = _time(line)
    if beat in _AT_NIGHT:
        return _AT_NIGHT[beat]
    return 0 if time is None else 2 + _AFTERMATH.index(time)
