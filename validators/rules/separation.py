"""How far apart the characters are: the largest difference of any Big Five score, for every pair.

HEART-BENCH 3.2 asks for 0.45 between all pairs, and its own Table 4 has 17 of 55 pairs below that
(the nearest 0.25 apart; a trait at .10 cannot be farther than .40 from the neutral character). So the
threshold that makes a finding is a setting, 0.25 unless said otherwise, and the figures name every
pair below the claim.

    python -m validators --benchmark heart --table characters --separation 0.3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import polars as pl

from validators.frames import ROW, Crossing

THRESHOLD = 0.25
CLAIMED = 0.45

READS = {"characters": ("character_id", "big_five")}

_DIGITS = 6  # scores have two decimals; a difference of .55 and .30 is not quite .25 in binary


def crossing(threshold: float) -> Crossing:
    """No character is nearer than the threshold to another one in every trait; named is the second of the two."""

    def too_near(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        rows = dict(frames["characters"].select("character_id", ROW).iter_rows())
        near = [(pair, apart) for pair, apart in distances(vectors(frames)).items() if apart < threshold]
        named = {ROW: [rows[other] for (_, other), _ in near], "shown": [f"{a:.2f} from {o}" for (o, _), a in near]}
        return pl.DataFrame(named, schema={ROW: pl.String, "shown": pl.String})

    return Crossing(
        "table.separation",
        "characters",
        "big_five",
        READS,
        too_near,
        f"is nearer than {threshold} to another character in every trait (--separation)",
        "HEART-BENCH 3.2, Table 4",
    )


def vectors(frames: Mapping[str, pl.DataFrame]) -> dict[str, Mapping[str, float]]:
    """The Big Five vector of every character."""
    return dict(frames["characters"].select(READS["characters"]).iter_rows())


def distances(characters: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str], float]:
    """The l-infinity distance of every pair of Big Five vectors, nearest first; by pairs of ids."""
    found = {
        (one, other): round(
            max(abs(characters[one][trait] - characters[other][trait]) for trait in characters[one]), _DIGITS
        )
        for one, other in combinations(sorted(characters), 2)
    }
    return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))


def figures(apart: Mapping[tuple[str, str], float], threshold: float) -> dict[str, Any]:
    """How many pairs, the nearest, and every pair below the threshold and below the paper's claim."""
    return {
        "pairs": len(apart),
        "nearest": min(apart.values(), default=None),
        "threshold": threshold,
        "below_threshold": _below(apart, threshold),
        "claimed": CLAIMED,
        "below_claimed": _below(apart, CLAIMED),
    }


def _below(apart: Mapping[tuple[str, str], float], limit: float) -> list[Mapping[str, Any]]:
    pairs: Sequence[tuple[tuple[str, str], float]] = list(apart.items())
    return [{"pair": list(pair), "distance": distance} for pair, distance in pairs if distance < limit]
