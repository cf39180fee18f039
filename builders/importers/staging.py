"""What an import has read so far: rows, findings and rejects, held back until everything is read.

A request that turns out to be wrong on the last file leaves the workspace as it was, as nothing is
written before ``write``. A row that does not fit its record schema is kept aside with the published
item, its file and its codes; the others go on. Every accepted row can be turned back into what was
published: where the row alone cannot say it, its ``published`` list does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from builders.importers.archives import Published
from builders.importers.codes import code
from builders.importers.documents import same, text
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.findings import Finding
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.records import failures, row_name

# Where rows come from; the same object in every row, which is never changed.
PROVENANCE: Mapping[str, Any] = {
    "origin": "imported",
    "backend": None,
    "model": None,
    "prompt": None,
    "prompt_digest": None,
    "seed": None,
    "revision": 0,
    "repairs": [],
}

# Rows by table and row id.
Tables = dict[str, dict[str, Row]]

FILES = "published_files"

# The field of a `published` entry that holds the whole published item.
WHOLE = "*"


class Stage:
    """The rows of one import, by table and row id, and what was found on the way."""

    def __init__(self, name: str) -> None:
        self.benchmark = benchmark(name)
        self.rows: Tables = {table: {} for table in self.benchmark.tables}
        self.findings: list[Finding] = []
        self.rejected: dict[str, list[dict[str, Any]]] = {table: [] for table in self.benchmark.tables}
        self._seen: dict[str, set[str]] = {table: set() for table in self.benchmark.tables}

    def add(self, rows: Mapping[str, Row], file: str, item: Any, back: Callable[..., Any]) -> str:
        """Accept or reject together the rows made of one published item, one a table; returns the first one's id.

        ``back`` makes the item of the rows again. Where it does not, the item goes whole into the
        ``published`` list of the last row. Raises RequestError for an id that a table already has.
        """
        ids = {name: self._new_id(name, row, file) for name, row in rows.items()}
        found = [
            finding
            for name, row in rows.items()
            for finding in failures(self.benchmark.table(name), [row], len(self._seen[name]))
        ]
        if found:
            self._reject(rows, ids, file, item, found)
        else:
            *_, (last, row) = rows.items()
            self._keep_whole(last, ids[last], row, back(*rows.values()), item)
            for name, row in rows.items():
                self.rows[name][ids[name]] = row
        return next(iter(ids.values()))

    def find(
        self, kind: str, table: str, row_id: str, field: str | None, message: str, text: str | None = None
    ) -> None:
        """Note an anomaly; ``kind`` is its code without the family ``published.``."""
        known = code(f"published.{kind}")
        self.findings.append(
            Finding(known.code, table, row_id, field, known.severity, None, text, message, known.source)
        )

    def add_file(self, name: str, content: bytes, outline: Any) -> None:
        """Record a published file; ``outline`` is its content with every row replaced by the row's id."""
        digest = hashlib.sha256(content).hexdigest()
        row = {"file": name, "bytes": len(content), "sha256": digest, "outline": text(outline), "published": []}
        self.add({FILES: row}, name, None, lambda row: None)

    def write(self, root: Path, command: Sequence[str], seed: int) -> Workspace:
        """Write tables, findings and rejects under the benchmark's lock, and how they were made."""
        workspace = Workspace(root, self.benchmark.name)
        with workspace.lock():
            # What follows replaces the rows one table at a time; until all are there, no recipe speaks for them.
            (workspace.folder / "recipe.json").unlink(missing_ok=True)
            for name, rows in self.rows.items():
                if not rows and self.benchmark.table(name).optional:
                    continue  # made from the imported tables by a builder, later
                workspace.write(name, rows.values())
                workspace.write_findings(name, (finding for finding in self.findings if finding.table == name))
                if self.rejected[name]:
                    workspace.write_rejected(name, self.rejected[name])
                else:
                    (workspace.folder / "rejected" / f"{name}.jsonl").unlink(missing_ok=True)
            workspace.write_recipe(command, seed, {"published": self.digest()})
        return workspace

    def counts(self) -> dict[str, int]:
        """Accepted rows by table."""
        return {name: len(rows) for name, rows in self.rows.items()}

    def digest(self) -> str:
        """SHA-256 over the digests of all published files: what was imported, folder or archive alike."""
        lines = (f"{row['file']} {row['sha256']}\n" for _, row in sorted(self.rows[FILES].items()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def _new_id(self, name: str, row: Row, file: str) -> str:
        seen = self._seen[name]
        row_id = row_name(self.benchmark.table(name), row, len(seen) + 1)
        if row_id in seen:
            raise RequestError("duplicate id", file, row=row_id, expected="each id once", fix="Remove one of the two")
        seen.add(row_id)
        return row_id

    def _reject(
        self, rows: Mapping[str, Row], ids: Mapping[str, str], file: str, item: Any, found: list[Finding]
    ) -> None:
        self.findings += [replace(finding, message=f"{finding.message} (in {file})") for finding in found]
        codes = sorted({finding.code for finding in found})
        for name, row in rows.items():
            record = {"file": file, "row_id": ids[name], "codes": codes, "row": row, "published": item}
            self.rejected[name].append(record)

    def _keep_whole(self, name: str, row_id: str, row: Row, made: Any, item: Any) -> None:
        if same(made, item):
            return
        row["published"] = [*row["published"], {"field": WHOLE, "value": text(item)}]
        fields = ", ".join(_differing(made, item))
        self.find("unmapped", name, row_id, None, f"kept as published beside the row: {fields}", fields)


def require(published: Published, names: Sequence[str]) -> None:
    """Raise RequestError for the first of the files that is not there."""
    for name in names:
        if name not in published.files:
            raise RequestError("missing file", f"{published.where}/{name}", fix="Fetch the dataset again, whole")


def where(published: Published, name: str) -> str:
    """How messages name a published file."""
    return f"{published.where}/{name}"


def pick(item: Any, names: Mapping[str, str] | Sequence[str]) -> Any:
    """The named fields that an object has, renamed by a mapping ``{theirs: ours}``; no object: itself."""
    if not isinstance(item, dict):
        return item
    pairs = names.items() if isinstance(names, Mapping) else ((name, name) for name in names)
    return {ours: item[theirs] for theirs, ours in pairs if theirs in item}


def published_value(row: Row, field: str) -> Any:
    """What the ``published`` list of a row says of a field; None where it says nothing."""
    for entry in row["published"]:
        if entry["field"] == field:
            return orjson.loads(entry["value"])
    return None


def _differing(made: Any, item: Any) -> list[str]:
    """The fields of an item that a row does not give back."""
    return [
        key
        for key in sorted(made.keys() | item.keys())
        if key not in made or key not in item or not same(made[key], item[key])
    ]
