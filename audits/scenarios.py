"""scenario audits"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from schemas.findings import Finding
from schemas.tables import Row


def audit(
    rows: Sequence[Row], related: Mapping[str, Sequence[Row]], wanted: frozenset[str], first: int = 0
) -> list[Finding]:
    return []
