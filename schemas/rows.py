"""Reading and writing rows as JSON Lines.

Writing is canonical (UTF-8, fields in the order of the record schema, no spaces), so that the same
rows are the same bytes; a file appears under its name only when it is complete and on disk.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from schemas.errors import RequestError
from schemas.tables import Row

PIPED = Path("-")
"""The name of what is piped in."""

_PARTED, _OF_JSON = re.compile(rb"[,;\t]"), re.compile(rb"[{}\[\]:]")


def read_jsonl(path: Path) -> Iterator[Row]:
    """The objects of a JSON Lines file, in order; of what is piped in for ``-``.

    Raises RequestError, naming file and line, for a missing file, a wrong encoding, a line that is
    not JSON (a truncated last line too) or not an object.
    """
    return (row for _, row in numbered_jsonl(path))


def numbered_jsonl(path: Path) -> Iterator[tuple[int, Row]]:
    """As ``read_jsonl``, each object with the number of its line; empty lines are passed over."""
    for number, row in lines_jsonl(path):
        if isinstance(row, RequestError):
            raise row
        yield number, row


def placed_jsonl(path: Path, start: int = 0, stop: int | None = None, line: int = 1) -> Iterator[tuple[int, Row]]:
    """As ``read_jsonl``, each object with the place of its line (bytes); of the lines from ``start`` to ``stop``.

    ``line`` is the number of the first of them, which errors count from.
    """
    with _opened(path) as lines:
        lines.seek(start)
        place = start
        for number, text in enumerate(lines, line):
            if stop is not None and place >= stop:
                return
            if not text.isspace():
                yield place, _object(text, path, number)
            place += len(text)


def lines_jsonl(path: Path) -> Iterator[tuple[int, Row | RequestError]]:
    """As ``numbered_jsonl``, with an error in the place of a line that is no JSON object.

    Raises RequestError for a missing file, and for one that is of another form from its first line on.
    """
    with _opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, _parsed(line, path, number)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") if path != PIPED else open(0, "rb", closefd=False) as lines:
            yield lines
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path, or build the table first") from None
    except IsADirectoryError:
        raise RequestError("a folder instead of a file", path, fix="Name a JSON Lines file") from None


def _parsed(line: bytes, path: Path, number: int) -> Row | RequestError:
    try:
        return _object(line, path, number)
    except RequestError as error:
        if error.where == path:  # the form of the whole file
            raise
        return error


def _object(line: bytes, path: Path, number: int) -> Row:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _other_form(line, path, number) or _malformed(line, f"{path}:{number}", error) from None
    if not isinstance(value, dict):
        raise _other_form(line, path, number) or RequestError(
            "not an object", f"{path}:{number}", expected="one JSON object a line", fix="Fix or remove that line"
        )
    return value


def _other_form(line: bytes, path: Path, number: int) -> RequestError | None:
    """An error for a file whose first line shows that all of it is of another form: there is no line to fix."""
    start = line.strip()
    if number > 1:
        return None
    if start == b"[" or (start.startswith(b"[") and start[1:].lstrip().startswith(b"{")):
        what, fix = "a JSON array", "Write each entry on a line of its own, as jq -c '.[]' does"
    elif start == b"{":
        what, fix = "JSON over several lines", "Write each object on a line of its own, as jq -c . does"
    elif _is_header(start):
        what, fix = "a table (CSV or the like)", "Write each row as an object, with the column names as its fields"
    else:
        return None
    return RequestError(f"{what} instead of JSON Lines", path, expected="one JSON object a line", fix=fix)


def _is_header(line: bytes) -> bool:
    """Whether a line is names with commas, semicolons or tabs between them, and nothing of JSON."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return bool(_PARTED.search(line)) and not _OF_JSON.search(line)


def _malformed(line: bytes, where: str, error: orjson.JSONDecodeError) -> RequestError:
    if line.startswith(codecs.BOM_UTF8):
        return RequestError("byte order mark", where, expected="UTF-8 without one", fix="Save the file without it")
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        fix = "Save it as UTF-8, unpacked if it is packed"
        return RequestError("not UTF-8", where, expected="JSON Lines in UTF-8, one object a line", fix=fix)
    reason = str(error).split(": line 1 ")[0]
    return RequestError(
        "malformed JSON", where, expected=f"one JSON object a line ({reason})", fix="Fix or remove that line"
    )


def encode(row: Mapping[str, Any]) -> bytes:
    """One row as a line of canonical JSON."""
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a file that appears whole or not at all; returns how many."""
    written = 0

    def lines() -> Iterator[bytes]:
        nonlocal written
        for row in rows:
            written += 1
            yield encode(row)

    write_whole(path, lines())
    return written


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write bytes to a temporary neighbour, force them to disk, rename into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as out:
            out.writelines(chunks)
            out.flush()
            os.fsync(out.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)


def sweep(folder: Path) -> None:
    """Remove what killed writers left behind: unfinished files of processes that are no more."""
    for aside in folder.rglob(".*.part"):
        pid = aside.name.split(".")[-2]
        if aside.is_file() and pid.isdigit() and not _alive(int(pid)):
            aside.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to disk, so that a rename in it outlives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
