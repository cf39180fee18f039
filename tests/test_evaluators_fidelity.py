"""Persona fidelity of sentences: definitions, worked examples, released files."""

import math
import statistics

import numpy as np
import orjson
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from evaluators.protocols.released import responses, scores, settings_of
from evaluators.rubrics.compatibility import released_score, stand_alone, verdict_of
from evaluators.scoring.fidelity import fidelity, repeats_of
from evaluators.scoring.fidelity_figures import fidelity_figures
from evaluators.scoring.golden import main, released_figures, splitting, table_17
from evaluators.scoring.metrics import Aggregation
from schemas.errors import RequestError

SCORE = st.integers(1, 5)
RUNS = st.lists(st.lists(st.lists(SCORE, max_size=6), min_size=1, max_size=4), min_size=1, max_size=5)


def test_table_17_is_reproduced_but_for_its_misprint():
    assert len(table_17()) == 21
    assert [(one.where, one.metric) for one in table_17() if not one.agrees] == [("generation 4", "acc_atom")]


def test_the_released_figures_follow_from_the_released_scores(shared):
    found = released_figures(shared / "data/atomic")
    assert len(found) == 8 and all(one.agrees for one in found)
    assert max(abs(one.ours - one.theirs) for one in found) <= 1e-12


def test_our_sentences_are_those_of_the_released_lists(shared):
    found = splitting(shared / "data/atomic")
    assert (found.responses, found.same, found.sentences_theirs) == (138, 138, 724)


def test_the_command_holds_both_and_says_so(shared, capsys):
    assert main(["--from", str(shared / "data/atomic")]) == 0
    assert "138 of 138 responses split as released" in capsys.readouterr().err
    assert main(["--json"]) == 0
    assert orjson.loads(capsys.readouterr().out)["sentences"] is None


@given(RUNS, st.sampled_from(["low", "neutral", "high"]))
def test_the_metrics_are_those_of_their_definitions(runs, level):
    bins = {"low": (1, 2), "neutral": (3,), "high": (4, 5)}[level]
    acc, spread = [], []
    for run in runs:
        own = [sum(score in bins for score in one) / len(one) for one in run if one]
        spreads = [1 - statistics.pstdev(one) / 2 for one in run if len(one) > 1]
        acc += [statistics.fmean(own)] if own else []
        spread += [statistics.fmean(spreads)] if spreads else []
    pooled = [[score for one in run for score in one] for run in runs]
    pooled = [one for one in pooled if one]
    pairs = [1 - 2 * wasserstein_distance(pooled[a], pooled[b]) / 4 for b in range(len(pooled)) for a in range(b)]
    found = fidelity(runs, level)
    for name, values in (("acc_atom", acc), ("ic_atom", spread), ("rc_atom", pairs)):
        assert found[name] == (pytest.approx(statistics.fmean(values), abs=1e-9) if values else None)


def test_what_is_no_score_leaves_numerators_and_denominators():
    assert fidelity([[[5, 9, 9, 4, 999]]], "high")["acc_atom"] == 1.0
    assert fidelity([[[5, 9, 9, 4, 999]]], "high")["valid"] == 0.4
    assert fidelity([[[9, 99]]], "high") == {
        "acc_atom": None, "ic_atom": None, "acc": None, "mean": None, "rc_atom": None, "rc": None, "valid": 0.0,
    }  # fmt: skip


def test_undefined_is_none_and_the_worst_value_minus_one():
    assert fidelity([[[1, 1]], [[5, 5]]], "low")["rc_atom"] == -1.0
    assert fidelity([[[1, 1]]], "low")["rc_atom"] is None
    assert fidelity([[[1]], [[5]]], "low")["ic_atom"] is None
    assert fidelity([], "low")["acc_atom"] is None
    with pytest.raises(ValueError, match="unknown level 'medium-ish'"):
        fidelity([[[1]]], "medium-ish")


def test_runs_are_pooled_before_they_are_compared():
    """Two runs whose questions differ but whose pooled scores agree are fully consistent."""
    assert fidelity([[[1, 1], [5, 5]], [[5, 5], [1, 1]]], "low")["rc_atom"] == 1.0


def test_the_order_of_runs_and_sentences_does_not_matter():
    runs = [[[1, 2, 5], [3]], [[4, 4]], [[2, 2, 2], [5, 1]]]
    turned = [[one[::-1] for one in run] for run in runs[::-1]]
    one, other = fidelity(runs, "high"), fidelity(turned, "high")
    assert all(one[name] == pytest.approx(other[name]) for name in one)


