"""The text form of memories: what a model writes and we read, block by block, matched by id.

Long narratives inside JSON break on one bad bracket; this form does not (HEART-BENCH appendix B.3):

    ===MEM_04_0012===
    context: Kitchen, a wet Tuesday
    content_summary: The soup boils over
    triggers: lid; steam; gas; bell
    ...
    facts: LED_04_012, LED_04_044
    --content_full--
    The lid is already rattling when …
    ===END===

Strict inside a block, tolerant around it: words before the first header and after ``===END===`` are
ignored, and so is a code fence. A block that is asked for is good, or bad with a reason; nothing is
matched by its place. An answer that is JSON instead is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from schemas.tables import Row

FULL = "content_full"
FIELDS = (
    "context",
    "content_summary",
    "triggers",
    "relevance_tags",
    "psych_conclusion",
    "behavior_policy",
    "emotion_signature",
    "ledger_refs",
    FULL,
)

_LISTS = {"triggers": ";", "relevance_tags": ";", "ledger_refs": ","}
# A field's lines; all but these are called as the field is.
_LINES = {"emotion_signature": ("emotion_primary", "emotion_secondary"), "ledger_refs": ("facts",)}
_HEADER = re.compile(r"^[ \t*#]*===[ \t]*(MEM_\d{2,}_\d{3,}|END)[ \t]*===[ \t*]*$", re.MULTILINE)
_BODY = re.compile(r"^[ \t*]*-{2,}[ \t]*content_full[ \t]*-{2,}[ \t*]*$", re.MULTILINE)
_LINE = re.compile(r"^[ \t*-]*([a-z_]+)[ \t*]*:[ \t*]*(.*)$")


@dataclass(frozen=True)
class Blocks:
    """What an answer holds: ``good`` fields by memory id, and for the ids in ``bad`` what is wrong with them."""

    good: Mapping[str, Row]
    bad: Mapping[str, str] = field(default_factory=dict)


def render(rows: Iterable[Mapping[str, Any]], fields: Sequence[str] = FIELDS) -> str:
    """Memories in the text form; ``fields`` for only some of them, as a repair asks."""
    return "\n".join([*(_block(row, fields) for row in rows), "===END==="]) + "\n"


def parse(text: str, ids: Sequence[str], fields: Sequence[str] = FIELDS) -> Blocks:
    """The memories of an answer. Raises ValueError when there is neither a block nor JSON in it.

    Every one of ``ids`` is in ``good`` or in ``bad``; a block nobody asked for is in ``bad``.
    """
    found = _blocks(text) or _objects(text)
    if not found:
        raise ValueError("no ===MEM_..=== block in the answer")
    good: dict[str, Row] = {}
    bad: dict[str, str] = {}
    for memory_id in dict.fromkeys([*ids, *(name for name, _ in found)]):
        given = [content for name, content in found if name == memory_id]
        if memory_id not in ids:
            bad[memory_id] = "was not asked for"
        elif len(given) != 1:
            bad[memory_id] = "is missing" if not given else f"is given {len(given)} times"
        else:
            content = given[0]
            read = _fields(content, fields) if isinstance(content, str) else _from_object(content, fields)
            if isinstance(read, str):
                bad[memory_id] = read
            else:
                good[memory_id] = read
    return Blocks(good, bad)


def without_last(text: str) -> str:
    """An answer that was cut off, without the block it was cut off in."""
    heads = [head for head in _HEADER.finditer(text) if head[1] != "END"]
    return text[: heads[-1].start()] if heads else ""


def _block(row: Mapping[str, Any], fields: Sequence[str]) -> str:
    lines = [f"==={row['id']}==="]
    for name in fields:
        if name == "emotion_signature":
            lines += [f"emotion_{part}: {row[name][part]}" for part in ("primary", "secondary")]
        elif name in _LISTS:
            lines.append(f"{_LINES.get(name, (name,))[0]}: {f'{_LISTS[name]} '.join(row[name])}")
        elif name != FULL:
            lines.append(f"{name}: {row[name]}")
    if FULL in fields:
        lines += [f"--{FULL}--", row[FULL]]
    return "\n".join(lines)


def _blocks(text: str) -> list[tuple[str, str | Mapping[str, Any]]]:
    """Id and text of every block, in order; a block ends where the next header begins."""
    heads = list(_HEADER.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [(head[1], text[head.end() : end]) for head, end in zip(heads, ends, strict=False) if head[1] != "END"]


def _fields(block: str, fields: Sequence[str]) -> Row | str:
    """The fields of a block, or what is wrong with it."""
    before, *after = _BODY.split(block)
    if FULL in fields and len(after) != 1:
        return "has no --content_full-- line" if not after else "has --content_full-- twice"
    wanted = {line: name for name in fields if name != FULL for line in _LINES.get(name, (name,))}
    values: dict[str, str] = {}
    for line in filter(str.strip, before.splitlines()):
        found = _LINE.match(line)
        if found is None or found[1] not in wanted:
            if found is not None and found[1] in ("id", "timeline", "intensity", "emotion_intensity"):
                continue  # known from the plan; models like to repeat it
            return f"has a line that is not a field: {line.strip()[:40]!r}"
        if found[1] in values:
            return f"has {found[1]} twice"
        values[found[1]] = found[2].strip()
    missing = [line for line in wanted if not values.get(line) and line != "facts"]
    if missing:
        return f"lacks {', '.join(missing)}"
    if FULL in fields:
        values[FULL] = _unfenced(after[0]).strip()
    return _assembled(values, fields)


def _assembled(values: Mapping[str, str], fields: Sequence[str]) -> Row | str:
    row: Row = {}
    for name in fields:
        if name == "emotion_signature":
            row[name] = {part: values[f"emotion_{part}"] for part in ("primary", "secondary")}
        elif name in _LISTS:
            text = values.get(_LINES.get(name, (name,))[0], "")
            row[name] = [item for item in map(str.strip, text.split(_LISTS[name])) if item]
        elif not values.get(name):
            return f"has an empty {name}"
        else:
            row[name] = values[name]
    return row


def _unfenced(text: str) -> str:
    return re.sub(r"\n```\s*$", "", text)


def _objects(text: str) -> list[tuple[str, str | Mapping[str, Any]]]:
    """The objects of an answer in JSON, by their id: one object, a list, or a list under one key."""
    start, end = min((text.find(mark) for mark in "[{" if mark in text), default=-1), max(map(text.rfind, "]}"))
    if start < 0 or end < start:
        return []
    try:
        value = orjson.loads(text[start : end + 1])
    except orjson.JSONDecodeError:
        return []
    if isinstance(value, dict) and "id" not in value and len(value) == 1:
        (value,) = value.values()
    items = value if isinstance(value, list) else [value]
    return [(item["id"], item) for item in items if isinstance(item, dict) and isinstance(item.get("id"), str)]


def _from_object(item: Mapping[str, Any], fields: Sequence[str]) -> Row | str:
    """The fields of a JSON object, which the record schema will check further."""
    found = {**item, "ledger_refs": item.get("ledger_refs", item.get("facts", []))}
    missing = [name for name in fields if not found.get(name) and name != "ledger_refs"]
    return f"lacks {', '.join(missing)}" if missing else {name: found[name] for name in fields}
