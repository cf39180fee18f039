"""What all sections of a chapter of judged texts share: results of one release and protocol, their names and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluators.scoring.ranking import Ranked


@dataclass(frozen=True)
class ScoredReport:
    """What the page is about: results of scores of one release, each with a name, and their ranks."""

    results: Sequence[Mapping[str, Any]]
    names: Sequence[str]
    ranks: Sequence[Ranked]

    def judged(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Each run's figures by metric and judge, under the run's name."""
        for name, result in zip(self.names, self.results, strict=True):
            for one in result["figures"]["judged"]:
                yield name, one
