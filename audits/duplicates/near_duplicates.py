"""Near-duplicates: rows of one window that tell the same episode again, and which of the two to drop.

HEART-BENCH appendix B.4, criterion 4: cosine above 0.85 over TF-IDF vectors of the narratives within
a character's developmental window. The pairs are exactly those of scikit-learn's ``TfidfVectorizer``
(default settings) fitted on each window: the weight of a word depends on the texts it stands among.
With ``across`` all rows are one window, which is no rule of the paper: its findings are warnings. Of two
rows the earlier stays, then the more intense, then the lower id; a row that several are nearly the
same as is found once, with all of them. The command is ``python -m audits.duplicates``.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from audits.duplicates.neighbours import cosine_pairs, one_blas_thread
from audits.duplicates.tfidf import spread
from audits.subjects import OURS, Subject, printable, subjects
from audits.tables import audited
from schemas.findings import Finding, in_order
from schemas.tables import Row, Table

CODE = "duplicate.semantic"
THRESHOLD = 0.85

_AGE, _FELT, _STRENGTH = "age", "emotion_signature", "intensity"
_INTENSITY = f"{_FELT}.{_STRENGTH}"
_REASONS = ("the earlier", "the more intense", "the lower id")
_LISTED = 20
"""Rows that a message names beside the one to keep; a text that stands there a thousand times has more."""


@dataclass(frozen=True)
class Scope:
    """What is compared with what: a text field, within rows that agree on the window's columns."""

    table: str
    key: tuple[str, ...]
    field: str
    window: tuple[str, ...]


def scope_of(table: Table | str) -> Scope:
    """What the benchmark says of a table with the audit ``duplicates``: its ``text`` and its ``window``."""
    chosen = audited(table)
    return Scope(chosen.name, chosen.key, chosen.text or "", chosen.window)


def findings(
    rows: Sequence[Row], scope: Scope, processes: int = 1, across: bool = False, threshold: float = THRESHOLD
) -> list[Finding]:
    """One finding a row to drop; the message names the row to keep, and the others it is nearly the same as.

    ``processes`` windows are compared side by side; the result does not depend on it. Rows without
    text in the field are not compared: a missing field is another audit's finding. Raises RequestError
    past ``audits.duplicates.neighbours.MOST_PAIRS`` pairs in a window.
    """
    read = subjects(scope.table, scope.key, rows, 0)
    twice = {row_id for row_id, times in Counter(each.id for each in read).items() if times > 1}
    return in_order(of_windows(_windows(read, scope, across), scope, twice, processes, across, threshold))


def of_windows(
    windows: Sequence[Sequence[Subject]],
    scope: Scope,
    twice: Collection[str],
    processes: int = 1,
    across: bool = False,
    threshold: float = THRESHOLD,
) -> list[Finding]:
    """The findings of windows, in order of window; ``twice`` are ids that several rows of the table carry."""
    inside = processes if len(windows) == 1 else 1

    def search(window: Sequence[Subject]) -> list[Finding]:
        pairs = cosine_pairs([each.row[scope.field] for each in window], threshold, inside)
        return findings_of_pairs(window, pairs, scope, threshold, twice, across)

    with one_blas_thread():
        return [found for window in spread(search, windows, processes) for found in window]


def findings_of_pairs(
    window: Sequence[Subject],
    pairs: Sequence[tuple[int, int, float]],
    scope: Scope,
    threshold: float,
    twice: Collection[str],
    across: bool = False,
) -> list[Finding]:
    """One finding for each row to drop, given the pairs of a window: places in it, from 0, and their cosine."""
    return [_finding(found, scope, threshold, across, twice) for found in _copies(window, pairs, twice)]


def slim(subject: Subject, scope: Scope) -> Row | None:
    """What of a row is needed to compare it with those of its window; None for a row without text."""
    row = subject.row
    if not isinstance(row.get(scope.field), str):
        return None
    felt = row.get(_FELT)
    made = {name: row[name] for name in (*scope.key, *scope.window, scope.field, _AGE) if name in row}
    return {**made, _FELT: {_STRENGTH: felt.get(_STRENGTH)}} if isinstance(felt, Mapping) else made


def window_of(subject: Subject, scope: Scope) -> tuple[str, ...]:
    """What a row has in the window's columns, "" for what it lacks."""
    values = (subject.row.get(column) for column in scope.window)
    return tuple("" if value is None else printable(str(value)) for value in values)


def _windows(read: Sequence[Subject], scope: Scope, across: bool) -> list[list[Subject]]:
    """The rows that are compared with one another; rows without a window's column are a window too."""
    windows: dict[tuple[str, ...], list[Subject]] = defaultdict(list)
    for each in read:
        if isinstance(each.row.get(scope.field), str):
            windows[() if across else window_of(each, scope)].append(each)
    return [window for window in windows.values() if len(window) > 1]


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
    """The rows that a better one is nearly the same as; the one to keep is the best that has to be dropped for none."""
    rank = {number: place for place, number in enumerate(sorted(range(len(window)), key=lambda n: _rank(window[n])))}
    ranked = [((one, other) if rank[one] < rank[other] else (other, one), cosine) for one, other, cosine in pairs]
    dropped = {worse for (_, worse), _ in ranked}
    ranked.sort(key=lambda pair: (pair[0][0] in dropped, rank[pair[0][0]]))
    found: dict[int, _Copy] = {}
    for (better, worse), cosine in ranked:
        if worse not in found:
            found[worse] = _Copy(window[worse], window[better], better not in dropped, cosine, [])
        elif len(found[worse].others) < _LISTED:
            found[worse].others.append((_named(window[better], twice), cosine))
        else:
            found[worse].more += 1
    return list(found.values())


def _rank(subject: Subject) -> tuple[float, float, str]:
    """Lowest for the row to keep: the earlier, then the more intense, then the lower id; unknown comes last."""
    return _or_last(subject.number(_AGE)), _or_last(subject.number(_INTENSITY), -1), subject.id


def _named(subject: Subject, twice: Collection[str]) -> str:
    """The id of a row, and its place where another row carries the id as well."""
    return f"{subject.id} (row {subject.place})" if subject.id in twice else subject.id


def _finding(found: _Copy, scope: Scope, threshold: float, across: bool, twice: Collection[str]) -> Finding:
    one, other = _rank(found.kept), _rank(found.dropped)
    why = next((name for name, a, b in zip(_REASONS, one, other, strict=True) if a != b), "the first")
    where = "across all rows" if across else ", ".join(filter(None, window_of(found.dropped, scope)))
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
