"""A finding: one thing wrong with one row. Data only; rendering is elsewhere.

Codes are ``family.kind`` in lower case and public API: documented, and stable within a major version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One defect.

    ``row_id`` joins the key columns with ``/``; ``span`` is a half-open range of characters in the
    text of ``field`` (None when the finding is not about particular words), and ``text`` is what
    stands there, or the offending value. ``source`` names the paper's section or our own rule.
    ``also`` are other codes that found the same words.
    """

    code: str
    table: str
    row_id: str
    field: str | None
    severity: Severity
    span: tuple[int, int] | None
    text: str | None
    message: str
    source: str
    also: tuple[str, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code that found it, its own first."""
        return (self.code, *self.also)

    def as_dict(self) -> dict[str, Any]:
        """The record that ``--json`` and ``findings/*.jsonl`` carry."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Finding:
        """The finding of such a record, read from JSON."""
        span = record["span"]
        return cls(**{**record, "span": span and tuple(span), "also": tuple(record.get("also", ()))})


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """Findings per code, in order of code."""
    return dict(sorted(Counter(finding.code for finding in findings).items()))


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the one order in which they are always reported: table, row, code, field, place."""
    return sorted(findings, key=lambda f: (f.table, f.row_id, f.code, f.field or "", f.span or (-1, -1), f.message))
