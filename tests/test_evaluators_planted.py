"""Known truth of planted raters: nobody beats the best judge, the oracle leads every calibration, curves go down."""

import copy
import json

import numpy as np
import pytest
from persturn_samples import built_rows
from planted_raters import planted

from builders.__main__ import main as build
from evaluators.satisfaction.curves import main
from releases.__main__ import main as releases
from schemas.errors import RequestError
from schemas.satisfaction.curves import METHODS, curve, in_order_of_digests, shortened
from schemas.satisfaction.planted import (
    JUDGES,
    PlantedJudge,
    best_scores,
    judge_scores,
    oracle_scores,
    planted_turns,
    score_shares,
)


def error(turns, scores):
    return float(np.abs(scores - turns.gold).mean())


def test_true_distributions_hold_what_raters_gave():
    """Over 8,000 turns the mean of the true distributions is the mean of the scores."""
    turns = planted(7)
    shares = score_shares(turns, turns.rater, turns.levels)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares @ np.arange(1, 6)).mean() == pytest.approx(turns.gold.mean(), abs=0.02)


def test_nobody_beats_the_best_judge_and_the_oracle_helps_every_biased_one():
    turns = planted(7)
    best = error(turns, best_scores(turns))
    for judge in JUDGES:
        raw = judge_scores(turns, judge, 7)
        assert best < error(turns, oracle_scores(turns, raw)) < error(turns, raw)


def test_a_judge_without_bias_and_noise_is_a_function_of_quality():
    turns = planted(7, 24)
    raw = judge_scores(turns, PlantedJudge("exact", bias=0.0, noise=0.0), 1)
    order = np.argsort(turns.levels.sum(axis=1), kind="stable")
    assert (np.diff(raw[order]) >= 0).all()
    assert (judge_scores(turns, PlantedJudge("exact", -0.2, 0.0), 1) <= raw).all()


def test_a_shorter_history_is_part_of_a_longer_one():
    gold = in_order_of_digests(planted(7, 24).gold_frame())
    short, long = (set(shortened(gold, "gift", most)["sample_id"]) for most in (5, 20))
    assert short < long
    assert shortened(gold, "gift", 5).group_by("rater").len()["len"].unique().to_list() == [5]


def test_longer_histories_bring_the_ordinal_model_closer_to_the_oracle():
    rows = curve(planted(7, 48), JUDGES[0], 7)
    assert rows[-1]["ordinal"] < rows[0]["ordinal"] < rows[0]["raw"]
    assert rows[-1]["recovered"] > rows[0]["recovered"] > 0.3
    assert all(row["best"] <= row["oracle"] <= min(row[name] for name in METHODS) for row in rows)


def test_imported_ratings_have_no_known_truth():
    rows = copy.deepcopy(built_rows())
    rows["ratings"][3]["planted"] = None
    with pytest.raises(RequestError, match="no planted truth in ratings"):
        planted_turns(rows["raters"], rows["ratings"])


def test_a_small_benchmark_is_built_frozen_and_measured(tmp_path, capsys):
    space = ["--workspace", str(tmp_path / "build"), "--quiet"]
    words = ["run", "persturn", "--raters", "8", "--replay-items", "20", "--workers", "1", *space]
    assert build(words) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "build").rglob("*.jsonl")}
    assert build([*words, "--fresh"]) == 0
    assert before == {path: path.read_bytes() for path in (tmp_path / "build").rglob("*.jsonl")}
    frozen = ["--frozen", str(tmp_path / "frozen")]
    allowed = ["--allow", "table.row_count", "--why", "a small one for a test"]
    assert releases(["freeze", "persturn@0.1.0", *allowed, *frozen, *space]) == 0
    capsys.readouterr()
    assert main(["persturn@0.1.0", *frozen, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["raters"] == 8
    assert {row["judge"] for row in document["curves"]} == {judge.name for judge in JUDGES}
    assert main(["persturn@0.1.0", *frozen, "--seeds", "2", "--json"]) == 0
    over = json.loads(capsys.readouterr().out)
    assert len(over["undone"]) == 2 and set(over["least"]) == set(METHODS)
    assert all(over["least"][method] == min(one[method] for one in over["undone"]) for method in METHODS)


def test_a_release_that_is_not_there_is_refused(tmp_path, capsys):
    assert main(["persturn@9.9.9", "--frozen", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: ")
