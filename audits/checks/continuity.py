"""Hold a memory against the life ledger: who is alive, known or yet to come at its age.

A fact holds from ``from_age`` to ``to_age``. A memory lists the facts it mentions (``ledger_refs``); here
its list and its words are compared with the ledger: names outside their years, relatives spoken of
as alive after their death, relatives the ledger does not know, names that are not listed, and animals, storeys,
a lift, a car, a garden or the sea where the ledger has none. What is over
may be remembered: a sentence that says so ("I missed", "used to", "photograph of", …) is no finding. What is invented
is an error in rows that a builder wrote, which had the ledger before it, and a warning in others.

    python -m audits --benchmark heart --table memories --only continuity
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ahocorasick_rs

from audits.patterns.needed_words import Parts, needed_words
from audits.patterns.wording import Wording
from audits.subjects import Subject, at_row, at_words, printable
from audits.text.quotations import Quotations, Span
from schemas.findings import Finding, Severity
from schemas.tables import Row

FIELDS = ("content_full", "content_summary", "context")
_RULE = "Anamnesis: life ledger"

_SENTENCE_END = re.compile(r"[.!?\u2026\n]")
_WORDS = Wording(Path(__file__).with_suffix(".toml"))
_PAST, _PLAN, _CALENDAR = _WORDS["past"], _WORDS["plan"], _WORDS["calendar"]
_ALIVE, _KIN, _OUR_KIN, _DENIED = _WORDS["alive"], _WORDS["kin"], _WORDS["our_kin"], _WORDS["denied"]
_ALSO_WORDS = frozenset(_WORDS.words["also_words"].split("|"))
_RELATIVES: Mapping[str, Sequence[str]] = _WORDS.data["relatives"]
_KINDS: Mapping[str, str] = _WORDS.data["kinds"]
_BELONGINGS: Mapping[str, Mapping[str, Any]] = _WORDS.data["belongings"]
_PLANNED_KINDS = frozenset({"school", "job", "home", "place"})


@dataclass(frozen=True)
class Ledger:
    """The facts of one character, by id, by name and by role; the names, their words and an automaton of them."""

    facts: Mapping[str, Row]
    by_name: Mapping[str, Sequence[Row]]
    by_role: Mapping[str, Sequence[Row]]
    names: tuple[str, ...]
    words: frozenset[str]
    automaton: ahocorasick_rs.AhoCorasick | None


def ledgers(rows: Sequence[Row]) -> dict[str, Ledger]:
    """The ledgers by character; rows that are no facts are passed over."""
    by_character: dict[str, list[Row]] = {}
    for row in rows:
        if _sound(row):
            by_character.setdefault(row["character_id"], []).append(row)
    return {character: _ledger(facts) for character, facts in by_character.items()}


def _sound(row: Row) -> bool:
    texts = (row.get("fact_id"), row.get("character_id"), row.get("kind"), row.get("role"))
    return all(isinstance(t, str) for t in texts) and all(isinstance(row.get(a), int) for a in ("from_age", "to_age"))


def _ledger(facts: Sequence[Row]) -> Ledger:
    by_name: dict[str, list[Row]] = {}
    by_role: dict[str, list[Row]] = {}
    for fact in facts:
        by_role.setdefault(fact["role"], []).append(fact)
        if isinstance(fact.get("name"), str) and fact["name"].strip():
            by_name.setdefault(printable(fact["name"]), []).append(fact)
    names = tuple(by_name)
    kind = ahocorasick_rs.MatchKind.LeftmostLongest
    automaton = ahocorasick_rs.AhoCorasick(list(names), matchkind=kind) if names else None
    words = frozenset(word for name in names for word in name.split())
    return Ledger({fact["fact_id"]: fact for fact in facts}, by_name, by_role, names, words, automaton)


def audit(subject: Subject, age: int | None, known: Mapping[str, Ledger], quoted: Quotations) -> Iterator[Finding]:
    """The ``continuity.*`` findings of a memory; none where its character has no ledger or its age is unknown."""
    character = subject.row.get("character_id")
    ledger = known.get(character) if isinstance(character, str) else None
    if ledger is None or age is None:
        return
    refs = subject.row.get("ledger_refs")
    listed = [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []
    yield from _references(subject, age, listed, ledger)
    seen: set[tuple[str, str]] = set()
    for field in FIELDS:
        for name, span in mentions(ledger, subject.text(field)):
            for finding in _mention(subject, age, field, name, span, ledger, listed):
                if (finding.code, name) not in seen:
                    seen.add((finding.code, name))
                    yield finding
    yield from _relatives(subject, age, ledger, quoted)
    yield from _invented(subject, age, ledger, quoted)


def mentions(ledger: Ledger, text: str) -> Iterator[tuple[str, Span]]:
    """Names of the ledger that stand in a text, with their places; the longest where one holds another."""
    if ledger.automaton is None or not text:
        return
    for number, start, end in ledger.automaton.find_matches_as_indexes(printable_same_length(text)):
        if (start and text[start - 1].isalnum()) or (end < len(text) and text[end].isalnum()):
            continue
        name = ledger.names[number]
        if name.lower() in _ALSO_WORDS and not _surely_a_name(text, start):
            continue
        yield name, (start, end)


def printable_same_length(text: str) -> str:
    """The text with lone surrogates replaced, every character in its place."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def _surely_a_name(text: str, start: int) -> bool:
    before = text[max(0, start - 12) : start].rstrip("\"'\u201c\u2018 ")
    return bool(before) and before[-1] not in ".!?\u2026:\n" and not _CALENDAR.search(text[max(0, start - 12) : start])


