"""Whose story it is: first person throughout, and nothing that names the protagonist or tells a gender.

What words alone can tell is in ``patterns/identity.*.toml`` and ``patterns/person.third.toml``. Here is
what needs a second look: whether a quotation is meant for the protagonist or for somebody else, and
whether there is an "I" at all. Names are in ``audits.checks.identity.naming``.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from audits.checks.identity import addressing
from audits.checks.identity.scenes import Scene
from audits.checks.identity.turns import WORDS as TALK
from audits.patterns.wording import Wording
from audits.subjects import Subject, at_row, at_words
from audits.text.quotations import Quotations, Span
from schemas.findings import Finding, Severity

_GENDERED = "HEART-BENCH 3.2 (stage 3), G.2"
_THIRD = "HEART-BENCH appendix G.2"

FEWEST_WORDS = 40
"""A text of fewer words outside quotations is not judged by counting."""

FEWEST_FIRST = 1 / 100
"""The share of "I", "my" and "we" below which a narrative is not in the first person; usual are six of a hundred."""

_FIELD = "content_full"

_WORDS = Wording(Path(__file__).with_suffix(".toml"), with_words_of=TALK)
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['\u2019][A-Za-z]+)?")
_FIRST = re.compile(r"(?:i|me|my|mine|myself|we|us|our|ours|ourselves)(?:'(?:m|d|ve|ll|re|s))?")
_SHE_OR_HE = re.compile(r"\s*(?:s?he|they)\b")
_BED = re.compile(r"\b(?:over|above|beside|by) my (?:bed|cot|crib|pram)\b")
_SENTENCES = re.compile(r"[.!?] ")
_EARLIER = 250
_BEHIND = 160
_KINDS = ("girls", "women", "ladies", "lasses")
_TOLD = 70
# Signs without which an expression finds nothing; looking for them is quicker.
_POINTS = (
    "his is ",
    "hat is ",
    "his here",
    "hat there",
    "here's ",
    "here\u2019s ",
    "ere is ",
    "hat's ",
    "hat\u2019s ",
    "eet ",
)
_HAILS = ("or the ", "or our ", "or my ", "mes the ", "mes our ", "live the ", "hail the ")
_OTHERS = re.compile("[Tt]he other ")
_HOW_MANY = ("", "All ", "Most of ", "Some of ", "Half ")
_IS = ("'s", "\u2019s", " is", " was", "ning", "eans", "eant")


def addressed_as_kin(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Mum, look!", said by the protagonist's own child, or "Your mum's here" said to it."""
    message = "the protagonist's child calls the protagonist by a word for one gender, or hears one"
    text = quoted.text
    for number, span in enumerate(quoted.spans):
        home, found = _WORDS["kin_is_here"].search(text, *span), _WORDS["kin"].search(text[span[0] + 1 : span[1]])
        at = _called_as_kin(quoted.scene, number, home, found) if home or found else None
        end = span[1] + _TOLD
        if at is None and (text.find(" my ", span[1], end) >= 0 or text.find(" the baby", span[1], end) >= 0):
            at = _told_to_a_child(quoted, number, span)
        if at is not None and not quoted.mine(number):
            yield at_words(subject, "identity.gendered", "error", _FIELD, at, message, _GENDERED)


def _called_as_kin(scene: Scene, number: int, home: re.Match[str] | None, found: re.Match[str] | None) -> Span | None:
    """Where a word for the protagonist as kin stands in a quotation that a child says to the protagonist."""
    start, end = scene.spans[number]
    if home or found is None:
        return home.span() if home and _said_by_a_child(scene, number) else None
    heeded = not scene.is_wide and _WORDS["heeded"].match(scene.text, end)
    if not heeded and not _said_by_a_child(scene, number):
        return None
    last = start + 1 + found.end()
    words = found.group().lstrip(" ,\"'\u201c\u2018")
    return None if scene.told_to_another(number) else (last - len(words), last)


