"""Whether a name that somebody says is the narrator's: who says it to whom, and who reacts.

Frames of ``naming.toml`` tell how a name is said: called, presented, shown, or alone. In a sentence by itself a
called name is the narrator's unless the words tell of somebody else. In a scene
(``audits.checks.identity.scenes``) it has to be
said to the narrator, evidently; a name that is said of somebody, or to all, is the narrator's where the
narrator reacts to it, as the last one that was said. What the scene leaves open is None: perhaps.

Used by ``audits.checks.identity.naming``.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from audits.checks.identity.framing import WORDS, any_of, compiled, framed
from audits.checks.identity.reactions import (
    answers_me,
    end_of_paragraph,
    is_affirmed,
    is_cared_for,
    is_denied,
    told_behind,
)
from audits.checks.identity.written import is_saluted
from audits.text.names import Name, Names
from audits.text.quotations import Quotations

_BEFORE, _AFTER, _AROUND = 90, 130, 140
_SPELLED = re.compile(r"(?:\w-){2,}\w")
_ALONE = re.compile(
    r"\W{0,3}(?:(?:Student|Staff|Trainee|Cadet|Private|Pupil|Recruit) )?"
    r"(?:(?:[Nn]umber|[Nn]ext|[Rr]oom|[Nn]o)? ?\w*[,:.] )?"
)
_SALUTES = re.compile(r"^\W*[Dd]ear(?:est)? $")
_BESIDE = re.compile(r"\b(?:with|and|than|like|near|by|beside) $")
_AT_ONCE = 3
"""Sentences, the one with the tag among them, in which others look at the narrator who is named."""

_SENTENCES = re.compile(r"(?<=[.!?]) +")
_WORD = re.compile(r"\w")

Sureness = bool | None
"""Whether a name is the narrator's; None: perhaps."""


@dataclass(frozen=True)
class _Said:
    """How a name is said, ``ahead`` and ``behind`` of it in its quotation."""

    quoted: Quotations
    name: Name
    ahead: str
    behind: str

    def _framed(self, when: str, loosely: bool = False) -> bool:
        return framed(when, self.name, self.ahead, self.behind, loosely)

    @functools.cached_property
    def called(self) -> bool:
        """Whether somebody is called by it."""
        if not self._framed("called") and not (self.is_wide and self._framed("asked")):
            return False
        if self._framed("spoken_of") or _says_of(self.name, self.ahead, self.behind):
            return False
        return not (self.is_wide and WORDS["third"].match(self.behind))

    @functools.cached_property
    def presented(self) -> bool:
        """Whether somebody is presented by it, or asked for."""
        return self._framed("presented")

    @functools.cached_property
    def shown(self) -> bool:
        """Whether something is told of somebody by that name."""
        return not self.presented and self._framed("shown")

    @functools.cached_property
    def alone(self) -> bool:
        """Whether it is all that is said."""
        if not self.name.proper or not _is_alone(self.ahead, self.behind):
            return False
        return self.name.given or not self.is_wide or not _WORD.search(self.behind)

    @functools.cached_property
    def young(self) -> bool:
        """Whether it is "little Ada"."""
        return _young(self.ahead)

    @functools.cached_property
    def loose(self) -> bool:
        """Whether it is a surname where a given name is presented or shown, in a scene."""
        if not self.is_wide or self.name.given or self.presented or self.shown:
            return False
        return self._framed("presented", loosely=True) or self._framed("shown", loosely=True)

    @property
    def is_wide(self) -> bool:
        return self.quoted.scene.is_wide

    @property
    def before(self) -> str:
        """What the narrator says before the quotation, over the end of the sentence."""
        return self._around[0]

    @property
    def after(self) -> str:
        """What the narrator says after it."""
        return self._around[1]

    @functools.cached_property
    def _around(self) -> tuple[str, str]:
        return _around(self.quoted, self.name.number or 0)

    @property
    def framed(self) -> bool:
        return self.called or self.presented or self.shown or self.alone or self.young or self.loose

    def stirs(self, told: str) -> bool:
        """Whether others look at the narrator, or the narrator starts, by what is told behind the name."""
        if self.loose and not (self.called or self.alone):
            return WORDS.says("startled", told)
        if WORDS.says("shown_by", told):
            return True
        at_once = " ".join(_SENTENCES.split(told)[:_AT_ONCE])
        return not self.called and (WORDS.says("looked_at", at_once) or WORDS.says("felt", at_once))

    def is_answered(self, told: str) -> bool:
        """Whether the narrator answers to the name."""
        return (self.called or self.alone or not self.loose) and WORDS.says("heeds", told)


