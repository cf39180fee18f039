"""The workspace: working rows between the stages, one folder a benchmark, one file a (table, key).

    build/heart/workspace.json          layout version
    build/heart/recipe.json             the command, seed, settings and code that made the rows
    build/heart/memories/CHAR_04.jsonl  finished rows, written whole
    build/heart/findings/memories.jsonl what is wrong with them
    build/heart/rejected/memories.jsonl rows that do not fit the schema, with their codes

A writer holds the benchmark's lock; a second one gets an error that names the holder. Readers need no lock, as
files only ever appear whole.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from schemas.benchmarks import Benchmark, benchmark
from schemas.errors import RequestError
from schemas.findings import Finding, in_order
from schemas.locks import held
from schemas.rows import read_jsonl, sweep, write_jsonl, write_whole
from schemas.tables import Row
from schemas.version import code_digest, package_version

LAYOUT = 1


class Workspace:
    """The working rows of one benchmark under ``root`` (the ``--workspace`` folder).

    ``spec`` names the benchmark as ``schemas.benchmarks.benchmark`` takes it; the folder has its name.
    """

    def __init__(self, root: Path, spec: str | Path) -> None:
        self.benchmark: Benchmark = benchmark(spec)
        self.folder = root / self.benchmark.name
        self._check_layout()

    def _check_layout(self) -> None:
        stamp = self.folder / "workspace.json"
        if not stamp.is_file():
            return
        try:
            layout = orjson.loads(stamp.read_bytes())["layout"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise RequestError(
                "malformed workspace stamp",
                stamp,
                fix="Move that folder away, or remove the stamp if the rows are good",
            ) from None
        if layout != LAYOUT:
            raise RequestError(
                "workspace of another version",
                stamp,
                expected=f"layout {LAYOUT}, found {layout}",
                fix="Use another --workspace",
            )

    def path(self, table: str, key: str = "all") -> Path:
        """The file of a table and key; it may not exist yet."""
        return self.folder / self.benchmark.table(table).name / f"{key}.jsonl"

    def keys(self, table: str) -> list[str]:
        """The keys a table has finished files for, in order."""
        return sorted(path.stem for path in self.path(table).parent.glob("*.jsonl") if not path.name.startswith("."))

    def rows(self, table: str, key: str | None = None) -> Iterator[Row]:
        """The rows of one file, or of all files of a table in order of key."""
        for name in [key] if key is not None else self.keys(table):
            yield from read_jsonl(self.path(table, name))

    def tables(self) -> dict[str, list[Row]]:
        """All rows of all tables that have any."""
        return {name: list(self.rows(name)) for name in self.benchmark.tables if self.keys(name)}

    def write(self, table: str, rows: Iterable[Mapping[str, Any]], key: str = "all") -> int:
        """Write a file of a table whole, rows sorted by the table's key; returns how many."""
        columns = self.benchmark.table(table).key
        ordered = sorted(rows, key=lambda row: tuple(row[column] for column in columns))
        return write_jsonl(self.path(table, key), ordered)

    def write_findings(self, name: str, findings: Iterable[Finding]) -> int:
        """Write ``findings/<name>.jsonl``."""
        return write_jsonl(
            self.folder / "findings" / f"{name}.jsonl", (finding.as_dict() for finding in in_order(findings))
        )

    def write_rejected(self, table: str, rejected: Iterable[Mapping[str, Any]]) -> int:
        """Write ``rejected/<table>.jsonl``: records with ``row`` and ``codes``."""
        return write_jsonl(self.folder / "rejected" / f"{table}.jsonl", rejected)

    def write_recipe(self, command: Sequence[str], seed: int, settings: Mapping[str, Any]) -> None:
        """Record how all rows of this workspace were made, for releases and for ``releases rebuild``.

        ``command`` are the words after ``python -m`` that make them again in an empty workspace, without
        ``--workspace`` and its value; ``settings`` what else determines the rows, as JSON values.
        """
        recipe = {
            "command": list(command),
            "seed": seed,
            "settings": dict(settings),
            "version": package_version(),
            "code_digest": code_digest(),
        }
        write_whole(self.folder / "recipe.json", [orjson.dumps(recipe, option=orjson.OPT_INDENT_2) + b"\n"])

    def recipe(self) -> dict[str, Any] | None:
        """What ``write_recipe`` recorded, or None. Raises RequestError for a malformed file."""
        path = self.folder / "recipe.json"
        if not path.is_file():
            return None
        try:
            recipe = orjson.loads(path.read_bytes())
            return {key: recipe[key] for key in ("command", "seed", "settings", "version", "code_digest")}
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise RequestError(
                "malformed recipe", path, fix="Build the rows again, or remove the file to freeze without a recipe"
            ) from None

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the benchmark for writing. Raises MachineError naming the holder when another process does."""
        with held(self.folder / ".lock", "workspace", self.folder, "Wait for it, or use another --workspace"):
            stamp = self.folder / "workspace.json"
            if not stamp.is_file():
                write_whole(stamp, [orjson.dumps({"layout": LAYOUT, "benchmark": self.benchmark.name}) + b"\n"])
            sweep(self.folder)
            yield
