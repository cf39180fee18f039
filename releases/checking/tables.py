"""The rows of a release beside its manifest: columns, order, number, content, canary.

The files' bytes are already known to be the declared ones; what is found here is a manifest that was adapted to other
rows. On the way rows are counted, for ``releases.checking.derived``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from releases.content import ContentDigest, are_finite, canonical, keys_of, numbers_are, schema_digest
from releases.manifest import Manifest, Problem
from releases.parquet import canaries, read_groups, read_schema
from releases.provenance import Tally
from schemas.engines.choice import Engine
from schemas.engines.shards import Shard, of_files
from schemas.errors import RequestError

Key = tuple[str | int, ...]


@dataclass
class Counted:
    """What was counted on the way: rows by provenance and review, and the bytes of each table's canonical rows."""

    tally: Tally = field(default_factory=Tally)
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Seen:
    """What was read of a part of a table: its rows in canonical form, its keys, what was counted, what is wrong."""

    rows: int = 0
    block: bytes = b""
    first: Key = ()
    last: Key = ()
    tally: dict[str, Any] = field(default_factory=dict)
    problem: Problem | None = None


def table_problems(folder: Path, manifest: Manifest, name: str, counted: Counted, engine: Engine) -> list[Problem]:
    """What is wrong with a table's rows; at most one problem."""
    table = manifest["tables"][name]
    try:
        parts = [part for file in table["files"] for part in _parts(folder, table, name, file)]
    except _BrokenError as wrong:
        return [wrong.problem]
    digest, before = ContentDigest(), Key()
    for part, seen in zip(parts, engine.map(partial(_examined, name, tuple(table["key"])), parts), strict=True):
        if seen.problem is not None:
            return [seen.problem]
        if before and seen.first and seen.first <= before:
            return [_unordered(part.file, seen.first, before)]
        before = seen.last or before
        counted.tally.add(seen.tally)
        digest.feed(seen.block, seen.rows)
    counted.sizes[name] = digest.size
    if digest.hexdigest() != table["content_digest"]:
        return [Problem(name, "table.content", f"rows give {digest.hexdigest()}, declared {table['content_digest']}")]
    return canary_problems(folder, manifest, name)


class _BrokenError(Exception):
    """A file that is not what it is declared to be."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def _parts(folder: Path, table: Mapping[str, Any], name: str, file: Mapping[str, Any]) -> Iterator[_Part]:
    """The parts of a file. Raises _BrokenError for other columns, another number of rows, and a file that is none."""
    import pyarrow as pa

    path = folder / file["path"]
    try:
        shards, columns = of_files([path]), schema_digest(read_schema(path))
    except (pa.ArrowException, OSError, RequestError, ValueError) as error:
        raise _BrokenError(Problem(name, "table.unreadable", str(error).splitlines()[0])) from None
    if columns != table["schema_digest"]:
        raise _BrokenError(Problem(file["path"], "table.schema", f"columns are not those of {name}"))
    rows = sum(shard.rows for shard in shards)
    if rows != file["rows"]:
        raise _BrokenError(Problem(file["path"], "table.rows", f"{rows} rows, declared {file['rows']}"))
    yield from (_Part(file["path"], shard) for shard in shards)


@dataclass(frozen=True)
class _Part:
    """Some row groups of a file, and the file's name in the release."""

    file: str
    shard: Shard

    @property
    def path(self) -> str:
        """Where it lies, for people."""
        return self.shard.path


def _examined(name: str, key: Sequence[str], part: _Part) -> _Seen:
    import pyarrow as pa

    try:
        return _read(name, key, part)
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        return _Seen(problem=Problem(name, "table.unreadable", str(error).splitlines()[0]))


def _read(name: str, key: Sequence[str], part: _Part) -> _Seen:
    tally, blocks, total = Tally(), [], 0
    first = before = Key()
    for batch in read_groups(Path(part.shard.path), part.shard.start, part.shard.stop):
        batch.validate(full=True)  # texts that are none
        if not numbers_are(batch, are_finite):
            return _Seen(problem=Problem(part.file, "table.content", "a number that is none (NaN)"))
        tally.count(name, batch)
        for place in keys_of(batch, key):
            if before and place <= before:
                return _Seen(problem=_unordered(part.file, place, before))
            first, before = first or place, place
        blocks.append(canonical(batch))
        total += batch.num_rows
    return _Seen(total, b"".join(blocks), first, before, tally.counts())


def _unordered(file: str, key: Key, before: Key) -> Problem:
    place = f"{file}, row {'/'.join(map(str, key))}"
    return Problem(place, "table.order", f"stands after {'/'.join(map(str, before))}")


def canary_problems(folder: Path, manifest: Manifest, name: str) -> list[Problem]:
    """Where the canary of a table or configuration is not the declared one."""
    canary = manifest.get("canary")
    marked = canary and (name in canary["tables"] or name in manifest["configs"])
    wanted = {canary["text"]} if canary and marked else None
    says = f"the column canary does not say {canary['text']}" if canary and marked else "a column canary, not declared"
    files = {**manifest["tables"], **manifest.get("configs", {})}[name]["files"]
    return [
        Problem(file["path"], "table.canary", says)
        for file in files
        if (found := canaries(folder / file["path"])) != wanted and not (file["rows"] == 0 and found == set())
    ]
