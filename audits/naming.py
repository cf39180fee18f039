"""Whether somebody says or writes the protagonist's name: calls, salutations, roll-calls, introductions.

Every name of a narrative (``audits.names``) is looked up, and judged by the frame round it: those of
``naming.toml``, and what the narrator does when it is called out. A name that the narrator uses for
somebody else is not the protagonist's, nor is one in the ledger, nor one that another answers to.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from audits.framing import WORDS, any_of, compiled, framed
from audits.names import Name, Names, is_gendered_title
from audits.reading import Subject, at_words
from audits.speech import Quotations
from audits.written import is_called_without_marks, is_owned, is_saluted, is_told, is_written
from schemas.findings import Finding, Severity

_SOURCE = "HEART-BENCH 3.2 (stage 3), G.2"
_FIELD = "content_full"
_BEFORE, _AFTER = 90, 130
_SPELLED = re.compile(r"(?:\w-){2,}\w")


def audit(subject: Subject, quoted: Quotations, others: frozenset[str]) -> Iterator[Finding]:
    """Names and titles of the protagonist; ``others`` are names of people of the ledger."""
    names = Names(quoted)
    done: set[str] = set()
    for name in names.all:
        if others and not others.isdisjoint(name.words):
            continue
        if name.words[0] in done or not (name.proper or name.capitals or name.initialled):
            continue
        if _is_named(names, name):
            done.add(name.words[0])
            yield from _findings(subject, names, name)


def _is_named(names: Names, name: Name) -> bool:
    once = names.once(name)
    if name.number is None:
        # Whose name comes again is somebody who is told of.
        return once and any(
            each(names, name) for each in (is_told, is_called_without_marks, is_saluted, is_owned, is_written)
        )
    if (
        names.told.isdisjoint(name.words)
        and (_is_said(names, name) or (_fills(names.quoted, name) and is_told(names, name)))
        and names.called.isdisjoint(name.words)
    ):
        return True
    return is_owned(names, name) or (once and is_written(names, name))


def _is_certain(names: Names, name: Name) -> bool:
    """Whether the text itself ties the name to the narrator.

    In a scene of several people a call that nobody else is said to heed may be for any of them.
    """
    scene = names.quoted.scene
    if not scene.is_wide or is_told(names, name) or is_owned(names, name):
        return True
    if name.number is None:
        near = names.quoted.text[max(0, name.start - _BEFORE) : name.end + _BEFORE]
        return is_called_without_marks(names, name) or is_saluted(names, name) or WORDS.says("of_mine", near)
    return scene.names_me(name.number) or scene.mine(name.number)


def _findings(subject: Subject, names: Names, name: Name) -> Iterator[Finding]:
    quoted, said, certain = names.quoted, name.number is not None, _is_certain(names, name)
    message = "somebody names the protagonist" if said else "the name of the protagonist is written or called out"
    if not certain:
        message = "perhaps the protagonist's name: nobody else in the text is said to bear it"
    severity: Severity = "error" if certain else "note"
    yield at_words(subject, "identity.named", severity, _FIELD, (name.first, name.end), message, _SOURCE)
    if certain and name.number is not None and is_gendered_title(name.title) and not quoted.mine(name.number):
        message = "somebody calls the protagonist by a title for one gender"
        place = (quoted.text.rfind(name.title, 0, name.first), name.end)
        yield at_words(subject, "identity.gendered", "error", _FIELD, place, message, _SOURCE)


def _is_said(names: Names, name: Name) -> bool:
    """Whether it is the protagonist's in a quotation, given who says it to whom and what comes of it."""
    quoted, number = names.quoted, name.number
    assert number is not None
    start, end = quoted.spans[number]
    body_before = quoted.text[max(start + 1, name.start - _BEFORE) : name.start]
    body_after = quoted.text[name.end : max(name.end, min(end - 1, name.end + _AFTER))]
    if quoted.mine(number):
        return _is_said_by_me(quoted, name, body_before, body_after)
    called = framed("called", name, body_before, body_after) and not (
        framed("spoken_of", name, body_before, body_after)
        or _says_of(name, body_before, body_after)
        or (quoted.scene.is_wide and WORDS["third"].match(body_after))
    )
    presented = framed("presented", name, body_before, body_after)
    shown = not presented and framed("shown", name, body_before, body_after)
    alone = name.proper and _is_alone(body_before, body_after)
    young = _young(body_before)
    if not (called or presented or shown or alone or young):
        return False
    before, after = _around(quoted, number)
    if WORDS.says("titles_of_works", before) or (called and _listed_before(body_before, name)):
        return False
    if WORDS.says("we_say", after[:40]) or (alone and _answers_me(quoted, number)):
        return False
    if WORDS.says("called_me", after) and (alone or young):
        return True
    if WORDS.says("another", after) or WORDS.says("another_comes", before) or not _is_heard(names, name):
        return False
    if called or (young and quoted.to_me(number)):
        return not quoted.to_another(number) and not _is_cared_for(quoted, number)
    frame = "presented" if presented else "shown" if shown else ""
    return _is_reacted_to(quoted, number, (before, after), frame, alone, name)


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


