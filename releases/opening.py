"""Using a release from Python: open it by name or path, checked, and read its tables.

    from releases import load, open_release

    questions = load("heart", "2.0.0", "mcqs")             # a pyarrow.Table
    release = open_release("heart@2.0.0")                  # or open_release("path/to/the/folder")
    release.content_digest                                 # what results carry
    for row in release.rows("scenarios"): ...

Opening compares every file with the manifest (SHA-256), so what is read is what was released. It does
not decode the rows once more to compare their digests: ``releases verify`` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from releases.checking.files import file_problems, misnamed, read_manifest
from releases.manifest import Manifest, Problem
from releases.parquet import read_batches, read_schema
from schemas.errors import RequestError, unknown
from schemas.release_names import FROZEN, Name, Version, locate, parse_name, parse_version
from schemas.tables import Row

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset


@dataclass(frozen=True)
class Release:
    """A release whose files have been compared with its manifest."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> Name:
        """Benchmark and version."""
        return Name(self.manifest["name"], parse_version(self.manifest["version"]))

    @property
    def version(self) -> Version:
        """The version."""
        return self.name.version

    @property
    def digest(self) -> str:
        """The identity of the release: every byte of it."""
        return str(self.manifest["digest"])

    @property
    def content_digest(self) -> str:
        """The identity of what its tables say; results of different content are never compared."""
        return str(self.manifest["content_digest"])

    @property
    def tables(self) -> Mapping[str, int]:
        """Table -> rows, by name."""
        return {name: table["rows"] for name, table in sorted(self.manifest["tables"].items())}

    def key(self, table: str) -> tuple[str, ...]:
        """The columns that name a row of a table."""
        return tuple(self._entry(table)["key"])

    def paths(self, table: str) -> list[Path]:
        """The Parquet files of a table, in order of key."""
        return [self.folder / file["path"] for file in self._entry(table)["files"]]

    def table(self, table: str, columns: list[str] | None = None) -> pa.Table:
        """A whole table but its canary, or some of its columns, in order of key."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        chosen = columns or self.schema(table).names
        return pa.concat_tables([pq.ParquetFile(path).read(columns=chosen) for path in self.paths(table)])

    def schema(self, table: str) -> pa.Schema:
        """The columns of a table."""
        return read_schema(self.paths(table)[0])

    def rows(self, table: str) -> Iterator[Row]:
        """The rows of a table in order of key, a row group in memory at a time."""
        for batch in read_batches(self.paths(table)):
            yield from batch.to_pylist()

    def keys_of(self, table: str) -> Iterator[Row]:
        """The key columns of a table's rows, in order."""
        for batch in read_batches(self.paths(table), columns=list(self.key(table))):
            yield from batch.to_pylist()

    def dataset(self, table: str) -> pyarrow.dataset.Dataset:
        """A table but its canary as a lazy dataset."""
        from pyarrow import dataset

        paths = [str(path) for path in self.paths(table)]
        return dataset.dataset(paths, format="parquet", schema=self.schema(table))

    def _entry(self, table: str) -> Manifest:
        if table not in self.manifest["tables"]:
            raise unknown("table", table, self.manifest["tables"], str(self.name))
        return self.manifest["tables"][table]  # type: ignore[no-any-return]


def open_release(spec: str | Path, frozen: Path = FROZEN) -> Release:
    """A release by ``NAME@X.Y.Z`` or by the path of its folder, its files compared with its manifest.

    Raises RequestError for an unknown release and for one that does not verify, with the first place.
    """
    folder = locate(str(spec), frozen)
    manifest, problems = read_manifest(folder)
    if manifest is not None and not problems:
        problems = [*misnamed(str(spec), manifest), *file_problems(folder, manifest)]
    if manifest is None or problems:
        raise _does_not_verify(str(spec), problems)
    return Release(folder, manifest)


def load(name: str, version: str, table: str, frozen: Path = FROZEN) -> pa.Table:
    """One table of a release as ``pyarrow.Table``; only that table's files are compared with the manifest.

    Raises RequestError for an unknown release or table, and when the files are not the released ones.
    """
    spec = str(parse_name(f"{name}@{version}"))
    folder = locate(spec, frozen)
    manifest, problems = read_manifest(folder)
    if manifest is None or problems:
        raise _does_not_verify(spec, problems)
    release = Release(folder, manifest)
    problems = file_problems(folder, manifest, [str(path.relative_to(folder)) for path in release.paths(table)])
    if problems:
        raise _does_not_verify(spec, problems)
    return release.table(table)


def _does_not_verify(spec: str, problems: list[Problem]) -> RequestError:
    first = min(problems)
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    return RequestError(
        "release does not verify",
        f"{spec}, {first.place}",
        expected=f"{first.message}{more}",
        fix=f"See: python -m releases verify {spec}; then fetch it again",
    )
