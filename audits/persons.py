"""Whose story it is: first person throughout, and nothing that names the protagonist or tells a gender.

What words alone can tell is in ``patterns/identity.*.toml`` and ``patterns/person.third.toml``. Here is
what needs a second look: whether a quotation is meant for the protagonist or for somebody else,
whether a name called out belongs to another person of the narrative, and whether there is an "I" at all.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from audits.reading import Subject, at_row, at_words
from audits.speech import Quotations
from schemas.findings import Finding

_WORDS = Path(__file__).parent / "patterns"
_NAMED, _GENDERED = "HEART-BENCH 3.2 (stage 3), G.2", "HEART-BENCH 3.2 (stage 3), G.2"
_THIRD = "HEART-BENCH appendix G.2"

FEWEST_WORDS = 40
"""A text of fewer words outside quotations is not judged by counting."""

FEWEST_FIRST = 1 / 100
"""The share of "I", "my" and "we" below which a narrative is not in the first person; usual are six of a hundred."""

_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['\u2019][A-Za-z]+)?")
_FIRST = re.compile(r"(?:i|me|my|mine|myself|we|us|our|ours|ourselves)(?:'(?:m|d|ve|ll|re|s))?")
_TITLE = r"(?:Mr|Mrs|Ms|Mister|Miss|Herr|Frau|Se\u00f1ora?|Monsieur|Madame|Signora?)\.?"
_CAPITAL = re.compile(r"\b[A-Z\u00c0-\u00de]\w*(?:['\u2019-](?!s\b)\w+)*(?!,? that['\u2019]s me)")
_JOINT = re.compile(r"['\u2019-]")
_CALL = (
    r"(?:(?:Hey|Hi|Hello|Oh|Ah|Well|Now|Good (?:morning|evening|night|afternoon)|Come on|Sorry|Thanks|Thank you|Yes|No"
    r"|Okay|OK|But|And|Please|Dear|My dear|Listen|Look),? ){0,2}"
)
_AT_START = re.compile(
    rf"\W{{0,3}}{_CALL}(?:(?P<title>{_TITLE}|Dr\.?|Doctor|Professor) )?"
    r"(?P<name>[A-Z\u00c0-\u00de][\w'\u2019-]{1,20})(?=(?: [A-Z\u00c0-\u00de][\w-]{1,20})?[,!?])"
)
_ASKED = re.compile(r"\b(?:your (?:\w+ )?name|[Ww]ho are you|[Aa]nd you are|[Ww]hat are you called)\b[^.?!]{0,30}\?")
_ANSWERED = re.compile(
    r"\W(?P<name>[A-Z\u00c0-\u00de][\w'\u2019-]{1,20})(?: [A-Z\u00c0-\u00de][\w'\u2019-]{1,20})?[.,!]\W$"
)
_AT_END = re.compile(
    rf", (?:(?:my dear(?:est)?|dear|little|poor|old|young|dearest) )?(?:(?P<title>{_TITLE}|Dr\.?|Doctor|Professor) )?"
    r"(?P<name>[A-Z\u00c0-\u00de][\w'\u2019-]{1,20}?)(?=(?:[.!?\u2026,;\u2014-]{1,3}|['\u2019\"\u201d\u00bb])(?:[\s\"'\u201d\u2019\u00bb]|$))"
)
_KIN = re.compile(
    r"(?:^\W{0,3}(?:(?:but|and|oh|hey|no|yes|look|please|why),? ){0,2}|, )"
    r"(?:mum|mom|mummy|mommy|mama|mamma|mami|ma|dad|daddy|papa|papi|dada|aunt|auntie|aunty|uncle|grandma|grandpa|granny"
    r"|grandad|nana|mother|father)(?: [A-Z]\w+)?(?=[,.!?\u2026\u2014'\"\u201d\u2019])",
    re.IGNORECASE,
)
_CHILD = re.compile(
    r"\b[Mm]y (?:\w+[ -]){0,3}(?:son|daughter|child|kid|baby|toddler|twins?|eldest|youngest|boy|girl|little one|stepson"
    r"|stepdaughter|niece|nephew|grandson|granddaughter|grandchild)\b"
)


def addressed_by_name(subject: Subject, quoted: Quotations, others: Collection[str]) -> Iterator[Finding]:
    """Names (and titles) that somebody says to the protagonist; ``others`` are names of people of the ledger."""
    text = quoted.text
    told_of: frozenset[str] | None = None
    for number, span in enumerate(quoted.spans):
        body = text[span[0] + 1 : span[1]]
        for found in [*_starting(body), *_AT_END.finditer(body)]:
            name, title = found["name"], found["title"]
            if not _is_name(body, found) or name in others or quoted.mine(number) or quoted.to_another(number):
                continue
            told_of = _told_of(quoted) if told_of is None else told_of
            if name in told_of:
                continue
            place = (span[0] + 1 + found.start("name"), span[0] + 1 + found.end("name"))
            yield at_words(
                subject, "identity.named", "error", _FIELD, place, "somebody calls the protagonist by name", _NAMED
            )
            if title and not title.startswith(("Dr", "Doctor", "Prof")):
                place = (span[0] + 1 + found.start("title"), place[1])
                message = "somebody calls the protagonist by a title for one gender"
                yield at_words(subject, "identity.gendered", "error", _FIELD, place, message, _GENDERED)


def told_when_asked(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "And you are?" - "Emil," I said."""
    for number, span in enumerate(quoted.spans[1:], 1):
        before, answer = quoted.spans[number - 1], quoted.text[span[0] : span[1]]
        found = _ANSWERED.match(answer)
        if found and _is_name(answer, found) and _ASKED.search(quoted.text, *before) and quoted.mine(number):
            place = (span[0] + found.start("name"), span[0] + found.end("name"))
            yield at_words(subject, "identity.named", "error", _FIELD, place, "the protagonist tells the name", _NAMED)


