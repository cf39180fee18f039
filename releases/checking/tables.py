"""The rows of a release beside its manifest: columns, order, number, content, canary.

The files' bytes are already known to be the declared ones; what is found here is a manifest that was adapted to other
rows. On the way rows are counted, for ``releases.checking.derived``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from releases.content import ContentDigest, are_finite, numbers_are, schema_digest
from releases.manifest import Manifest, Problem
from releases.parquet import canaries, read_batches, read_schema
from releases.provenance import Tally


@dataclass
class Counted:
    """What was counted on the way: rows by provenance and review, and the bytes of each table's canonical rows."""

    tally: Tally = field(default_factory=Tally)
    sizes: dict[str, int] = field(default_factory=dict)


def table_problems(folder: Path, manifest: Manifest, name: str, counted: Counted) -> list[Problem]:
    """What is wrong with a table's rows; at most one problem."""
    import pyarrow as pa

    table = manifest["tables"][name]
    digest = ContentDigest()
    before: tuple[str | int, ...] | None = None
    try:
        for file in table["files"]:
            path = folder / file["path"]
            if schema_digest(read_schema(path)) != table["schema_digest"]:
                return [Problem(file["path"], "table.schema", f"columns are not those of {name}")]
            start = digest.rows
            for batch in read_batches([path]):
                if not numbers_are(batch, are_finite):
                    return [Problem(file["path"], "table.content", "a number that is none (NaN)")]
                rows = batch.to_pylist()
                for row in counted.tally.watch(name, rows):
                    key = tuple(row[column] for column in table["key"])
                    if before is not None and key <= before:
                        place = f"{file['path']}, row {'/'.join(map(str, key))}"
                        return [Problem(place, "table.order", f"stands after {'/'.join(map(str, before))}")]
                    before = key
                digest.update(rows, batch)
            if digest.rows - start != file["rows"]:
                return [Problem(file["path"], "table.rows", f"{digest.rows - start} rows, declared {file['rows']}")]
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        return [Problem(name, "table.unreadable", str(error).splitlines()[0])]
    counted.sizes[name] = digest.size
    if digest.hexdigest() != table["content_digest"]:
        return [Problem(name, "table.content", f"rows give {digest.hexdigest()}, declared {table['content_digest']}")]
    return canary_problems(folder, manifest, name)


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
