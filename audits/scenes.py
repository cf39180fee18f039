"""Who speaks in a scene, and whether the narrator is the one spoken to.

What stands beside a quotation tells who says it ("I said", "said Mum"); where nothing does, the two who talk
take turns, one paragraph each. A sentence by itself is no scene: there the narrator is spoken to unless the words
beside the quotation name somebody else. In a scene others talk among themselves, and so the narrator has to be
in the exchange: speaks before or after, is looked at or touched, or does something at once.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from audits.speech import PERSON, Quotations

FEWEST_CHARACTERS = 600
"""A text of fewer characters is no scene."""

_PARAGRAPH = re.compile(r"[^\n]+")
_SENTENCE = re.compile(r"[.!?\n]")
_SOON = 160
_NEAR = 4
_HEARS = re.compile(
    r"^(?:[^.!?\n]{0,80}[.!?])?[\s.,;:\u2014\u2013-]*(?:(?:and|but|so|then|at that|at first),? )?(?:I\b|[Mm]y \w+)"
)
_ME = re.compile(
    rf"(?<!seemed to )(?<!appeared to )(?<!behind )\bme\b|\b(?:for|to) us\b|\b[Mm]y (?!(?:\w+ )?{PERSON}\b)"
)
_THEN_I = re.compile(r"(?:, |\b)(?:and|but|so|while|because|as|when|before) (?:\w+ )?I\b|; I\b")
_AFAR = re.compile(
    r"\b(?:shout|yell|call|bellow|roar|scream|cr(?:y|ie))(?:s|d|ed|ing)?\b|\bholler\w*|\bvoice\b|\b(?:radio|loudspeaker|tannoy|intercom"
    r"|walkie-talkie|phone|receiver|megaphone|speaker|UHF|headset|answerphone)\b"
)
_ANOTHER = re.compile(
    r"[^.!?\n]*[.!?\n]\s*(?:He|She|They|(?:Mrs?\.?|Ms\.?|Miss|Dr\.?|Old|Young)(?: [\w'\u2019-]+){1,2}"
    rf"|(?:The|An?|My|Our|His|Her|One)(?: [\w'\u2019-]+){{0,2}}? {PERSON}|(?!I\b|It\b|We\b|Then\b|The\b)[A-Z]\w+) "
    r"(?:\w+ed|\w+s|came|went|ran|stood|got|said|looked|took|spun)\b"
)


@dataclass(frozen=True)
class Turn:
    """The quotations of one speaker in a paragraph."""

    numbers: range
    paragraph: int
    mine: bool | None


class Scene:
    """The turns of a text, found when first asked for."""

    def __init__(self, quoted: Quotations) -> None:
        self.quoted = quoted

    @functools.cached_property
    def turns(self) -> list[Turn]:
        """The turns in order, each with whether the narrator speaks it; None where nothing tells."""
        turns: list[Turn] = []
        for number, (start, _) in enumerate(self.quoted.spans):
            told, at = self.quoted.told(number), self._paragraph(start)
            last = turns[-1] if turns else None
            if last and last.paragraph == at and (told is None or last.mine is None or told == last.mine):
                told = last.mine if told is None else told
                turns[-1] = Turn(range(last.numbers.start, number + 1), at, told)
            else:
                turns.append(Turn(range(number, number + 1), at, told))
        return self._alternated(turns)

    def mine(self, number: int) -> bool:
        """Whether the narrator speaks a quotation, by what stands beside it or because it is the narrator's turn."""
        return self.turns[self._turn_of(number)].mine is True

    def to_narrator(self, number: int) -> bool:
        """Whether the narrator is evidently spoken to in a quotation."""
        at = self._turn_of(number)
        turn = self.turns[at]
        if turn.mine:
            return False
        if self.names_narrator(number) or any(map(_THEN_I.search, self._sides(number))):
            return True
        before, behind = self._neighbours(at)
        if (before and before.mine) or (behind and behind.mine):
            return True
        if before or (behind and behind.mine is False):
            return False  # others are talking
        return _HEARS.match(self._follows(turn)) is not None or (turn.mine is False and behind is not None)

    def names_narrator(self, number: int) -> bool:
        """Whether the words round the quotations of a turn name the narrator: "he said to me", "taking my hand"."""
        return any(map(_ME.search, self._sides(number)))

    def from_afar(self, number: int) -> bool:
        """Whether somebody shouts or a voice calls, and nobody else is there to answer."""
        at = self._turn_of(number)
        turn = self.turns[at]
        if turn.mine or any(self._neighbours(at)) or _ANOTHER.match(self._follows(turn)):
            return False
        start = self.quoted.spans[turn.numbers[0]][0]
        return any(map(_AFAR.search, (self.quoted.text[max(0, start - _SOON) : start], *self._sides(number))))

    def _alternated(self, turns: list[Turn]) -> list[Turn]:
        """Turns with those filled in that must be by the one of two speakers who has not just spoken."""
        for _ in range(2):
            for at, turn in enumerate(turns):
                last = turns[at - 1] if at else None
                if turn.mine is not None or last is None or not self._answers(last, turn):
                    continue
                if last.mine or (last.mine is False and at > 1 and turns[at - 2].mine and _next(turns[at - 2], last)):
                    turns[at] = Turn(turn.numbers, turn.paragraph, not last.mine)
            turns.reverse()
        return turns

    def _turn_of(self, number: int) -> int:
        return self._turns_of[number]

    @functools.cached_property
    def _turns_of(self) -> list[int]:
        return [at for at, turn in enumerate(self.turns) for _ in turn.numbers]

    def _answers(self, one: Turn, other: Turn) -> bool:
        """Whether two turns follow each other, and a paragraph begins with the second, whichever that is."""
        second = max(one, other, key=lambda turn: turn.paragraph)
        return _next(one, other) and self.quoted.spans[second.numbers[0]][0] == self._paragraphs[second.paragraph]

    def _neighbours(self, at: int) -> tuple[Turn | None, Turn | None]:
        """The turns that it answers, and that answer it."""
        turn = self.turns[at]
        before = self.turns[at - 1] if at and _next(self.turns[at - 1], turn) else None
        behind = self.turns[at + 1] if at + 1 < len(self.turns) else None
        return before, behind if behind and self._answers(turn, behind) else None

    def _follows(self, turn: Turn) -> str:
        """What stands behind its last quotation, over the end of the paragraph."""
        last = self.quoted.spans[turn.numbers[-1]][1]
        return self.quoted.text[last : last + _SOON]

    def _sides(self, number: int) -> Iterator[str]:
        """What stands round a quotation and those near it in its turn, in the sentences they belong to."""
        text, spans = self.quoted.text, self.quoted.spans
        turn = self.turns[self._turn_of(number)].numbers
        for each in range(max(turn.start, number - _NEAR), min(turn.stop, number + _NEAR + 1)):
            start, end = spans[each]
            low = max(start - _SOON, spans[each - 1][1] if each else 0)
            high = min(end + _SOON, spans[each + 1][0] if each + 1 < len(spans) else len(text))
            yield _SENTENCE.split(text[low:start])[-1]
            yield _SENTENCE.split(text[end : max(end, high)])[0]

    @functools.cached_property
    def _paragraphs(self) -> list[int]:
        return [found.start() for found in _PARAGRAPH.finditer(self.quoted.text)]

    def _paragraph(self, place: int) -> int:
        return bisect_right(self._paragraphs, place) - 1


def _next(first: Turn, second: Turn) -> bool:
    return abs(first.paragraph - second.paragraph) <= 1
