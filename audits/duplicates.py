"""Near-duplicates: rows of one window that tell the same episode again, and which of the two to drop.

HEART-BENCH appendix B.4, criterion 4: cosine above 0.85 over TF-IDF vectors of the narratives within
a character's developmental window. The pairs are exactly those of scikit-learn's ``TfidfVectorizer``
(default settings) fitted on each window: the weight of a word depends on the texts it stands among.
``--across`` makes all rows one window, over stages and characters, which is no rule of the paper:
its findings are warnings. Of two rows the earlier is kept, then the more intense, then the lower id.

    python -m audits.duplicates --benchmark heart --json
    python -m audits.duplicates --benchmark heart --rows mine.jsonl --window character_id --field content_full
"""

from __future__ import annotations

import argparse
import math
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from audits.neighbours import cosine_pairs, cosines, one_blas_thread
from audits.reading import OURS, Subject, printable, subjects
from audits.tfidf import spread
from schemas import command
from schemas.errors import RequestError
from schemas.findings import Finding, counts, in_order
from schemas.rows import read_jsonl
from schemas.tables import Row
from schemas.workspace import Workspace

__all__ = ["CODE", "MEMORIES", "THRESHOLD", "Scope", "cosine_pairs", "cosines", "findings"]

CODE = "duplicate.semantic"
THRESHOLD = 0.85

_INTENSITY = "emotion_signature.intensity"


@dataclass(frozen=True)
class Scope:
    """What is compared with what: a text field, within rows that agree on the window's columns."""

    table: str = "memories"
    key: tuple[str, ...] = ("id",)
    field: str = "content_full"
    window: tuple[str, ...] = ("character_id", "stage")


MEMORIES = Scope()


def findings(
    rows: Sequence[Row], processes: int = 1, across: bool = False, scope: Scope = MEMORIES, threshold: float = THRESHOLD
) -> list[Finding]:
    """One finding a pair above the threshold, on the row to drop; the message names the row to keep.

    ``processes`` windows are compared side by side; the result does not depend on it. Rows without
    text in the field are not compared: a missing field is another audit's finding. Raises RequestError
    past ``audits.neighbours.MOST_PAIRS`` pairs in a window.
    """
    windows = _windows(rows, scope, across)
    inside = processes if len(windows) == 1 else 1

    def search(window: Sequence[Subject]) -> list[Finding]:
        pairs = cosine_pairs([each.row[scope.field] for each in window], threshold, inside)
        return [_finding(window[one], window[other], cosine, scope, threshold, across) for one, other, cosine in pairs]

    with one_blas_thread():
        return in_order(found for window in spread(search, windows, processes) for found in window)


def _windows(rows: Sequence[Row], scope: Scope, across: bool) -> list[list[Subject]]:
    """The rows that are compared with one another; rows without a window's column are a window too."""
    windows: dict[tuple[str, ...], list[Subject]] = defaultdict(list)
    for each in subjects(scope.table, scope.key, rows, 0):
        if isinstance(each.row.get(scope.field), str):
            windows[() if across else tuple(str(each.row.get(column)) for column in scope.window)].append(each)
    return [window for window in windows.values() if len(window) > 1]


def _finding(one: Subject, other: Subject, cosine: float, scope: Scope, threshold: float, across: bool) -> Finding:
    (kept, dropped), why = _keeper(one, other)
    where = "across all rows" if across else ", ".join(str(dropped.row.get(column)) for column in scope.window)
    text = dropped.row[scope.field]
    return Finding(
        code=CODE,
        table=scope.table,
        row_id=dropped.id,
        field=scope.field,
        severity="warning" if across else "error",
        span=(0, len(text)),
        text=printable(text),
        message=f"nearly the same as {kept.id}, which is kept as {why}: "
        f"TF-IDF cosine {cosine:.4f} > {threshold:g} ({where})",
        source=OURS if across else "HEART-BENCH appendix B.4 (4)",
    )


def _keeper(one: Subject, other: Subject) -> tuple[tuple[Subject, Subject], str]:
    """The two rows, the one to keep first, and why it is that one; what has no age or intensity comes last."""
    reasons = (
        ("the earlier", _or_last(one.number("age")), _or_last(other.number("age"))),
        ("the more intense", _or_last(one.number(_INTENSITY), -1), _or_last(other.number(_INTENSITY), -1)),
        ("the lower id", one.id, other.id),
    )
    for why, first, second in reasons:
        if first != second:
            return ((one, other) if first < second else (other, one)), why  # type: ignore[operator]
    return (one, other), "the first"


def _or_last(value: float | None, sign: int = 1) -> float:
    return math.inf if value is None else sign * value


def main(argv: Sequence[str] | None = None) -> int:
    """Report the near-duplicates of a table; exit code 1 when there are any."""
    made = command.parser(
        "audits.duplicates",
        "Find rows that tell the same text again: TF-IDF cosine above a threshold within a window.",
        "python -m audits.duplicates --benchmark heart --json",
    )
    made.add_argument("--benchmark", required=True, metavar="NAME", help="benchmark whose table is read")
    made.add_argument("--table", default=MEMORIES.table, metavar="T", help="table (default: memories)")
    made.add_argument("--rows", type=Path, metavar="FILE", help="read this JSON Lines file instead of the workspace")
    made.add_argument("--field", default=MEMORIES.field, metavar="F", help="text field (default: content_full)")
    made.add_argument(
        "--window",
        default=",".join(MEMORIES.window),
        metavar="COLUMNS",
        help="compare rows that agree on these columns (default: character_id,stage)",
    )
    made.add_argument("--across", action="store_true", help="compare all rows with one another")
    made.add_argument("--threshold", type=_threshold, default=THRESHOLD, metavar="X", help="cosine (default: 0.85)")
    made.add_argument(
        "--processes", type=_count, default=os.cpu_count() or 1, metavar="N", help="windows compared side by side"
    )
    return command.run(_run, made, argv)


def _threshold(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError("must be 0 or more and below 1")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _run(arguments: argparse.Namespace) -> int:
    workspace = Workspace(arguments.workspace, arguments.benchmark)
    table = workspace.benchmark.table(arguments.table)
    if arguments.rows is None and not workspace.keys(table.name):
        raise RequestError("no rows", workspace.path(table.name).parent, mend="Build or import the table first")
    rows = list(read_jsonl(arguments.rows) if arguments.rows else workspace.rows(table.name))
    scope = Scope(table.name, table.key, arguments.field, tuple(filter(None, arguments.window.split(","))))
    compared = sum(isinstance(row.get(scope.field), str) for row in rows)
    if rows and not compared:
        raise RequestError(
            "no text to compare", arguments.rows or table.name, field=scope.field, mend="Name a text field with --field"
        )
    found = findings(rows, arguments.processes, arguments.across, scope, arguments.threshold)
    if arguments.json:
        command.print_json(
            {
                "rows": len(rows),
                "compared": compared,
                "counts": counts(found),
                "findings": [finding.as_dict() for finding in found],
            }
        )
    for finding in found:
        command.say(f"{finding.row_id}  {finding.message}", quiet=arguments.quiet or arguments.json)
    command.say(f"{len(found)} pairs in {compared} of {len(rows)} rows", quiet=arguments.quiet)
    return command.FINDINGS if found else command.DONE


if __name__ == "__main__":
    raise SystemExit(main())
