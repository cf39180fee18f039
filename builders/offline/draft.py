"""The words of one memory: the pieces of an outline told, cut to length, and changed until no sentence is overused.

A sentence that stands in as many of the character's memories as it may is told in other words; where there
are none, another line takes its place; where there is none of those either, it is left out. HEART-BENCH
appendix B.4 (length, repetition).
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from builders.offline.beats import scope
from builders.offline.cast import MARK, OPEN, named
from builders.offline.grammar import parse, render, straight, tidy
from builders.offline.lines import JOINTS, OFTEN, Sentence, joined, taken_up
from builders.offline.scenes import Frame
from builders.offline.story import EPISODES, Outline, Piece
from builders.offline.uses import Uses
from schemas.text.sentences import sentences as spans

# No memory is told in fewer or more characters (criterion 5, appendix B.4, with a margin).
SHORTEST, LONGEST = 2040, 4380

# What a choice and the slot behind it make together now and then.
_DOUBLED = tuple(
    f" {word} {word} " for word in ("in", "on", "one", "for", "at", "to", "of", "it", "with", "all", "that")
)
_CUT = "\x1f"
_DOING = frozenset(parse(f"I was {{doing}}.{blank}") for blank in ("", " "))
# Readings of a draft, and tellings of a sentence, before it is given up.
_ROUNDS, _TELLINGS = 16, 5
# In the last readings what is worn is left out.
_LAST = 4
# So near the length that was wanted is near enough.
_NEAR = 60


@dataclass(frozen=True)
class Narrative:
    """A memory in words: the facts of the ledger it mentions, and the lines and sentences it is made of."""

    frame: Frame
    text: str
    facts: list[str]
    lines: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass
class _Part:
    """A sentence of a piece, as it is told at the moment."""

    piece: Piece
    number: int
    sentence: Sentence
    text: str
    tellings: int = 1
    start: int = 0
    joins: str = ""

    @property
    def order(self) -> tuple[tuple[int, float, int], int]:
        return self.piece.order, self.number

    @property
    def varied(self) -> bool:
        """Whether it can be told in other words."""
        return self.sentence.count * self.sentence.values > 1 and self.tellings < 3


class Draft:
    """A memory while it is written. ``place`` is its place in the life that ``uses`` counts."""

    def __init__(self, frame: Frame, uses: Uses, rng: random.Random, place: int, skip: int = 0) -> None:
        self._frame = frame
        self._uses = uses
        self._rng = rng
        self._place = place
        self._fill = scope(frame, rng)
        self._outline = Outline(frame, uses, rng, place, skip)
        pieces = self._outline.pieces()
        self._parts = _said_once(
            [part for piece in pieces if piece.rank is None for part in self._parts_of(piece)], self._words
        )
        self._spare = sorted(
            (piece for piece in pieces if piece.rank is not None), key=lambda piece: -(piece.rank or 0)
        )
        self._often: list[Piece] = []
        self._named: dict[str, float] = dict.fromkeys(OFTEN, 0.0)
        self._chosen: list[Piece] = []
        self._renewed: set[str] = set()

    def write(self, length: float) -> Narrative:
        """The memory in about ``length`` characters."""
        self._fit(length)
        for left in reversed(range(_ROUNDS)):
            text, facts = self._read()
            if left > _LAST and self._adjusted(len(text), length):
                continue
            starts, said = self._sentences(text)
            worn = [self._at(starts[number]) for number in self._uses.worn(said, self._place)]
            if not worn:
                break
            for part in {id(part): part for part in worn}.values():
                self._replace_overused(part, anew=left > _LAST)
        lines = tuple(dict.fromkeys(part.piece.line for part in self._parts))
        return Narrative(self._frame, text, facts, lines, tuple(said))

    def _sentences(self, text: str) -> tuple[list[int], list[str]]:
        """Where the sentences of a text begin, and the sentences."""
        found = spans(text)
        return [start for start, _ in found], [text[start:end] for start, end in found]

    def _parts_of(self, piece: Piece) -> list[_Part]:
        """The parts of a piece: all of them, or none where it may be left out and would be told in worn words.

        Worn sentences of a line that has others may still be joined to those.
        """
        parts = [_Part(piece, number, sentence, self._words(sentence)) for number, sentence in piece.sentences]
        told = [part for part in parts if part.text]
        worn = any(self._is_worn(part.text) for part in told)
        return [] if worn and piece.rank is not None and (len(told) == 1 or piece.beat in EPISODES) else told

    def _words(self, sentence: Sentence) -> str:
        """A wording of a sentence, as far as can be said before people are named one that is not worn."""
        text = ""
        for _ in range(_TELLINGS if sentence.count * sentence.values > 1 else 1):
            text = tidy(render(sentence.template, self._fill, lambda count: int(self._rng.random() * count)))
            if not self._is_worn(text) and not any(doubled in text for doubled in _DOUBLED):
                break
        return text

    def _is_worn(self, text: str) -> bool:
        return self._uses.full(straight(text), self._place)

    def _fit(self, length: float) -> None:
        """Add what may be left out, in order of its worth, as long as it brings the text nearer to ``length``.

        What would name a handle of the scene once too often comes last.
        """
        total = sum(_size(part) for part in self._parts)
        for part in self._parts:
            self._name(part.sentence.handles)
        left: list[Piece] = []
        while self._spare:
            piece = self._spare.pop()
            if any(self._named[name] + count > OFTEN[name] for name, count in piece.handles.items()):
                self._often.insert(0, piece)
            elif total + piece.size / 2 > length:
                left.append(piece)
            else:
                parts = self._parts_of(piece)
                total += sum(map(_size, parts))
                self._name(piece.handles)
                self._chosen.append(piece)
                self._parts += parts
        self._spare = left[::-1]
        self._parts.sort(key=lambda part: part.order)

    def _name(self, handles: Mapping[str, float]) -> None:
        for name, count in handles.items():
            self._named[name] += count

    def _read(self) -> tuple[str, list[str]]:
        """The text as it stands, with everybody named, and the facts it mentions."""
        marked = _CUT.join(self._paragraphed())
        whole, facts = named(marked, self._frame.members)
        place = 0
        for part, said in zip(self._parts, whole.split(_CUT), strict=True):
            part.start = place + len(said) - len(said.lstrip())
            place += len(said)
        return straight(whole.replace(_CUT, "")), facts

    def _paragraphed(self) -> list[str]:
        before = self._parts[0].piece.order[0]
        made: list[str] = []
        for last, part in zip([None, *self._parts], self._parts, strict=False):
            gap = " " if part.piece.order[0] == before else "\n\n"
            both = joined(last.text, part.text, part.joins) if last is not None and part.joins and gap == " " else None
            if both is None:
                made.append(gap + part.text if made else part.text)
            else:
                made[-1] = made[-1].removesuffix(last.text) + both[0]  # type: ignore[union-attr]
                made.append(" " + both[1])
            before = part.piece.order[0]
        return made

    def _adjusted(self, size: int, length: float) -> bool:
        """Whether something was added to or taken from a text too short or too long."""
        wanted = max(SHORTEST, length - _NEAR)
        added = self._enough(wanted - size)
        self._parts = sorted((*self._parts, *added), key=lambda part: part.order) if added else self._parts
        if size > LONGEST and self._chosen:
            self._remove(self._chosen[-1])
            return True
        return bool(added)

    def _enough(self, room: float) -> list[_Part]:
        """Parts of pieces that were left out so far, to fill ``room`` characters; from here on they are chosen."""
        added: list[_Part] = []
        while room > 0 and (piece := self._further(room)):
            parts = self._parts_of(piece)
            if parts:
                added += parts
                self._chosen.append(piece)
                self._name(piece.handles)
                room -= piece.size
        return added

    def _further(self, room: float) -> Piece | None:
        """What else can be told; what would name a handle of the scene once too often comes last."""
        crowded = [name for name, most in OFTEN.items() if self._named[name] + 1 > most]
        self._spare = self._spare or self._outline.more(crowded, room)
        if not self._spare:
            self._spare, self._often = self._often, []
        self._spare = self._spare or self._outline.more((), room)
        return self._spare.pop() if self._spare else None

    def _at(self, start: int) -> _Part:
        """The part that the sentence at ``start`` begins in."""
        return self._parts[bisect_right([part.start for part in self._parts], start) - 1]

    def _replace_overused(self, part: _Part, anew: bool) -> None:
        """Tell a worn part in other words, join it to its neighbour, or tell another line.

        What may be left out is left out; what may not stays as it is when none of these helps, because a line with
        a hole in it is worse than a sentence told once too often.
        """
        if anew and part.varied:
            part.text = self._words(part.sentence)
            part.tellings += 1
        elif self._join(part):
            return
        elif part.piece.rank is not None and part.piece in self._chosen:
            self._remove(part.piece)
        elif anew and part.piece.beat not in self._renewed and (instead := self._outline.instead(part.piece)):
            self._renewed.add(part.piece.beat)
            self._replace(part.piece, instead)

    def _join(self, part: _Part) -> bool:
        """Join a sentence to the next of its line, or to the one before, in a way not tried yet; whether it can be."""
        place = self._parts.index(part) if part in self._parts else 0
        for first, second in ((place, place + 1), (place - 1, place)):
            if first < 0 or second >= len(self._parts):
                continue
            one, other = self._parts[first], self._parts[second]
            if one.piece is not other.piece or one.joins:
                continue
            untried = JOINTS[JOINTS.index(other.joins) + 1 :] if other.joins else JOINTS
            for joint in untried:
                if joined(one.text, other.text, joint):
                    other.joins = joint
                    return True
        return False

    def _remove(self, piece: Piece) -> None:
        self._chosen.remove(piece)
        self._parts = [part for part in self._parts if part.piece is not piece]

    def _replace(self, piece: Piece, instead: Sequence[Piece]) -> None:
        """Another line in place of the one that ``piece`` is of."""
        kept = [part for part in self._parts if part.piece.line != piece.line]
        self._chosen = [each for each in self._chosen if each.line != piece.line]
        told = [part for each in instead if each.rank is None for part in self._parts_of(each)]
        self._spare = [*(each for each in instead if each.rank is not None), *self._spare]
        self._parts = sorted((*kept, *told), key=lambda part: part.order)


def _said_once(parts: list[_Part], again: Callable[[Sentence], str]) -> list[_Part]:
    """What the narrator is doing, told once: a sentence that says only that is left out where another has said so.

    One that says more takes it up ("I was still ..."); ``again`` gives the words of a sentence.
    """
    told = False
    kept = []
    for part in parts:
        if told and part.sentence.template in _DOING:
            continue
        sentence = taken_up(part.sentence) if told else part.sentence
        if sentence is not part.sentence:
            part.sentence, part.text = sentence, again(sentence)
        kept.append(part)
        told = told or "doing" in part.sentence.handles
    return kept


def _size(part: _Part) -> int:
    """About how long a part is once everybody is named."""
    return (len(MARK.sub("Petra", part.text)) if OPEN in part.text else len(part.text)) + 1
