"""Whether somebody calls the protagonist by a word for one gender: "Good lad," "Sir, your bag," "Didi, wait!"

The words are in ``addressing.toml``. Most of them are said to others, to animals, and by the narrator, so
the scene decides: who speaks, whom the words round the quotation name, who heeds it, and whose turn it is.

HEART-BENCH 3.2 (stage 3) and appendix G.2. Used by ``audits.persons``.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from audits.criteria import given_names
from audits.speech import PERSON, Quotations, Span

_NEAR = 260
"""Characters before a quotation in which an animal, or somebody else, may be whom it is meant for."""

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_WORDS = {name: words.replace("\n", "") for part in _DATA.values() for name, words in part.items()}
_WORDS["person"] = PERSON
_TOKEN = re.compile(r"[^\W\d_]+")


def _made(expression: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """An expression with the words of ``addressing.toml`` for ``<name>``."""
    return re.compile(re.sub(r"(?<!P)<([a-z_]+)>", lambda part: f"(?:{_WORDS[part[1]]})", expression), flags)


_OPENS = r"(?:^\W*|[,.!?\u2026;:\u2014\u2013]\s*|\b(?:<lead>),? )"
_CLOSES = r"(?=\s*(?:[,.!?;:\u2026\u2014\u2013]|\W?$)| and (?:<goes_on>)\b)"
# "My son, who is ill," is told of, not called.
_NOT_TOLD_OF = r"(?!,? (?:who|whose|and (?:his|her|my|I)\b|is|was|has|had|will))(?!, \w+, (?:<tells_of>)\b)"
_CALLED = _made(
    rf"{_OPENS}(?:\w+ly )?(?P<words>(?:(?:<modifier>) ){{1,4}}(?:<noun>)"
    rf"|(?!(?<=oh )boy|(?<=oh, )boy)(?:<bare>)(?! of a gun))(?!['\u2019]s\b){_CLOSES}{_NOT_TOLD_OF}"
)
_FORMAL = _made(rf"{_OPENS}(?P<words>(?:<formal>)){_CLOSES}{_NOT_TOLD_OF}")
_EXCLAIMED = _made(r"(?:boy|man), (?:<exclaims>)\b")
_LAST_WORDS = frozenset(
    word.split()[-1].strip("'").rsplit("'", 1)[-1]
    for name in ("bare", "formal", "noun")
    for word in _WORDS[name].lower().split("|")
)

_I_SAY = _made(r"[\s,\u2014\u2013-]*I(?:['\u2019]d| had| would)? (?:\w+ly |just |only |also ){0,2}(?:<say>)\b", 0)
_I_DO = re.compile(r"\s*I(?:['\u2019]d| had)? (?!was\b|am\b|had to\b|(?:over)?hear|read\b|catch|caught|understood)\w+")
_TAGGED = _made(r"[\s,\u2014\u2013-]*(?:(?:[\w'\u2019-]+ ){1,5}?(?:\w+ly )?(?:<say>)\b|(?:<say>) (?!I\b)\w)", 0)
_TELLS_ME = re.compile(r"\b(?:to|at|tells|told|asks|asked|warns|warned|calls|called) me\b[^.!?\n]{0,20}[:,]\s*$")
_NAMED = r"(?:(?:<title>)\.? )?[A-Z]\w+"
_TO_NAMED = _made(
    r"\b(?:to|at|tells|told|asks?|asked|calls|praises?) "
    r"(?:the |my |his |her |a |an |old |little |young |both |two |three )*"
    rf"(?:{_NAMED}|(?:\w+ )?<person>|(?:him|her|them|himself|herself|dogs?|one another|each other))\b",
    0,
)
_TO_ME = _made(
    r"(?<!past )(?<!behind )(?<!beside )(?<!near )(?<!with )(?<!like )(?<!before )(?<!between )(?<!above )"
    r"(?<!opposite )(?<!front of )(?<!next to )(?<!from )(?<!than )\b(?:me|us)\b"
    r"|\bmy (?!(?:\w+ ){0,2}?<person>\b|mother|father)\w|\bI (?:<i_heed>)\b",
    0,
)
_ALSO_CALLED = re.compile(r"(?:^\W*|[,.!?] ?)(?P<name>[A-Z][a-z]+)(?=[,!?.]|$)")
_ANIMAL = _made(r"\b(?:<animal>)\b")
_BEAST = _made(r"\b(?:<animal>|<beast>)\b")
_PRAISE = _made(r"(?:<praise>)\b|(?:boy|girl|lad|lass|lassie|laddie)$")
_OTHER_DOES = _made(
    r"(?:,? (?:and|but|so|while|as|until|because) (?:then )?|[.;!?] ?)"
    rf"(?P<who>{_NAMED}(?: [A-Z]\w+)?|(?:the|his|her|my|our|a) (?:\w+ )?(?:<person>|<animal>)) (?!and I\b)\w+",
    0,
)
_NEXT_DOES = _made(
    rf"\s*(?P<who>{_NAMED}(?: [A-Z]\w+)?|(?:The|My|Our|His|Her) (?:\w+ )?<person>|The <other_one>(?: one)?|She|He)"
    r"(?:['\u2019]s \w+)? (?!and I\b)\w+",
    0,
)
_OTHER_ONE = _made(r"The <other_one>\b", 0)
_TURNS_TO_ANOTHER = _made(
    r"\b(?:(?:<turns>)\w*(?: \w+)? (?:to|at|over|towards|toward|for|by|beside|in front of|next to|before)"
    r"|(?:<touches>)\w*(?: up| down)?) "
    r"(?:him|her|them|(?:the|his|her|my|our|a) (?:\w+ )?<person>|[A-Z]\w+)\b",
    0,
)
_FIRST = re.compile(r"\b(?:I|me|my|mine|we|us|our|My|We|Our)\b")
_SCHOOL = _made(r"\b(?:<school>)\b")
_GENDERS = {"f": _made(r"\b(?:<female>)\b"), "m": _made(r"\b(?:<male>)\b")}
_FEMININE = _made(r"(?:.* )?(?:<feminine>|\w+a)")
_NO_NAMES = frozenset(_WORDS["no_names"].split("|"))


@dataclass(frozen=True)
class Call:
    """Words for one gender in quotation ``number``, at ``span`` of the text."""

    number: int
    span: Span
    formal: bool
    words: str

    @property
    def gender(self) -> str:
        """ "f" or "m": whom the words fit."""
        return "f" if _FEMININE.fullmatch(self.words) else "m"


def calls(quoted: Quotations) -> Iterator[Call]:
    """Every word for one gender by which the protagonist is called, one a quotation."""
    for number, (start, end) in enumerate(quoted.spans):
        body = quoted.text[start + 1 : end - 1]
        if _LAST_WORDS.isdisjoint(map(str.lower, _TOKEN.findall(body))):
            continue
        for expression in (_CALLED, _FORMAL):
            found = expression.search(body)
            if found is None or _EXCLAIMED.match(body, found.start("words")):
                continue
            first, last = found.span("words")
            call = Call(number, (start + 1 + first, start + 1 + last), expression is _FORMAL, found["words"].lower())
            formal = call.formal or _formal().fullmatch(call.words) is not None
            if (_means_me_formally if formal else _means_me)(quoted, call):
                yield call
                break


@functools.cache
def _formal() -> re.Pattern[str]:
    return _made("<formal>")


def _means_me(quoted: Quotations, call: Call) -> bool:
    """Whether a call is for the protagonist, unless the scene says that it is for somebody else."""
    number, (start, end) = call.number, quoted.spans[call.number]
    if speaks(quoted, number) == "I" or _is_for_another(quoted, call):
        return False
    before, after = quoted.beside(number)
    doer = _doer(quoted, number)
    if _TO_ME.search(before) or _TO_ME.search(after[: doer.start()] if doer else after):
        return True
    if _PRAISE.match(call.words) and _beast_about(quoted.text, start, end):
        return False
    if _is_heeded_by_another(quoted, call) or _is_of_others(quoted.text, start, end):
        return False
    return not _follows_another(quoted, call)


def _means_me_formally(quoted: Quotations, call: Call) -> bool:
    """Whether a call that is mostly for others is for the protagonist: whose turn it is has to say so."""
    number, (start, end) = call.number, quoted.spans[call.number]
    if speaks(quoted, number) == "I" or _is_for_another(quoted, call) or _is_heeded_by_another(quoted, call):
        return False
    text = quoted.text
    near = text[max(0, start - _NEAR) : start]
    if _SCHOOL.search(near) or _SCHOOL.search(text[end : end + 80]):
        return False
    since = quoted.spans[number - 1][1] if number else 0
    mine_before = number > 0 and start - since < _NEAR and speaks(quoted, number - 1) == "I"
    following = number + 1 < len(quoted.spans) and quoted.spans[number + 1][0] - end < _NEAR
    mine_after = following and speaks(quoted, number + 1) == "I"
    about_me = re.search(r"\bI\b", text[max(since, start - _NEAR) : start]) is not None and tagged(quoted, number)
    return (mine_before or mine_after or about_me) and not _rival(near, call.gender)


def speaks(quoted: Quotations, number: int, back: int = 6) -> str:
    """ "I", "other" or "" (nobody knows): who speaks a quotation, by its tag, else by whose turn it is."""
    end = quoted.spans[number][1]
    if _TELLS_ME.search(quoted.beside(number)[0]):
        return "other"
    if quoted.mine(number) or _I_SAY.match(quoted.text, end):
        return "I"
    comma = quoted.text[end - 2] == ","
    if comma and _I_DO.match(quoted.text, end):
        return "I"
    if tagged(quoted, number):
        return "other"
    if number == 0 or back == 0:
        return ""
    between = quoted.text[quoted.spans[number - 1][1] : quoted.spans[number][0]]
    tail = between.split("\n")[-1].strip()
    if "\n" not in between or tail or len(between) > 120:
        return ""
    return {"I": "other", "other": "I"}.get(speaks(quoted, number - 1, back - 1), "")


def told_by(after: str) -> bool:
    """Whether the words behind a quotation say that somebody else speaks it."""
    return _TAGGED.match(after) is not None


def tagged(quoted: Quotations, number: int) -> bool:
    """Whether the words beside a quotation say that somebody else speaks it."""
    before, after = quoted.beside(number)
    return told_by(after) or (before.rstrip().endswith((":", ",")) and bool(before.strip()))


def _is_for_another(quoted: Quotations, call: Call) -> bool:
    """Whether the sentence, or a name in the quotation itself, says that it is meant for somebody else."""
    start, end = quoted.spans[call.number]
    after = quoted.beside(call.number)[1]
    if quoted.to_another(call.number) or (_TO_NAMED.search(after) and not _TO_ME.search(after)):
        return True
    body = quoted.text[start + 1 : end - 1]
    for found in _ALSO_CALLED.finditer(body):
        name = found["name"].lower()
        inside = call.span[0] <= start + 1 + found.start("name") < call.span[1]
        if not inside and name not in _NO_NAMES | _LAST_WORDS and name in given_names():
            return True
    lead = _lead(quoted, call.number)
    turned = list(_TURNS_TO_ANOTHER.finditer(lead))
    return bool(turned) and not _TO_ME.search(lead[turned[-1].start() :])


def _lead(quoted: Quotations, number: int) -> str:
    """What stands before a quotation in its paragraph, its last sentences, without other quotations."""
    start = quoted.spans[number][0]
    low = max(quoted.text.rfind("\n", 0, start) + 1, start - 160)
    parts, end = [], start
    while number > 0 and quoted.spans[number - 1][1] > low:
        number -= 1
        parts.append(quoted.text[quoted.spans[number][1] : end])
        end = quoted.spans[number][0]
    parts.append(quoted.text[low : max(low, end)])
    return " ".join(reversed(parts))


def _beast_about(text: str, start: int, end: int) -> bool:
    return bool(_ANIMAL.search(text, max(0, start - _NEAR), start) or _BEAST.search(text, end, end + 120))


def _is_heeded_by_another(quoted: Quotations, call: Call) -> bool:
    """Whether somebody else, and not the one who spoke, does something upon it: "Now, bro," he says, and Tariq nods."""
    doer = _doer(quoted, call.number)
    after = quoted.beside(call.number)[1]
    if doer and not _FIRST.search(after[doer.start() :]):
        return True
    end = quoted.spans[call.number][1] + len(after)
    rest = quoted.text[end : end + 140].lstrip(".!?\"'\u201d\u2019 ")
    following = _NEXT_DOES.match(rest)
    if following is None:
        return False
    who = following["who"]
    if not rest.startswith("\n") and not _OTHER_ONE.match(who):
        return False
    if _FIRST.search(re.split(r"[.!?]", rest)[0]) or who.split()[-1] in after:
        return False
    if who in ("She", "He"):
        return (who == "She") == (call.gender == "f") and not _GENDERS[call.gender].search(after)
    return _is_somebody(quoted.text, who)


def _follows_another(quoted: Quotations, call: Call) -> bool:
    """Whether it is said by somebody upon what somebody else just did: My sister came in. "My girl!" Grandad said."""
    sentence = re.split(r"(?<=[.!?]) ", _lead(quoted, call.number).strip())[-1]
    doer = _NEXT_DOES.match(sentence)
    after = quoted.beside(call.number)[1]
    if doer is None or _TO_ME.search(sentence) or re.search(r"\bI\b", sentence) or not told_by(after):
        return False
    named = re.search(r"\b(?:[A-Z]\w+|<person>)\b".replace("<person>", PERSON), after)
    if named is None or named.group() in doer["who"]:
        return False
    return _GENDERS[call.gender].search(sentence) is not None and _is_somebody(quoted.text, doer["who"])


def _doer(quoted: Quotations, number: int) -> re.Match[str] | None:
    """Who else than the speaker does something, in the words behind a quotation."""
    after = quoted.beside(number)[1]
    for found in _OTHER_DOES.finditer(after):
        if found["who"].split()[-1] not in after[: found.start()] and _is_somebody(quoted.text, found["who"]):
            return found
    return None


def _is_somebody(text: str, who: str) -> bool:
    """Whether words that open a sentence are a person: several words, a given name, or capitals within a sentence."""
    if " " in who or who.lower() in given_names():
        return True
    return who[0].isupper() and re.search(rf"[a-z,] {re.escape(who)}\b", text) is not None


def _is_of_others(text: str, start: int, end: int) -> bool:
    """Whether the narrator is nowhere in the paragraphs round a quotation."""
    low, high = max(0, start - 2 * _NEAR), min(len(text), end + _NEAR)
    around = text[low:start] + text[end:high]
    return len(around) > _NEAR and not _FIRST.search(Quotations(around).outside())


def _rival(near: str, gender: str) -> bool:
    """Whether somebody of a gender is told of right before a quotation."""
    return _GENDERS[gender].search(near) is not None
