"""Who speaks in a text, and to whom: the one place that decides whose ears a quotation is for.

*Who speaks* is ``audits.turns``. *To whom* a quotation is said, ``Scene.hearer`` tells, by what is certain first:

1. the words beside it name somebody else ("told my sister"), it calls somebody else by name, or the speaker turned to
   somebody else: it is for another;
2. the words round the turn name the narrator ("said to me", "taking my hand"): it is for the narrator;
3. somebody else does something upon it ("and Tariq nods"): for another;
4. the narrator speaks in the turn before or behind: for the narrator; others do: they talk among themselves;
5. the narrator does something at once: for the narrator.

Nothing of this may be told: the scene leaves it open. A sentence by itself is no scene, and there it is the narrator's
who tells it; in a scene others talk among themselves, and ``Scene.is_wide`` says that it is one.

Used by ``audits.naming`` and ``audits.persons``, and through ``audits.speech`` by patterns with a voice.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Literal

from audits.criteria import given_names
from audits.marks import Span
from audits.turns import WORDS, Turns

Hearer = Literal["me", "another"]

FEWEST_CHARACTERS = 600
"""A text of fewer characters is no scene."""

_SENTENCES = re.compile(r"(?<=[.!?]) ")
_STOP = re.compile(r"[.!?]")
_OFTEN = 140


class Scene:
    """The quotations of a text as talk."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self.text, self.spans = text, spans
        self.turns = Turns(text, spans)

    @property
    def is_wide(self) -> bool:
        """Whether the text is a scene, in which others may talk among themselves."""
        return len(self.text) >= FEWEST_CHARACTERS

    def mine(self, number: int) -> bool:
        """Whether the narrator speaks a quotation."""
        return self.turns.speaker(number) == "I"

    def beside(self, number: int) -> tuple[str, str]:
        """What stands before and after a quotation in its sentence."""
        return self.turns.beside(number)

    def hearer(self, number: int, called: Span = (0, 0), gender: str = "") -> Hearer | None:
        """Whom a quotation is said to; None where the text leaves it open.

        ``called`` is where it calls whom it is meant for, perhaps, and ``gender`` ("f", "m") what the words there fit.
        """
        if self.mine(number) or self.to_another(number) or self._calls_another(number, called):
            return "another"
        if self._turned_away(number):
            return "another"
        if self.names_me(number):
            return "me"
        if self.heeded_by_another(number, gender):
            return "another"
        return self._in_exchange(number)

    def to_me(self, number: int) -> bool:
        """Whether the words beside a quotation say that the narrator hears it, or one who serves people says it."""
        told = any(WORDS.says("near_me", side) or WORDS.says("serves", side) for side in self.beside(number))
        told = told or WORDS["mine_near"].match(self.text, self.spans[number][1]) is not None
        return told and not self.to_another(number)

    def to_another(self, number: int) -> bool:
        """Whether the words beside a quotation say that it is meant for somebody else."""
        before, after = self.beside(number)
        # In "asked the clerk" behind a quotation the clerk speaks, and what I do then is no address.
        after = WORDS["then_i"].split(
            WORDS["inverted"].sub("", after, count=1) if WORDS["inverted"].match(after) else after
        )[0]
        return meant_for_another(before, after)

    def of_me(self, number: int) -> bool:
        """Whether the words beside a quotation say that the narrator is spoken of, or pointed at."""
        end = self.spans[number][1]
        if WORDS["overheard"].match(self.text, end):
            return True
        before, after = self.beside(number)
        ended = self.text[max(0, end - 2)] in ".!?" and after.lstrip()[:1].isupper()
        if ended and not WORDS["other_says"].match(after):
            return False
        return WORDS.says("of_me", f"{before} {after}")

    def names_me(self, number: int) -> bool:
        """Whether the words round a turn name the narrator, before somebody else does something."""
        doer = self._doer(number)
        for at, side in enumerate(self.turns.sides(number)):
            side = side[: doer.start()] if doer and at % 2 else side
            if WORDS.says("me", side) or WORDS.says("then_i", side):
                return True
        return False

    def heeded_by_another(self, number: int, gender: str = "") -> bool:
        """Whether somebody else, and not who spoke, does something upon it: "Now, bro," he says, and Tariq nods.

        ``gender`` ("f", "m") is what the words said fit: of that gender "she" or "he" may be who does it.
        """
        doer, after = self._doer(number), self.turns.beside(number)[1]
        if doer and not WORDS.says("first_person", after[doer.start() :]):
            return True
        end = self.spans[number][1] + len(after)
        rest = self.text[end : end + _OFTEN].lstrip(".!?\"'\u201d\u2019 ")
        following = WORDS["next_does"].match(rest)
        if following is None:
            return False
        who = following["who"]
        if not rest.startswith("\n") and not WORDS["other_one"].match(who):
            return False
        if WORDS.says("first_person", _STOP.split(rest)[0]) or who.split()[-1] in after:
            return False
        if who in ("She", "He"):
            return (who == "She") == (gender == "f") and bool(gender) and not WORDS.says(gender, after)
        return self.is_somebody(who)

    def is_somebody(self, who: str) -> bool:
        """Whether words that open a sentence are a person: several, a given name, or with a capital in a sentence."""
        if " " in who or who.lower() in given_names():
            return True
        return who[0].isupper() and re.search(rf"[a-z,] {re.escape(who)}\b", self.text) is not None

    def _doer(self, number: int) -> re.Match[str] | None:
        """Who else than the speaker does something, in the words behind a quotation."""
        after = self.beside(number)[1]
        for found in WORDS["other_does"].finditer(after):
            if found["who"].split()[-1] not in after[: found.start()] and self.is_somebody(found["who"]):
                return found
        return None

    def _calls_another(self, number: int, called: Span) -> bool:
        """Whether a quotation calls somebody by a name that does not stand at ``called``."""
        (start, end), words = self.spans[number], self.text[slice(*called)].lower()
        for found in WORDS["called_too"].finditer(self.text, start + 1, end - 1):
            name = found["name"].lower()
            if name in given_names() and name not in words and not _no_name().fullmatch(name):
                return True
        return False

    def _turned_away(self, number: int) -> bool:
        """Whether the speaker turned to somebody else right before."""
        lead = self.turns.lead(number)
        turned = list(WORDS["turned_to_another"].finditer(lead))
        return bool(turned) and not WORDS.says("me", lead[turned[-1].start() :])

    def _in_exchange(self, number: int) -> Hearer | None:
        """Whom a quotation is said to by who speaks before and behind it, and does something upon it."""
        before, behind = self.turns.neighbours(number)
        speakers = [each if each is None else self.turns.speaker(each) or "" for each in (before, behind)]
        if "I" in speakers:
            return "me"
        if before is not None or speakers[1] == "other":
            return "another"
        if WORDS["i_follow"].match(self.turns.behind(number)):
            return "me"
        return "me" if behind is not None and self.turns.speaker(number) == "other" else None

    def from_afar(self, number: int) -> bool:
        """Whether somebody shouts or a voice calls, and nobody else is there to answer."""
        turn = self.turns.turn(number)
        if turn.told == "I" or any(each is not None for each in self.turns.neighbours(number)):
            return False
        if WORDS["another_comes"].match(self.turns.behind(number)):
            return False
        start = self.spans[turn.numbers[0]][0]
        return WORDS.says("from_afar", self.text[max(0, start - _OFTEN) : start], *self.turns.sides(number))


def meant_for_another(*sides: str) -> bool:
    """Whether words beside a quotation say that it is said to somebody else."""
    return (WORDS.says("to_another", *sides)) and not WORDS.says("to_me", *sides)


@functools.cache
def _no_name() -> re.Pattern[str]:
    """What begins with a capital where somebody is called, and is no name."""
    return WORDS.made("{no_names}")