def sentences_of(personas=4, tasks=2, runs=6, length=5, rate=0.8):
    chance = np.random.default_rng(5)
    rows = []
    for persona in range(personas):
        for task in range(tasks):
            for run in range(runs):
                for place in range(length):
                    good = chance.random() < rate
                    rows.append(
                        {
                            "item": f"{persona}/{task}/{run}/{place}",
                            "persona": f"P{persona}",
                            "task": f"T{task}",
                            "run": f"{run:02d}",
                            "probe": "one",
                            "level": "high" if persona % 2 else "medium",
                            "value": float((4 + place % 2 if persona % 2 else 3) if good else 1),
                        }
                    )
    return pl.DataFrame(rows)


HOW = Aggregation("atomic", ("probe", "run"), ("persona",), ("level", "task"), ("persona", "task"), "level")


def test_figures_have_an_interval_for_these_personas_and_one_for_personas_like_these():
    made = fidelity_figures(sentences_of(), HOW, 7)
    assert (made["sets"], made["runs"]) == (8, 48)
    for name in ("acc_atom", "ic_atom", "rc_atom", "acc", "mean"):
        one = made["metrics"][name]
        assert [spread["over"] for spread in one["intervals"]] == ["persona", "repeats"]
        assert all(spread["low"] <= one["value"] <= spread["high"] for spread in one["intervals"])
    assert made["metrics"]["valid"]["value"] == 1.0
    assert set(made["by"]["level"]) == {"high", "medium"} and set(made["by_run"]) == {f"{n:02d}" for n in range(6)}


def test_a_figure_is_the_mean_over_sets_of_what_each_set_comes_to():
    frame = sentences_of()
    sets = repeats_of(
        frame.with_columns(pl.col("level").replace({"medium": "neutral"}).alias("target"), response=pl.col("probe")),
        ["persona", "task"],
    )
    made = fidelity_figures(frame, HOW, 7)["metrics"]
    for name in ("acc_atom", "rc_atom"):
        assert made[name]["value"] == pytest.approx(statistics.fmean(one.figures()[name] for one in sets))


def test_a_single_run_has_no_retest_consistency_and_no_interval_over_repeats():
    made = fidelity_figures(sentences_of(runs=1), HOW, 7)["metrics"]
    assert made["rc_atom"]["value"] is None
    assert made["acc_atom"]["intervals"][1]["low"] is None and made["acc_atom"]["intervals"][0]["low"] is not None


@pytest.mark.parametrize(
    ("reply", "released", "alone"),
    [
        ("4", 4, 4),
        ("9", 9, 9),
        ("7", 999, 999),
        ("x", 9, 999),
        ("4 out of 5", 4, 4),
        ("5 (not 1)", 1, 5),
        ("10", 1, 999),
        ("2.5", 2, 999),
        ("Option 3.", 3, 3),
        ("I cannot say.", 999, 999),
        ("", 999, 999),
    ],
)
def test_the_released_reading_of_replies_is_offered_beside_a_sound_one(reply, released, alone):
    assert (released_score(reply), stand_alone(reply)) == (released, alone)


def test_codes_of_the_released_scores_are_states_and_never_values():
    assert [verdict_of(code).state for code in (3, 9, 99, 999)] == ["scored", "not_applicable", "refused", "unscored"]
    assert [verdict_of(code).value for code in (9, 99, 999)] == [None, None, None]
    with pytest.raises(ValueError, match="score 7"):
        verdict_of(7)


def write_released(root, text):
    folder = root / "atomic_scores/m/essay/O/high"
    folder.mkdir(parents=True)
    (folder / "atomic_scores.txt").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[[1, 6]]]", "score 6 in .*atomic_scores.txt, row 0/0/1: 1 to 5, 9, 99 or 999"),
        ("[[[1, 4.0]]]", r"score 4\.0"),
        ("[[[1, '4 out of 5']]]", "score '4 out of 5'"),
        ("[[1, 2]]", "no list in .*, row iteration 0, question 0"),
        ("[[[1, 2]", "no Python literal"),
        ("__import__('os')", "no Python literal"),
    ],
)
def test_released_scores_that_cannot_be_read_are_named_by_file_and_place(tmp_path, text, said):
    with pytest.raises(RequestError, match=said):
        scores(write_released(tmp_path, text))


def test_a_folder_without_released_files_and_unknown_parts_of_a_path_are_named(tmp_path):
    with pytest.raises(RequestError, match="no released files"):
        list(responses(tmp_path))
    (tmp_path / "atomic_scores/m/esay/O/high").mkdir(parents=True)
    with pytest.raises(RequestError, match=r"unknown task 'esay' in .* Did you mean: essay"):
        settings_of(tmp_path, "atomic_scores")


def test_the_interval_over_repeats_shrinks_with_the_number_of_runs():
    def width(runs):
        spread = fidelity_figures(sentences_of(runs=runs), HOW, 7)["metrics"]["acc_atom"]["intervals"][1]
        return spread["high"] - spread["low"]

    assert width(24) < 0.75 * width(6) and not math.isnan(width(6))
