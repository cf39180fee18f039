"""A release made of another one: some of its tables, some of their rows, under a name of its own.

Its manifest names the release it was taken from (``variant``) and says what was left out. ``without_keys`` is what a
hub can show to everybody: questions and what is shown with them, no table that holds keys or gold, no reviews.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from releases.cards.configs import Config
from releases.cards.describing import schema_path
from releases.cards.texts import card_texts
from releases.opening import Release
from releases.writing import Contents, Shape, write_release
from schemas.benchmarks import benchmark, benchmark_names
from schemas.errors import RequestError, unknown
from schemas.release_names import CANARY, Name
from schemas.tables import Row

WITHOUT_KEYS = "without-keys"

Keep = Callable[[Row], bool]


@dataclass(frozen=True)
class Variant:
    """What is made of a release: the suffix of its name, what the card says was done, the tables, and their rows.

    ``rows`` says for a table which of its rows are kept; of a table that it does not name, all.
    """

    suffix: str
    what: str
    tables: Sequence[str]
    rows: Mapping[str, Keep] = field(default_factory=dict)


def name_of(source: Release, suffix: str) -> Name:
    """``heart@2.0.0`` -> ``heart-without-keys@2.0.0``."""
    return Name(f"{source.name.benchmark}-{suffix}", source.version)


def without_keys(source: Release) -> Variant:
    """The variant that holds no key, no gold and no review. Raises RequestError where nothing would be left out."""
    kept = [name for name in _ordered(source) if not _tells_answers(source, name)]
    left_out = [name for name in _ordered(source) if name not in kept]
    if not left_out or not kept:
        raise RequestError("no keys to leave out", source.name, fix="Publish the release as it is")
    what = f"The keys are not in this release: {', '.join(f'`{name}`' for name in left_out)} are left out."
    return Variant(WITHOUT_KEYS, what, kept)


def write_variant(source: Release, variant: Variant, root: Path) -> Release:
    """Write a variant under ``root``; it is verified, read-only, and refuses to replace another one."""
    name = name_of(source, variant.suffix)
    said = _texts(source, variant)
    manifest = source.manifest
    audits = {table: checked for table, checked in manifest["checks"]["audits"].items() if table in variant.tables}
    contents = Contents(
        name=name,
        shapes=[_shape(source, table) for table in variant.tables],
        rows=lambda table: _rows(source, table, variant.rows.get(table)),
        said=said,
        configs=_configs(source, variant.tables),
        recipe=manifest["built"]["recipe"],
        about={
            **{part: manifest[part] for part in ("title", "paper", "license", "released")},
            "doi": None,
            "history": [],
            "variant": {
                "of": str(source.name),
                "digest": source.digest,
                "content_digest": source.content_digest,
                "what": variant.what,
            },
            "checks": {**manifest["checks"], "audits": audits},
        },
    )
    return write_release(contents, name.folder(root))


def _tells_answers(source: Release, table: str) -> bool:
    roles = source.manifest["tables"][table].get("roles")
    if roles is None:
        raise RequestError("a release that does not say what its columns mean", source.name, fix="Freeze a new version")
    return roles["role"] == "keys" or bool(roles["gold"]) or roles["record"] == "reviews"


def _ordered(source: Release) -> list[str]:
    order = source.manifest.get("card", {}).get("order", [])
    return [*(name for name in order if name in source.tables), *(n for n in source.tables if n not in order)]


def _shape(source: Release, table: str) -> Shape:
    entry = source.manifest["tables"][table]
    schema: dict[str, Any] = orjson.loads((source.folder / schema_path(table)).read_bytes())
    schema["properties"] = {name: node for name, node in schema["properties"].items() if name != CANARY}
    return Shape(table, tuple(entry["key"]), schema, entry["roles"])


def _rows(source: Release, table: str, keep: Keep | None) -> Iterator[Row]:
    return source.rows(table) if keep is None else (row for row in source.rows(table) if keep(row))


def _texts(source: Release, variant: Variant) -> dict[str, Any]:
    """The card's texts: those of the source, or of the shipped benchmark where the source is of an older form."""
    said = source.manifest.get("card")
    if said is None:
        if source.name.benchmark not in benchmark_names():
            raise unknown("benchmark", source.name.benchmark, benchmark_names())
        said = card_texts(benchmark(source.name.benchmark))
    default = said["default_table"] if said["default_table"] in variant.tables else variant.tables[0]
    made = {**said, "default_table": default}
    if variant.suffix == WITHOUT_KEYS:
        made["recipe"] = said.get("recipe_without_keys", "")
        made["recipe_about"] = said.get("recipe_without_keys_about", "")
        made["floors_about"] = ""  # nothing can be scored here
    return made


def _configs(source: Release, tables: Sequence[str]) -> list[Config]:
    """The configurations whose tables are all there."""
    made = []
    for name, entry in source.manifest.get("configs", {}).items():
        if set(entry["needs"]) <= set(tables):
            made.append(Config(name, entry["about"], tuple(entry["needs"]), entry["sql"]))
    return made
