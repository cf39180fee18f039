"""What a validation found, and what it looked at: checks with counts, findings, figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from schemas.findings import Finding, counts


@dataclass(frozen=True)
class Check:
    """A check that was run: over so many rows (values, for a link), of which so many failed.

    ``name`` is the code of its findings (``schema`` stands for all ``schema.*``), ``about`` what a
    failure is, in words; for a link, what points where.
    """

    name: str
    table: str
    about: str
    rows: int
    failures: int


@dataclass(frozen=True)
class Skipped:
    """A check that could not be run, and why."""

    name: str
    table: str
    about: str
    why: str


@dataclass(frozen=True)
class Report:
    """The outcome for one benchmark; ``findings`` in the one order in which they are always reported.

    ``reports`` are named figures (``memories.stages``), each a list of flat records or a record.
    """

    benchmark: str
    rows: Mapping[str, int]
    checks: tuple[Check, ...]
    skipped: tuple[Skipped, ...]
    findings: tuple[Finding, ...]
    reports: Mapping[str, Any]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make rows unfit; warnings and notes do not."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def as_dict(self) -> dict[str, Any]:
        """The document of ``--json``."""
        return {
            "benchmark": self.benchmark,
            "rows": dict(self.rows),
            "checks": [asdict(check) for check in self.checks],
            "skipped": [asdict(check) for check in self.skipped],
            "counts": counts(self.findings),
            "findings": [finding.as_dict() for finding in self.findings],
            "reports": dict(self.reports),
        }
