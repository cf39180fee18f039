"""Importing the published data beside the bare parsing of their files, which nothing can undercut.

``parse`` reads the archive and the folder and parses every JSON file; ``import`` is what
``python -m builders.importers`` does for both datasets, written to disk; ``import_and_validate``
adds ``python -m validators`` for both. Needs the published data (``--data``).

    python -m perf.imports --data ../shared/data
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perf.harness import Comparison, Promise, Timed, main

SOURCES = {"heart": "heart", "personalens": "personalens/personalens-published.tar.xz"}


def _parse(arguments: argparse.Namespace) -> Timed:
    from builders.importers import archives, documents, heart, personalens

    def timed() -> Mapping[str, int]:
        files = lines = 0
        for layout, source in ((heart.LAYOUT, SOURCES["heart"]), (personalens.LAYOUT, SOURCES["personalens"])):
            for name, content in archives.read(arguments.data / source, layout).files.items():
                if name.endswith(".jsonl"):
                    lines += len(list(documents.parse_lines(content, name)))
                else:
                    documents.parse(content, name)
                files += 1
        return {"files": files, "lines": lines}

    return timed


def _import(arguments: argparse.Namespace) -> Timed:
    return lambda: _run(arguments.data, validate=False)


def _import_and_validate(arguments: argparse.Namespace) -> Timed:
    return lambda: _run(arguments.data, validate=True)


def _run(data: Path, *, validate: bool) -> Mapping[str, Any]:
    from builders.importers.__main__ import main as import_
    from validators.__main__ import main as check

    codes = []
    with tempfile.TemporaryDirectory() as workspace, contextlib.redirect_stdout(io.StringIO()):
        for dataset, source in SOURCES.items():
            codes.append(import_([dataset, "--from", str(data / source), "--workspace", workspace, "--quiet"]))
            if validate:
                codes.append(check(["--benchmark", f"{dataset}-published", "--workspace", workspace, "--json"]))
    return {"exit codes": "/".join(map(str, codes))}


CASES = {"parse": _parse, "import": _import, "import_and_validate": _import_and_validate}

# Below 1: how far behind the bare parsing the whole import may be.
COMPARISONS = (
    Comparison(
        "published",
        CASES,
        base="parse",
        promises=(Promise("import", "parse", 1 / 6), Promise("import_and_validate", "parse", 1 / 10)),
    ),
)


def _add_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with heart/ and personalens/")


if __name__ == "__main__":
    raise SystemExit(main("perf.imports", COMPARISONS, add_arguments=_add_arguments))
