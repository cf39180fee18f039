"""Who speaks: of every quotation, whether the narrator says it, somebody else, or nothing tells.

Three things tell, the first before the second and that before the third:

1. the words beside it in its sentence: "I said", "said Mum", "He nods: …";
2. its paragraph: who has just spoken goes on, unless nothing stands between, or somebody else does something;
3. whose turn it is: two who talk take turns, a paragraph each. Where the narrator is told to be one of
   those who talk, who has not spoken in the paragraph before speaks in this one.

Used by ``audits.checks.identity.scenes`` alone.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from audits.patterns.wording import Wording
from schemas.text.quotation_marks import Span

Who = Literal["I", "other"]

WORDS = Wording(Path(__file__).with_name("scenes.toml"))

_PARAGRAPH = re.compile(r"[^\n]+")
_SENTENCE = re.compile(r"[.!?\n]")
_ENDED = re.compile(r"(?<=[.!?\u2026]) ")
_STOPS = (".", "!", "?", "\u2026")
_BESIDE = 70
FAR = 160
"""Characters looked at on either side of a quotation."""

_NEAR = 4
"""Quotations of a turn that are looked at, on either side of one of it."""

_GAP = 240
"""Characters between two turns that answer each other, at most."""

_NAME = 24
_TAG_END = re.compile(r"[,.;:!?\u2014]|(?<=\w) (?:and|as|when|while|to|from|in|at|with|behind) ")
_RUN = 6
"""Turns on either side that tell whose turn it is."""


@dataclass(frozen=True)
class Turn:
    """The quotations of one speaker in a paragraph."""

    numbers: range
    paragraph: int
    told: Who | None


class Turns:
    """The turns of a text, each looked at when first asked for."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self.text, self.spans = text, spans
        self._told: dict[int, Who | None] = {}
        self._due_to: dict[Turn, Who | None] = {}
        self._beside: dict[tuple[int, int], tuple[str, str]] = {}
        self._turns: dict[int, Turn] = {}

    def speaker(self, number: int) -> Who | None:
        """Who speaks a quotation; None where nothing tells."""
        turn = self.turn(number)
        if turn.told is None and turn not in self._due_to:
            self._due_to[turn] = self._due(turn)
        return turn.told or self._due_to[turn]

    def told(self, number: int) -> Who | None:
        """Who speaks a quotation by the words beside it."""
        if number not in self._told:
            self._told[number] = self._by_words(number)
        return self._told[number]

    def turn(self, number: int) -> Turn:
        """The turn a quotation is of."""
        if number not in self._turns:
            for turn in self._divided(self._at[number]):
                self._turns.update(dict.fromkeys(turn.numbers, turn))
        return self._turns[number]

    def neighbours(self, number: int) -> tuple[int | None, int | None]:
        """A quotation of the turn that it answers, and of the one that answers it."""
        turn = self.turn(number)
        first, last = turn.numbers[0] - 1, turn.numbers[-1] + 1
        before = first if first >= 0 and self._next(first, turn.numbers[0]) else None
        return before, last if last < len(self.spans) and self._answers(turn.numbers[-1], last) else None

    def beside(self, number: int, reach: int = _BESIDE) -> tuple[str, str]:
        """What stands before and after a quotation in its sentence and outside other quotations."""
        known = self._beside.get((number, reach))
        if known is None:
            start, end = self.spans[number]
            low = max(start - reach, self.spans[number - 1][1] if number else 0)
            high = min(end + reach, self.spans[number + 1][0] if number + 1 < len(self.spans) else len(self.text))
            before, after = self.text[max(0, low) : start], self.text[end : max(end, high)]
            known = self._beside[number, reach] = _SENTENCE.split(before)[-1], _SENTENCE.split(after, 1)[0]
        return known

    def near(self, number: int) -> range:
        """A quotation and those near it in its turn."""
        turn = self.turn(number).numbers
        return range(max(turn.start, number - _NEAR), min(turn.stop, number + _NEAR + 1))

    def behind(self, number: int) -> str:
        """What stands behind the last quotation of a turn, over the end of the paragraph."""
        last = self.spans[self.turn(number).numbers[-1]][1]
        return self.text[last : last + FAR]

    def begins(self, number: int) -> int:
        """Where the paragraph of a quotation begins."""
        return self._paragraphs[self._at[number]]

    def act(self, number: int) -> str:
        """The sentence that ends right before a quotation in its paragraph."""
        lead = self.lead(number).strip()
        return _ENDED.split(lead)[-1].strip() if lead.endswith(_STOPS) else ""

    def lead(self, number: int) -> str:
        """What stands before a quotation in its paragraph, its last sentences, without other quotations."""
        start = self.spans[number][0]
        low = max(self.begins(number), start - FAR)
        parts, end = [], start
        while number > 0 and self.spans[number - 1][1] > low:
            number -= 1
            parts.append(self.text[self.spans[number][1] : end])
            end = self.spans[number][0]
        parts.append(self.text[low : max(low, end)])
        return " ".join(reversed(parts))

    def _by_words(self, number: int) -> Who | None:
        before, after = self.beside(number)
        if WORDS["told_to_me"].search(before):
            return "other"
        if led := WORDS["led_in"].search(before):
            return "I" if led[1] == "I" else "other"
        if WORDS["i_say"].match(after) and not (self._ends(number) and WORDS["i_report"].match(after)):
            return "I"
        if self.text[self.spans[number][1] - 2] == "," and WORDS["i_do"].match(after):
            return "I"
        if WORDS["other_says"].match(after):
            return "other"
        first = WORDS.says("i", before)
        if WORDS["i_say_before"].search(before):
            return "I" if first or not WORDS["other_says_before"].search(before) else "other"
        return "other" if WORDS["leads_in"].search(before) and not first else None

    def _ends(self, number: int) -> bool:
        return self.text[self.spans[number][1] - 2] == "."

    def _divided(self, paragraph: int) -> list[Turn]:
        """The turns of a paragraph: a quotation without words that tell goes on with the last, or the next one."""
        turns: list[Turn] = []
        first = bisect_right(self._at, paragraph - 1)
        for number in range(first, bisect_right(self._at, paragraph)):
            last = turns[-1] if turns else None
            told = self.told(number) or self._by_act(number)
            if last and self._goes_on(number) and (told is None or last.told is None or told == last.told):
                turns[-1] = Turn(range(last.numbers.start, number + 1), paragraph, last.told or told)
            else:
                turns.append(Turn(range(number, number + 1), paragraph, told))
        return turns

    def _goes_on(self, number: int) -> bool:
        """Whether a quotation may be of the same turn as the one before it in its paragraph."""
        if self._abuts(number) or self.spans[number][0] - self.spans[number - 1][1] > FAR:
            return False
        one, other = self.name(number - 1), self.name(number)
        return one == other or None in (one, other)

    def name(self, number: int) -> str | None:
        """By what name or word the words beside a quotation call the other who speaks it."""
        if self.told(number) != "other":
            return None
        before, after = self.beside(number)
        if led := WORDS["led_in"].search(before):
            return led[1] if WORDS["somebody"].fullmatch(led[1]) else None
        tag = WORDS["other_says"].match(after)
        words = _TAG_END.split(after[: tag.end() + _NAME], 1)[0] if tag else ""
        found = WORDS["somebody"].findall(words)
        return found[-1] if found else None

    def _by_act(self, number: int) -> Who | None:
        """Who does something in the sentence right before a quotation."""
        sentence = self.act(number)
        if not sentence:
            return None
        if WORDS["other_acts"].match(sentence):
            return "other"
        # Not "I came in", which is what the narrator does before a voice is heard.
        return "I" if WORDS["i_act_and_speak"].match(sentence) else None

    def perhaps_mine(self, number: int) -> bool:
        """Whether nothing says that somebody else speaks a quotation, and the narrator may well be who does.

        That is who acts behind it in its paragraph, or who answers where another speaks every second turn.
        """
        turn = self.turn(number)
        if speaker := self.speaker(number):
            return speaker == "I"
        end = self.spans[turn.numbers[-1]][1]
        if WORDS["i_act"].match(self.text[end : end + FAR].lstrip(" ")):
            return True
        due = {_alternating(told) for told in (self._ahead(turn), self._behind(turn))} - {None}
        return due == {"I"}

    def _due(self, turn: Turn) -> Who | None:
        """Whose turn it is among those who talk, if the narrator is one of them."""
        before, after = self._ahead(turn), self._behind(turn)
        if "I" not in (*before, *after):
            return None
        if "I" in (before[0] if before else None, after[0] if after else None):
            return "other"
        due = {_alternating(told) for told in (before, after)} - {None}
        return due.pop() if len(due) == 1 else None

    def _ahead(self, turn: Turn) -> list[Who | None]:
        told: list[Who | None] = []
        while len(told) < _RUN and (number := turn.numbers[0]) and self._answers(number - 1, number):
            turn = self.turn(number - 1)
            told.append(turn.told)
        return told

    def _behind(self, turn: Turn) -> list[Who | None]:
        told: list[Who | None] = []
        while len(told) < _RUN and (number := turn.numbers[-1] + 1) < len(self.spans):
            if not self._answers(number - 1, number):
                break
            turn = self.turn(number)
            told.append(turn.told)
        return told

    def _next(self, first: int, second: int) -> bool:
        near = self.spans[second][0] - self.spans[first][1] <= _GAP
        return near and self._at[second] - self._at[first] <= 1

    def _answers(self, first: int, second: int) -> bool:
        """Whether two quotations of different turns follow each other with nothing told between."""
        here = self._at[first] == self._at[second] or self.spans[second][0] == self.begins(second)
        return self._abuts(second) or (here and self._next(first, second))

    def _abuts(self, number: int) -> bool:
        """Whether a quotation stands right behind another, which is somebody else's then."""
        between = self.text[self.spans[number - 1][1] : self.spans[number][0]] if number else "\n"
        return "\n" not in between and not between.strip(" \u2013\u2014-")

    @functools.cached_property
    def _paragraphs(self) -> list[int]:
        return [found.start() for found in _PARAGRAPH.finditer(self.text)]

    @functools.cached_property
    def _at(self) -> list[int]:
        """The paragraph of each quotation."""
        return [bisect_right(self._paragraphs, start) - 1 for start, _ in self.spans]


def _alternating(told: Sequence[Who | None]) -> Who | None:
    """Who speaks, two taking turns, next to the turns of which is told who speaks them, the nearest first."""
    for distance, who in enumerate(told, 1):
        if who:
            return who if distance % 2 == 0 else "I" if who == "other" else "other"
    return None