def _references(subject: Subject, age: int, listed: Sequence[str], ledger: Ledger) -> Iterator[Finding]:
    for ref in listed:
        fact = ledger.facts.get(ref)
        if fact is None:
            message = "the character's ledger has no such fact"
            yield at_row(subject, "continuity.unknown", "error", message, "ledger_refs", ref, _RULE)
        elif age < fact["from_age"]:
            message = f"{_called(fact)} begins at {fact['from_age']}, the memory is of {age}"
            yield at_row(subject, "continuity.early", "error", message, "ledger_refs", ref, _RULE)
        elif age > fact["to_age"]:
            message = f"{_called(fact)} ends at {fact['to_age']}, the memory is of {age}"
            yield at_row(subject, "continuity.late", "error", message, "ledger_refs", ref, _RULE)


def _mention(
    subject: Subject, age: int, field: str, name: str, span: Span, ledger: Ledger, listed: Sequence[str]
) -> Iterator[Finding]:
    facts = ledger.by_name[name]
    holding = [fact for fact in facts if fact["from_age"] <= age <= fact["to_age"]]
    if holding:
        if not any(fact["fact_id"] in listed for fact in facts):
            message = f"{_called(holding[0])} is mentioned and not listed ({holding[0]['fact_id']})"
            yield at_words(subject, "continuity.unlisted", "error", field, span, message, _RULE)
        return
    sentence = _sentence(subject.text(field), span)
    begun = [fact for fact in facts if fact["from_age"] <= age]
    if not begun:
        first = min(facts, key=_from_age)
        planned = first["kind"] in _PLANNED_KINDS and age + 1 >= first["from_age"] and _PLAN.search(sentence)
        if not planned:
            message = f"{_called(first)} begins at {first['from_age']}, the memory is of {age}"
            yield at_words(subject, "continuity.early", "error", field, span, message, _RULE)
    elif not _PAST.search(sentence):
        last = max(begun, key=lambda fact: int(fact["to_age"]))
        dead = last.get("ends_by") == "death"
        message = f"{_called(last)} {'dies' if dead else 'ends'} at {last['to_age']}, the memory is of {age}"
        yield at_words(subject, "continuity.dead" if dead else "continuity.late", "error", field, span, message, _RULE)


def _relatives(subject: Subject, age: int, ledger: Ledger, quoted: Quotations) -> Iterator[Finding]:
    text = quoted.text
    for role, parts in _RELATIVES.items():
        own = ledger.by_role.get(role, ())
        ended = [fact for fact in own if fact.get("ends_by") == "death"]
        if ended and all(fact["to_age"] < age for fact in own) and any(part in text for part in parts):
            for found in _WORDS[role].finditer(text):
                if _said_alive(text, found, quoted):
                    message = f"the {role} dies at {ended[-1]['to_age']}, the memory is of {age}"
                    yield at_words(subject, "continuity.dead", "error", "content_full", found.span(), message, _RULE)
                    break


