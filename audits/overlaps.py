"""One fault is one finding: what several codes find in the same words is merged.

Of findings whose spans overlap in one field the most severe stays, then the longest, then the first by
code; the codes of the others stand in its ``also``. Codes whose span is a stretch of the field instead of
the words at fault (``stretch = true`` in ``rules/*.toml``: a repeated sentence, the part past a limit) are
left as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from schemas.findings import Finding

_SEVERITY = {"error": 0, "warning": 1, "note": 2}

Span = tuple[int, int]


def merged(found: Iterable[Finding], twice: Collection[str], apart: Collection[str] = ()) -> list[Finding]:
    """The findings of rows, those of overlapping words merged; ``apart`` are codes left alone.

    So are rows whose id is among ``twice``, that several have: which of them a finding is about is not known.
    """
    made: list[Finding] = []
    fields: dict[tuple[str, str, str | None], list[Finding]] = {}
    for finding in found:
        if finding.span is None or finding.code in apart or finding.row_id in twice:
            made.append(finding)
        else:
            fields.setdefault((finding.table, finding.row_id, finding.field), []).append(finding)
    for those in fields.values():
        made += _without_overlaps(those) if len(those) > 1 else those
    return made


def _without_overlaps(found: Sequence[Finding]) -> list[Finding]:
    spans: list[Span] = []  # of the findings that stay, disjoint and in order
    codes: dict[Span, tuple[Finding, set[str]]] = {}
    for finding in sorted(found, key=_rank):
        span = finding.span or (0, 0)
        place = bisect_right(spans, span)
        near = [other for other in spans[max(0, place - 1) : place + 1] if other[0] < span[1] and span[0] < other[1]]
        if near:
            codes[near[0]][1].update(finding.codes)
        else:
            spans.insert(place, span)
            codes[span] = (finding, {*finding.codes})
    return [replace(best, also=tuple(sorted(every - {best.code}))) for best, every in codes.values()]


def _rank(finding: Finding) -> tuple[int, int, str, Span, str]:
    span = finding.span or (0, 0)
    return _SEVERITY[finding.severity], span[0] - span[1], finding.code, span, finding.message
