"""Items as a spreadsheet, and answers read from one.

CSV in UTF-8 with a byte order mark, so that spreadsheet programs show it rightly; one line an item. A cell
that a spreadsheet would take for a formula begins with an apostrophe, which is taken off again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from schemas.errors import RequestError
from schemas.rows import write_whole
from validators.review.answers import FIELDS, Answer, Role
from validators.review.items import Kind

NAMES = ("kind", "item", "digest", "annotator")

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
    """The answers of a sheet, in order; lines that nobody filled in are left out.

    Raises RequestError for a file that is missing, in another encoding, or without the columns.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path") from None
    except UnicodeDecodeError:
        raise RequestError("sheet in another encoding", path, expected="UTF-8", fix="Save it as CSV UTF-8") from None
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restkey="", restval="")
    columns = reader.fieldnames or ()
    missing = [name for name in NAMES if name not in columns]
    if missing:
        fix = "Use the sheet that was exported, with its header line"
        raise RequestError("sheet without its columns", path, expected=", ".join(missing), fix=fix)
    try:
        return [found for row in reader if (found := _answer(row, f"{path}:{reader.line_num}"))]
    except csv.Error as error:
        raise RequestError("malformed CSV", f"{path}:{reader.line_num}", expected=str(error), fix="Fix it") from None


def _answer(row: dict[str, str], where: str) -> Answer | None:
    fields = sorted({field for fields in FIELDS.values() for field in fields})
    given = {field: _plain(row[field]) for field in fields if row.get(field, "").strip()}
    if not given:
        return None
    kind, item, digest, annotator = (row[name].strip() for name in NAMES)
    return Answer(where, kind, item, digest, annotator, given)


def _safe(value: str) -> str:
    return f"'{value}" if value.startswith(_FORMULA) else value


def _plain(value: str) -> str:
    value = value.strip()
    return value[1:] if value.startswith(tuple(f"'{sign}" for sign in _FORMULA)) else value
