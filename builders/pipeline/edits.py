"""Which files of a workspace a builder may replace, and which a person has changed since.

Rows are made from settings and seed, so a builder may replace what it wrote. It must not replace what
somebody corrected by hand. So the digest of every file a builder writes is recorded; a file whose digest is
not among those is a person's. The new digest is added before the file is put in place and the old one
dropped after, so that a kill in between leaves the file known whichever it is.

    build/heart/.parts/written/memories/CHAR_04     digests, one a line
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from schemas.rows import encode, write_whole
from schemas.tables import Row
from schemas.workspace import Workspace

PARTS = ".parts"


def is_unedited(space: Workspace, table: str, key: str = "all") -> bool:
    """Whether the file of a table and key is as a builder wrote it; False for one that does not exist."""
    path = space.path(table, key)
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() in _digests(_stamp(space, table, key))


def write_tracked(space: Workspace, table: str, rows: Sequence[Row], key: str = "all") -> None:
    """Write a file of a table, rows as they are ordered, and record its digest; the same rows are not written twice."""
    lines = [encode(row) for row in rows]
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    stamp = _stamp(space, table, key)
    before = _digests(stamp)
    if before == [digest] and is_unedited(space, table, key):
        return
    write_whole(stamp, [f"{line}\n".encode() for line in dict.fromkeys([*before, digest])])
    write_whole(space.path(table, key), lines)
    write_whole(stamp, [f"{digest}\n".encode()])


def _stamp(space: Workspace, table: str, key: str) -> Path:
    return space.folder / PARTS / "written" / table / key


def _digests(stamp: Path) -> list[str]:
    return stamp.read_text("ascii").split() if stamp.is_file() else []
