"""Proofs of bank lines: what each line can become, read by the same audits as the memories made from it.

Every option of every choice is told at least once, with slots filled as a scene would fill them; every error that
``audits`` finds in such a wording is a fault of the line, seen before a memory has it. Warnings and notes are what
the linear model suspects (``audits.text.linear_model``), and it cannot judge a line without the scene around it.
HEART-BENCH appendix B.4, criteria 1, 2 and 6, and 3.2 (no name, no gender). Used by

    python -m builders.offline.lint
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from builders.offline.banks import bank, pieces
from builders.offline.grammar import Choice, Template, capital, parse_line, render, straight, tidy
from builders.offline.lines import loosened, sentences
from builders.offline.slots import undeclared

# Findings that a single line can have; the others need a whole memory.
CODES = ("perspective.future", "perspective.adult", "identity.gendered", "identity.named", "vocabulary.inflated")
_PERSON = "person.third"

# Whom the lines are about, for as long as it is a proof: name, pronouns.
_PEOPLE = {"other": "Ines", "second": "Karim", "partner": "Otto", "child": "Lise"}
_SHE = {"he": "she", "him": "her", "his": "her", "hers": "hers", "himself": "herself", "was": "was", "has": "has"}
_FORMS = {"call": "Aunt Ines", "role": "neighbour", "detail": "cheats at cards"}
_TIME = {
    "when": "on a Tuesday morning in March", "weekday": "Tuesday", "month": "March", "month_part": "early March",
    "nth": "first", "mark": "after the fair", "about": "around", "clock": "ten o'clock", "part": "morning",
    "ahead": "Friday", "later": "that evening", "soon": "the next day", "days": "three days later",
    "ground": "the house", "place": "Kitchen", "keepsake": "my red torch", "ailment": "my asthma",
}  # fmt: skip
_AGES = {"child": 9, "teen": 15, "adult": 30}
# So many wordings of a line show every option of all but the longest lists.
_MOST = 24
# A sentence with fewer wordings, slots counted, is plain: it is soon told too often.
FEWEST = 3
_TWICE = re.compile(r"\b(in|on|one|for|at|to|of|it|with|the|a|an|and|by|as|(?!and |time to |\w+ and )\w+ \w+) \1\b")
_WORD = re.compile(r"[A-Za-z']+")


@dataclass(frozen=True)
class Line:
    """A line and what is needed to tell it: where it stands, its language, and the values of its handles.

    ``short``: no part of a narrative (a summary, a conclusion), so it does not count in the figures. ``needs`` are what
    its scene asks the ledger for.
    """

    where: str
    text: str
    language: str
    handles: Sequence[Mapping[str, str]] = ()
    short: bool = False
    needs: Sequence[str] = ()


@dataclass(frozen=True)
class Proof:
    """The audits' findings in a file's lines, one text each, and its figures."""

    problems: list[str]
    words: int
    sentences: int
    plain: int


def proof(lines: Sequence[Line]) -> Proof:
    """Tell the lines of a file in all ways that matter, and audit what comes of it."""
    told = [(line, text) for line in lines for text in wordings_of(line)]
    counted = " ".join(text for line, text in told if not line.short)
    each = [sentence for line in lines if not line.short for sentence in sentences(line.text)]
    return Proof(
        _audited(told),
        len(_WORD.findall(counted)),
        len(each),
        sum(sentence.count * sentence.values < FEWEST for sentence in each),
    )


def wordings_of(line: Line) -> list[str]:
    """Wordings of a line that show every option of its choices, as far as two dozen can."""
    template = tuple(node for _, stretch in parse_line(loosened(line.text)) for node in stretch)
    rounds = min(_MOST, max(_widest(template), len(line.handles)))
    return list(dict.fromkeys(_wording(line, template, turn) for turn in range(rounds)))


def _widest(template: Template) -> int:
    """The number of options of the longest choice, nested ones counted as they follow each other."""
    sizes = [sum(_widest(option) for option in node.options) if isinstance(node, Choice) else 1 for node in template]
    return max(sizes, default=1)


def _wording(line: Line, template: Template, turn: int) -> str:
    place = itertools.count(zlib.crc32(line.text.encode()) % 7)
    handles = line.handles[turn % len(line.handles)] if line.handles else {}

    def choose(count: int) -> int:
        return (turn + next(place) * (turn // count)) % count

    def fill(name: str) -> str:
        head, _, form = name.partition(".")
        if form:
            return _SHE.get(form) or _FORMS[form]
        if head in handles:
            said = handles[head]
        elif head in _TIME:
            said = _TIME[head]
        else:
            words = pieces("words", head) or tuple(bank("trades")["any"].get(head, ()))
            if not words:
                return _PEOPLE.get(head, "Mara")
            said = words[choose(len(words))]
        return "".join(render(stretch, fill, choose) for _, stretch in parse_line(said))

    return straight(tidy(capital(render(template, fill, choose))))


def _audited(told: Sequence[tuple[Line, str]]) -> list[str]:
    """One text a line and finding: where, which code, and the words."""
    from audits import audit

    rows = [
        {
            "id": str(number),
            "content_full": text,
            "age": _AGES[line.language],
            "emotion_signature": {"intensity": 0.2},
        }
        for number, (line, text) in enumerate(told)
    ]
    said: dict[tuple[str, str], str] = {}
    for line, text in told:
        if twice := _TWICE.search(text):
            said.setdefault((line.text, "twice"), f"{line.where}: a word twice {_around(text, twice.span())!r}")
        for problem in undeclared(text, line.needs):
            said.setdefault((line.text, problem), f"{line.where}: {problem}")
    found = audit("memories", rows, only=[*CODES, _PERSON])
    for finding in found:
        if finding.severity != "error" or (finding.code == _PERSON and finding.span is None):
            continue  # a line may do without "I", a memory may not
        line, text = told[int(finding.row_id)]
        codes = ", ".join(finding.codes)  # one finding may be of several: what only a child may not say is among them
        said.setdefault((line.text, codes), f"{line.where}: {codes} {_around(text, finding.span)!r}")
    return list(said.values())


def _around(text: str, span: tuple[int, int] | None) -> str:
    start, end = span or (0, len(text))
    return text[max(0, start - 15) : end + 15]


def shared_lines(part: object, language: str = "adult", where: str = "") -> Iterator[tuple[str, str, str]]:
    """Every sentence of a shared bank as (where, language, text), however deep; words and phrases are not lines."""
    if isinstance(part, dict):
        for name, inner in part.items():
            below = name.split("_")[0] if name.split("_")[0] in _AGES else language
            yield from shared_lines(inner, below, f"{where}.{name}" if where else name)
    elif isinstance(part, list):
        for number, item in enumerate(part):
            item = item.get("say", item) if isinstance(item, dict) else item  # a line of a voice may be a table
            if isinstance(item, dict):
                yield from shared_lines(item, language, f"{where} {number}")
            elif isinstance(item, str) and re.search(r"[.!?\u2026][\u201d>\]]*$", item):
                yield where, language, item
