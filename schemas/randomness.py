"""The only source of chance: a local generator from the digest of what is being made.

No clock, no global state, no dependence on the order or number of workers.
"""

from __future__ import annotations

import hashlib
import random


def rng_for(seed: int, benchmark: str, table: str, key: str, index: int = 0) -> random.Random:
    """A generator for one thing: SHA-256 of seed, benchmark, table, key and index.

    >>> rng_for(7, "heart", "memories", "CHAR_04").random() == rng_for(7, "heart", "memories", "CHAR_04").random()
    True
    """
    name = "\x1f".join((str(seed), benchmark, table, key, str(index)))
    return random.Random(int.from_bytes(hashlib.sha256(name.encode()).digest()[:16]))