_FIELD = "content_full"


def _starting(body: str) -> list[re.Match[str]]:
    found = _AT_START.match(body)
    return [found] if found and (found["title"] or found["name"].lower() in _listed("given_names")) else []


def _is_name(body: str, found: re.Match[str]) -> bool:
    name = found["name"].rstrip("'\u2019").lower()
    if name in _listed("not_names") or name.endswith(("'s", "\u2019s")):
        return False
    if name in _listed("given_names") or found.groupdict().get("title"):
        return True
    # "in Paris, France", "Anna, Xan and Leo": after a comma behind another capital it is a place or a list.
    before = body[: found.start()].rsplit(" ", 1)[-1].strip("\"'\u201c\u2018")
    return not before[:1].isupper() or before.lower() in _listed("not_names")


def _told_of(quoted: Quotations) -> frozenset[str]:
    """The names (all words with a capital) that the narrator uses, which are those of others."""
    words = _CAPITAL.findall(quoted.outside())
    return frozenset(part for word in words for part in (word, *_JOINT.split(word)))


def addressed_as_kin(subject: Subject, quoted: Quotations) -> Iterator[Finding]:
    """ "Mum, look!", said by the protagonist's own child."""
    text = quoted.text
    for number, span in enumerate(quoted.spans):
        for found in _KIN.finditer(text[span[0] + 1 : span[1]]):
            if not any(map(_CHILD.search, quoted.beside(number))) or quoted.mine(number) or quoted.to_another(number):
                break
            words = found.group().lstrip(" ,\"'\u201c\u2018")
            end = span[0] + 1 + found.end()
            message = "the protagonist's child calls the protagonist by a word for one gender"
            yield at_words(subject, "identity.gendered", "error", _FIELD, (end - len(words), end), message, _GENDERED)


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


@functools.cache
def _listed(name: str) -> frozenset[str]:
    return frozenset((_WORDS / f"{name}.txt").read_text("utf-8").lower().split())
