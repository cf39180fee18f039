"""What is up to date: a table is built again only when something it is made from has changed.

One digest says what a file of a table was made from: the bytes of the files it reads, the prompts, the
settings, and the code. It is stored beside the rows; a file with the same digest that nobody has changed is
current, and one that a person has changed stays until ``--fresh``.

    build/heart/.parts/inputs/decisions/CHAR_04     one digest
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from builders.pipeline.edits import PARTS, is_unedited, write_tracked
from builders.pipeline.run import Outcome
from builders.pipeline.steps import command_making
from schemas.errors import RequestError
from schemas.rows import write_whole
from schemas.tables import Row
from schemas.version import code_digest
from schemas.workspace import Workspace

# What decides the rows of a benchmark of one's own as our code does: files of its folder.
_SOURCES = ("*.py", "*.toml", "records/*", "vocab/*", "prompts/*", "seeds/*")


def inputs_digest(space: Workspace, tables: Iterable[str], **settings: Any) -> str:
    """The digest of everything a file is made from: tables it reads, settings (JSON values), our code.

    Raises RequestError naming the command to run first when a table is missing.
    """
    digest = hashlib.sha256(orjson.dumps([code_digest(), settings], option=orjson.OPT_SORT_KEYS))
    home = space.benchmark.home
    for path in _own_sources(home) if home else ():
        digest.update(f"\x1f{path.name}\x1f".encode() + path.read_bytes())
    for table in tables:
        keys = space.keys(table)
        if not keys:
            fix = f"Run first: {command_making(space.benchmark, table)}"
            raise RequestError("missing table", space.folder, expected=table, fix=fix)
        for key in keys:
            digest.update(f"\x1f{table}/{key}\x1f".encode())
            digest.update(hashlib.sha256(space.path(table, key).read_bytes()).digest())
    return digest.hexdigest()


def digest_with_file(space: Workspace, table: str, key: str, shared: str) -> str:
    """The digest for one key: what all keys share, and one more file. Raises RequestError when it is missing."""
    path = space.path(table, key)
    if not path.is_file():
        command = command_making(space.benchmark, table)
        raise RequestError("missing file", path, fix=f"Run first: {command} --char {key}")
    return hashlib.sha256(f"{shared}{hashlib.sha256(path.read_bytes()).hexdigest()}".encode()).hexdigest()


def current_outcome(space: Workspace, table: str, key: str, digest: str, fresh: bool) -> Outcome | None:
    """The outcome of a file that need not be built, with the reason; None when it must be."""
    path = space.path(table, key)
    if not path.is_file() or fresh:
        return None
    count = path.read_bytes().count(b"\n")
    if not is_unedited(space, table, key):
        return Outcome(table, key, "kept", "edited by hand; --fresh rebuilds it", count)
    if _stamp(space, table, key).is_file() and _stamp(space, table, key).read_text("ascii").strip() == digest:
        return Outcome(table, key, "up to date", "nothing it is made from has changed", count)
    return None


def write_built(space: Workspace, table: str, key: str, digest: str, rows: Sequence[Row]) -> Outcome:
    """Write a file of a table, sorted by the table's key, with the digest of what it was made from."""
    existed = space.path(table, key).is_file()
    columns = space.benchmark.table(table).key
    write_tracked(space, table, sorted(rows, key=lambda row: tuple(row[column] for column in columns)), key)
    write_whole(_stamp(space, table, key), [f"{digest}\n".encode()])
    return Outcome(table, key, "built", "what it is made from has changed" if existed else "was not there", len(rows))


def write_if_stale(
    space: Workspace, table: str, digest: str, make: Callable[[], Sequence[Row]], fresh: bool, key: str = "all"
) -> Outcome:
    """Build a file of a table unless it is current."""
    return current_outcome(space, table, key, digest, fresh) or write_built(space, table, key, digest, make())


def summary_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """One line a table for people: what was done with how many files and rows, and why."""
    lines = []
    for table, action in dict.fromkeys((outcome.table, outcome.action) for outcome in outcomes):
        same = [outcome for outcome in outcomes if (outcome.table, outcome.action) == (table, action)]
        files = f" in {len(same)} files" if len(same) > 1 else ""
        lines.append(f"  {table:<12} {action:<11} {sum(o.rows for o in same):>6} rows{files}: {same[0].why}")
    return lines


def outcome_records(outcomes: Sequence[Outcome]) -> list[Mapping[str, Any]]:
    """The outcomes for ``--json``."""
    return [{"table": o.table, "file": o.key, "action": o.action, "why": o.why, "rows": o.rows} for o in outcomes]


def _own_sources(home: Path) -> list[Path]:
    return [path for pattern in _SOURCES for path in sorted(home.glob(pattern)) if path.is_file()]


def _stamp(space: Workspace, table: str, key: str) -> Path:
    return space.folder / PARTS / "inputs" / table / key
