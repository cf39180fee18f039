"""Whether somebody says or writes the protagonist's name: calls, salutations, roll-calls, introductions.

Every name of a narrative (``audits.text.names``) is looked up, and judged by the frame round it: those of
``naming.toml``, and what the narrator does when it is called out. A name that the narrator uses for
somebody else is not the protagonist's, nor is one in the ledger, nor one that another answers to.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from audits.checks.identity.framing import WORDS
from audits.checks.identity.said import Sureness, fills, is_said
from audits.checks.identity.written import is_called_without_marks, is_owned, is_saluted, is_told, is_written
from audits.subjects import Subject, at_words
from audits.text.names import Name, Names, is_gendered_title
from audits.text.quotations import Quotations
from schemas.findings import Finding, Severity

_SOURCE = "HEART-BENCH 3.2 (stage 3), G.2"
_FIELD = "content_full"
_NEAR = 90


def audit(subject: Subject, quoted: Quotations, others: frozenset[str]) -> Iterator[Finding]:
    """Names and titles of the protagonist; ``others`` are names of people of the ledger."""
    names = Names(quoted)
    found: dict[str, tuple[Name, bool]] = {}
    for name in names.all:
        if others and not others.isdisjoint(name.words):
            continue
        known = found.get(name.words[0])
        if (known and known[1]) or not (name.proper or name.capitals or name.initialled):
            continue
        named = _named(names, name)
        if named or (named is None and not known):
            found[name.words[0]] = name, named is True
    for name, certain in found.values():
        yield from _findings(subject, quoted, name, certain)


def _named(names: Names, name: Name) -> Sureness:
    """Whether a name is the protagonist's."""
    if name.number is None:
        return names.once(name) and _is_the_narrators(names, name)
    said = _said(names, name) if names.told.isdisjoint(name.words) else False
    if said is not True and (is_owned(names, name) or (names.once(name) and is_written(names, name))):
        return True
    return said


def _said(names: Names, name: Name) -> Sureness:
    if fills(names.quoted, name) and is_told(names, name):
        return not names.is_used(name)
    return is_said(names, name)


def _is_the_narrators(names: Names, name: Name) -> Sureness:
    """Whether a name outside quotations is; whose name comes again is somebody who is told of."""
    if any(each(names, name) for each in (is_told, is_called_without_marks, is_saluted, is_owned)):
        return True
    if not is_written(names, name):
        return False
    near = names.quoted.text[max(0, name.start - _NEAR) : name.end + _NEAR]
    return True if not names.quoted.scene.is_wide or WORDS.says("of_mine", near) else None


def _findings(subject: Subject, quoted: Quotations, name: Name, certain: bool) -> Iterator[Finding]:
    said = name.number is not None
    severity: Severity = "error"
    message = "somebody names the protagonist" if said else "the name of the protagonist is written or called out"
    if not certain:
        severity, message = "note", "perhaps the protagonist's name: nobody else in the text is said to bear it"
    elif name.number is not None and quoted.scene.is_wide and not quoted.mine(name.number):
        # Whom a name is for where several talk is read from what they do, which is often right and no more.
        severity, message = "warning", "somebody names the protagonist, as far as the scene tells"
    yield at_words(subject, "identity.named", severity, _FIELD, (name.first, name.end), message, _SOURCE)
    if certain and name.number is not None and is_gendered_title(name.title) and not quoted.mine(name.number):
        message = "somebody calls the protagonist by a title for one gender"
        place = (quoted.text.rfind(name.title, 0, name.first), name.end)
        yield at_words(subject, "identity.gendered", "error", _FIELD, place, message, _SOURCE)
