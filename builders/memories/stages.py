"""The life stage of an age, as memories are planned in them (HEART-BENCH Table 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.records import term_between, vocabulary


def memory_stage(age: int) -> Mapping[str, Any]:
    """The memory stage of an age in years. Raises ValueError outside 6 to 50."""
    found = term_between(vocabulary("memory_stages"), age)
    if found is None:
        raise ValueError(f"no memory stage for age {age}: expected 6 to 50")
    return found
