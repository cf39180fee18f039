"""Whose story it is: first person throughout, and nothing that names the protagonist or tells a gender.

What words alone can tell is in ``patterns/identity.*.toml`` and ``patterns/person.third.toml``. Here is
what needs a second look: whether a quotation is meant for the protagonist or for somebody else, and
whether there is an "I" at all. Names are in ``audits.naming``.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from audits import addressing
from audits.reading import Subject, at_row, at_words
from audits.speech import Quotations
from schemas.findings import Finding

_GENDERED = "HEART-BENCH 3.2 (stage 3), G.2"
_THIRD = "HEART-BENCH appendix G.2"

FEWEST_WORDS = 40
"""A text of fewer words outside quotations is not judged by counting."""

FEWEST_FIRST = 1 / 100
"""The share of "I", "my" and "we" below which a narrative is not in the first person; usual are six of a hundred."""

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _made(name: str, flags: int = 0) -> re.Pattern[str]:
    """The expressions of a name in ``persons.toml``, as one."""
    words = {name: each.replace("\n", "") for name, each in _DATA["words"].items()}
    return re.compile(
        "|".join(re.sub(r"<(\w+)>", lambda part: words[part[1]], each) for each in _DATA["expressions"][name]), flags
    )


_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['\u2019][A-Za-z]+)?")
_FIRST = re.compile(r"(?:i|me|my|mine|myself|we|us|our|ours|ourselves)(?:'(?:m|d|ve|ll|re|s))?")
_KIN = _made("kin", re.IGNORECASE)
_KIN_IS_HERE = _made("kin_is_here", re.IGNORECASE)
_TO_ME = _made("to_me")
_TENDED = _made("tended")
_CHILDREN = _made("children", re.IGNORECASE)
_NEAR_CHILDREN = _made("near_children")
_ITS_PARENT = _made("its_parent")
_MY_PARENT = _made("my_parent")
_THEIR_CHILD = _made("their_child")
_SIBLING = re.compile(r"\b(?:sisters?|brothers?|cousins?|twins?|siblings?|stepsister|stepbrother)\b")
_I = re.compile(r"\b(?:I|me|my)\b")
_CHILD = _made("my_child")
_SPOKEN_OF = _made("spoken_of", re.IGNORECASE)
_LOOKED_AT = _made("looked_at", re.IGNORECASE)
_HANDLED = _made("handled")
_TURNED_TO_ME = _made("turned_to_me")
_PAIR = _made("pair", re.IGNORECASE)
_OF_MINE = _made("of_mine")
_FIRST_IN = _made("first_in", re.IGNORECASE)
_I_GO = _made("i_go")
_THAT_IS_ME = _made("that_is_me")
# No match of it is without one of these; looking for them is quicker.
_IS_ME = ("'s me", "\u2019s me", " is me", " was me", "ning me", "eans me", "eant me")
_OTHER_ONES = _made("other_ones")
_ONE_OF_THEM = _made("one_of_them", re.IGNORECASE)
_EITHER = re.compile(r"\b(?:he|him)\b.*\b(?:she|her)\b|\b(?:she|her)\b.*\b(?:he|him)\b", re.IGNORECASE | re.DOTALL)
_GROUP = _made("group", re.IGNORECASE)
_FROM_A_BOX = _made("from_a_box", re.IGNORECASE)
_AND_WE = _made("and_we")
_HEEDED = re.compile(r"\s+I (?:looked|turned round|knelt|bent|crouched|lifted|picked|kissed|wiped)\b")


_FIELD = "content_full"


def addressed_as_kin(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Mum, look!", said by the protagonist's own child."""
    text = quoted.text
    message = "the protagonist's child calls the protagonist by a word for one gender"
    for number, span in enumerate(quoted.spans):
        if home := _KIN_IS_HERE.search(text, span[0], span[1]):
            if _said_by_a_child(quoted, number) and addressing.speaks(quoted, number) != "I":
                yield at_words(subject, "identity.gendered", "error", _FIELD, home.span(), message, _GENDERED)
            continue
        for found in _KIN.finditer(text[span[0] + 1 : span[1]]):
            heeded = _HEEDED.match(text, span[1]) is not None
            if not (heeded or _said_by_a_child(quoted, number)) or addressing.speaks(quoted, number) == "I":
                break
            if quoted.to_another(number):
                break
            words = found.group().lstrip(" ,\"'\u201c\u2018")
            end = span[0] + 1 + found.end()
            yield at_words(subject, "identity.gendered", "error", _FIELD, (end - len(words), end), message, _GENDERED)


