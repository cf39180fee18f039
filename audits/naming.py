"""Whether somebody says or writes the protagonist's name: calls, salutations, roll-calls, introductions.

Every name of a narrative (``audits.names``) is looked up, and judged by the frame round it: those of
``naming.toml``, and what the narrator does when it is called out. A name that the narrator uses for
somebody else is not the protagonist's, nor is one in the ledger, nor one that another answers to.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.names import Name, Names, is_gendered_title
from audits.reading import Subject, at_words
from audits.speech import PERSON, Quotations
from schemas.findings import Finding

_SOURCE = "HEART-BENCH 3.2 (stage 3), G.2"
_FIELD = "content_full"
_BEFORE, _AFTER = 90, 130
# No line of ``avowed`` matches without one of these; looking for them is quicker.
_AVOWS = re.compile(
    r"\b(?:[Mm]e|[Uu]s|[Mm]y|[Mm]ine|I|(?:only|just) one|call(?:s|ed)?|knows?|known|knew|(?:nick)?named?)\b"
)
_REACH = 170
_SENTENCES = re.compile(r"[.!?\n]")


@dataclass(frozen=True)
class _Frame:
    """What stands before a name and behind it."""

    before: re.Pattern[str]
    after: str
    needs: str

    def holds(self, name: Name, before: str, after: str) -> bool:
        """Whether a name stands in the frame."""
        if not (name.given if self.needs == "given" else name.proper):
            return False
        behind = _compiled(self.after.replace("NAME", _any_of(name)) if "NAME" in self.after else self.after)
        return behind.match(after) is not None and self.before.search(before) is not None


def audit(subject: Subject, quoted: Quotations, others: frozenset[str]) -> Iterator[Finding]:
    """Names and titles of the protagonist; ``others`` are names of people of the ledger."""
    names = Names(quoted)
    done: set[str] = set()
    for name in names.all:
        if others and not others.isdisjoint(name.words):
            continue
        if name.words[0] in done or not (name.proper or name.capitals or name.initialled):
            continue
        if name.number is None:
            if not names.once(name):
                continue  # somebody who is told of
            found = _is_told(names, name)
        else:
            found = (names.told | names.called).isdisjoint(name.words) and (
                _is_said(names, name) or (_fills(quoted, name) and _is_told(names, name))
            )
        if found or _is_owned(names, name) or (names.once(name) and _is_written(names, name)):
            done.add(name.words[0])
            yield from _findings(subject, quoted, name)


def _findings(subject: Subject, quoted: Quotations, name: Name) -> Iterator[Finding]:
    said = name.number is not None
    message = "somebody names the protagonist" if said else "the name of the protagonist is written or called out"
    yield at_words(subject, "identity.named", "error", _FIELD, (name.first, name.end), message, _SOURCE)
    if name.number is not None and is_gendered_title(name.title) and not quoted.mine(name.number):
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
        if re.match(r"\W*(?:\w+ )?" + _any_of(name), body_after) and not re.search(r"\w", body_before):
            return True
        if name.given and _says("myself", " ".join(quoted.beside(number))):
            return _framed("called", name, body_before, body_after)
        if not _framed("answered", name, body_before, body_after) or name.start - start > 40:
            return False
        return number > 0 and _says("asked", quoted.text[max(0, quoted.spans[number - 1][0] - 30) : start])
    called = _framed("called", name, body_before, body_after) and not (
        _framed("spoken_of", name, body_before, body_after) or _says_of(name, body_before, body_after)
    )
    presented = _framed("presented", name, body_before, body_after)
    shown = not presented and _framed("shown", name, body_before, body_after)
    alone = name.proper and _is_alone(body_before, body_after)
    if not (called or presented or shown or alone or _young(body_before)):
        return False
    before, after = _around(quoted, number)
    if _says("titles_of_works", before) or (called and _listed_before(body_before, name)):
        return False
    if _says("we_say", after[:40]) or (alone and _answers_me(quoted, number)):
        return False
    if _says("called_me", after) and (alone or _young(body_before)):
        return True
    if _says("another", after):
        return False
    scene = names.scene
    if scene and not (scene.to_narrator(number) or (names.once(name) and scene.from_afar(number))):
        return False
    if called and not quoted.to_another(number):
        return True
    return _is_reacted_to(
        quoted, number, (before, after), "presented" if presented else "shown" if shown else "", alone, name
    )


def _is_reacted_to(
    quoted: Quotations, number: int, sides: tuple[str, str], frame: str, alone: bool, name: Name
) -> bool:
    """Whether the narrator answers, or is looked at, when a name is said."""
    before, after = sides
    answers = _says("answer", after) or _next_is_yes(quoted, number)
    if alone and not quoted.to_another(number):
        return answers or (name.given and (_says("mine", after) or _says("mine_things", before)))
    if not frame:
        return False
    of_me = quoted.of_me(number) or any(_says("looking", side) for side in quoted.beside(number))
    of_me = of_me or _says("pointed_before", before)
    return of_me or answers or _says("mine_things", before) or (frame == "presented" and _says("mine", after))


def _next_is_yes(quoted: Quotations, number: int) -> bool:
    """ "Is that Lea?" - "It is," I said."""
    if number + 1 >= len(quoted.spans) or not quoted.mine(number + 1):
        return False
    low, high = quoted.spans[number + 1]
    near = low - quoted.spans[number][1] < _AFTER
    return near and _says("i_answer_first", quoted.text[low:high].lower())


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
    return _says("asked", quoted.text[start:end])


def _is_told(names: Names, name: Name) -> bool:
    """Whether the narrator tells that it is the name."""
    text = names.quoted.text
    before = text[max(0, name.start - _BEFORE) : name.start]
    after = text[name.end : name.end + _AFTER]
    if not _framed("told", name, before, after) or (not name.capitals and _compiled(_data()["otherwise"]).match(after)):
        return False
    return not _says("roles", _SENTENCES.split(before)[-1] + "," + _SENTENCES.split(after)[0])


def _is_owned(names: Names, name: Name) -> bool:
    """Whether what follows says that the name is the narrator's."""
    after = names.quoted.text[name.end : name.end + _AFTER]
    if not name.proper or after.startswith(("'s", "\u2019s")) or not _AVOWS.search(after):
        return False
    plain, named = _avowed(name.capitals or name.number is not None)
    if plain.match(after):
        return True
    word = name.words[-1].lower()
    return word in after.lower() and any(_compiled(line.replace("NAME", _any_of(name))).match(after) for line in named)


