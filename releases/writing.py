"""A release written into a folder: tables, record schemas, configurations, descriptions, the manifest last.

What is written comes from a workspace (``releases.freeze``) or from another release (``releases.splitting``); the
folder gets its name when it is complete and reads back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from releases.cards import curves
from releases.cards.configs import Config, config_size, write_config
from releases.cards.describing import descriptions, form, schema_file, schema_path
from releases.cards.texts import Texts
from releases.manifest import MANIFEST_VERSION, Manifest, encode, sealed
from releases.opening import Release
from releases.parquet import Written, write_table
from releases.placing import aside, clear, place, writing
from releases.provenance import Tally
from releases.roles import carries_canary
from releases.verify import verify
from schemas.engines.choice import Engine
from schemas.errors import MachineError, RequestError
from schemas.release_names import MANIFEST, Name
from schemas.tables import Row

_NOT_OF_CARD = ("config", "license")
"""Texts of a card that the manifest says elsewhere."""


@dataclass(frozen=True)
class Shape:
    """A table as a release keeps it: name, key, record schema, and what its columns mean (``roles``)."""

    name: str
    key: tuple[str, ...]
    schema: Mapping[str, Any]
    roles: Mapping[str, Any]

    @property
    def carries_canary(self) -> bool:
        """Whether the rows hold questions, keys or gold."""
        return carries_canary(self.roles)


class WriteSharded(Protocol):
    """Writes a table's files on an engine, as ``releases.parquet.write_table`` does in this process."""

    @property
    def engine(self) -> Engine: ...

    def __call__(self, table: str, staging: Path, tally: Tally, canary: str | None) -> Written: ...


@dataclass(frozen=True)
class Contents:
    """What goes into a release.

    ``about`` are the fields of the manifest that nothing here follows: title, paper, license, released, doi, history,
    variant, checks. ``parent_of`` gives its parent, once the rows are written. With ``sharded`` tables are written
    on its engine, and ``rows`` is not asked.
    """

    name: Name
    shapes: Sequence[Shape]
    rows: Callable[[str], Iterator[Row]]
    said: Texts
    configs: Sequence[Config]
    recipe: dict[str, Any] | None
    about: Mapping[str, Any]
    parent_of: Callable[[Release], dict[str, Any] | None] = field(default=lambda fresh: None)
    sharded: WriteSharded | None = None


def write_release(contents: Contents, folder: Path) -> Release:
    """Write a release aside, read it back, give it its name, read-only.

    Raises RequestError where the folder exists and for rows that cannot be stored, MachineError when what was
    written does not read back.
    """
    with writing(folder.parent):
        if folder.exists() or folder.is_symlink():
            raise RequestError(
                f"{contents.name} exists", folder, expected="a new version", fix="Releases are never overwritten"
            )
        staging = aside(folder)
        clear(staging)
        staging.mkdir()
        try:
            manifest = _write(contents, staging)
            problems = verify(staging, engine=contents.sharded.engine if contents.sharded else None).problems
            if problems:
                raise MachineError(
                    "what was written does not read back", problems[0], fix="Check the disk, then freeze again"
                )
            place(staging, folder)
        except BaseException:
            clear(staging)
            raise
    return Release(folder, manifest)


def _write(contents: Contents, staging: Path) -> Manifest:
    said, tally = contents.said, Tally()
    canary = said["canary"] or None
    marked = [shape.name for shape in contents.shapes if canary and shape.carries_canary]
    tables, sizes = _write_tables(contents, staging, tally, marked)
    document = {
        **contents.about,
        "manifest_version": MANIFEST_VERSION,
        "name": contents.name.benchmark,
        "version": str(contents.name.version),
        "parent": None,
        "card": {
            **{part: said[part] for part in said if part not in _NOT_OF_CARD},
            "order": [*tables, *(config.name for config in contents.configs)],
        },
        "form": form(),
        "canary": {"text": canary, "tables": marked} if canary else None,
        "configs": {},
        "tables": tables,
        "built": tally.built(contents.recipe),
        "review": tally.review(),
    }
    fresh = Release(staging, document)
    for config in contents.configs:
        document["configs"][config.name] = entry = write_config(fresh, config, canary)
        sizes[config.name] = config_size([staging / file["path"] for file in entry["files"]]).size
    document["curves"] = curves.measured(fresh)
    document["parent"] = contents.parent_of(fresh)
    document["files"] = _listed(staging)
    for path, content in descriptions(Release(staging, sealed(document)), sizes).items():
        (staging / path).parent.mkdir(exist_ok=True)
        (staging / path).write_bytes(content)
    manifest = sealed({**document, "files": _listed(staging)})
    (staging / MANIFEST).write_bytes(encode(manifest))
    return manifest


def _write_tables(
    contents: Contents, staging: Path, tally: Tally, marked: Sequence[str]
) -> tuple[dict[str, Any], dict[str, int]]:
    """Write tables and record schemas; the entries of the manifest, and the bytes of the canonical rows."""
    tables: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    (staging / "schemas").mkdir()
    for shape in contents.shapes:
        name = shape.name
        canary = contents.said["canary"] if name in marked else None
        if contents.sharded is None:
            written = write_table(staging, shape, contents.rows(name), canary=canary, tally=tally)
        else:
            written = contents.sharded(name, staging, tally, canary)
        tables[name], sizes[name] = {**written.entry, "roles": dict(shape.roles)}, written.size
        (staging / schema_path(name)).write_bytes(schema_file(shape.schema, name in marked))
    return tables, sizes


def _listed(staging: Path) -> dict[str, Any]:
    listed = {}
    for path in sorted(path for path in staging.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        listed[path.relative_to(staging).as_posix()] = {"bytes": path.stat().st_size, "sha256": sha256}
    return listed
