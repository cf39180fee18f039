"""``format.*``: what a reader of a row would stumble over before reading it as text.

Whether a row fits its schema is the validators' business. Here are fields that are missing, of
another type or blank, characters that no narrative has, left-overs of prompts and ids (``shape.toml``)
and values of a memory that contradict each other. A row is anybody's:
nothing raises.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from audits.patterns.wording import Wording
from audits.subjects import Subject, at_row, at_words, counted
from audits.text.sentences import sentences
from schemas.derived import derivations
from schemas.findings import Finding
from schemas.records import record_schema, term_between, vocabulary

Leaf = tuple[str, str]
"""A dotted field name and its text."""

_UNREAD = frozenset({"provenance", "published", "review", "requires", "ledger_refs", "domain", "tier"})
"""Fields that are not read as text; a user's own rows need not have them."""

_DERIVED = {"memories": frozenset({"character_id", "age", "stage"})}
"""Key columns that other fields tell as well."""

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "boolean": bool,
}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# A letter, or a sign that something follows; a dash may end a text that somebody is cut short in.
_BREAKS_OFF = re.compile(r"[^\W_]|[,;:(\[\u2018\u201c\u00ab\u3001\u060c]")
_FEWEST, _SHOWN = 200, 40
_LONG = 15  # a shorter sentence may be a refrain
_OFTEN = 4
_LEAST_OF_TEXT = 5
_TAGGED = re.compile(r"_(?:[OCEAN]_(?:HIGH|LOW)|NEUTRAL)_")
_TIMELINE = re.compile(r"(.+) \((\d{1,2})\)")

_WORDS = Wording(Path(__file__).with_suffix(".toml"))
_RESIDUE, _SIGNS = _WORDS["residue"], tuple(_WORDS.data["signs"])


def audit(subject: Subject) -> Iterator[Finding]:
    """The ``format.*`` findings of a row of any table."""
    yield from _fields(subject)
    for field, text in leaves(subject.row):
        yield from _characters(subject, field, text)


def leaves(row: Mapping[str, Any]) -> Iterator[Leaf]:
    """The texts of a row with their fields, items of arrays by number (``triggers.2``)."""
    for name, value in row.items():
        if name not in _UNREAD:
            yield from _leaves(str(name), value, 0)


def _leaves(name: str, value: Any, depth: int) -> Iterator[Leaf]:
    if isinstance(value, str):
        yield name, value
    elif depth < 6 and isinstance(value, Mapping):
        for key, child in value.items():
            yield from _leaves(f"{name}.{key}", child, depth + 1)
    elif depth < 6 and isinstance(value, list):
        for number, child in enumerate(value):
            yield from _leaves(f"{name}.{number}", child, depth + 1)


