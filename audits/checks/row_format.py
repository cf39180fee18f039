"""``format.*``: what a reader of a row would stumble over before reading it as text.

Whether a row fits its schema is the validators' business. Here are fields that are missing, of
another type or blank, characters that no narrative has, texts that break off or go round in circles, and
what prompts, models and pages leave behind (``row_format.toml``). Any table can have these audits; what only
memories have is ``audits.checks.memory_fields``. A row is anybody's: nothing raises.

    python -m audits --benchmark heart --table memories --only format
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from audits.patterns.wording import Wording
from audits.subjects import WHOLE_TABLE, Subject, at_row, at_words, counted
from schemas.findings import Finding, Severity
from schemas.tables import Table
from schemas.text.sentences import sentences

Leaf = tuple[str, str]
"""A dotted field name and its text."""

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

_WORDS = Wording(Path(__file__).with_suffix(".toml"))
_RESIDUE, _SIGNS, _PREAMBLE = _WORDS["residue"], tuple(_WORDS.data["signs"]), _WORDS["preamble"]
_UNREAD = frozenset(_WORDS.data["unread"])


@dataclass(frozen=True)
class Field:
    """A field that a row should have: its dotted name, its JSON types, whether audits cannot do without it."""

    name: str
    kinds: tuple[str, ...]
    needed: bool


def fields_of(table: Table) -> tuple[Field, ...]:
    """The fields of a table's record schema."""
    return tuple(_nodes(table.schema, "", frozenset(table.metadata)))


def _nodes(node: Mapping[str, Any], path: str, metadata: Collection[str]) -> Iterator[Field]:
    for name, child in node.get("properties", {}).items():
        kinds = child.get("type", ())
        spared = name in _UNREAD or name in metadata or "x-planned" in child or "x-derived-from" in child
        needed = not path and not spared and name in node.get("required", ())
        yield Field(path + name, (kinds,) if isinstance(kinds, str) else tuple(kinds), needed)
        if path + name not in _UNREAD:
            yield from _nodes(child, f"{path}{name}.", metadata)


def audit(subject: Subject, fields: Sequence[Field], text: str | None = None) -> Iterator[Finding]:
    """The ``format.*`` findings of a row that should have these fields; ``text`` is the one that is read as a whole."""
    yield from _fields(subject, fields)
    for field, words in _leaves("", subject.row, 0):
        if not words.replace("\n", "").isprintable():
            yield from _unprintable(subject, field, words)
        if field.partition(".")[0] not in _UNREAD:
            yield from _left_over(subject, field, words)
    if text:
        yield from _whole(subject, text)


def absent_columns(found: Sequence[Finding], read: Sequence[Subject], text: str | None) -> list[Finding]:
    """The findings, with one for each column that no row has in place of one a row: a note, for ``text`` an error."""
    missing = {finding.field: finding for finding in found if finding.code == "format.missing" and finding.field}
    absent = [field for field in missing if field and all(subject.find(field)[1] is None for subject in read)]
    made = [each for each in found if each.code != "format.missing" or each.field not in absent]
    return made + [absent_column(missing[field], text) for field in absent]


def absent_column(found: Finding, text: str | None) -> Finding:
    """The finding for a column that no row has, from that of one row: a note, for ``text`` an error."""
    severity: Severity = "error" if found.field == text else "note"
    message = f"no row has the column {found.field}: nothing of it is checked"
    return replace(found, row_id=WHOLE_TABLE, severity=severity, message=message)


def _leaves(name: str, value: Any, depth: int) -> Iterator[Leaf]:
    """The texts of a row with their fields, items of arrays by number (``triggers.2``)."""
    if isinstance(value, str):
        yield name, value
    elif depth < 7 and isinstance(value, Mapping):
        for key, child in value.items():
            yield from _leaves(f"{name}.{key}" if name else str(key), child, depth + 1)
    elif depth < 7 and isinstance(value, list):
        for number, child in enumerate(value):
            yield from _leaves(f"{name}.{number}", child, depth + 1)


def _fields(subject: Subject, fields: Sequence[Field]) -> Iterator[Finding]:
    for field in fields:
        there, value = subject.find(field.name)
        if value is None:
            if field.needed and not (there and "null" in field.kinds):
                yield at_row(subject, "format.missing", "error", f"the field {field.name} is missing", field.name)
        elif field.kinds and not any(_fits(value, kind) for kind in field.kinds):
            message = f"{type(value).__name__}, expected {' or '.join(field.kinds)}"
            yield at_row(subject, "format.type", "error", message, field.name, value)
        elif field.needed and isinstance(value, str) and not value.strip():
            yield at_row(subject, "format.empty", "error", "the field is blank", field.name)


def _fits(value: Any, kind: str) -> bool:
    if kind == "null":
        return False
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _left_over(subject: Subject, field: str, text: str) -> Iterator[Finding]:
    if found := _PREAMBLE.match(text):
        yield _pointed(subject, "format.prompt", field, found.span(), text, "preamble of a model's answer")
    if not _is_id(field) and any(sign in text for sign in _SIGNS):
        message = "the text contains an id, a placeholder or a control mark of a prompt"
        for found in _RESIDUE.finditer(text):
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


def _whole(subject: Subject, field: str) -> Iterator[Finding]:
    """``format.cut`` and ``format.loop``: a text that breaks off, and one that goes round in circles, as models do."""
    text = subject.text(field).rstrip()
    if len(text) >= _FEWEST and _BREAKS_OFF.match(text[-1]):
        span = (max(len(text) - _SHOWN, text.rfind("\n") + 1), len(text))
        yield at_words(subject, "format.cut", "error", field, span, "the text ends in the middle of a sentence")
    times = Counter(piece for piece in text.split("\u3002" if "\u3002" in text else ". ") if len(piece) >= _LONG)
    piece, count = max(times.items(), key=itemgetter(1), default=("", 0))
    again = sum((often - 1) * len(each) for each, often in times.items()) if count > 1 else 0
    if count >= _OFTEN or again * _LEAST_OF_TEXT > len(text):
        start = max(0, subject.text(field).find(piece))
        message = f"a sentence occurs {count} times, and {again / len(text):.0%} of the text are repetitions"
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
        yield at_row(subject, "format.empty", "error", "an entry is empty", field)
    if len(set(texts)) < len(texts):
        yield at_row(subject, "format.count", "warning", "an entry occurs twice", field, source=source)


def length_of(
    subject: Subject, field: str, limits: tuple[int, int], severity: Severity, source: str
) -> Iterator[Finding]:
    """``length.short`` and ``length.long``: a text that is there and has fewer or more characters than allowed."""
    size = len(subject.text(field).strip())
    if 0 < size < limits[0]:
        message = f"{counted(size, 'character')}, at least {limits[0]:,} needed"
        yield at_row(subject, "length.short", severity, message, field, size, source)
    if size > limits[1]:
        message = f"{counted(size, 'character')}, at most {limits[1]:,} allowed"
        yield at_row(subject, "length.long", severity, message, field, size, source)


def repeated_keys(read: Sequence[Subject]) -> Iterator[Finding]:
    """``format.repeated``: a key that more than one row has; on every row but the first."""
    first: dict[str, int] = {}
    for subject in read:
        place = first.setdefault(subject.id, subject.place)
        if place != subject.place:
            message = f"row {subject.place} has the key of row {place}"
            yield at_row(subject, "format.repeated", "error", message, value=subject.id)
