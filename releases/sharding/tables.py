"""A whole table on an engine: surveyed, cut into pieces, stored, written as Parquet, with what its manifest says.

The bytes are those of ``releases.parquet.write_table``. This process sees keys, counts and, one after the other for
the content digest, the canonical rows: no table.

    python -m releases freeze heart@2.0.0 --engine local
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from releases.content import ContentDigest
from releases.parquet import BYTES_PER_FILE, Written, columns_of, file_names, written
from releases.provenance import Tally
from releases.sharding import files
from releases.sharding.pieces import Stored, pieces_of, rows_path, store
from releases.source import Stretch, in_groups, joined, surveyed_shard, working_files
from schemas.engines.choice import Engine
from schemas.engines.shards import of_files
from schemas.errors import RequestError
from schemas.tables import Table
from schemas.workspace import Workspace

_READ = 1 << 20


@dataclass(frozen=True)
class Sharded:
    """Tables of a workspace, written on an engine; ``shards`` is the folder in which finished pieces lie and stay."""

    workspace: Workspace
    engine: Engine
    shards: Path
    bytes_per_file: int = BYTES_PER_FILE

    def __call__(self, table: str, staging: Path, tally: Tally, canary: str | None) -> Written:
        """Write the files of a table into ``staging``.

        Raises RequestError as ``releases.source.rows_in_order`` and ``releases.parquet.write_table`` do.
        """
        declared, engine, shards = self.workspace.benchmark.table(table), self.engine, self.shards
        schema = columns_of(declared)
        shards.mkdir(parents=True, exist_ok=True)
        pieces = pieces_of(in_groups(list(self._surveyed(declared))))
        stored = list(engine.map(partial(store, declared, shards), pieces))
        _check_order(declared, stored)
        planned = files.cut(stored, self.bytes_per_file)
        made = list(engine.map(partial(files.write, declared, canary, shards), planned))
        (staging / table).mkdir()
        for name, target in zip(made, file_names(table, len(made)), strict=True):
            (staging / target).hardlink_to(shards / name)
        for piece in stored:
            tally.add(piece.tally)
        return written(declared, schema, _digest(shards, stored), [file.rows for file in planned])

    def _surveyed(self, table: Table) -> Iterator[Stretch | None]:
        """What the working files of a table hold."""
        parts = [shard for path in working_files(self.workspace, table.name) for shard in of_files([path])]
        seen = self.engine.map(partial(surveyed_shard, table), parts)
        for _, of_file in groupby(seen, key=lambda part: part.path):
            yield joined(list(of_file))


def _check_order(table: Table, stored: Sequence[Stored]) -> None:
    """Raises RequestError for a key that ends one piece and begins the next, or comes before its end."""
    latest: list[Any] = []
    for piece in stored:
        if piece.first and latest and piece.first <= latest:
            what = "duplicate key" if piece.first == latest else "a key that occurs twice in its line"
            fix = "Remove one of them and freeze again"
            raise RequestError(what, table.name, row="/".join(map(str, piece.first)), fix=fix)
        latest = piece.last or latest


def _digest(shards: Path, stored: Sequence[Stored]) -> ContentDigest:
    import pyarrow as pa

    digest = ContentDigest()
    for piece in stored:
        with pa.CompressedInputStream(pa.OSFile(rows_path(shards, piece.name)), "lz4") as lines:
            while block := lines.read(_READ):
                digest.feed(block, 0)
        digest.feed(b"", sum(rows for rows, _ in piece.blocks))
    return digest
