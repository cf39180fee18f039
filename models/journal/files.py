"""The journal's file: created whole, checked when it is opened, readable beside the run that writes it.

A damaged file (a page lost, cut, emptied, a byte that flipped) is reported in one line with what can still be read;
``python -m models journal recover`` saves that. Nothing is asked on a damaged journal: what it no longer shows
as answered would be paid again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from models.journal import recovery
from models.journal.records import STATEMENTS
from schemas.errors import AnamnesisError, MachineError, RequestError

VERSION = 2

_APPLICATION = 0x414E414D  # "ANAM"
_TABLES = Path(__file__).parent / "journal.sql"
_DAMAGE = ("disk I/O", "malformed", "decode")
_PATIENCE = 60.0  # seconds for a reader to let go
_LOG_PAGES = 8000  # of the write-ahead log before they are moved into the file: each move holds up all commits

Read = Callable[..., list[Any]]


def connected(path: Path, deep: bool = True) -> sqlite3.Connection:
    """The journal for writing, created when there is none. Raises MachineError for a damaged one or a full disk.

    Not ``deep``: another process has checked the whole file.
    Raises RequestError for a file that is no journal or comes from another version.
    """
    try:
        if not path.exists():
            _create(path)
        connection = sqlite3.connect(
            path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS
        )
        try:
            check(connection, path, deep)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        except BaseException:
            connection.close()
            raise
    except sqlite3.OperationalError as error:
        raise unwritable(path, error) from None
    return connection


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[Read]:
    """A function that runs a query, also while another process writes the journal.

    Raises RequestError when there is none, MachineError for a damaged one, also from the function.
    """
    if not path.is_file():
        raise RequestError("missing journal", path, fix="Check --journal or --workspace: nothing was asked there yet")

    def read(sql: str, *values: Any) -> list[Any]:
        with damage_reported(path):
            return connection.execute(sql, values).fetchall()

    with contextlib.closing(reader(path)) as connection:
        check(connection, path, deep=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only = 1")
        yield read


def reader(path: Path) -> sqlite3.Connection:
    """A second connection, for reading."""
    return sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE, check_same_thread=False)


def check(connection: sqlite3.Connection, path: Path, deep: bool = True) -> None:
    """Raises MachineError for a damaged journal, RequestError for a file that is none or of another version."""
    if not path.stat().st_size:
        raise damaged(path, "the file is empty")
    with damage_reported(path):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise _no_journal(path)
        if version != VERSION:
            raise _other_version(path, version)
        problems = connection.execute("PRAGMA integrity_check(1)").fetchone()[0] if deep else "ok"
        if problems != "ok":
            raise damaged(path, " ".join(str(problems).split()))


def left_beside(path: Path, kind: Literal["sending", "reserve"]) -> list[Path]:
    """The files of a kind that the processes of an earlier run left beside a journal."""
    return sorted(path.parent.glob(f".{path.name}.{kind}.*"))


@contextlib.contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """What SQLite says of a damaged file, as our error."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if any(words in str(error) for words in _DAMAGE):
            raise damaged(path, str(error)) from None
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise damaged(path, str(error)) from None


def damaged(path: Path, what: str) -> AnamnesisError:
    """The error for a damaged journal, or for a file that holds nothing of one."""
    readable = len(recovery.readable(path).replies)
    if not readable and path.stat().st_size:
        return _no_journal(path)
    return MachineError(
        "damaged journal",
        path,
        expected=f"{what}; {readable:,} replies can be read",
        fix=f"Save them with `python -m models journal recover NEW --journal {path}` and go on with --journal NEW",
    )


def unwritable(path: Path, error: Exception) -> MachineError:
    """The error for a journal that takes nothing more."""
    return MachineError(
        f"journal cannot be written ({error})",
        path,
        fix="Free some room or repair the disk, and run the same command again. Finished replies are stored",
    )


def _create(path: Path) -> None:
    """A new journal, renamed into place when it is whole and on disk: an empty file is a damaged one."""
    made = path.with_name(f".{path.name}.new")
    made.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # it is waited for once, below
        connection.execute("PRAGMA page_size = 4096")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            f"BEGIN IMMEDIATE; {_TABLES.read_text('utf-8')}"
            f" PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
        )
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with made.open("rb+") as file:
        os.fsync(file.fileno())
    made.rename(path)


def _no_journal(path: Path) -> RequestError:
    return RequestError("no journal", path, fix="Name another file with --journal; this one is left as it is")


def _other_version(path: Path, version: int) -> RequestError:
    newer = version > VERSION
    return RequestError(
        f"journal from {'a newer' if newer else 'an older'} version",
        path,
        expected=f"version {VERSION}, found {version}",
        fix=f"{'Update this package, or name' if newer else 'Name'} another file with --journal; "
        "this one is left as it is",
    )
