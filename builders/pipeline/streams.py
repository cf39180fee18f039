"""The random streams of one build: every draw is named by seed, benchmark, table, key and index.

Two benchmarks that are built from the same tables with the same seed must not draw the same choices, so
the streams carry the benchmark's own name. Nothing in ``builders`` draws from anywhere else.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from schemas.randomness import rng_for


@dataclass(frozen=True)
class Streams:
    """Generators for the parts of one build of one benchmark; equal streams draw equal values.

    >>> Streams(7, "heart").rng("plan", "CHAR_04").random() == Streams(7, "heart").rng("plan", "CHAR_04").random()
    True
    """

    seed: int
    benchmark: str

    def rng(self, table: str, key: str, index: int = 0) -> random.Random:
        """A generator of its own for one thing."""
        return rng_for(self.seed, self.benchmark, table, key, index)