def _told_to_a_child(quoted: Quotations, number: int, span: Span) -> Span | None:
    """ "Your mother's here," the teacher told my daughter, and I held out her coat."""
    found = _WORDS["your_parent"].search(quoted.text, *span)
    after = quoted.scene.beside(number)[1] if found else ""
    told = _WORDS.says("told_my_child", after) and _WORDS.says("and_i", after)
    return found.span() if found and told else None


def _said_by_a_child(scene: Scene, number: int) -> bool:
    """Whether a child of the protagonist speaks, or one whom the protagonist looks after."""
    before, after = scene.beside(number)
    around = f"{before} {after}"
    if _WORDS.says("its_parent", before, after):
        return False
    if _WORDS.says("my_child", before, after) or _WORDS.says("to_me", before, after):
        return not _WORDS.says("my_sibling", around)
    if _WORDS.says("children", around) and _WORDS.says("near_children", around):
        return True
    if _WORDS.says("tended", after):
        return True
    start = scene.spans[number][0]
    paragraph = scene.text[max(scene.text.rfind("\n", 0, start) + 1, start - 120) : start]
    if not _WORDS.says("my_child", paragraph) or any(
        _WORDS.says(name, paragraph) for name in ("sibling", "its_parent")
    ):
        return False
    if _SHE_OR_HE.match(after):
        return True
    return not TALK["other_says"].match(after) and _WORDS.says(
        "my_child", _SENTENCES.split(paragraph.rstrip(" .:,"))[-1]
    )


