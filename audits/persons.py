"""Whose story it is: first person throughout, and nothing that names the protagonist or tells a gender.

What words alone can tell is in ``patterns/identity.*.toml`` and ``patterns/person.third.toml``. Here is
what needs a second look: whether a quotation is meant for the protagonist or for somebody else, and
whether there is an "I" at all. Names are in ``audits.naming``.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from audits.reading import Subject, at_row, at_words
from audits.speech import Quotations
from schemas.findings import Finding

_GENDERED = "HEART-BENCH 3.2 (stage 3), G.2"
_THIRD = "HEART-BENCH appendix G.2"

FEWEST_WORDS = 40
"""A text of fewer words outside quotations is not judged by counting."""

FEWEST_FIRST = 1 / 100
"""The share of "I", "my" and "we" below which a narrative is not in the first person; usual are six of a hundred."""

_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['\u2019][A-Za-z]+)?")
_FIRST = re.compile(r"(?:i|me|my|mine|myself|we|us|our|ours|ourselves)(?:'(?:m|d|ve|ll|re|s))?")
_KIN = re.compile(
    r"(?:^\W{0,3}(?:(?:but|and|oh|hey|no|yes|look|please|why),? ){0,2}|, )"
    r"(?:mum|mom|mummy|mommy|mama|mamma|mami|ma|dad|daddy|papa|papi|dada|aunt|auntie|aunty|uncle|grandma|grandpa|granny"
    r"|grandad|nana|mother|father)(?: [A-Z]\w+)?(?=[,.!?\u2026\u2014'\"\u201d\u2019])",
    re.IGNORECASE,
)
_TO_ME = re.compile(
    r"\b(?:begg|ask|call|shout|plead|told|whin|tugg)\w*(?: to| at)? me\b|"
    r"\b(?:at|on|to|into|onto|round|around|up|down|in|pulling|tugging) my (?:knee|lap|arms?|hand|legs?"
    r"|sleeve|skirt|neck|bed|face|cheek|nose|shoulder)\b"
)
_PARENT = (
    r"(?:mother|father|mum|mom|dad|mama|papa|parents|grandmother|grandfather|grandma|grandpa|gran|aunt|auntie"
    r"|uncle)"
)
_MY_PARENT = re.compile(rf"\b(?:[Mm]y|[Oo]ur) {_PARENT}\b|\b(?:Mum|Mom|Dad|Mama|Papa|Grandma|Grandpa|Gran|Grandad)\b")
_THEIR_CHILD = re.compile(
    r"\b(?:your|my|our) (?:\w+ ){0,2}?(?:daughter|son|girl|boy|lad|lass|grandson|granddaughter|nephew"
    r"|niece)\b(?!['\u2019]s)"
)
_SIBLING = re.compile(r"\b(?:sisters?|brothers?|cousins?|twins?|siblings?|stepsister|stepbrother)\b")
_I = re.compile(r"\b(?:I|me|my)\b")
_CHILD = re.compile(
    r"\b[Mm]y (?:\w+[ -]){0,3}(?:son|daughter|child|kid|baby|toddler|twins?|eldest|youngest|boy|girl|little one|stepson"
    r"|stepdaughter|niece|nephew|grandson|granddaughter|grandchild)\b"
)


_FIELD = "content_full"


def addressed_as_kin(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Mum, look!", said by the protagonist's own child."""
    text = quoted.text
    for number, span in enumerate(quoted.spans):
        for found in _KIN.finditer(text[span[0] + 1 : span[1]]):
            beside = quoted.beside(number)
            if (
                not any(_CHILD.search(side) or _TO_ME.search(side) for side in beside)
                or quoted.mine(number)
                or quoted.to_another(number)
            ):
                break
            words = found.group().lstrip(" ,\"'\u201c\u2018")
            end = span[0] + 1 + found.end()
            message = "the protagonist's child calls the protagonist by a word for one gender"
            yield at_words(subject, "identity.gendered", "error", _FIELD, (end - len(words), end), message, _GENDERED)


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
