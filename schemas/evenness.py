"""Evenness: Shannon entropy of counts over its maximum, from 0 (one value) to 1 (all alike).

PersonaLens 2.4: E = H / ln k. The audits, the figures of validators and the check of profiles measure with it:

    python -m audits.evenness --benchmark personalens-published --table users
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def evenness(counts: Iterable[int], kinds: int | None = None) -> float | None:
    """H / ln k of counts of values; None where nothing was counted.

    k is the number of distinct values seen, or ``kinds``: how many there could have been. A single value has
    evenness 0, also where no other was possible. The order of the counts does not matter, to the last bit.
    """
    sizes = sorted(count for count in counts if count)
    if not sizes:
        return None
    if len(sizes) == 1:
        return 0.0
    total = sum(sizes)
    entropy = -math.fsum(size / total * math.log(size / total) for size in sizes)
    return min(entropy / math.log(kinds or len(sizes)), 1.0)  # the last bit may lie above
