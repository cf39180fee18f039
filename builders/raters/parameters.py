"""The scale of a planted rater, and the score such a rater gives to a turn of known quality.

Nobody knows how a person gets from a reply to a score, so nobody knows how well a judge *could* do or whether
calibration finds a person's scale. Here it is known: a turn has a level from 0 to 3 in each of four reasons
(PersTurnBench appendix B), a rater has weights over the reasons, a leniency, thresholds and a noise, and

    worth = sum of weight * level / 3 + leniency + noise * e,  e ~ N(0, 1)
    score = 1 + number of thresholds below worth

A score of 3 or less names the reason that cost the rater most. Figures: ``seeds/raters.toml``.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from builders.pipeline.streams import Streams
from schemas.tables import term_ids

REASONS = tuple(term for term in term_ids("dissatisfaction_reasons") if term not in ("other", "satisfied"))
"""The reasons that a reply can be good or bad in; ``other`` and ``satisfied`` are none."""

TOP_LEVEL = 3
SATISFIED_FROM = 4

_SEEDS = Path(__file__).parents[1] / "seeds" / "raters.toml"

Levels = Mapping[str, int]


@dataclass(frozen=True)
class Scale:
    """How one rater gives scores; all but ``weights`` in shares of full quality."""

    leniency: float
    thresholds: tuple[float, ...]
    weights: Mapping[str, float]
    noise: float

    def worth(self, levels: Levels) -> float:
        """What a turn is worth to the rater, noise left out."""
        return self.leniency + sum(self.weights[reason] * levels[reason] / TOP_LEVEL for reason in REASONS)

    def score(self, worth: float) -> int:
        """The score from 1 to 5 for a worth."""
        return 1 + sum(worth > threshold for threshold in self.thresholds)


@functools.cache
def settings() -> Mapping[str, Any]:
    """The figures of ``seeds/raters.toml``."""
    return tomllib.loads(_SEEDS.read_text("utf-8"))


def planted_scale(streams: Streams, rater_id: str) -> Scale:
    """The scale of a rater, rounded to four decimals as it stands in the table."""
    rng, given = streams.rng("raters", rater_id), settings()
    shares = [rng.gammavariate(given["weights"]["concentration"], 1.0) for _ in REASONS]
    noise = given["noise"]["median"] * math.exp(rng.gauss(0.0, given["noise"]["log_sd"]))
    return Scale(
        leniency=round(rng.gauss(0.0, given["leniency"]["sd"]), 4),
        thresholds=tuple(round(value, 4) for value in _thresholds(rng, given["thresholds"])),
        weights={reason: round(share / sum(shares), 4) for reason, share in zip(REASONS, shares, strict=True)},
        noise=round(noise, 4),
    )


def scale_of(planted: Mapping[str, Any]) -> Scale:
    """The scale in a row of ``raters``."""
    return Scale(planted["leniency"], tuple(planted["thresholds"]), planted["weights"], planted["noise"])


def planted_levels(rng: Random) -> dict[str, int]:
    """The levels of one turn; good replies tend to be good in every respect."""
    given = settings()["quality"]
    shared = rng.gauss(0.0, 1.0)
    drawn = {reason: given["shared"] * shared + given["own"] * rng.gauss(0.0, 1.0) for reason in REASONS}
    return {reason: sum(value > limit for limit in given["limits"]) for reason, value in drawn.items()}


def rate(scale: Scale, levels: Levels, rng: Random) -> tuple[int, str, float]:
    """Score, reason and worth (noise included) of a turn for a rater."""
    worth = scale.worth(levels) + scale.noise * rng.gauss(0.0, 1.0)
    score, other = scale.score(worth), rng.random() < settings()["reasons"]["other"]
    if score >= SATISFIED_FROM:
        return score, "satisfied", worth
    cost = {reason: scale.weights[reason] * (TOP_LEVEL - levels[reason]) for reason in REASONS}
    worst = max(REASONS, key=cost.__getitem__)
    return score, "other" if other or cost[worst] == 0 else worst, worth


def _thresholds(rng: Random, given: Mapping[str, Any]) -> list[float]:
    """Thresholds around the satisfied boundary, each gap stretched or shrunk by itself."""
    first, second, satisfied, top = given["between"]

    def stretched(gap: float) -> float:
        return gap * math.exp(rng.gauss(0.0, given["gap_sd"]))

    lower = satisfied - stretched(satisfied - second)
    return [lower - stretched(second - first), lower, satisfied, satisfied + stretched(top - satisfied)]