def is_said(names: Names, name: Name) -> Sureness:
    """Whether it is the protagonist's in a quotation."""
    quoted, number = names.quoted, name.number or 0
    start, end = quoted.spans[number]
    before = quoted.text[max(start + 1, name.start - _BEFORE) : name.start]
    after = quoted.text[name.end : max(name.end, min(end - 1, name.end + _AFTER))]
    said = _Said(quoted, name, before, after)
    if quoted.mine(number):
        # What comes later in a turn may be read by the narrator, and written by anybody.
        first = quoted.scene.turns.turn(number).numbers[0]
        return number in (first, first + 1) and _is_said_by_me(quoted, name, before, after)
    if not said.framed or names.is_used(name) or WORDS.says("titles_of_works", said.before):
        return False
    if (said.called and _listed_before(before, name)) or (said.alone and answers_me(quoted, number)):
        return False
    if WORDS.says("we_say", said.after[:40]):
        return False
    if WORDS.says("called_me", said.after) and (said.alone or said.young):
        return True
    if WORDS.says("another", said.after) or WORDS.says("another_comes", said.before):
        return False
    return (_in_scene if quoted.scene.is_wide else _in_sentence)(names, name, said)


def fills(quoted: Quotations, name: Name) -> bool:
    """Whether a quotation is nothing but the name: called me "Bean"."""
    start, end = quoted.spans[name.number or 0]
    return end - start <= name.end - name.start + 4


def _in_sentence(names: Names, name: Name, said: _Said) -> bool:
    """Whether it is where others than who is told of are not about."""
    quoted, number = names.quoted, name.number or 0
    if said.called or (said.young and quoted.to_me(number)):
        return not quoted.scene.told_to_another(number) and not is_cared_for(quoted, number)
    return _is_reacted_to(quoted, number, said, name)


def _in_scene(names: Names, name: Name, said: _Said) -> Sureness:
    """Whether it is where others may talk among themselves."""
    scene, number = names.quoted.scene, name.number or 0
    before, after = _body(names.quoted, name)
    if _SALUTES.search(before) and WORDS["to_my_hands"].match(said.after):
        return True
    if scene.told_to_another(number) or (not said.called and _BESIDE.search(before)):
        return False
    if is_denied(names.quoted, number):
        return False
    told = told_behind(names, name, said.after, said.called)
    if _SALUTES.search(before) and WORDS["reads"].match(said.after):
        return None  # a letter to anybody
    if told and (said.stirs(told) or (said.alone and WORDS.says("finger", said.before))):
        return True
    if is_affirmed(names.quoted, number) and names.quoted.mine(number + 1):
        return True
    if told and said.is_answered(told):
        return None if scene.turns.perhaps_mine(number) and not scene.from_afar(number) else True
    if scene.turns.perhaps_mine(number):
        return False
    hearer = scene.hearer(number, (name.first, name.end))
    if hearer == "another":
        return False
    if not (said.called or said.young):
        heard = told and hearer == "me" and (said.presented or said.shown)
        return bool(heard and _is_reacted_to(names.quoted, number, said, name))
    if hearer == "me":
        return True if scene.is_close(number) else None
    if framed("asked", name, before, after) and is_affirmed(names.quoted, number):
        return True
    return None if names.once(name) and (scene.from_afar(number) or is_saluted(names, name)) else False


