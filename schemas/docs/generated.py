"""Documents that are written from the files and the code they describe, and the check that they are not stale.

A module that can write its document ends in a ``main`` that calls ``command``: without arguments it
writes, with ``--check`` it writes nothing and exits with 1 when the file differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from schemas.command import DONE, FINDINGS, parser, print_json, run, say
from schemas.rows import write_whole


def command(prog: str, description: str, default: Path, text: Callable[[], str], argv: Sequence[str] | None) -> int:
    """Run the command ``prog``, which writes ``text()`` to ``--file``; returns its exit code."""
    made = parser(prog, description, f"python -m {prog} --check")
    made.add_argument("--file", type=Path, default=default, metavar="FILE", help=f"default: {default}")
    made.add_argument("--check", action="store_true", help="write nothing; exit code 1 when the file is stale")

    def write_or_check(arguments: argparse.Namespace) -> int:
        path, content, quiet = arguments.file, text().encode(), arguments.quiet or arguments.json
        fresh = path.is_file() and path.read_bytes() == content
        if not arguments.check:
            write_whole(path, [content])
        if arguments.json:
            print_json({"file": str(path), "fresh": fresh, "written": not arguments.check})
        if arguments.check and not fresh:
            say(f"{path} is stale. Run: python -m {prog}", quiet=quiet)
            return FINDINGS
        say(f"{path} is up to date" if arguments.check else f"wrote {path}", quiet=quiet)
        return DONE

    return run(write_or_check, made, argv)


def markdown_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table; bars in the cells are escaped."""
    escaped = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}", *(f"| {' | '.join(row)} |" for row in escaped)]
