"""Whether somebody calls the protagonist by a word for one gender: "Good lad," "Sir, your bag," "Didi, wait!"

The words are in ``addressing.toml``. Most of them are said to others, to animals, and by the narrator, so
the scene decides (``audits.checks.identity.scenes``): who speaks, and for whose ears it is. Used by
``audits.checks.identity.persons``.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from audits.checks.identity.scenes import Scene
from audits.checks.identity.turns import WORDS as TALK
from audits.patterns.wording import Wording
from audits.text.quotations import Quotations, Span

_NEAR = 260
"""Characters before a quotation in which an animal, or somebody else, may be whom it is meant for."""

_TOLD = 3_000
"""Characters on either side of a call in which its words may be told as a name."""

_WORDS = Wording(Path(__file__).with_suffix(".toml"), with_words_of=TALK)
_TOKEN = re.compile(r"[^\W\d_]+")
_SENTENCES = re.compile(r"(?<=[.!?]) ")


@dataclass(frozen=True)
class Call:
    """Words for one gender in quotation ``number``, at ``span`` of the text."""

    number: int
    span: Span
    words: str
    certain: bool = False
    """Whether it is evidently for the protagonist; a scene may leave it open."""

    @functools.cached_property
    def gender(self) -> str:
        """ "f" or "m": whom the words fit."""
        return "f" if _WORDS["feminine_words"].fullmatch(self.words) else "m"


def calls(quoted: Quotations) -> Iterator[Call]:
    """Every word for one gender by which the protagonist is called, one a quotation."""
    for number, (start, end) in enumerate(quoted.spans):
        if _last_words().isdisjoint(map(str.lower, _TOKEN.findall(quoted.text, start, end))):
            continue
        body = quoted.text[start + 1 : end - 1]
        for name in ("called", "formal"):
            found = _WORDS[name].search(body)
            if found is None or _WORDS["exclaimed"].match(body, found.start("words")):
                continue
            first, last = found.span("words")
            words = found["words"].lower()
            formal = _WORDS["formal_alone"].fullmatch(words) is not None
            call = Call(number, (start + 1 + first, start + 1 + last), words)
            if _is_told(body, first) or _is_a_name(quoted, call):
                continue
            meant = (_means_me_formally if formal else _means_me)(quoted.scene, call)
            if meant is not False:
                yield replace(call, certain=meant is True)
                break


@functools.cache
def _last_words() -> frozenset[str]:
    """The words of which one ends every call."""
    every = (word for name in ("bare", "formal", "noun") for word in _WORDS.words[name].lower().split("|"))
    return frozenset(word.split()[-1].strip("'").rsplit("'", 1)[-1] for word in every)


def _is_told(body: str, first: int) -> bool:
    """ "And he says, lady, take this road": whether the speaker tells how somebody was called."""
    return _WORDS["reported"].search(body, 0, first) is not None


def _is_a_name(quoted: Quotations, call: Call) -> bool:
    """Whether the narrator has the words as the name of somebody: It was Sister. A cat we call Madam."""
    word = call.words.capitalize()
    if " " in word or word not in quoted.text[slice(*call.span)]:
        return False
    low, high = max(0, call.span[0] - _TOLD), call.span[1] + _TOLD
    named = re.compile(rf"(?<=[a-z,'\u2019] ){word}\b(?! [A-Z])")
    return any(quoted.around(found.start()) is None for found in named.finditer(quoted.text, low, high))


def _means_me(scene: Scene, call: Call) -> bool | None:
    """Whether a call is for the protagonist, unless the scene says that it is for somebody else; None: perhaps."""
    number, (start, end) = call.number, scene.spans[call.number]
    hearer = scene.hearer(number, call.span, call.gender)
    if hearer == "another" or scene.names_me(number):
        return hearer == "me"
    if _WORDS["praise"].match(call.words) and _beast_about(scene.text, start, end):
        return False
    if hearer == "me":
        return True
    if _is_of_others(scene.text, start, end) or _follows_another(scene, call):
        return False
    return None if scene.is_wide else True


def _means_me_formally(scene: Scene, call: Call) -> bool:
    """Whether a call that is mostly for others is for the protagonist: whose turn it is has to say so."""
    number, (start, end) = call.number, scene.spans[call.number]
    hearer = scene.hearer(number, call.span, call.gender)
    text, near = scene.text, scene.text[max(0, start - _NEAR) : start]
    if hearer == "another" or TALK.says(call.gender, near):
        return False
    if _WORDS["school"].search(near) or _WORDS["school"].search(text, end, end + 80):
        return False
    beside = [each for each in (number - 1, number + 1) if 0 <= each < len(scene.spans)]
    since = scene.spans[number - 1][1] if number else 0
    about_me = TALK.says("i", text[max(since, start - _NEAR) : start]) and scene.turns.told(number) == "other"
    if scene.is_wide and hearer is None:
        return about_me and any(map(scene.turns.perhaps_mine, filter(None, scene.turns.neighbours(number))))
    return about_me or any(map(scene.mine, beside))


def _beast_about(text: str, start: int, end: int) -> bool:
    before = _WORDS["beast"].search(text, max(0, start - _NEAR), start)
    return before is not None or _WORDS["beast"].search(text, end, end + _NEAR // 2) is not None


def _follows_another(scene: Scene, call: Call) -> bool:
    """Whether it is said by somebody upon what somebody else just did: My sister came in. "My girl!" Grandad said."""
    sentence = _SENTENCES.split(scene.turns.lead(call.number).strip())[-1]
    doer = TALK["next_does"].match(sentence)
    after = scene.turns.beside(call.number)[1]
    if doer is None or TALK.says("me", sentence) or TALK.says("i", sentence) or not TALK["other_says"].match(after):
        return False
    named = TALK["somebody"].search(after)
    if named is None or named.group() in doer["who"]:
        return False
    return TALK.says(call.gender, sentence) and scene.is_somebody(doer["who"])


def _is_of_others(text: str, start: int, end: int) -> bool:
    """Whether the narrator is nowhere in the paragraphs round a quotation."""
    low, high = max(0, start - 2 * _NEAR), min(len(text), end + _NEAR)
    around = text[low:start] + text[end:high]
    return len(around) > _NEAR and not TALK.says("first_person", Quotations(around).outside())