def _body(quoted: Quotations, name: Name) -> tuple[str, str]:
    start, end = quoted.spans[name.number or 0]
    return quoted.text[start + 1 : name.start], quoted.text[name.end : end - 1]


def _is_said_by_me(quoted: Quotations, name: Name, before: str, after: str) -> bool:
    """Whether the narrator tells the name when asked for it, or calls the narrator by it."""
    number = name.number or 0
    if _SPELLED.fullmatch(name.words[0]) or (not before.strip("\"'\u201c\u2018") and _repeated(name, after)):
        return True
    if name.given and WORDS.says("myself", *quoted.scene.beside(number)):
        return framed("called", name, before, after)
    start = quoted.spans[number][0]
    if not framed("answered", name, before, after) or name.start - start > 40:
        return False
    asked = quoted.spans[max(0, number - 2)][0] - 30 if number else start - 2 * _BEFORE
    return WORDS.says("asked", quoted.text[max(0, asked) : start])


def _repeated(name: Name, after: str) -> bool:
    """ "Moreau. Ada Moreau." """
    return re.match(r"\. [A-Z]\w+ " + any_of(name), after) is not None


def _is_reacted_to(quoted: Quotations, number: int, said: _Said, name: Name) -> bool:
    """Whether the narrator answers, or is looked at, when a name is said."""
    before, after = said.before, said.after
    answers = WORDS.says("answer", after) or is_affirmed(quoted, number)
    if said.alone and not quoted.scene.told_to_another(number):
        return answers or (name.given and (WORDS.says("mine", after) or WORDS.says("mine_things", before)))
    if not (said.presented or said.shown):
        return False
    of_me = quoted.of_me(number) or WORDS.says("looking", *quoted.scene.beside(number))
    of_me = of_me or WORDS.says("pointed_before", before)
    of_me = of_me or WORDS["blushes"].match(quoted.text, end_of_paragraph(quoted, number)) is not None
    return of_me or answers or WORDS.says("mine_things", before) or (said.presented and WORDS.says("mine", after))


def _is_alone(before: str, after: str) -> bool:
    """Whether a quotation is a name and nothing else, but a number or a surname before it."""
    ahead = _ALONE.fullmatch(before)
    return ahead is not None and not re.search(r"\w{3}", after)


def _says_of(name: Name, *sides: str) -> bool:
    """Whether the one who calls a name tells something of its bearer, too."""
    told = compiled(rf"\b{any_of(name)}{WORDS['third'].pattern}")
    return any(map(told.search, sides))


def _listed_before(before: str, name: Name) -> bool:
    """Whether a name ends a place or a list: "in Paris, France", "Anna, Xan and Leo"."""
    word = before.rstrip(", ").rsplit(" ", 1)[-1].strip("\"'\u201c\u2018")
    return not name.given and before.endswith(", ") and word[:1].isupper() and word[1:].islower() and " " in before[:-2]


def _young(before: str) -> bool:
    return re.fullmatch(r"\W?(?:[Yy]oung|[Ll]ittle|[Oo]ld|[Bb]ig|[Oo]ur|[Gg]ood old) ", before) is not None


def _around(quoted: Quotations, number: int) -> tuple[str, str]:
    """What the narrator says before and after a quotation, over the end of the sentence."""
    start, end = quoted.spans[number]
    low = quoted.spans[number - 1][1] if number else 0
    high = quoted.spans[number + 1][0] if number + 1 < len(quoted.spans) else len(quoted.text)
    before, after = quoted.text[max(low, start - _AROUND) : start], quoted.text[end : min(high, end + _AROUND)]
    return before.rsplit("\n", 1)[-1], after.split("\n", 1)[0]