def _said_by_a_child(quoted: Quotations, number: int) -> bool:
    """Whether a child of the protagonist speaks, or one whom the protagonist looks after."""
    before, after = quoted.beside(number)
    if _ITS_PARENT.search(before) or _ITS_PARENT.search(after):
        return False
    if any(_CHILD.search(side) or _TO_ME.search(side) for side in (before, after)):
        return not re.search(
            r"\b(?:my|our) (?:\w+ )?(?:sister|brother|cousin|twin)\b(?!['\u2019]s)", f"{before} {after}"
        )
    if _CHILDREN.search(f"{before} {after}") and _NEAR_CHILDREN.search(f"{before} {after}"):
        return True
    if _TENDED.search(after):
        return True
    start = quoted.spans[number][0]
    paragraph = quoted.text[max(quoted.text.rfind("\n", 0, start) + 1, start - 120) : start]
    if not _CHILD.search(paragraph) or _SIBLING.search(paragraph) or _ITS_PARENT.search(paragraph):
        return False
    if re.match(r"\s*(?:s?he|they)\b", after):
        return True
    return (
        not addressing.told_by(after) and _CHILD.search(re.split(r"[.!?] ", paragraph.rstrip(" .:,"))[-1]) is not None
    )


def spoken_of_by_parents(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "That's my daughter up there," said by or to the protagonist's parents, with no sibling about."""
    for number, span in enumerate(quoted.spans):
        found = _THEIR_CHILD.search(quoted.text, *span)
        if found is None or quoted.mine(number):
            continue
        before, after = quoted.beside(number)
        around = f"{before} {after}"
        if not _MY_PARENT.search(around) or _SIBLING.search(around) or not _I.search(_MY_PARENT.sub("", around)):
            continue
        theirs = re.search(r"(?:told|to|asked) (?:my|both|our|Mum|Mom|Dad|Mama|Papa)\b", around)
        if found.group().startswith("your") == bool(theirs):
            message = "the protagonist's parents or others to them speak of a son or a daughter"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def spoken_of(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "She's my lawyer," he said, pointing at me."""
    for number, span in enumerate(quoted.spans):
        found = _shown(quoted, number)
        if found and addressing.speaks(quoted, number) != "I" and not _EITHER.search(quoted.text, *span):
            message = "others speak of the protagonist as of a woman or a man, and show whom they mean"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def _shown(quoted: Quotations, number: int) -> re.Match[str] | None:
    """What is said of the protagonist in a quotation, if the sentence shows or handles whom it is said of."""
    span = quoted.spans[number]
    found = _SPOKEN_OF.search(quoted.text, *span)
    if found is None:
        return None
    before, after = quoted.beside(number)
    if quoted.of_me(number) or _TURNED_TO_ME.search(before) or _TURNED_TO_ME.search(after):
        return found
    if quoted.text[span[1] - 2] in ".!?" and not addressing.told_by(after):
        return None  # what follows is another sentence
    if re.search(r"\b(?:over|above|beside|by) my (?:bed|cot|crib|pram)\b", after):
        return found
    return _LOOKED_AT.search(quoted.text, *span) if _HANDLED.search(after) else None


def pointed_out(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Her grandson has come. That's me." "The other nuns have gone up. I trim the candle." """
    text = quoted.text
    for found in _THAT_IS_ME.finditer(text) if any(each in text for each in _IS_ME) else ():
        if quoted.around(found.start()) is None:
            message = "the protagonist is whom a word for one gender is said of"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)
    for found in _OTHER_ONES.finditer(text) if "he other " in text else ():
        if quoted.around(found.start()) is None and not _ONE_OF_THEM.search(
            text, max(0, found.start() - 250), found.start()
        ):
            message = "the others of a group of one gender are told of, and nobody but the protagonist may be the one"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def addressed_among_others(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Gentlemen, please," said to the protagonist and others."""
    for number, span in enumerate(quoted.spans):
        found = _GROUP.search(quoted.text, *span)
        if found is None or addressing.speaks(quoted, number) == "I" or quoted.to_another(number):
            continue
        before, after = quoted.beside(number)
        if _FROM_A_BOX.search(before) or _FROM_A_BOX.search(after):
            continue
        if _AND_WE.search(after) or _AND_WE.search(before):
            message = "a group with the protagonist in it is addressed by a word for one gender"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(1), message, _GENDERED)


def counted_in(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Ladies first," he says, and I go in. "We brothers," my brother says."""
    for number, span in enumerate(quoted.spans):
        first, pair = _FIRST_IN.search(quoted.text, *span), _PAIR.search(quoted.text, *span)
        if not first and not pair:
            continue
        before, after = quoted.beside(number)
        found = first if first and _I_GO.search(f"{before} {after}") else pair if _OF_MINE.search(after) else None
        if found and addressing.speaks(quoted, number) != "I" and not quoted.to_another(number):
            message = "the protagonist is let in, or counted in, by a word for one gender"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def called(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Good lad," said to the protagonist."""
    for call in addressing.calls(quoted):
        message = "somebody calls the protagonist by a word for one gender"
        yield at_words(subject, "identity.gendered", "error", _FIELD, call.span, message, _GENDERED)


def told_in_third_person(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """``person.third`` for a narrative that hardly ever says "I"."""
    text = quoted.outside()
    if text.count(" I ") + text.count(" my ") >= FEWEST_FIRST * (len(text) + 1) / 2:
        return  # there cannot be more words than every other sign begins one
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]
    first = sum(1 for word in words if _FIRST.fullmatch(word))
    if len(words) >= FEWEST_WORDS and first < FEWEST_FIRST * len(words):
        message = f"{first} words of the first person among {len(words)} outside quotations"
        yield at_row(subject, "person.third", "error", message, _FIELD, source=_THIRD)