def spoken_of_by_parents(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "That's my daughter up there," said by or to the protagonist's parents, with no sibling about."""
    message = "the protagonist's parents or others to them speak of a son or a daughter"
    for number, span in enumerate(quoted.spans):
        found = _WORDS["their_child"].search(quoted.text, *span)
        if found is None or quoted.mine(number):
            continue
        around = " ".join(quoted.scene.beside(number))
        if not _WORDS.says("my_parent", around) or _WORDS.says("sibling", around):
            continue
        with_me = _WORDS.says("i", _WORDS["my_parent"].sub("", around))
        if with_me and found.group().startswith("your") == _WORDS.says("to_parents", around):
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def spoken_of(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "She's my lawyer," he said, pointing at me."""
    message = "others speak of the protagonist as of a woman or a man, and show whom they mean"
    for number, span in enumerate(quoted.spans):
        found = _shown(quoted.scene, number)
        if found and not quoted.mine(number) and not _WORDS["either"].search(quoted.text, *span):
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def _shown(scene: Scene, number: int) -> re.Match[str] | None:
    """What is said of the protagonist in a quotation, if the sentence shows or handles whom it is said of."""
    text, span = scene.text, scene.spans[number]
    found = _WORDS["spoken_of"].search(text, *span)
    if found is None and text.find("'s ", *span) < 0 and text.find("\u2019s ", *span) < 0:
        return None
    kin = _spoken_of_as_kin(text, span)
    found = found or kin
    if found is None:
        return None
    if kin and not scene.is_wide and kin.re is _WORDS["presented"]:
        return kin
    before, after = scene.beside(number)
    if scene.of_me(number) or _WORDS.says("turned_to_me", before, after):
        return found
    shown = kin if scene.is_wide else None
    if shown is None and any(text.find(each, *span) >= 0 for each in _HAILS):
        shown = _WORDS["hailed"].search(text, *span)
    told = after if scene.turns.told(number) else text[span[1] : span[1] + _BEHIND].split("\n")[0]
    if shown and _WORDS.says("at_me", told):
        return shown
    if marvelled := _marvelled(scene, number):
        return marvelled
    if text[span[1] - 2] in ".!?" and not TALK["other_says"].match(after):
        return None  # what follows is another sentence
    if _BED.search(after):
        return found
    return _WORDS["looked_at"].search(text, *span) if _WORDS.says("handled", after) else None


def _spoken_of_as_kin(text: str, span: Span) -> re.Match[str] | None:
    """ "This is my daughter", "That there's Willard's girl"."""
    if not any(text.find(each, *span) >= 0 for each in _POINTS):
        return None
    return _WORDS["presented"].search(text, *span) or _WORDS["introduced"].search(text, *span)


def _marvelled(scene: Scene, number: int) -> re.Match[str] | None:
    """ "Hark at him!", said upon what the protagonist has just said, which is of nobody."""
    found = _WORDS["marvelled"].search(scene.text[scene.spans[number][0] : scene.spans[number][1]])
    if found is None or number == 0 or scene.spans[number][0] - scene.spans[number - 1][1] > 2 * _BEHIND:
        return None
    mine = scene.mine(number - 1) or scene.turns.perhaps_mine(number - 1)
    gender = "f" if found["who"].lower() in ("her", "she") else "m"
    if not mine or TALK[gender].search(scene.text, *scene.spans[number - 1]):
        return None
    return _WORDS["spoken_of"].search(scene.text, *scene.spans[number])


def pointed_out(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Her grandson has come. That's me." "The other nuns have gone up. I trim the candle." """
    text = quoted.text
    for found in _WORDS["that_is_me"].finditer(text) if _ends_in_me(text) else ():
        if quoted.around(found.start()) is None:
            message = "the protagonist is whom a word for one gender is said of"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)
    for found in _other_ones(text):
        told = _WORDS["one_of_them"].search(text, max(0, found.start() - _EARLIER), found.start())
        if quoted.around(found.start()) is None and told is None:
            message = "the others of a group of one gender are told of, and nobody but the protagonist may be the one"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def _ends_in_me(text: str) -> bool:
    """Whether "is me" and the like stand in a text, without which nothing points the protagonist out."""
    at = text.find(" me")
    while at >= 0:
        if text.endswith(_IS, 0, at) and not text[at + 3 : at + 4].isalnum():
            return True
        at = text.find(" me", at + 3)
    return False


def _other_ones(text: str) -> Iterator[re.Match[str]]:
    """Where "the other nuns", "all the other nuns" begin a sentence."""
    for place in _OTHERS.finditer(text) if "he other " in text else ():
        begins = (place.start() - len(words) for words in _HOW_MANY if text.endswith(words, 0, place.start()))
        found = next(filter(None, (_WORDS["other_ones"].match(text, each) for each in begins)), None)
        if found:
            yield found


def addressed_among_others(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Gentlemen, please," said to the protagonist and others."""
    message = "a group with the protagonist in it is addressed by a word for one gender"
    for number, span in enumerate(quoted.spans):
        found = _WORDS["group"].search(quoted.text, *span)
        if found is None or quoted.mine(number) or quoted.scene.told_to_another(number):
            continue
        sides = quoted.scene.beside(number)
        if _WORDS.says("and_we", *sides) and not _WORDS.says("from_a_box", *sides):
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(1), message, _GENDERED)


def counted_in(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Ladies first," he says, and I go in. "We brothers," my brother says."""
    message = "the protagonist is let in, or counted in, by a word for one gender"
    for number, span in enumerate(quoted.spans):
        body = quoted.text[slice(*span)].lower()
        first = _WORDS["first_in"].search(quoted.text, *span) if " first" in body or "after you" in body else None
        both = _WORDS["both_kinds"].search(quoted.text, *span) if any(each in body for each in _KINDS) else None
        pair = _WORDS["pair"].search(quoted.text, *span)
        if not (first or pair or both):
            continue
        before, after = quoted.scene.beside(number)
        i_go = first is not None and _WORDS.says("i_go", f"{before} {after}")
        found = first if i_go else pair if _WORDS.says("of_mine", after) else None
        found = found or (both if _WORDS.says("i_take_a_side", after) else None)
        if found and not quoted.mine(number) and not quoted.scene.told_to_another(number):
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def called(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Good lad," said to the protagonist."""
    for call in addressing.calls(quoted):
        severity: Severity = "error" if call.certain else "note"
        message = "somebody calls the protagonist by a word for one gender"
        if not call.certain:
            message = "perhaps said to the protagonist: a word for one gender"
        yield at_words(subject, "identity.gendered", severity, _FIELD, call.span, message, _GENDERED)


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
