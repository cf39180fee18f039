"""Is the shape right? Rows, tables, links and counts of a benchmark, each finding named by row and field.

- ``checks.check``   all of it on tables in memory or streaming; a ``report.Report`` comes back
- ``records``        rows against their JSON Schema
- ``frames``, ``rules``   rules of tables, checked by pandera; rows beside the rows they name
- ``links``          references between tables, expected numbers of rows
- ``distributions``   figures: how far apart characters are, how evenly rows are spread
- ``sources``        tables of a workspace, of a release, of a user's file

    python -m validators --benchmark heart
"""

from validators.checks import check
from validators.report import Check, Report, Skipped

__all__ = ["Check", "Report", "Skipped", "check"]
