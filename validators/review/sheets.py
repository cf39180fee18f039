"""Items as a spreadsheet, and answers read from one.

CSV in UTF-8 with a byte order mark, so that spreadsheet programs show it rightly; one line an item. A cell
that a spreadsheet would take for a formula begins with an apostrophe, which is taken off again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable
from pathlib import Path

from schemas.errors import RequestError
from schemas.rows import write_whole
from validators.review.answers import FIELDS, Answer, Role
from validators.review.items import Kind
from validators.review.labelstudio import NAMES
from validators.review.rounds import SEAL

_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_FORMULA = ("=", "+", "-", "@", "\t")


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
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restkey="", restval="")
    columns = reader.fieldnames or ()
    missing = [name for name in NAMES if name not in columns]
    if missing:
        fix = "Use the sheet that was exported, with its header line"
        raise RequestError("sheet without its columns", path, expected=", ".join(missing), fix=fix)
    try:
        found = [_answer(row, f"{path}:{reader.line_num}") for row in reader if any(map(str.strip, row.values()))]
    except csv.Error as error:
        raise RequestError("malformed CSV", f"{path}:{reader.line_num}", expected=str(error), fix="Fix it") from None
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
    shown = {name: _plain(value) for name, value in row.items() if name not in NAMES and name not in fields}
    return Answer(where, kind, item, digest, annotator, given, seal=seal, shown=shown)


def _safe(value: str) -> str:
    return f"'{value}" if value.startswith(_FORMULA) else value


def _plain(value: str) -> str:
    value = value.strip()
    return value[1:] if value.startswith(tuple(f"'{sign}" for sign in _FORMULA)) else value
