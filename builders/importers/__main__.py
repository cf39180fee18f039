"""Import a published dataset: its tables into the workspace, what is wrong with it into findings.

Reads a folder or an archive in the layout its authors publish. Everything is read and checked before
anything is written. Rows that do not fit their record schema lie in ``rejected/``, the others in their
tables; every anomaly is a finding in ``findings/<table>.jsonl``.

    python -m builders.importers heart --from PATH
    python -m builders.importers personalens --from PATH.tar.xz
    python -m builders.importers persturn --from PATH.zip
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from builders.importers.staging import Stage
from schemas import command
from schemas.errors import unknown
from schemas.findings import Finding, counts

DATASETS = ("heart", "personalens", "persturn")

_EXAMPLE_WIDTH = 110


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see the module's docstring."""
    arguments = command.parser(
        "builders.importers",
        "Import a published dataset into the workspace, losslessly, and list what is wrong with it.",
        "python -m builders.importers heart --from HEART-BENCH/benchmark",
    )
    arguments.add_argument("dataset", metavar="DATASET", help=f"one of {', '.join(DATASETS)}")
    arguments.add_argument(
        "--from", dest="source", type=Path, required=True, metavar="PATH", help="folder, .tar.* or .zip as published"
    )
    return command.run(_import, arguments, argv)


def _import(parsed: argparse.Namespace) -> int:
    from builders.importers import archives

    module = _module(parsed.dataset)
    published = archives.read(parsed.source, module.LAYOUT)
    stage: Callable[[archives.Published], Stage] = module.stage
    staged = stage(published)
    words = ["builders.importers", parsed.dataset, "--from", str(parsed.source)]
    workspace = staged.write(parsed.workspace, words, parsed.seed)
    found = counts(staged.findings)
    if parsed.json:
        document = {
            "benchmark": staged.benchmark.name,
            "tables": staged.counts(),
            "findings": found,
            "not_read": list(published.not_read),
            "workspace": str(parsed.workspace),
        }
        command.print_json(document)
    if not parsed.quiet:
        _summarise(staged, found, workspace.folder)
        if published.not_read:
            count, first = len(published.not_read), ", ".join(published.not_read[:3])
            command.say(f"\n{count:,} files are not of the layout and were not read, e.g. {first}")
    return command.FINDINGS if found else command.DONE


def _module(dataset: str) -> ModuleType:
    if dataset == "heart":
        from builders.importers import heart

        return heart
    if dataset == "personalens":
        from builders.importers import personalens

        return personalens
    if dataset == "persturn":
        from builders.importers import persturn

        return persturn
    raise unknown("dataset", dataset, DATASETS)


def _summarise(staged: Stage, found: dict[str, int], folder: Path) -> None:
    """Rows by table, then findings by code: how many, what it means, the first one."""
    from builders.importers.codes import meaning

    command.say(f"{staged.benchmark.title}: {folder}")
    for name, rows in staged.counts().items():
        aside = f", {len(staged.rejected[name])} rejected" if staged.rejected[name] else ""
        command.say(f"{rows:>8,}  {name}{aside}")
    if not found:
        command.say("No findings.")
        return
    command.say(f"\n{sum(found.values()):,} findings of {len(found)} kinds, in {folder / 'findings'}:")
    first: dict[str, Finding] = {}
    for finding in staged.findings:
        first.setdefault(finding.code, finding)
    for name, times in found.items():
        example = _place(first[name]) + f": {first[name].message}"
        command.say(f"{times:>8,}  {name}: {meaning(name)}")
        command.say(f"{'':>10}e.g. {_cut(example)}")


def _place(finding: Finding) -> str:
    field = f", {finding.field}" if finding.field else ""
    return f"{finding.table} {finding.row_id}{field}"


def _cut(text: str) -> str:
    return text if len(text) <= _EXAMPLE_WIDTH else text[: _EXAMPLE_WIDTH - 1] + "…"


if __name__ == "__main__":
    raise SystemExit(main())