@functools.cache
def _avowed(shown: bool) -> tuple[re.Pattern[str], list[str]]:
    """The lines that know no name as one expression, and those that name it again."""
    lines = _data()["avowed"] + (_data()["avowed_far"] if shown else [])
    named = [line for line in lines if "NAME" in line]
    return re.compile("|".join(line for line in lines if line not in named)), named


def _is_written(names: Names, name: Name) -> bool:
    """Whether it stands only once in the text, on something beside words of the first person."""
    text, quoted = names.quoted.text, names.quoted
    low = max(text.rfind("\n", 0, name.start) + 1, name.start - _REACH)
    before = text[low : name.start]
    capitals = name.capitals
    if not (name.given or capitals or name.initialled) or not (
        _says("joined", before) or (capitals and _says("wrote", before))
    ):
        return False
    signs = list(_compiled(_data()["signs"]).finditer(before))
    after = text[name.end : name.end + 90].split("\n")[0]
    if not signs or (
        capitals
        and not name.given
        and not _says("of_mine", before + name.words[0] + names.quoted.text[name.end : name.end + 60])
    ):
        return False
    return any(_is_mine(quoted, low, sign, before, after, name) for sign in signs)


def _is_mine(quoted: Quotations, low: int, sign: re.Match[str], before: str, after: str, name: Name) -> bool:
    """Whether what is written there is evidently of the narrator."""
    ahead = _SENTENCES.split(quoted.text[max(0, low + sign.start() - 60) : low + sign.start()])[-1]
    between = before[sign.end() :]
    spoken = quoted.around(low + sign.start())
    if spoken is not None and spoken != name.number:
        return False
    if re.search(r"[.!?][\"\u201d]? [\"\u201c]?(?:[A-Z]|$)", between):
        return False
    if _says("owned", ahead) or _says("others", between) or _compiled(_data()["otherwise"]).match(after):
        return False
    if re.search(rf"\b[Mm]y (?:\w+ )?{PERSON}\b[^.!?]*$", ahead):
        return False
    if name.number is not None and (
        quoted.to_another(name.number) or _compiled(_data()["spoken"]).match(quoted.beside(name.number)[1])
    ):
        return False
    return _says("first", ahead + between + after) and not _says("another", after)


def _framed(when: str, name: Name, before: str, after: str) -> bool:
    return any(frame.holds(name, before, after) for frame in _frames(when))


def _says_of(name: Name, *sides: str) -> bool:
    """Whether the one who calls a name tells something of its bearer, too."""
    told = _compiled(rf"\b{_any_of(name)}{_data()['third']}")
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


def _any_of(name: Name) -> str:
    return "(?:" + "|".join(map(re.escape, name.words)) + ")"


def _says(what: str, text: str) -> bool:
    return _compiled(_data()[what]).search(text) is not None


@functools.lru_cache(maxsize=1024)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


@functools.cache
def _frames(when: str) -> tuple[_Frame, ...]:
    return tuple(frame for kind, frame in _data()["frames"] if kind == when)


@functools.cache
def _data() -> dict[str, Any]:
    """``naming.toml``: frames, and what is looked for round them by name."""
    raw = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    parts = {**raw["parts"], "person": PERSON, "reacts": raw["reactions"]["reacts"]}

    def full(line: str) -> str:
        return re.sub(r"\{([a-z]+)\}", lambda part: f"(?:{full(parts[part[1]])})", line)

    frames = []
    for entry in raw["frames"]:
        for line in entry["expressions"].strip().splitlines():
            before, after = full(line).split("NAME", 1)
            shown = re.compile(f"(?:{before})$", re.IGNORECASE)
            after = re.sub(r"^\\b", r"(?!\\w)", after)  # the slice behind a name has no edge
            frames.append((entry["when"], _Frame(shown, f"(?i:{after})", entry["needs"])))
    said = {k: "|".join(map(full, v)) if isinstance(v, list) else full(v) for k, v in raw["reactions"].items()}
    written = {k: f"(?i:{full(v)})" for k, v in raw["written"].items()}
    written["signs"] = rf"(?i:\b(?:{raw['written']['signs']})\b(?!['\u2019]| of it\b))"
    avowed = {
        "avowed": [f"(?i:{line})" for line in raw["avowed"]["near"].strip().splitlines()],
        "avowed_far": [f"(?i:{line})" for line in raw["avowed"]["far"].strip().splitlines()],
    }
    return {**said, **written, **avowed, "frames": frames}
