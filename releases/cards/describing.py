"""All that a release says of itself, made from its manifest, its record schemas and its rows, and from nothing else.

``freeze`` writes it, and ``verify`` makes it again and compares: a card, a figure or a description that was changed
afterwards is found, also under a manifest that was adapted to it. ``form`` names the code that writes it; a release
of another form is compared in what is counted (``releases.cards.facts``).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from releases.asking.bounded import Patience
from releases.cards import baselines, card, curves
from releases.cards.croissant import croissant
from releases.cards.figures import bars, draw
from releases.cards.front_matter import head
from releases.cards.zenodo import zenodo
from releases.opening import Release
from releases.query import PATIENCE, connect
from schemas.arrow import arrow_schema
from schemas.release_names import CANARY

CARD, CROISSANT, ZENODO = "README.md", "croissant.json", "zenodo.json"

_HERE = Path(__file__).parent
_WRITERS = ("*.py", "*.md", "croissant_context.json", "../examples.toml", "../views/*.sql")
_SAYS = "A string to search training corpora for. No part of the question: leave it out of every prompt."


@functools.cache
def form() -> str:
    """The digest of the code that describes releases, and of the version of the engine that it asks."""
    total = hashlib.sha256(importlib.metadata.version("duckdb").encode())
    for path in sorted(path for pattern in _WRITERS for path in _HERE.glob(pattern)):
        total.update(f"{path.name}\x1f{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def schema_path(table: str) -> str:
    """Where a release keeps the record schema of a table."""
    return f"schemas/{table}.schema.json"


def schema_file(schema: Mapping[str, Any], canary: bool) -> bytes:
    """A record schema as a release keeps it; with the canary, where its rows carry one."""
    if canary:
        schema = {**schema, "properties": {**schema["properties"], CANARY: {"type": "string", "description": _SAYS}}}
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def descriptions(release: Release, sizes: Mapping[str, int], patience: Patience | None = None) -> dict[str, bytes]:
    """Path -> content of every file that describes the release.

    ``sizes`` are the bytes of the canonical rows of each table and configuration. The manifest has to list the files
    of rows; the record schemas have to be in their place. ``patience`` is for all that the card asks (default: 600 s).
    """
    said, manifest = release.manifest["card"], dict(release.manifest)
    for part in ("tables", "configs"):  # in the order of the benchmark, which a stored manifest has lost
        manifest[part] = {name: manifest[part][name] for name in said["order"] if name in manifest[part]}
    schemas = {name: orjson.loads((release.folder / schema_path(name)).read_bytes()) for name in release.tables}
    columns = {name: arrow_schema(schema) for name, schema in schemas.items()}
    columns |= {name: _columns(release, entry) for name, entry in manifest["configs"].items()}
    patience = patience or Patience(PATIENCE)
    with connect(release) as connection:
        drawn = [(figure, bars(connection, figure, patience)) for figure in card.figures(said, release.tables)]
        measured = baselines.measured(connection, manifest, patience)
    every = [*drawn, *([curves.drawn(manifest["curves"])] if manifest["curves"] else [])]
    made = {f"{card.FIGURES}/{figure.name}.svg": draw(figure, shown).encode() for figure, shown in every}
    made[CROISSANT] = croissant(manifest, said, schemas, columns)
    made[ZENODO] = zenodo(manifest, said)
    body = card.body(manifest, schemas, said, card.Counted(drawn, measured))
    made[CARD] = f"{head(manifest, said, sizes)}\n{body}".encode()
    return made


def _columns(release: Release, entry: Mapping[str, Any]) -> Any:
    import pyarrow.parquet as pq

    return pq.read_schema(release.folder / entry["files"][0]["path"])
