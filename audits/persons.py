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


_WOMAN_OR_MAN = (
    r"(?:girl|woman|lady|daughter|sister|mother|mum|mom|mummy|mommy|wife|aunt|auntie|niece|granddaughter|grandmother"
    r"|grandma|granny|widow|bride|schoolgirl|girlfriend|waitress|hostess|heroine|actress|lass|boy|man|gentleman|lad|guy|bloke|chap"
    r"|fellow|son|brother|father|dad|daddy|husband|uncle|nephew|grandson|grandfather|grandpa|grandad|widower|groom"
    r"|bachelor|schoolboy|boyfriend|godson|goddaughter|stepson|stepdaughter|fianc\u00e9e?)"
)
_SPOKEN_OF = re.compile(
    r"\bs?he(?:['\u2019](?:s|ll|d))?\b|\b(?:his|hers|himself|herself)\b"
    r"|\bher (?!and|or|but|when|that|to|in|on|at|with)\w+"
    r"|\b(?:let|ask|take|give|leave|tell|to|with|for|at|of|without|like|see|on|about|watch|thank|is|that['\u2019]s"
    r"|here['\u2019]s|there['\u2019]s|it['\u2019]s|meet|have) (?:him|her)\b"
    r"|\b(?:the|this|that|a|what a|which|my|our|your|her|his|their)(?: [\w-]+){0,2}?"
    rf" {_WOMAN_OR_MAN}\b(?!['\u2019]s)",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\b(?:he|him)\b.*\b(?:she|her)\b|\b(?:she|her)\b.*\b(?:he|him)\b", re.IGNORECASE | re.DOTALL)
_GROUP = re.compile(
    r"(?:^\W|, )(?:(?:good (?:morning|evening|day|night)|well|now|come on|right|ok|okay|listen|thank you|hurry up"
    r"|easy|quiet|stop it|hey|hello|my dear|up you get),? )?"
    r"(gentlemen|ladies|lads|boys|girls|fellas|brothers|sisters|messieurs|mesdames|se\u00f1oritas|chicos|chicas)"
    r"(?=[,.!?;:\u2026\u2014'\"\u201d\u2019])",
    re.IGNORECASE,
)
_AND_WE = re.compile(
    r"\b(?:and|so|then) (?:\w+ and )?(?:I|we|the \w+ of us)\b|\b(?:to|at|of|addressed|told|asked|called|warned) "
    r"(?:both of |all of |the \w+ of )?us\b|\b(?:two|three|four|five|six|seven|eight|both|all) of us\b"
)
_HEEDED = re.compile(r"\s+I (?:looked|turned round|knelt|bent|crouched|lifted|picked|kissed|wiped)\b")


_FIELD = "content_full"


def addressed_as_kin(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Mum, look!", said by the protagonist's own child."""
    text = quoted.text
    for number, span in enumerate(quoted.spans):
        for found in _KIN.finditer(text[span[0] + 1 : span[1]]):
            by_a_child = any(_CHILD.search(side) or _TO_ME.search(side) for side in quoted.beside(number))
            heeded = _HEEDED.match(text, span[1]) is not None
            if not (by_a_child or heeded) or quoted.mine(number) or quoted.to_another(number):
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


def spoken_of(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "She's my lawyer," he said, pointing at me."""
    for number, span in enumerate(quoted.spans):
        found = _SPOKEN_OF.search(quoted.text, *span)
        if found and quoted.of_me(number) and not quoted.mine(number) and not _EITHER.search(quoted.text, *span):
            message = "others speak of the protagonist as of a woman or a man, and show whom they mean"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(), message, _GENDERED)


def addressed_among_others(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Gentlemen, please," said to the protagonist and others."""
    for number, span in enumerate(quoted.spans):
        found = _GROUP.search(quoted.text, *span)
        if found is None or quoted.mine(number) or quoted.to_another(number):
            continue
        before, after = quoted.beside(number)
        if _AND_WE.search(after) or _AND_WE.search(before):
            message = "a group with the protagonist in it is addressed by a word for one gender"
            yield at_words(subject, "identity.gendered", "error", _FIELD, found.span(1), message, _GENDERED)


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
