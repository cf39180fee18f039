"""Make the rows of a release again from its recipe, and compare: same content, or where the two part.

The recipe is the builders' command, seed and settings that the manifest recorded; it runs in a
process and a workspace of its own. Only commands of ``builders`` are run, whatever a manifest says.
Rows that a model wrote come back the same only from the journal of their requests.

    python -m releases rebuild heart@2.0.0
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from releases.comparing import TableDiff, compare_rows
from releases.content import ContentDigest, canonical, to_batch
from releases.opening import Release, open_release
from releases.parquet import ROWS_PER_GROUP
from releases.source import rows_in_order
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.errors import MachineError, RequestError
from schemas.release_names import add_own_benchmark, add_release, benchmark_of
from schemas.tables import Row
from schemas.version import code_digest, package_version
from schemas.workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa

HELP = "make the rows of a release again and compare them"
EXAMPLE = "python -m releases rebuild heart@2.0.0"

_COMMAND = re.compile(r"builders(\.[a-z_]+)*")
_SHOWN = 3  # row ids named for each table that differs


@dataclass(frozen=True)
class Rebuilt:
    """A table of the release beside the rebuilt one."""

    table: str
    expected: str
    found: str | None
    diff: TableDiff | None

    @property
    def same(self) -> bool:
        """The content digests agree."""
        return self.expected == self.found


def rebuild(release: Release, root: Path, folder: str | None = None) -> list[Rebuilt]:
    """Run the release's recipe in the workspace root ``root`` and compare every table.

    A recipe names its benchmark; where that is a ``folder`` of one's own, the folder takes the place of the name.

    Raises RequestError for a release without a recipe or with one that is no builders' command,
    MachineError when the command fails.
    """
    command = _command(release)
    benchmark = benchmark_of(release.name, folder)
    command = [benchmark.spec if word == benchmark.name else word for word in command]
    done = subprocess.run([sys.executable, "-m", *command, "--workspace", str(root)], stdout=sys.stderr, check=False)
    if done.returncode not in (DONE, FINDINGS):
        raise MachineError(
            "rebuilding failed",
            expected=f"python -m {' '.join(command)} ended with {done.returncode}",
            fix="See above",
        )
    return compare(release, Workspace(root, benchmark.spec))


def compare(release: Release, workspace: Workspace) -> list[Rebuilt]:
    """Every table of a release beside the rows of a workspace."""
    return [_compare(release, workspace, name) for name in release.tables]


def _command(release: Release) -> list[str]:
    recipe = release.manifest["built"]["recipe"]
    if recipe is None:
        raise RequestError(
            "no recipe",
            release.name,
            expected="a release whose workspace recorded its command",
            fix="It cannot be rebuilt",
        )
    command = list(recipe["command"])
    if not command or not _COMMAND.fullmatch(command[0]) or any(word.startswith("--workspace") for word in command):
        raise RequestError("unusable recipe", release.name, expected="a command of builders", fix="It is not run")
    return command


def _compare(release: Release, workspace: Workspace, name: str) -> Rebuilt:
    expected = str(release.manifest["tables"][name]["content_digest"])
    if not workspace.keys(name):
        return Rebuilt(name, expected, None, None)
    digest = ContentDigest()
    for batch in _stored(release, workspace, name):
        digest.feed(canonical(batch), batch.num_rows)
    if digest.hexdigest() == expected:
        return Rebuilt(name, expected, expected, None)
    made = TableDiff(name, (release.tables[name], digest.rows))
    fresh = (row for batch in _stored(release, workspace, name) for row in batch.to_pylist())
    compare_rows(made, release.key(name), release.rows(name), fresh)
    return Rebuilt(name, expected, digest.hexdigest(), made)


def _stored(release: Release, workspace: Workspace, name: str) -> Iterator[pa.RecordBatch]:
    """The workspace's rows as the release's schema would hold them, in order of key."""
    schema, key = release.schema(name), release.key(name)
    block: list[Row] = []
    for row in rows_in_order(workspace, name):
        block.append(row)
        if len(block) == ROWS_PER_GROUP:
            yield to_batch(block, schema, name, key)[0]
            block = []
    if block:
        yield to_batch(block, schema, name, key)[0]


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``rebuild``."""
    add_release(made)
    add_own_benchmark(made)
    made.add_argument(
        "--keep", type=Path, metavar="DIR", help="rebuild there and leave it (default: a temporary folder)"
    )


def run(args: argparse.Namespace) -> int:
    """The verb."""
    release = open_release(args.release, args.frozen)
    _command(release)
    differences = _other_code(release)
    for line in differences:
        say(line, quiet=args.quiet)
    with contextlib.ExitStack() as stack:
        root = args.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="anamnesis-rebuild-")))
        compared = rebuild(release, root, args.benchmark)
    same = all(table.same for table in compared)
    if args.json:
        tables = {table.table: _document(table) for table in compared}
        print_json({"release": str(release.name), "same": same, "other_code": differences, "tables": tables})
        return DONE if same else FINDINGS
    for table in compared:
        say(_line(table), quiet=args.quiet and table.same)
    say(f"{release.name} {'rebuilds to the same content' if same else 'does not rebuild'}", quiet=args.quiet and same)
    return DONE if same else FINDINGS


def _other_code(release: Release) -> list[str]:
    """Why rows may differ although nothing is wrong."""
    recipe = release.manifest["built"]["recipe"]
    lines = []
    if recipe["version"] != package_version():
        lines.append(f"built by version {recipe['version']}, this is {package_version()}")
    if recipe["code_digest"] != code_digest():
        lines.append(f"built by code {recipe['code_digest'][:12]}, this is {code_digest()[:12]}: rows may differ")
    return lines


def _document(table: Rebuilt) -> dict[str, Any]:
    found = table.diff
    return {
        "same": table.same,
        "expected": table.expected,
        "found": table.found,
        "added": found.added if found else [],
        "removed": found.removed if found else [],
        "changed_by_field": found.by_field() if found else {},
        "changed": list(found.changed) if found else [],
    }


def _line(table: Rebuilt) -> str:
    if table.same:
        return f"  {table.table}: same"
    if table.diff is None:
        return f"  {table.table}: not rebuilt"
    found = table.diff
    ids = [*found.changed, *found.added, *found.removed][:_SHOWN]
    fields = ", ".join(f"{name} {count:,}" for name, count in found.by_field().items())
    counts = f"{len(found.added):,} added, {len(found.removed):,} removed, {len(found.changed):,} changed"
    return f"  {table.table}: {counts}{f' ({fields})' if fields else ''}, first at {', '.join(ids)}"
