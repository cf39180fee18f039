"""Who speaks in a text, and to whom: the one place that decides whose ears a quotation is for.

*Who speaks* is ``audits.checks.identity.turns``. *To whom* a quotation is said, ``Scene.hearer`` tells,
by what is certain first:

1. the words beside it name somebody else ("told my sister"), it calls somebody else by name, the speaker turned to
   somebody else, or is on the phone: it is for another;
2. the words round the turn name the narrator ("said to me", "taking my hand"): it is for the narrator;
3. somebody else does something upon it ("and Tariq nods"): for another;
4. the narrator speaks in the turn before or behind: for the narrator; others do: they talk among themselves;
5. the narrator does something at once: for the narrator.

Where nothing of this is told it is open. A sentence by itself is no scene: there is nobody but the narrator to hear it.
In a scene (``Scene.is_wide``) there are others, and what is open is reported as a note, or not at all.

Used by ``audits.checks.identity.naming`` and ``audits.checks.identity.persons``, and through
``audits.text.quotations`` by patterns with a voice.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Literal

from audits.checks.identity.turns import FAR, WORDS, Turns
from audits.patterns.criteria import given_names
from schemas.text.quotation_marks import Span, inside

Hearer = Literal["me", "another"]

FEWEST_CHARACTERS = 600
"""A text of fewer characters is no scene."""

_SENTENCES = re.compile(r"(?<=[.!?]) ")
_STOP = re.compile(r"[.!?]")
_QUOTED = re.compile("[\"\u201c\u2018'](?:[^\"\u201d\u2019'\n]|(?<=\\w)['\u2019](?=\\w))*[\"\u201d\u2019'\n]")
_CLAUSE = re.compile(r",| and ")
_OFTEN = 140
_PARAGRAPHS = 320
"""Characters before a quotation in which somebody may have gone to the phone."""


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
        if self.mine(number) or self.told_to_another(number) or self._calls_another(number, called, not gender):
            return "another"
        if self._turned_away(number) or (self.is_wide and self._on_the_phone(number)):
            return "another"
        if self.names_me(number):
            return "me"
        if self.heeded_by_another(number, gender):
            return "another"
        return self._in_exchange(number)

    def to_me(self, number: int) -> bool:
        """Whether the narrator evidently hears a quotation; of one by itself it is enough that a waiter says it."""
        if self.is_wide:
            return self.hearer(number) == "me" and self.is_close(number)
        told = any(WORDS.says(name, *self.beside(number)) for name in ("near_me", "serves"))
        told = told or WORDS["mine_near"].match(self.text, self.spans[number][1]) is not None
        return told and not self.told_to_another(number)

    def to_another(self, number: int) -> bool:
        """Whether a quotation is evidently meant for somebody else."""
        return self.hearer(number) == "another" if self.is_wide else self.told_to_another(number)

    def told_to_another(self, number: int) -> bool:
        """Whether the words beside a quotation say that it is meant for somebody else."""
        before, after = self.beside(number)
        if self.is_wide and WORDS["i_act"].match(after.strip()) and not self._is_tag(number, after):
            after = ""
        # In "asked the clerk" behind a quotation the clerk speaks, and what I do then is no address.
        if WORDS["inverted"].match(after):
            after = WORDS["inverted"].sub("", after, count=1)
        return meant_for_another(before, WORDS["then_i"].split(after)[0])

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
        """Whether the words round a turn name the narrator, before somebody else does something.

        In a sentence of its own that is only what is done to the narrator: She patted my head. "Good."
        """
        doer, act = self._doer(number), self.turns.act(number)
        if WORDS["other_acts"].match(act) and WORDS.says("me", act):
            return True
        for each in self.turns.near(number):
            before, after = self.turns.beside(each, FAR)
            after = after[: doer.start()] if doer else after
            if WORDS.says("me", before):
                return True
            if self._is_tag(each, after):
                if WORDS.says("me", after) or WORDS.says("then_i", after):
                    return True
            elif WORDS["other_acts"].match(after.strip()) and WORDS.says("me", _CLAUSE.split(after)[0]):
                return True
        return False

    def _is_tag(self, number: int, after: str) -> bool:
        """Whether the words behind a quotation belong to its sentence."""
        ended = self.text[max(0, self.spans[number][1] - 2)] in ".!?\u2026" and after.lstrip()[:1].isupper()
        return not ended or WORDS["other_says"].match(after) is not None

    def heeded_by_another(self, number: int, gender: str = "") -> bool:
        """Whether somebody else, and not who spoke, does something upon it: "Now, bro," he says, and Tariq nods.

        ``gender`` ("f", "m") is what the words said fit: of that gender "she" or "he" may be who does it.
        """
        doer, after = self._doer(number), self.turns.beside(number)[1]
        if doer and not WORDS.says("first_person", after[doer.start() :]):
            return True
        last = self.turns.turn(number).numbers[-1]
        end = self.spans[last][1] + len(self.beside(last)[1])
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

    def _calls_another(self, number: int, called: Span, behind: bool) -> bool:
        """Whether a quotation calls somebody by a name that does not stand at ``called``, or only ``behind`` that."""
        (start, end), words = self.spans[number], self.text[slice(*called)].lower()
        for found in WORDS["called_too"].finditer(self.text, called[1] if behind and called[1] else start + 1, end - 1):
            name = found["name"].lower()
            if name in words or _no_name().fullmatch(name):
                continue
            if found["title"] or name in given_names() or self._tells_of(found["name"]):
                return True
        return False

    def _tells_of(self, name: str) -> bool:
        """Whether the narrator speaks of somebody of that name."""
        places = (found.start() for found in re.finditer(rf"\b{re.escape(name)}\b", self.text))
        return any(not inside(self.spans, place) for place in places)

    def _on_the_phone(self, number: int) -> bool:
        """Whether who speaks has somebody at the other end, and the narrator is neither of them."""
        start = self.spans[number][0]
        low = max(0, start - _PARAGRAPHS)
        found = list(WORDS["phone"].finditer(self.text, low, start))
        if not found:
            return False
        at = found[-1].start()
        sentence = self.text[max(low, self.text.rfind(".", 0, at) + 1) : start]
        return not WORDS.says("phone_is_mine", sentence)

    def _turned_away(self, number: int) -> bool:
        """Whether the speaker turned to somebody else right before."""
        lead = self.turns.lead(number)
        turned = list(WORDS["turned_to_another"].finditer(lead))
        if turned and not WORDS.says("me", lead[turned[-1].start() :]):
            return True
        return WORDS["to_him"].match(self._behind(number)) is not None

    def is_close(self, number: int) -> bool:
        """Whether words bind a quotation to the narrator, or the narrator speaks both before and behind it."""
        neighbours = self.turns.neighbours(number)
        return self.names_me(number) or all(each is not None and self.mine(each) for each in neighbours)

    def reaction(self, number: int) -> str:
        """What the narrator tells first in the paragraph behind that of a turn, if it follows at once."""
        turn = self.turns.turn(number)
        end = self.spans[turn.numbers[-1]][1]
        rest, _, following = self.text[end : end + 3 * _OFTEN].partition("\n")
        if len(rest) > _OFTEN:
            return ""
        outside = _QUOTED.sub(" ", following.lstrip("\n")).split("\n")[0]
        return " ".join(_SENTENCES.split(outside.strip())[:2])

    def _behind(self, number: int) -> str:
        """What stands behind a turn; of a scene without what belongs to its last quotation."""
        behind, last = self.turns.behind(number), self.turns.turn(number).numbers[-1]
        after = self.turns.beside(last, FAR)[1]
        if not self.is_wide or not self._is_tag(last, after):
            return behind
        return behind[len(after) :].lstrip(".!?")

    def _in_exchange(self, number: int) -> Hearer | None:
        """Whom a quotation is said to by who speaks before and behind it, and does something upon it."""
        name = self.turns.name(number)
        # Who speaks again does not answer.
        before, behind = (
            each if each is None or name is None or self.turns.name(each) != name else None
            for each in self.turns.neighbours(number)
        )
        speakers = [each if each is None else self.turns.speaker(each) or "" for each in (before, behind)]
        if "I" in speakers:
            return "me"
        if any(each is not None and self.turns.perhaps_mine(each) for each in (before, behind)):
            return None
        if before is not None or speakers[1] == "other":
            return "another"
        if self.turns.speaker(number) is None and self.is_wide:
            return None
        if WORDS["i_follow"].match(self._behind(number)):
            return "me"
        return "me" if behind is not None and self.turns.speaker(number) == "other" else None

    def from_afar(self, number: int) -> bool:
        """Whether somebody shouts or a voice calls, and nobody else is there to answer."""
        turn = self.turns.turn(number)
        before, behind = self.turns.neighbours(number)
        start = self.spans[turn.numbers[0]][0]
        lead = self.text[max(self.turns.begins(number), start - _PARAGRAPHS) : start]
        voice = before is None and WORDS.says("from_afar", self.text[max(0, start - _OFTEN) : start])
        if turn.told == "I" or behind is not None or not (before is None or WORDS.says("from_afar", lead)):
            return False
        if WORDS["another_comes"].match(self.turns.behind(number)):
            return False
        around = (side for each in self.turns.near(number) for side in self.turns.beside(each, FAR))
        return voice or WORDS.says("from_afar", lead, *around)


def meant_for_another(*sides: str) -> bool:
    """Whether words beside a quotation say that it is said to somebody else."""
    return (WORDS.says("to_another", *sides)) and not WORDS.says("to_me", *sides)


@functools.cache
def _no_name() -> re.Pattern[str]:
    """What begins with a capital where somebody is called, and is no name."""
    return WORDS.made("{no_names}")