@functools.cache
def _expected(table: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """The fields of a table, dotted, with their JSON types, and whether audits cannot do without them."""
    return tuple(_nodes(record_schema(table), "", _UNREAD | _DERIVED.get(table, frozenset())))


def _nodes(node: Mapping[str, Any], path: str, spared: Collection[str]) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    for name, child in node.get("properties", {}).items():
        kinds = child.get("type", ())
        yield path + name, (kinds,) if isinstance(kinds, str) else tuple(kinds), not path and name not in spared
        if path + name not in _UNREAD:
            yield from _nodes(child, f"{path}{name}.", spared)


def _fields(subject: Subject) -> Iterator[Finding]:
    for name, kinds, needed in _expected(subject.table):
        there, value = subject.find(name)
        if value is None:
            if needed and not (there and "null" in kinds):
                yield at_row(subject, "format.missing", "error", f"the field {name} is missing", name)
        elif kinds and not any(_fits(value, kind) for kind in kinds):
            message = f"{type(value).__name__}, expected {' or '.join(kinds)}"
            yield at_row(subject, "format.type", "error", message, name, value)
        elif needed and isinstance(value, str) and not value.strip():
            yield at_row(subject, "format.empty", "error", "the field is blank", name)


def _fits(value: Any, kind: str) -> bool:
    if kind == "null":
        return False
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _characters(subject: Subject, field: str, text: str) -> Iterator[Finding]:
    if not text.replace("\n", "").isprintable():
        yield from _unprintable(subject, field, text)
    if not _is_id(field) and any(sign in text for sign in _SIGNS):
        for found in _RESIDUE.finditer(text):
            if subject.table == "decisions" and found[0].startswith("MEM"):
                continue  # citation.memory
            message = "an id, a slot or a mark of a prompt stands in the text"
            yield _pointed(subject, "format.residue", field, found.span(), text, message)


def _unprintable(subject: Subject, field: str, text: str) -> Iterator[Finding]:
    if found := _CONTROL.search(text):
        count = len(_CONTROL.findall(text))
        message = f"{counted(count, 'character')} that no text has, the first U+{ord(found[0]):04X}"
        yield _pointed(subject, "format.control", field, found.span(), text, message)
    if found := _SURROGATE.search(text):
        message = f"{len(_SURROGATE.findall(text))} lone surrogate(s), the first U+{ord(found[0]):04X}"
        yield _pointed(subject, "format.surrogate", field, found.span(), text, message)


def _is_id(field: str) -> bool:
    return field == "id" or field.endswith(("_id", "_refs"))


def _pointed(subject: Subject, code: str, field: str, span: tuple[int, int], text: str, message: str) -> Finding:
    if "." in field and subject.text(field) != text:
        return at_row(subject, code, "error", message, field, text[span[0] : span[1]])
    return at_words(subject, code, "error", field, span, message)


def whole(subject: Subject, field: str) -> Iterator[Finding]:
    """``format.cut`` and ``format.loop``: a text that breaks off, and one that goes round in circles, as models do."""
    text = subject.text(field).rstrip()
    if len(text) >= _FEWEST and _BREAKS_OFF.match(text[-1]):
        span = (max(len(text) - _SHOWN, text.rfind("\n") + 1), len(text))
        yield at_words(subject, "format.cut", "error", field, span, "the text breaks off within a sentence")
    times = Counter(piece for piece in text.split("\u3002" if "\u3002" in text else ". ") if len(piece) >= _LONG)
    piece, count = max(times.items(), key=itemgetter(1), default=("", 0))
    again = sum((often - 1) * len(each) for each, often in times.items()) if count > 1 else 0
    if count >= _OFTEN or again * _LEAST_OF_TEXT > len(text):
        start = max(0, subject.text(field).find(piece))
        message = f"a sentence stands {count} times, and {again / len(text):.0%} of the text are repetitions"
        yield at_words(subject, "format.loop", "error", field, (start, start + len(piece)), message)


def one_sentence(subject: Subject, field: str, source: str) -> Iterator[Finding]:
    """``format.sentences`` for a field that has to be one sentence."""
    text = subject.text(field)
    count = len(sentences(text))
    if count > 1:
        yield at_row(
            subject, "format.sentences", "warning", f"{counted(count, 'sentence')}, one expected", field, count, source
        )


def count_of(subject: Subject, field: str, wanted: int, source: str) -> Iterator[Finding]:
    """``format.count`` for an array of a fixed size, and blanks and repetitions in it."""
    items = subject.row.get(field)
    if not isinstance(items, list):
        return
    if len(items) != wanted:
        yield at_row(
            subject, "format.count", "error", f"{len(items)} entries, {wanted} expected", field, len(items), source
        )
    texts = [item.strip().casefold() for item in items if isinstance(item, str)]
    if any(not text for text in texts):
        yield at_row(subject, "format.empty", "error", "an entry is blank", field)
    if len(set(texts)) < len(texts):
        yield at_row(subject, "format.count", "warning", "an entry stands twice", field, source=source)


def memory(subject: Subject, age: int | None) -> Iterator[Finding]:
    """What the id, the timeline, the age and the stage of a memory say about each other."""
    row, table6 = subject.row, "HEART-BENCH Table 6"
    identifier, character = row.get("id"), row.get("character_id")
    if isinstance(identifier, str) and identifier:
        pattern = record_schema("memories")["properties"]["id"]["pattern"]
        if re.fullmatch(pattern, identifier) is None:
            message = "not a memory id" + ("; the id carries an archetype" if _TAGGED.search(identifier) else "")
            yield at_row(subject, "format.id", "error", message, "id", identifier, table6)
        elif isinstance(character, str) and derivations("memories")["character_id"].value(identifier) != character:
            yield at_row(subject, "format.id", "error", f"the id is not one of {character}", "id", identifier, table6)
    if age is None:
        yield at_row(subject, "format.missing", "error", "neither age nor timeline tells the age", "age")
    elif not 6 <= age <= 50:
        yield at_row(subject, "format.range", "error", "age outside 6 to 50", "age", age, "HEART-BENCH appendix B.2")
    intensity = subject.number("emotion_signature.intensity")
    if intensity is not None and not 0 <= intensity <= 1:
        message = "intensity outside 0 to 1"
        yield at_row(subject, "format.range", "error", message, "emotion_signature.intensity", intensity, table6)
    yield from _timeline(subject, age)


def _timeline(subject: Subject, age: int | None) -> Iterator[Finding]:
    timeline = subject.text("timeline")
    if not timeline or age is None or not 6 <= age <= 50:
        return
    stage = term_between(vocabulary("memory_stages"), age)
    assert stage is not None
    wanted = f"{stage['label']} ({age})"
    if timeline != wanted:
        read = _TIMELINE.fullmatch(timeline)
        what = "another form" if read is None else "another age" if int(read[2]) != age else "another stage"
        source = "HEART-BENCH Tables 6 and 8"
        yield at_row(subject, "format.timeline", "error", f"{what}: expected {wanted!r}", "timeline", timeline, source)
    if subject.text("stage") not in ("", stage["id"]):
        message = f"expected {stage['id']} at {age}"
        yield at_row(subject, "format.stage", "error", message, "stage", subject.text("stage"), "HEART-BENCH Table 8")


def repeated_ids(read: Sequence[Subject]) -> Iterator[Finding]:
    """``format.repeated``: an id that more than one row carries; on every row but the first."""
    first: dict[str, int] = {}
    for subject in read:
        place = first.setdefault(subject.id, subject.place)
        if place != subject.place:
            what = "decides the same scenario for the same character as" if "/" in subject.id else "carries the id of"
            message = f"row {subject.place} {what} row {place}"
            yield at_row(subject, "format.repeated", "error", message, value=subject.id)