def _is_heard(names: Names, name: Name) -> bool:
    """Whether it is said to the narrator, as far as a scene tells."""
    scene, number = names.quoted.scene, name.number or 0
    if not scene.is_wide or scene.hearer(number, (name.first, name.end)) == "me":
        return True
    return names.once(name) and (scene.from_afar(number) or is_saluted(names, name))


def _is_cared_for(quoted: Quotations, number: int) -> bool:
    """ "Don't move, Ben." I have the tweezers, and he is trying not to cry."""
    start, end = quoted.spans[number]
    alone = quoted.scene.turns.told(number) is None and not re.search(r"\w", quoted.text[:start])
    return alone and WORDS["i_with_another"].match(quoted.text, end) is not None


def _is_reacted_to(
    quoted: Quotations, number: int, sides: tuple[str, str], frame: str, alone: bool, name: Name
) -> bool:
    """Whether the narrator answers, or is looked at, when a name is said."""
    before, after = sides
    answers = WORDS.says("answer", after) or _next_is_yes(quoted, number)
    if alone and not quoted.to_another(number):
        return answers or (name.given and (WORDS.says("mine", after) or WORDS.says("mine_things", before)))
    if not frame:
        return False
    of_me = (
        quoted.of_me(number)
        or WORDS.says("looking", *quoted.scene.beside(number))
        or WORDS.says("pointed_before", before)
    )
    of_me = of_me or WORDS["blushes"].match(quoted.text, _end_of_paragraph(quoted, number)) is not None
    return of_me or answers or WORDS.says("mine_things", before) or (frame == "presented" and WORDS.says("mine", after))


def _end_of_paragraph(quoted: Quotations, number: int) -> int:
    end = quoted.text.find("\n", quoted.spans[number][1])
    return end if end >= 0 else len(quoted.text)


def _next_is_yes(quoted: Quotations, number: int) -> bool:
    """ "Is that Lea?" - "It is," I said."""
    if number + 1 >= len(quoted.spans) or not quoted.mine(number + 1):
        return False
    low, high = quoted.spans[number + 1]
    near = low - quoted.spans[number][1] < _AFTER
    return near and WORDS.says("i_answer_first", quoted.text[low:high].lower())


def _fills(quoted: Quotations, name: Name) -> bool:
    """Whether a quotation is nothing but the name: called me "Bean"."""
    start, end = quoted.spans[name.number or 0]
    return end - start <= name.end - name.start + 4


def _is_alone(before: str, after: str) -> bool:
    """Whether a quotation is a name and nothing else, but a number or a surname before it."""
    ahead = re.fullmatch(r"\W{0,3}(?:(?:[Nn]umber|[Nn]ext|[Rr]oom|[Nn]o)? ?\w*[,:.] )?", before)
    return ahead is not None and not re.search(r"\w{3}", after)


def _answers_me(quoted: Quotations, number: int) -> bool:
    """ "Who's there?" I said. "Arthur," said the voice."""
    if number == 0 or not quoted.mine(number - 1):
        return False
    start, end = quoted.spans[number - 1]
    return WORDS.says("asked", quoted.text[start:end])


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
    before, after = quoted.text[max(low, start - 140) : start], quoted.text[end : min(high, end + 140)]
    return before.rsplit("\n", 1)[-1], after.split("\n", 1)[0]
