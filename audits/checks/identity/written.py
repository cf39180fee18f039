"""Whether the narrator tells that a name is the narrator's own, or reads it where it is written.

Used by ``audits.checks.identity.naming``; the words looked for are those of ``naming.toml``.
"""

from __future__ import annotations

import functools
import re

from audits.checks.identity.framing import WORDS, any_of, compiled, framed, lines
from audits.checks.identity.scenes import meant_for_another
from audits.checks.identity.turns import WORDS as TALK
from audits.text.names import Name, Names
from audits.text.quotations import Quotations

_BEFORE, _AFTER = 90, 130
_REACH = 170
_LETTER = 220
_CALLS = tuple(",.!?\u2026\u2014")
_SPEAKS = TALK.made(r"\b{say}\s+(?:[\w'\u2019-]+ )?$")
_SAYS_IT = TALK.made(r"[\"\u201d\u2019'\u00bb]\s+{say}\s+(?:[\w'\u2019-]+ )?$")
_OF_MY_PEOPLE = TALK.made(r"\b[Mm]y (?:\w+ )?{person}\b[^.!?]*$")
_SENTENCES = re.compile(r"[.!?\n]")
_SALUTES = re.compile(r"(?:^|\n)[\W_]{0,3}(?:(?:my )?dear(?:est)?|hi|hello|hey) $", re.IGNORECASE)


def is_told(names: Names, name: Name) -> bool:
    """Whether the narrator tells that it is the name."""
    before, after = _sides(names, name)
    if after.startswith(("'s", "\u2019s")) or _SAYS_IT.search(before):
        return False
    stated = framed("stated", name, before, after) or (name.capitals and framed("told", name, before, after))
    if not stated and (WORDS["otherwise"].match(after) or not framed("told", name, before, after)):
        return False
    return not WORDS.says("roles", _SENTENCES.split(before)[-1] + "," + _SENTENCES.split(after)[0])


def is_called_without_marks(names: Names, name: Name) -> bool:
    """ "Sleep now, my Ada, she says" without quotation marks, and to the narrator."""
    before, after = _sides(names, name)
    # "That evening Ada asked me" and "said Ada, not unkindly" tell of Ada.
    if after[:1] not in _CALLS or _SPEAKS.search(before):
        return False
    if not (name.given and WORDS["tagged"].match(after)) or not framed("called", name, before, after):
        return False
    return WORDS.says("near_me", before, after) and not meant_for_another(after)


def is_saluted(names: Names, name: Name) -> bool:
    """Whether a letter in a paragraph of its own, or a quotation, begins with it and the narrator is who reads it."""
    text = names.quoted.text
    start = names.quoted.spans[name.number][0] if name.number is not None else max(text.rfind("\n", 0, name.start), 0)
    if not _SALUTES.search(text[start : name.start].replace('"', "\n").replace("\u201c", "\n")):
        return False
    before, after = text[max(0, start - _LETTER) : start], text[name.end : name.end + 3 * _LETTER]
    return (
        WORDS.says("letter", before, after)
        and WORDS.says("i_read", before, after)
        and not WORDS.says("one_writes", before)
    )


def is_owned(names: Names, name: Name) -> bool:
    """Whether what follows says that the name is the narrator's."""
    after = _sides(names, name)[1]
    if not name.proper or after.startswith(("'s", "\u2019s")):
        return False
    plain, named = _avowed(name.capitals or name.number is not None)
    found = plain.match(after)
    if not found and name.words[-1].lower() in after.lower():
        found = next(filter(None, (compiled(line.replace("NAME", any_of(name))).match(after) for line in named)), None)
    if not found or name.number is None:
        return found is not None
    # "Ask for Ada, that's me," says Ada.
    return names.quoted.mine(name.number) or name.end + found.end() > names.quoted.spans[name.number][1]


@functools.cache
def _avowed(shown: bool) -> tuple[re.Pattern[str], list[str]]:
    """The lines that know no name as one expression, and those that name it again."""
    every = lines("near") + (lines("far") if shown else [])
    named = [line for line in every if "NAME" in line]
    return re.compile("|".join(line for line in every if line not in named)), named


def is_written(names: Names, name: Name) -> bool:
    """Whether it stands only once in the text, on something beside words of the first person."""
    text = names.quoted.text
    low = max(text.rfind("\n", 0, name.start) + 1, name.start - _REACH)
    before = text[low : name.start]
    if not (name.given or name.capitals or name.initialled):
        return False
    joined = WORDS.says("joined", before) or ((name.capitals or name.initialled) and WORDS.says("initials", before))
    if not joined and not (name.capitals and WORDS.says("wrote", before)):
        return False
    signs = list(WORDS["signs"].finditer(before))
    after = text[name.end : name.end + 90].split("\n")[0]
    word_alone = name.capitals and not name.given
    if not signs or (word_alone and not WORDS.says("of_mine", before + name.words[0] + text[name.end : name.end + 60])):
        return False
    return any(_is_mine(names.quoted, low, sign, before, after, name) for sign in signs)


def _is_mine(quoted: Quotations, low: int, sign: re.Match[str], before: str, after: str, name: Name) -> bool:
    """Whether what is written there is evidently of the narrator."""
    ahead = _SENTENCES.split(quoted.text[max(0, low + sign.start() - 60) : low + sign.start()])[-1]
    between = before[sign.end() :]
    if name.capitals or name.initialled:
        between = between.removesuffix(", ")
    spoken = quoted.around(low + sign.start())
    if spoken is not None and spoken != name.number:
        return False
    if re.search(r"[.!?][\"\u201d]? [\"\u201c]?(?:[A-Z]|$)", between):
        return False
    if WORDS.says("owned", ahead) or WORDS.says("others", between) or WORDS["otherwise"].match(after):
        return False
    if _OF_MY_PEOPLE.search(ahead) or WORDS.says("another_wears", ahead):
        return False
    if name.number is not None and (
        quoted.scene.told_to_another(name.number) or WORDS["spoken"].match(quoted.scene.beside(name.number)[1])
    ):
        return False
    return WORDS.says("first", ahead + between + after) and not WORDS.says("another", after)


def _sides(names: Names, name: Name) -> tuple[str, str]:
    text = names.quoted.text
    return text[max(0, name.start - _BEFORE) : name.start], text[name.end : name.end + _AFTER]
