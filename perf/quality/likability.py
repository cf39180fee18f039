"""Can a judge of known error find what is planted in LikeBench: the order of the assistants, their slopes, DUP's gain?

The six assistants of planted likability talk with all 50 profiles of the release, with several seeds; then a judge that
errs as ``offline:noisy`` does scores every turn, many times over. Counted is how often the order of the model means is
the true one; how often the interval of the improvement rate of ``ceiling`` is above 0, and that of ``static`` holds 0;
and how often the gain of the summary of preferences is found where it is planted (``forgetful``, who has no other
memory of preferences) and not where it is not (``static``, who ignores it). Fewer than 95 of 100 is exit code 1.

    python -m perf.quality.likability
    python -m perf.quality.likability --runs 40 --plays 2
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from evaluators.rubrics.offline import MISTAKEN, MOVED
from evaluators.scoring.resampling import ClusterDraws, Floats
from evaluators.scoring.trends import slopes
from evaluators.sessions.preferences import noted, observed
from evaluators.subjects.assistants import ASSISTANTS
from evaluators.subjects.play import play
from releases import open_release
from schemas.command import DONE, FINDINGS, parser, print_json, run, say, whole_number
from schemas.records import vocabulary
from schemas.tables import Row

LEAST = 0.95
RELEASE = "likebench@1.0.0"
_MIDDLE = 3.0
_FIRST, _LAST = 1.0, 5.0
_WITH_SUMMARY = ("forgetful", "static")

Scores = Floats  # (people, sessions, turns, metrics), NaN where a metric does not apply


@dataclass(frozen=True)
class Counted:
    """In how many runs each thing was found; ``runs`` in all."""

    runs: int
    order: int
    ceiling_rises: int
    static_holds_0: int
    gain_found: int
    no_gain_found: int

    def least(self) -> float:
        """The smallest share of runs."""
        found = (self.order, self.ceiling_rises, self.static_holds_0, self.gain_found, self.no_gain_found)
        return min(found) / self.runs


def planted(seed: int, release: str = RELEASE) -> dict[str, Scores]:
    """Assistant -> the true scores of all turns; those with a summary stand under ``<name>+dup``."""
    opened = open_release(release)
    priors = {who: list(own) for who, own in groupby(opened.rows("priors"), key=lambda row: row["persona_id"])}
    profiles = list(opened.rows("profiles"))
    made = {name: _played(name, profiles, priors, seed, False) for name in ASSISTANTS}
    return {**made, **{f"{name}+dup": _played(name, profiles, priors, seed, True) for name in _WITH_SUMMARY}}


def _played(name: str, profiles: Sequence[Row], priors: Mapping[str, Sequence[Row]], seed: int, dup: bool) -> Scores:
    names = [term["id"] for term in vocabulary("likability_metrics")]
    found = []
    for profile in profiles:
        own = priors[profile["persona_id"]]
        note = (lambda history: noted(observed(history))) if dup else None
        turns = play(profile, own, ASSISTANTS[name], seed, note=note)
        values = [[_number(turn.scores[metric]) for metric in names] for turn in turns]
        found.append(np.array(values).reshape(len(own), -1, len(names)))
    return np.array(found)


def judged(true: Scores, generator: np.random.Generator) -> Scores:
    """The scores of the judge ``noisy``: moved one level, and where it may not apply, mistaken about that."""
    moved = generator.random(true.shape) < MOVED
    up = np.where(true == _FIRST, True, np.where(true == _LAST, False, generator.random(true.shape) < 0.5))
    value = np.where(moved, true + np.where(up, 1.0, -1.0), true)
    may_fail = np.array([not term.get("always") for term in vocabulary("likability_metrics")])
    mistaken = (generator.random(true.shape) < MISTAKEN) & may_fail
    return np.where(mistaken, np.where(np.isnan(true), _MIDDLE, np.nan), value)


def by_session(scores: Scores) -> Floats:
    """Means of (people, sessions), as LikeBench nests them."""
    with np.errstate(invalid="ignore"):
        turns = _nanmean(scores)
        return _nanmean(turns)


def examine(runs: int, plays: int, seed: int) -> Counted:
    """Judge the planted scores of ``plays`` seeds, ``runs`` times in all."""
    truths = [planted(seed + number) for number in range(plays)]
    draws = ClusterDraws(len(next(iter(truths[0].values()))), seed, "persona", 2000)
    counts = dict.fromkeys(("order", "ceiling_rises", "static_holds_0", "gain_found", "no_gain_found"), 0)
    for number in range(runs):
        truth = truths[number % plays]
        generator = np.random.Generator(np.random.PCG64([seed, number]))
        found = {name: by_session(judged(scores, generator)) for name, scores in truth.items()}
        counts["order"] += _order(found) == _order({name: by_session(scores) for name, scores in truth.items()})
        low, _ = _interval(slopes(found["ceiling"]), draws)
        counts["ceiling_rises"] += low > 0
        low, high = _interval(slopes(found["static"]), draws)
        counts["static_holds_0"] += low <= 0 <= high
        low, _ = _interval(_gain(found, "forgetful"), draws)
        counts["gain_found"] += low > 0
        low, high = _interval(_gain(found, "static"), draws)
        counts["no_gain_found"] += low <= 0 <= high
    return Counted(runs, **counts)


def _gain(found: Mapping[str, Floats], name: str) -> Floats:
    return np.asarray(np.nanmean(found[f"{name}+dup"], axis=1) - np.nanmean(found[name], axis=1))


def _order(found: Mapping[str, Floats]) -> list[str]:
    means = {name: float(np.nanmean(found[name], axis=1).mean()) for name in ASSISTANTS}
    return sorted(means, key=means.__getitem__)


def _interval(values: Floats, draws: ClusterDraws) -> tuple[float, float]:
    (found,) = draws.means(values[:, None], np.ones((len(values), 1)))
    assert found.low is not None and found.high is not None
    return found.low, found.high


def _nanmean(values: Floats) -> Floats:
    """Means over the last axis of what is there; NaN where nothing is."""
    has = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(has, values, 0.0).sum(axis=-1) / has.sum(axis=-1))


def _number(value: int | None) -> float:
    return float("nan") if value is None else float(value)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see the module's docstring."""
    made = parser(
        "perf.quality.likability",
        "Count how often a judge of known error finds what is planted in LikeBench.",
        "python -m perf.quality.likability",
    )
    made.add_argument("--runs", type=whole_number(1, 10**6), default=200, metavar="N", help="judgings (default: 200)")
    made.add_argument("--plays", type=whole_number(1, 1000), default=5, metavar="N", help="seeds played (default: 5)")
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    found = examine(parsed.runs, parsed.plays, parsed.seed)
    told: dict[str, Any] = {name: getattr(found, name) for name in found.__dataclass_fields__}
    if parsed.json:
        print_json(told)
    for name, count in told.items():
        say(f"{name:<16}{count}", quiet=parsed.quiet or parsed.json)
    return DONE if found.least() >= LEAST else FINDINGS


if __name__ == "__main__":
    raise SystemExit(main())
