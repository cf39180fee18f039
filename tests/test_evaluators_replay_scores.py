"""Replay: aggregates as published, candidates compared under one calibration, the published bootstrap to the index."""

import math
import random

import polars as pl
import pytest

from evaluators.satisfaction.replay_scores import (
    CandidateScores,
    aggregates,
    candidate_scores,
    compare,
    published_interval,
    rater_interval,
)
from schemas.errors import RequestError
from schemas.satisfaction.calibration import Calibrated

# PersTurnBench Table 8: micro mean, SAT rate, DSAT rate of 300 turns; the sum of scores and the satisfied turns.
TABLE_8 = [
    ("kimi-k2.6", 4.737, 0.987, 0.013, 1421, 296),
    ("glm-5.1", 4.707, 0.973, 0.027, 1412, 292),
    ("deepseek-v4-pro", 4.667, 0.973, 0.027, 1400, 292),
    ("gpt-5.5", 4.573, 0.943, 0.057, 1372, 283),
    ("claude-opus-4-7", 4.540, 0.953, 0.047, 1362, 286),
    ("gemini-3.1-pro", 4.527, 0.940, 0.060, 1358, 282),
    ("minimax-m2.7", 4.263, 0.863, 0.137, 1279, 259),
]


def made(scores, candidate="ours", calibration="reference_cdf") -> CandidateScores:
    rows = [(f"R{n % 3}__{'ab'[n % 2]}__{n}", f"R{n % 3}", "ab"[n % 2], score) for n, score in enumerate(scores)]
    return CandidateScores(
        candidate, calibration, pl.DataFrame(rows, schema=["sample_id", "rater", "task", "score"], orient="row")
    )


@pytest.mark.parametrize(("name", "micro", "sat", "dsat", "total", "satisfied"), TABLE_8)
def test_scores_with_the_sums_of_table_8_give_its_figures(name, micro, sat, dsat, total, satisfied):
    """300 whole scores with that sum and that many of 4 or 5 exist, and give the printed figures."""
    fives = total - 4 * satisfied - 3 * (300 - satisfied)
    scores = [5] * fives + [4] * (satisfied - fives) + [3] * (300 - satisfied)
    found = aggregates(made(scores, name))
    assert (len(scores), sum(scores)) == (300, total)
    assert round(found["micro"], 3) == micro
    assert (round(found["sat_rate"], 3), round(found["dsat_rate"], 3)) == (sat, dsat)
    assert found["sat_rate"] + found["dsat_rate"] == pytest.approx(1)


def test_macro_means_are_means_of_group_means():
    found = aggregates(made([5, 5, 5, 1]))  # R0: 5 and 1, R1: 5, R2: 5; a: 5, 5; b: 5, 1
    assert found == {
        "micro": 4.0, "rater": pytest.approx(13 / 3), "task": 4.0, "block": pytest.approx(4.0),
        "sat_rate": 0.75, "dsat_rate": 0.25,
    }  # fmt: skip


def test_the_published_bootstrap_is_repeated_index_by_index():
    scores = [1 + (7 * n) % 5 for n in range(60)]
    grouped = {f"R{n}": [s for place, s in enumerate(scores) if place % 3 == n] for n in range(3)}
    means = [sum(grouped[name]) / len(grouped[name]) for name in sorted(grouped)]
    rng, drawn = random.Random(42), []
    for _ in range(1_000):
        sample = [rng.choice(means) for _ in range(len(means))]
        drawn.append(sum(sample) / len(sample))
    assert published_interval(made(scores)) == (sorted(drawn)[25], sorted(drawn)[975])


def test_our_interval_holds_the_mean_and_names_its_raters():
    found = rater_interval(made([1 + (7 * n) % 5 for n in range(60)]), seed=7)
    assert found.clusters == 3
    assert found.low <= found.value <= found.high


def test_two_candidates_are_compared_on_the_turns_that_both_answered():
    one, other = made([5, 4, 3, 3]), made([4, 4, 5], "theirs")
    found = compare(one, other)
    assert found["turn"] == {"count": 3, "win": 1 / 3, "tie": 1 / 3, "lose": 1 / 3, "won": 0.5, "delta": -1 / 3}
    assert compare(other, one)["turn"]["delta"] == pytest.approx(1 / 3)
    assert math.isnan(compare(one, one)["rater"]["won"])


def test_scores_under_two_calibrations_are_not_compared():
    with pytest.raises(RequestError, match="two calibrations"):
        compare(made([5]), made([4], calibration="block_cdf"))
    frame = pl.DataFrame({"sample_id": ["a"], "rater": ["R"], "raw": [3], "score": [3], "fallback": [None]})
    with pytest.raises(RequestError, match="two calibrations"):
        candidate_scores("ours", [("gift", Calibrated("raw", frame)), ("travel", Calibrated("block_cdf", frame))])


def test_doubled_turns_wrong_scores_and_no_scores_are_refused():
    with pytest.raises(RequestError, match="repeated sample id"):
        CandidateScores("ours", "raw", pl.concat([made([5]).frame, made([5]).frame]))
    with pytest.raises(RequestError, match="score outside 1 to 5"):
        made([6])
    with pytest.raises(RequestError, match="no scores"):
        aggregates(CandidateScores("ours", "raw", made([5]).frame.clear()))
    with pytest.raises(RequestError, match="no turn in common"):
        compare(made([5]), CandidateScores("theirs", "reference_cdf", made([5]).frame.clear()))
