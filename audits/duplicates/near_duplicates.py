"""Near-duplicates: rows of one window that tell the same episode again, and which of the two to drop.

HEART-BENCH appendix B.4, criterion 4: cosine above 0.85 over TF-IDF vectors of the narratives within
a character's developmental window. The pairs are exactly those of scikit-learn's ``TfidfVectorizer``
(default settings) fitted on each window: the weight of a word depends on the texts it stands among.
``--across`` makes all rows one window, over stages and characters, which is no rule of the paper:
its findings are warnings. Of two rows the earlier is kept, then the more intense, then the lower id;
a row that several are nearly the same as is found once, with all of them.

    python -m audits.duplicates --benchmark heart --json
    python -m audits.duplicates --benchmark heart --rows mine.jsonl --window character_id --field content_full
"""

from __future__ import annotations

import argparse
import math
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from audits.duplicates.neighbours import cosine_pairs, cosines, one_blas_thread
from audits.duplicates.tfidf import spread
from audits.own_rows import add_rows, rows_of
from audits.subjects import OURS, Subject, printable, subjects
from schemas import command
from schemas.benchmarks import benchmark
from schemas.errors import RequestError, unknown
from schemas.findings import Finding, counts, in_order
from schemas.records import term_between, vocabulary
from schemas.sources import add_source
from schemas.tables import Row

__all__ = ["CODE", "MEMORIES", "THRESHOLD", "Scope", "cosine_pairs", "cosines", "findings"]

CODE = "duplicate.semantic"
THRESHOLD = 0.85

_INTENSITY = "emotion_signature.intensity"
_REASONS = ("the earlier", "the more intense", "the lower id")
_TOLD = 20
"""Rows that a message names beside the kept one; a text that stands there a thousand times has more."""


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
    """One finding a row to drop; the message names the row to keep, and the others it is nearly the same as.

    ``processes`` windows are compared side by side; the result does not depend on it. Rows without
    text in the field are not compared: a missing field is another audit's finding. Raises RequestError
    past ``audits.duplicates.neighbours.MOST_PAIRS`` pairs in a window.
    """
    read = subjects(scope.table, scope.key, rows, 0)
    windows = _windows(read, scope, across)
    twice = {row_id for row_id, times in Counter(each.id for each in read).items() if times > 1}
    inside = processes if len(windows) == 1 else 1

    def search(window: Sequence[Subject]) -> list[Finding]:
        pairs = cosine_pairs([each.row[scope.field] for each in window], threshold, inside)
        return [_finding(found, scope, threshold, across, twice) for found in _copies(window, pairs, twice)]

    with one_blas_thread():
        return in_order(found for window in spread(search, windows, processes) for found in window)


def _windows(read: Sequence[Subject], scope: Scope, across: bool) -> list[list[Subject]]:
    """The rows that are compared with one another; rows without a window's column are a window too."""
    windows: dict[tuple[str, ...], list[Subject]] = defaultdict(list)
    for each in read:
        if isinstance(each.row.get(scope.field), str):
            windows[() if across else _window(each, scope)].append(each)
    return [window for window in windows.values() if len(window) > 1]


def _window(subject: Subject, scope: Scope) -> tuple[str, ...]:
    """What a row has in the window's columns, "" for what it lacks; a stage that is not told is that of the age."""
    told = {column: subject.row.get(column) for column in scope.window}
    if "stage" in told and told["stage"] is None:
        told["stage"] = _stage(subject.number("age"))
    return tuple("" if value is None else str(value) for value in told.values())


def _stage(age: float | None) -> str | None:
    stage = None if age is None else term_between(vocabulary("memory_stages"), age)
    return None if stage is None else str(stage["id"])


@dataclass
class _Copy:
    """A row to drop, the best row it is nearly the same as, how alike they are; and the other such rows.

    The best one ``stays`` unless it has to be dropped for a third.
    """

    dropped: Subject
    kept: Subject
    stays: bool
    cosine: float
    others: list[tuple[str, float]]
    more: int = 0