def named_belongings(text: str) -> Iterator[tuple[str, str, Span]]:
    """Kin, animals, storeys, a lift, a car, a garden and the sea that only somebody who has them tells of.

    For each its name in ``continuity.toml``, the word or name in the text, and its place.
    """
    for found in itertools.chain(_KIN.finditer(text), _OUR_KIN.finditer(text)):
        if not _DENIED.search(text, max(0, found.start() - 21), found.start() - 1):
            yield "kin", found[1], (found.start() - (2 if found[0].startswith("r") else 1), found.end())
    for name in _named_belongings(text):
        for found in _WORDS[f"{name}_told"].finditer(text):
            if not _WORDS["not_at_home"].search(_sentence(text, found.span())):
                yield name, found[1].lower() if found.re.groups else name, found.span()


def _invented(subject: Subject, age: int, ledger: Ledger, quoted: Quotations) -> Iterator[Finding]:
    """What a text tells of as the narrator's own and no fact of the age has; each once."""
    origin = subject.find("provenance.origin")[1]
    severity: Severity = "error" if origin == "built" else "warning"
    reported: set[str] = set()
    for name, belonging, span in named_belongings(quoted.text):
        if belonging in reported or quoted.around(span[0]) is not None or _has(ledger, age, name, belonging):
            continue
        reported.add(belonging)
        message = f"the ledger has no {belonging} at {age}"
        yield at_words(subject, "continuity.invented", severity, "content_full", span, message, _RULE)


def _has(ledger: Ledger, age: int, name: str, belonging: str) -> bool:
    """Whether the ledger has what the text names, at the age; kin who are over may still be spoken of."""
    facts = ledger.facts.values()
    if name == "kin":
        return _is_known(belonging, facts, age)
    rule = _BELONGINGS[name]
    words = [belonging] if rule["own_word"] else [*rule["words"], belonging]
    return any(
        fact["from_age"] <= age <= fact["to_age"]
        and fact["kind"] in rule["kinds"]
        and any(word in f"{fact['role']} {fact.get('detail', '')}" for word in words)
        for fact in facts
    )


def _named_belongings(text: str) -> list[str]:
    """The belongings that a text may tell of: one pass over it is many times as quick as an expression for each."""
    owners, always, automaton = _belonging_words()
    hits = automaton.find_matches_as_indexes(printable_same_length(text), overlapping=True)
    named = always | {owners[hit[0]] for hit in hits}
    return [name for name in _BELONGINGS if name in named]


@functools.cache
def _belonging_words() -> tuple[list[str], frozenset[str], ahocorasick_rs.AhoCorasick]:
    """Words of which a text that tells of a belonging has one: that of each, those without, and an automaton of all."""
    needed = {name: needed_words(_WORDS[f"{name}_told"].pattern, Parts({})) for name in _BELONGINGS}
    owned = [(name, word) for name, words in needed.items() for word in sorted(words or ())]
    always = frozenset(name for name, words in needed.items() if words is None)
    return [name for name, _ in owned], always, ahocorasick_rs.AhoCorasick([word for _, word in owned])


def _said_alive(text: str, found: re.Match[str], quoted: Quotations) -> bool:
    if quoted.around(found.start()) is not None or text[found.end() : found.end() + 1] in {"'", "\u2019"}:
        return False
    return _ALIVE.match(text, found.end()) is not None and not _PAST.search(_sentence(text, found.span()))


def _is_known(kin: str, facts: Collection[Row], age: int) -> bool:
    """Whether the ledger has such a relative (or pet) up to this age; who is over may still be spoken of."""
    kind = _KINDS.get(kin)
    begun = [fact for fact in facts if fact["from_age"] <= age]
    if kind:
        return any(fact["kind"] == kind for fact in begun)
    return any(kin in re.split(r"\W+", fact["role"]) or "sibling" in fact["role"] for fact in begun)


def _from_age(fact: Row) -> int:
    return int(fact["from_age"])


def _called(fact: Mapping[str, Any]) -> str:
    return f"{fact['role']} {fact['name']}" if fact.get("name") else f"the {fact['role']}"


def _sentence(text: str, span: Span) -> str:
    low = max((found.end() for found in _SENTENCE_END.finditer(text, max(0, span[0] - 300), span[0])), default=0)
    low = max(low, span[0] - 300, 0)
    high = _SENTENCE_END.search(text, span[1], span[1] + 300)
    return text[low : high.start() if high else span[1] + 300]
