"""What rows of a user lack: columns that none of them has, and columns that a row may be without."""

from __future__ import annotations

from dataclasses import dataclass

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OwnRows:
    """``absent``: columns that no row has; ``may_lack``: those, and what is derived or known to a builder only."""

    absent: frozenset[str] = NONE
    may_lack: frozenset[str] = NONE