def _copies(window: Sequence[Subject], pairs: Sequence[tuple[int, int, float]], twice: Collection[str]) -> list[_Copy]:
    """The rows that a better one is nearly the same as; kept for it is the best that has to be dropped for none."""
    rank = {number: place for place, number in enumerate(sorted(range(len(window)), key=lambda n: _rank(window[n])))}
    ranked = [((one, other) if rank[one] < rank[other] else (other, one), cosine) for one, other, cosine in pairs]
    dropped = {worse for (_, worse), _ in ranked}
    ranked.sort(key=lambda pair: (pair[0][0] in dropped, rank[pair[0][0]]))
    found: dict[int, _Copy] = {}
    for (better, worse), cosine in ranked:
        if worse not in found:
            found[worse] = _Copy(window[worse], window[better], better not in dropped, cosine, [])
        elif len(found[worse].others) < _TOLD:
            found[worse].others.append((_named(window[better], twice), cosine))
        else:
            found[worse].more += 1
    return list(found.values())


def _rank(subject: Subject) -> tuple[float, float, str]:
    """Lowest for the row to keep: the earlier, then the more intense, then the lower id; nothing told comes last."""
    return _or_last(subject.number("age")), _or_last(subject.number(_INTENSITY), -1), subject.id


def _named(subject: Subject, twice: Collection[str]) -> str:
    """The id of a row, and its place where another row carries the id as well."""
    return f"{subject.id} (row {subject.place})" if subject.id in twice else subject.id


def _finding(found: _Copy, scope: Scope, threshold: float, across: bool, twice: Collection[str]) -> Finding:
    one, other = _rank(found.kept), _rank(found.dropped)
    why = next((name for name, a, b in zip(_REASONS, one, other, strict=True) if a != b), "the first")
    where = "across all rows" if across else ", ".join(filter(None, _window(found.dropped, scope)))
    also = [f"{row_id} {cosine:.4f}" for row_id, cosine in found.others] + [f"{found.more:,} more"] * (found.more > 0)
    text = found.dropped.row[scope.field]
    return Finding(
        code=CODE,
        table=scope.table,
        row_id=found.dropped.id,
        field=scope.field,
        severity="warning" if across else "error",
        span=(0, len(text)),
        text=printable(text),
        message=f"{f'row {found.dropped.place}: ' if found.dropped.id in twice else ''}"
        f"nearly the same as {_named(found.kept, twice)}, which is {'kept as ' if found.stays else ''}{why}: "
        f"TF-IDF cosine {found.cosine:.4f} > {threshold:g}{f' ({where})' if where else ''}"
        f"{'; also as ' if also else ''}{', '.join(also)}",
        source=OURS if across else "HEART-BENCH appendix B.4 (4)",
    )


def _or_last(value: float | None, sign: int = 1) -> float:
    return math.inf if value is None else sign * value


def main(argv: Sequence[str] | None = None) -> int:
    """Report the near-duplicates of a table; exit code 1 when there are any."""
    made = command.parser(
        "audits.duplicates",
        "Find rows that tell the same text again: TF-IDF cosine above a threshold within a window.",
        "python -m audits.duplicates --benchmark heart --json",
    )
    add_source(made)
    made.add_argument("--benchmark", required=True, metavar="NAME", help="benchmark whose table is read")
    made.add_argument("--table", default=MEMORIES.table, metavar="T", help="table (default: memories)")
    add_rows(made)
    made.add_argument("--field", default=MEMORIES.field, metavar="F", help="text field (default: content_full)")
    made.add_argument(
        "--window",
        default=",".join(MEMORIES.window),
        metavar="COLUMNS",
        help="compare rows that agree on these columns (default: character_id,stage)",
    )
    made.add_argument("--across", action="store_true", help="compare all rows with one another")
    made.add_argument(
        "--threshold", type=command.number(0, 1), default=THRESHOLD, metavar="X", help="cosine (default: 0.85)"
    )
    made.add_argument(
        "--processes",
        type=command.whole_number(1, 256),
        default=os.cpu_count() or 1,
        metavar="N",
        help="windows compared side by side",
    )
    return command.run(_run, made, argv)


def _run(arguments: argparse.Namespace) -> int:
    table = benchmark(arguments.benchmark).table(arguments.table)
    rows = rows_of(arguments, table.name)
    window = tuple(filter(None, arguments.window.split(",")))
    scope = Scope(table.name, table.key, arguments.field, window)
    known = {*table.schema["properties"], *(name for row in rows for name in row)}
    if odd := [] if arguments.across else [name for name in window if name not in known]:
        raise unknown("column", odd[0], known, "--window")
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
    command.say(f"{len(found)} of {compared} rows with text repeat another ({len(rows)} rows)", quiet=arguments.quiet)
    return command.FINDINGS if found else command.DONE


if __name__ == "__main__":
    raise SystemExit(main())
