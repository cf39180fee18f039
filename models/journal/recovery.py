"""What can be read of a damaged journal: whole rows, found page by page, without the index that leads to them.

SQLite's file format is documented (sqlite.org/fileformat2): a table's rows stand in leaf pages, each row with its
own length and types, long ones going on in overflow pages. So a page that is lost takes only its own rows with it.
A reply counts as read when its digest is right, a part and a setting too; nothing is guessed.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAGE = 4096  # bytes, as journals are created

_LEAF = 0x0D  # a leaf page of a table
_HEADER, _WAL_HEADER, _FRAME_HEADER = 100, 32, 24
_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of integers by serial type

Row = tuple[Any, ...]


@dataclass
class Readable:
    """Rows by key: replies, requests, parts and settings; batches and their items as they are."""

    replies: dict[bytes, Row] = field(default_factory=dict)
    requests: dict[bytes, Row] = field(default_factory=dict)
    parts: dict[bytes, Row] = field(default_factory=dict)
    settings: dict[bytes, Row] = field(default_factory=dict)
    batches: dict[int, Row] = field(default_factory=dict)
    batch_items: set[Row] = field(default_factory=set)


def readable(path: Path) -> Readable:
    """All rows of a journal that are whole, its write-ahead log included."""
    found = Readable()
    pages, newer = _pages(path), _log_pages(path.with_name(f"{path.name}-wal"))
    for known in (pages, {**pages, **newer}):
        for number, page in known.items():
            for rowid, row in _rows(page, _HEADER if number == 1 else 0, known):
                _sort(found, rowid, row)
    return found


def save(found: Readable, connection: sqlite3.Connection) -> None:
    """Write rows into an empty journal; requests without a reply are in doubt when they were being sent."""
    tables: dict[str, list[Row]] = {
        "parts": list(found.parts.values()),
        "settings": list(found.settings.values()),
        "requests": list(found.requests.values()),
        "replies": list(found.replies.values()),
        "batches": list(found.batches.values()),
        "batch_items": sorted(found.batch_items),
    }
    connection.execute("BEGIN IMMEDIATE")
    for table, rows in tables.items():
        if rows:
            places = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({places})", rows)
    connection.execute("COMMIT")


def _pages(path: Path) -> dict[int, bytes]:
    raw = path.read_bytes() if path.is_file() else b""
    return {place // PAGE + 1: raw[place : place + PAGE].ljust(PAGE, b"\0") for place in range(0, len(raw), PAGE)}


def _log_pages(path: Path) -> dict[int, bytes]:
    """The last state of each page in the write-ahead log."""
    raw = path.read_bytes() if path.is_file() else b""
    made = {}
    for place in range(_WAL_HEADER, len(raw) - PAGE - _FRAME_HEADER + 1, PAGE + _FRAME_HEADER):
        (number,) = struct.unpack_from(">I", raw, place)
        made[number] = raw[place + _FRAME_HEADER : place + _FRAME_HEADER + PAGE]
    return made


def _rows(page: bytes, start: int, pages: Mapping[int, bytes]) -> Iterator[tuple[int, Row]]:
    if page[start] != _LEAF:
        return
    (cells,) = struct.unpack_from(">H", page, start + 3)
    for cell in range(min(cells, (PAGE - start - 8) // 2)):
        (place,) = struct.unpack_from(">H", page, start + 8 + 2 * cell)
        try:
            size, place = _varint(page, place)
            rowid, place = _varint(page, place)
            yield rowid, _record(_payload(page, place, size, pages))
        except (IndexError, KeyError, UnicodeDecodeError, ValueError, struct.error):
            continue  # this row is not whole


def _payload(page: bytes, place: int, size: int, pages: Mapping[int, bytes]) -> bytes:
    """The bytes of a row: those in its page, and those in overflow pages."""
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
    if size <= most:
        return page[place : place + size]
    local = least + (size - least) % (PAGE - 4)
    local = local if local <= most else least
    made = bytearray(page[place : place + local])
    (following,) = struct.unpack_from(">I", page, place + local)
    while len(made) < size:
        onward = pages[following]
        (following,) = struct.unpack_from(">I", onward)
        made += onward[4 : 4 + min(PAGE - 4, size - len(made))]
    return bytes(made)


def _record(payload: bytes) -> Row:
    end, place = _varint(payload, 0)
    types = []
    while place < end:
        kind, place = _varint(payload, place)
        types.append(kind)
    values = []
    for kind in types:
        value, place = _value(payload, place, kind)
        values.append(value)
    if place != len(payload):
        raise ValueError("a row of another length")
    return tuple(values)


def _value(payload: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind in (8, 9):
        return kind - 8, place
    if kind == 0:
        return None, place
    if kind in _WIDTHS:
        end = place + _WIDTHS[kind]
        return int.from_bytes(payload[place:end], "big", signed=True), end
    if kind < 12:
        raise ValueError("a type no journal has")
    end = place + (kind - 12) // 2
    raw = payload[place:end]
    return (raw.decode() if kind % 2 else raw), end


def _varint(raw: bytes, place: int) -> tuple[int, int]:
    value = 0
    for step in range(9):
        byte = raw[place + step]
        if step == 8:
            return (value << 8) | byte, place + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, place + step + 1
    raise AssertionError("unreachable")


def _sort(found: Readable, rowid: int, row: Row) -> None:
    """Put a row to its table: known by its columns, and by its digest where it has one."""
    key = row[0] if row and isinstance(row[0], bytes) else b""
    if len(row) == 13 and isinstance(row[2], str):
        if hashlib.sha256(key + row[2].encode()).digest() == row[3]:
            found.replies[key] = row
    elif len(row) == 22 and len(key) == 32 and all(isinstance(value, str) for value in row[1:6]):
        found.requests[key] = row
    elif len(row) == 4 and isinstance(row[1], bytes) and isinstance(row[2], str) and isinstance(row[3], str):
        if hashlib.sha256(row[1] + f"{row[2]}\n{row[3]}".encode()).digest() == key:
            found.parts[key] = row
    elif len(row) == 2 and isinstance(row[1], str):
        if hashlib.sha256(row[1].encode()).digest() == key:
            found.settings[key] = row
    elif len(row) == 5 and row[0] is None and isinstance(row[2], str) and row[4] in (0, 1):
        found.batches[rowid] = (rowid, *row[1:])
    elif len(row) == 2 and isinstance(row[0], int) and isinstance(row[1], bytes) and len(row[1]) == 32:
        found.batch_items.add(row)
