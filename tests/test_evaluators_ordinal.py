"""Ordinal calibration: close to an oracle on planted raters, better than the published one, blind to target gold."""

import numpy as np
import polars as pl
import pytest
from planted_raters import TASKS, blocks, planted, turns

from schemas.errors import RequestError
from schemas.satisfaction.calibration import Calibrated, mean_shift, reference_cdf
from schemas.satisfaction.ordinal import fit_population, ordinal
from schemas.satisfaction.planted import PlantedJudge, judge_scores, oracle_scores
from schemas.satisfaction.turns import SourceTurns, TargetTurns

HARSH = PlantedJudge("harsh", bias=-0.25, noise=0.12)
JUDGES = (HARSH, PlantedJudge("lenient", bias=0.2, noise=0.12), PlantedJudge("flat", bias=0.1, noise=0.05, slope=0.4))
SEEDS = range(20)


def error(gold: pl.DataFrame, found: list[Calibrated]) -> float:
    scores = pl.concat(each.frame.select("sample_id", "score") for each in found)
    both = gold.join(scores, on="sample_id")
    assert both.height == gold.height
    return float((both["gold"] - both["score"]).abs().mean())


def compared(seed: int, judge: PlantedJudge, raters: int = 112) -> dict[str, float]:
    data = planted(seed, raters)
    raw = judge_scores(data, judge, seed)
    gold, parts = data.gold_frame(), list(blocks(data.gold_frame(), data.prediction_frame(raw)))
    return {
        "raw": float(np.abs(raw - data.gold).mean()),
        "reference_cdf": error(gold, [reference_cdf(source, target, target) for source, target in parts]),
        "ordinal": error(gold, [ordinal(source, target) for source, target in parts]),
        "oracle": float(np.abs(oracle_scores(data, raw) - data.gold).mean()),
    }


@pytest.fixture(scope="module")
def harsh() -> list[dict[str, float]]:
    return [compared(seed, HARSH) for seed in SEEDS]


def test_both_undo_at_least_half_of_what_an_oracle_undoes_of_a_harsh_judge(harsh):
    for found in harsh:
        possible = found["raw"] - found["oracle"]
        assert found["raw"] - found["reference_cdf"] >= possible / 2
        assert found["raw"] - found["ordinal"] >= possible / 2


def test_ordinal_is_at_least_as_good_as_the_published_one_in_95_of_100_seeds(harsh):
    better = [found["ordinal"] <= found["reference_cdf"] for found in harsh]
    assert sum(better) >= 0.95 * len(better)


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_ordinal_comes_close_to_the_oracle_whatever_the_bias(judge):
    found = compared(3, judge)
    assert found["ordinal"] <= found["oracle"] * 1.1
    assert found["ordinal"] < found["raw"]


def test_held_out_raters_are_calibrated_with_the_population_of_others():
    """Population from 22 raters, scores for the other 90, whose own source turns set their thresholds."""
    data = planted(11)
    raw = judge_scores(data, HARSH, 11)
    gold, said = data.gold_frame(), data.prediction_frame(raw)
    train = pl.Series(data.raters[:22])
    learned, held = (gold.filter(pl.col("rater").is_in(train.implode()) == own) for own in (True, False))
    scores, published = [], []
    for source, target in blocks(held, said.join(held.select("sample_id"), on="sample_id", how="semi")):
        population = fit_population(SourceTurns.of(learned, source.task, said))
        scores.append(ordinal(source, target, population))
        published.append(reference_cdf(source, target, target))
    assert error(held, scores) <= error(held, published)


def test_raters_whose_source_predictions_are_left_out_are_calibrated_by_their_gold_alone():
    data = planted(5)
    gold, said = data.gold_frame(), data.prediction_frame(judge_scores(data, HARSH, 5))
    judged = pl.Series(data.raters[22:])
    scores, shifted = [], []
    for source, target in blocks(gold, said):
        scores.append(ordinal(source.without_predictions(judged), target))
        shifted.append(mean_shift(source, target))
    assert error(gold, scores) <= error(gold, shifted)


def test_target_gold_changes_no_score():
    data = planted(2, 24)
    gold, said = data.gold_frame(), data.prediction_frame(judge_scores(data, HARSH, 2))
    for task in TASKS:
        turned = gold.with_columns(
            gold=pl.when(pl.col("task") == task).then(6 - pl.col("gold")).otherwise(pl.col("gold"))
        )
        target = TargetTurns(task, said.join(gold.filter(pl.col("task") == task), on="sample_id", how="semi"))
        for method in (ordinal, mean_shift):
            one = method(SourceTurns.of(gold, task, said), target).frame
            assert one.equals(method(SourceTurns.of(turned, task, said), target).frame)


def test_a_rater_without_history_gets_the_distribution_of_the_population():
    source = SourceTurns("travel", turns([(f"g{n}", "R1", "gift", 4 + n % 2, 3) for n in range(20)], COLUMNS))
    found = ordinal(source, TargetTurns("travel", turns([("t1", "R9", 3)], ("sample_id", "rater", "prediction")))).frame
    shares = found.select(f"probability_{score}" for score in range(1, 6)).row(0)
    assert sum(shares) == pytest.approx(1)
    assert found["score"][0] in (4, 5)
    assert found["expected"][0] == pytest.approx(sum(score * share for score, share in enumerate(shares, 1)))


COLUMNS = ("sample_id", "rater", "task", "gold", "prediction")


@pytest.mark.parametrize("gold", [[5] * 6, [1, 5] * 3, [3]])
def test_one_class_and_extreme_histories_give_finite_scores(gold):
    rows = [(f"g{place}", "R1", "gift", score, 1 + place % 5) for place, score in enumerate(gold)]
    said = turns([(f"t{raw}", "R1", raw) for raw in range(1, 6)], ("sample_id", "rater", "prediction"))
    found = ordinal(SourceTurns("travel", turns(rows, COLUMNS)), TargetTurns("travel", said)).frame
    assert found["score"].is_between(1, 5).all()
    assert found["expected"].is_finite().all()


def test_no_source_turns_and_no_population_are_refused():
    empty = SourceTurns.of(planted(1, 2).gold_frame().clear(), "travel")
    with pytest.raises(RequestError, match="no source turns"):
        ordinal(empty, TargetTurns("travel", turns([("t1", "R1", 3)], ("sample_id", "rater", "prediction"))))
