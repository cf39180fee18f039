"""Items as a spreadsheet, and answers read from one.

CSV in UTF-8 with a byte order mark, so that spreadsheet programs show it rightly; one line an item. A cell
that a spreadsheet would take for a formula begins with an apostrophe, which is taken off again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from schemas.errors import RequestError
from schemas.rows import write_whole
from validators.review.answers import FIELDS, Answer, Role
from validators.review.items import Kind
from validators.review.labelstudio import NAMES
from validators.review.rounds import SEAL

_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_BEYOND = ""
# What stands beside the names and the answers; the kinds differ in it.
_SHOWN = (
    "profile",
    "situation",
    "event",
    "question",
    "thoughts",
    "text",
    "other_text",
    "context",
    "judgements",
)
# What a spreadsheet begins a formula with, in some languages at full width.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write_sheet(path: Path, tasks: Iterable[dict[str, str]], kind: Kind, role: Role) -> None:
    """Write tasks (``labelstudio.data``) with empty columns for the answers."""
    rows = list(tasks)
    answers = FIELDS[kind, role]
    shown = list(dict.fromkeys(name for row in rows for name in row if name not in NAMES))
    out = io.StringIO()
    writer = csv.DictWriter(out, [*NAMES, *shown, *answers], restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _safe(value) for name, value in row.items()} for row in rows)
    write_whole(path, [out.getvalue().encode("utf-8-sig")])


def read_sheet(path: Path) -> list[Answer]:
    """The lines of a sheet, in order, also those that nobody filled in.

    Raises RequestError for a file that is missing, a workbook, in another encoding or without the columns, and for
    lines of several people.
    """
    text = _text(path)
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restkey=_BEYOND, restval="")
    columns = reader.fieldnames or ()
    missing = [name for name in NAMES if name not in columns]
    if missing:
        fix = "Use the sheet that was exported, with its header line"
        raise RequestError("sheet without its columns", path, expected=", ".join(missing), fix=fix)
    try:
        rows = [(f"{path}:{reader.line_num}", row) for row in reader if any(map(_written, row.values()))]
    except csv.Error as error:
        raise RequestError("malformed CSV", f"{path}:{reader.line_num}", expected=str(error), fix="Fix it") from None
    _check_columns(path, columns, [row for _, row in rows])
    found = [_answer(row, where) for where, row in rows]
    for answer in found:
        if answer.annotator != found[0].annotator:
            expected = f"lines of one person, found {found[0].annotator} and {answer.annotator}"
            raise RequestError("sheet of two people", answer.where, expected=expected, fix="Give each their own sheet")
    return found


def missing_lines(lines: Collection[Answer]) -> tuple[int, int]:
    """How many lines of a sheet are gone, and how many it had, as the seals of those that are there say."""
    seals = [match for line in lines if (match := SEAL.fullmatch(line.seal))]
    total = max((int(match[2]) for match in seals), default=0)
    return total - len({match[1] for match in seals}), total


def _written(cell: str | list[str] | None) -> bool:
    """Whether anything stands in a cell, or in those beyond the last column."""
    return bool("".join(cell or ()).strip())


def _check_columns(path: Path, columns: Sequence[str], rows: Sequence[dict[str, str]]) -> None:
    """Raise RequestError for what somebody wrote where it would not be read: a column that was renamed or added."""
    if twice := next((name for name in columns if columns.count(name) > 1), None):
        raise RequestError("column twice", path, field=twice, expected="each once", fix="Remove one of them")
    asked = [fields for (kind, _), fields in FIELDS.items() if rows and kind == rows[0]["kind"].strip()]
    missing = min(([name for name in fields if name not in columns] for fields in asked), key=len, default=[])
    if missing:
        fix = "Give the column its name again; an answer that nobody wants to give stays empty"
        raise RequestError("sheet without a column for answers", path, expected=", ".join(missing), fix=fix)
    read = {*NAMES, *_SHOWN, *(field for fields in FIELDS.values() for field in fields)}
    for name in [name for name in [*columns, _BEYOND] if name not in read]:
        if any(_written(row.get(name)) for row in rows):
            what = f"column {name!r} is not read" if name != _BEYOND else "cells beyond the last column are not read"
            fix = "Write it in a column of the sheet, or remove it"
            raise RequestError(what, path, expected="nothing in it", fix=fix)


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path") from None
    if content.startswith(_WORKBOOKS):
        raise RequestError("a workbook", path, expected="CSV UTF-8", fix="Save the sheet as CSV UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError("sheet in another encoding", path, expected="UTF-8", fix="Save it as CSV UTF-8") from None


def _answer(row: dict[str, str], where: str) -> Answer:
    fields = {field for fields in FIELDS.values() for field in fields}
    given = {field: _plain(row[field]) for field in sorted(fields) if row.get(field, "").strip()}
    kind, item, digest, annotator, seal = (row[name].strip() for name in NAMES)
    shown = {name: _plain(row[name]) for name in _SHOWN if name in row}
    return Answer(where, kind, item, digest, annotator, given, seal=seal, shown=shown)


def _safe(value: str) -> str:
    return f"'{value}" if _may_be_formula(value) else value


def _plain(value: str) -> str:
    value = value.strip()
    return value[1:] if value.startswith("'") and _may_be_formula(value) else value


def _may_be_formula(value: str) -> bool:
    """Whether a spreadsheet would evaluate a text, or would but for apostrophes: one more is taken off again."""
    return value.lstrip("'").startswith(_FORMULA)
