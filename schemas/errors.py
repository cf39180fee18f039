"""The two errors a user can meet, and how they read: one line, what, where, and how to fix it.

``error: <what> in <file or table>[, row <id>][, field <name>]: <expected>. <how to fix it>``
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AnamnesisError(Exception):
    """An error that is printed as one line instead of a traceback.

    Raise one of the two subclasses: the exit code says whose turn it is.
    """

    exit_code = 1

    def __init__(
        self,
        what: str,
        where: object | None = None,
        *,
        row: str | None = None,
        field: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.what, self.where, self.row, self.field = what, where, row, field
        self.expected, self.fix = expected, fix
        super().__init__(self._line())

    def _line(self) -> str:
        line = self.what
        if self.where is not None:
            line += f" in {self.where}"
        if self.row is not None:
            line += f", row {self.row}"
        if self.field is not None:
            line += f", field {self.field}"
        if self.expected:
            line += f": {self.expected}"
        if self.fix:
            line = f"{line.rstrip('.')}. {self.fix}"
        return " ".join(line.split())


class RequestError(AnamnesisError):
    """The request is wrong: a bad argument, an unknown id, a missing or malformed file. Exit code 2."""

    exit_code = 2


class MachineError(AnamnesisError):
    """A backend or the machine failed; finished work is kept and the message says how to resume. Exit code 3."""

    exit_code = 3


def unknown(
    what: str, name: str, known: Iterable[str], where: object | None = None, *, field: str | None = None
) -> RequestError:
    """An error for a name that is not in a closed list, with the nearest valid names."""
    names = sorted(known)
    by_fold = {candidate.casefold(): candidate for candidate in names}
    near = [by_fold[hit] for hit in difflib.get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.4)]
    offered = near or names[:8]
    more = "" if near or len(names) <= 8 else f" … ({len(names)} in all)"
    fix = f"{'Did you mean' if near else 'Known'}: {', '.join(offered)}{more}{'?' if near else ''}"
    return RequestError(f"unknown {what} {name!r}", where, field=field, fix=fix if names else "None exist yet")
