"""Lists of objects in rows under audit, which may be missing or of another type: what can be read of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def entries(row: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    """The objects in a list; none where there is no list."""
    held = row.get(field)
    return [each for each in held if isinstance(each, Mapping)] if isinstance(held, list) else []


def values_of(row: Mapping[str, Any], field: str, name: str) -> list[Any]:
    """One value of every object in a list, None where it is missing."""
    return [each.get(name) for each in entries(row, field)]
