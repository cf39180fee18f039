"""`calibrate`: judges raw and calibrated beside baselines, gain by memory, candidates under one calibration."""

import itertools
import json
import random
import re

import orjson
import polars as pl
import pytest
from satisfaction_samples import RUBRICS, SPEC, evaluate, folder, small_release

from evaluators.rubrics.loading import read_rubric
from evaluators.satisfaction.judged_turns import entries
from evaluators.satisfaction.published_bootstrap import published_bounds, published_counts
from evaluators.satisfaction.turn_fields import RatedTurns
from evaluators.scoring.metrics import Metric, Scale
from evaluators.scoring.results import read_result
from evaluators.scoring.score_rows import Scores, read_scores
from releases import open_release
from schemas.errors import RequestError

MODEL = "claude-haiku-4-5"
JUDGES = ("offline:harsh", "offline:fair", "offline:exact")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("calibrate")
    small_release(root)
    for candidate in ("original", "strong", "weak"):
        assert evaluate(root, "run", "--model", f"offline:{candidate}", "--quiet") == 0
        said = folder(root) / f"said.offline-{candidate}.json"
        rubrics = [RUBRICS / f"{name}.toml" for name in ("zero_shot", "memory_v2")]
        assert evaluate(root, "judge", said, "--judge", *JUDGES, "--rubric", *rubrics, "--quiet") == 0
    return root


def scores_of(root):
    return sorted(folder(root).glob("scores.*.json"))


@pytest.fixture(scope="module")
def result(root):
    assert evaluate(root, "calibrate", *scores_of(root), "--quiet") == 0
    return read_result(folder(root) / "satisfaction.reference_cdf.json")


def of(result, judge, metric):
    return next(one for one in result["figures"]["entries"] if (one["judge"], one["metric"]) == (judge, metric))


def test_the_judge_that_says_what_raters_would_say_is_first_and_baselines_are_ranked_too(result):
    ranking = result["figures"]["ranking"]
    assert {row["name"] for row in ranking if row["baseline"]} == {
        f"baseline {name}"
        for name in (
            "global_mean", "global_majority", "task_mean", "task_majority", "rater_mean", "rater_median",
            "rater_majority", "rater_cdf_hash", "nearest_1", "nearest_3",
        )
    }  # fmt: skip
    assert {ranking[0]["name"], ranking[1]["name"]} == {"offline:exact, zero_shot", "offline:exact, memory_v2"}
    places = [(row["rank"], row["mae"]) for row in ranking]
    assert places == sorted(places)
    assert all(row["low"] <= row["mae"] <= row["high"] for row in ranking)


def test_calibration_undoes_the_bias_of_the_harsh_judge_and_is_given_for_every_method(result):
    methods = of(result, "offline:harsh", "zero_shot")["methods"]
    mae = {name: one["metrics"]["mae"]["value"] for name, one in methods.items()}
    assert list(mae) == [
        "raw", "mean_shift", "block_cdf", "reference_cdf", "reference_mean_shift", "reference_transfer", "ordinal",
    ]  # fmt: skip
    assert all(value < mae["raw"] - 0.3 for name, value in mae.items() if name != "raw")
    assert methods["reference_cdf"]["parameters"]["ties"] == "id" and methods["raw"]["fallbacks"] == {}


def test_a_judge_with_memory_needs_training_raters_for_the_ordinal_model(root, result, tmp_path):
    own = of(result, "offline:harsh", "memory_v2")["methods"]
    assert own["ordinal"]["fallbacks"] == {"no_source_predictions": own["raw"]["turns"]}
    assert own["ordinal"]["metrics"]["mae"]["value"] == own["raw"]["metrics"]["mae"]["value"]
    assert evaluate(root, "run", "--model", "offline:original", "--split", "all", "--out", tmp_path / "a.json") == 0
    words = [
        "--judge",
        "offline:harsh",
        "--rubric",
        RUBRICS / "memory_v2.toml",
        "--out",
        tmp_path / "s.json",
        "--quiet",
    ]
    assert evaluate(root, "judge", tmp_path / "a.json", *words) == 0
    out = tmp_path / "r.json"
    assert evaluate(root, "calibrate", tmp_path / "s.json", "--no-baselines", "--out", out, "--quiet") == 0
    found = of(read_result(out), "offline:harsh", "memory_v2")["methods"]
    assert found["ordinal"]["fallbacks"] == {} and found["raw"]["turns"] == own["raw"]["turns"]
    assert found["ordinal"]["metrics"]["mae"]["value"] < found["raw"]["metrics"]["mae"]["value"] - 0.1


def test_gain_is_the_difference_of_the_two_errors_on_the_same_turns(result):
    (gain,) = [
        one for one in result["figures"]["gains"] if (one["judge"], one["calibration"]) == ("offline:harsh", "raw")
    ]
    without, with_memory = (of(result, "offline:harsh", name)["methods"]["raw"] for name in ("zero_shot", "memory_v2"))
    difference = without["metrics"]["mae"]["value"] - with_memory["metrics"]["mae"]["value"]
    assert gain["gain"] == pytest.approx(difference) and gain["low"] < gain["gain"] < gain["high"]
    assert len(gain["raters"]) == result["figures"]["raters"]


def test_candidates_stand_in_their_planted_order_under_one_calibration(result):
    for table in result["figures"]["replay"]:
        assert table["calibration"] == "reference_cdf" and table["selection"] == "hard"
        planted = [row["planted"] for row in table["candidates"]]
        assert {row["name"] for row in table["candidates"]} == {"offline:strong", "offline:original", "offline:weak"}
        assert table["candidates"][0]["name"] == "offline:strong" and max(planted) == planted[0]
        assert [row["turns"] for row in table["candidates"]] == [20, 20, 20]
        for pair in table["pairs"]:
            assert sum(pair["outcomes"]["turn"][name] for name in ("win", "tie", "lose")) == pytest.approx(1)


def test_every_metric_has_the_published_interval_of_the_same_draws(result):
    own = of(result, "offline:harsh", "zero_shot")
    raters = sorted(one["rater"] for one in own["scales"])
    errors = {one["rater"]: one["turns"] for one in own["scales"]}
    assert sum(errors.values()) == own["methods"]["raw"]["turns"]
    rng = random.Random(42)
    drawn = [[rng.choice(raters) for _ in raters] for _ in range(3)]
    counts = published_counts(len(raters))[:3]
    assert [[sample.count(name) for name in raters] for sample in drawn] == counts.tolist()
    for figure in own["methods"]["raw"]["metrics"].values():
        if figure["published"] is not None:
            assert figure["published"][0] <= figure["published"][1]


def test_published_bounds_are_the_values_at_places_25_and_975_and_undefined_where_a_draw_is():
    import numpy as np

    values = np.arange(1000.0)[::-1]
    assert published_bounds(values) == (25.0, 975.0)
    assert published_bounds(np.array([1.0, np.nan])) is None and published_bounds(np.zeros(0)) is None


def test_the_result_does_not_depend_on_the_order_of_files(root, result, tmp_path):
    out = tmp_path / "again.json"
    assert evaluate(root, "calibrate", *reversed(scores_of(root)), "--out", out, "--quiet") == 0
    assert out.read_bytes() == (folder(root) / "satisfaction.reference_cdf.json").read_bytes()


def test_target_gold_changes_no_calibrated_score(root):
    from evaluators.satisfaction.calibrating import METHODS, Raters, calibrate, predictions_of
    from schemas.satisfaction.turns import gold_turns

    known = RatedTurns(open_release(SPEC, root / "frozen"), 7)
    found = entries([read_scores(path, read_result(path)) for path in scores_of(root)])
    gold = gold_turns(list(known.ratings.values()))
    test = frozenset(name for name, split in known.split.items() if split == "test")
    entry = next(one for one in found if one.name == "offline:harsh, zero_shot")
    target = entry.originals.frame.filter(pl.col("task") == "gift")
    turned = gold.with_columns(
        gold=pl.when(pl.col("task") == "gift").then(6 - pl.col("gold")).otherwise(pl.col("gold"))
    )
    for method in METHODS:
        scores = [predictions_of(calibrate(method, entry, Raters(one, test), target, "id")) for one in (gold, turned)]
        assert scores[0].equals(scores[1]), method


def test_a_page_shows_ranks_calibration_gain_and_candidates_and_loads_nothing(root, result, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert evaluate(root, "report", folder(root) / "satisfaction.reference_cdf.json", "--out", page, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["about"] for one in document["chapters"]] == ["satisfaction, turn by turn"]
    text = page.read_text("utf-8")
    for title in ("Ranking of judges", "Agreement with raters", "Calibration, drawn", "Gain by rater", "Candidates in"):
        assert title in text
    assert "src=" not in text and "<script src" not in text and "No candidate is a model" in text
    shown = {round(float(value), 6) for value in re.findall(r'data-value="([0-9.-]+)"', text)}
    assert {round(row["mae"], 6) for row in result["figures"]["ranking"]} <= shown
    assert "no source predictions" in text and "not applied" in text
    other = tmp_path / "other.json"
    other.write_bytes((folder(root) / "satisfaction.reference_cdf.json").read_bytes())
    two = [folder(root) / "satisfaction.reference_cdf.json", other]
    assert evaluate(root, "report", *two, "--out", page) == 2


def test_a_model_judges_and_what_it_leaves_unscored_is_counted_and_is_no_number(root, rehearse, tmp_path):
    numbers = itertools.count()
    rehearse(compose=lambda body: '{"zero_shot": 6}' if next(numbers) % 5 == 0 else '{"zero_shot": 4}')
    out, result = tmp_path / "s.json", tmp_path / "r.json"
    words = ["--judge", MODEL, "--rubric", RUBRICS / "zero_shot.toml", "--limit", "60", "--out", out, "--quiet"]
    assert evaluate(root, "judge", folder(root) / "said.offline-original.json", *words) == 1
    assert evaluate(root, "calibrate", out, "--no-baselines", "--out", result, "--quiet") == 1
    entry = of(read_result(result), MODEL, "zero_shot")
    assert entry["states"]["scored"] + entry["states"]["unscored"] == 60 and entry["states"]["unscored"] > 0
    raw = entry["methods"]["raw"]
    assert raw["turns"] == entry["states"]["scored"]
    assert raw["turns"] + raw["without_prediction"] == read_result(result)["figures"]["turns"]
    assert raw["metrics"]["pearson"]["value"] is None and raw["undefined"]["pearson"] == "predictions are constant"


def test_a_memory_judge_is_shown_the_memory_and_a_generic_one_is_not(root, rehearse):
    bodies = []

    def answer(body):
        bodies.append(json.dumps(body))
        return '{"memory_v2": 4}' if "memory_v2" in bodies[-1] else '{"zero_shot": 4}'

    rehearse(compose=answer)
    known = RatedTurns(open_release(SPEC, root / "frozen"), 7)
    styles = {row["scoring_style"] for row in known.memories.values()}
    for name in ("zero_shot", "few_shot", "task_rubric", "memory_v2"):
        bodies.clear()
        words = ["--judge", MODEL, "--rubric", RUBRICS / f"{name}.toml", "--limit", "5", "--out", root / "m.json"]
        evaluate(root, "judge", folder(root) / "said.offline-original.json", *words, "--quiet")
        assert bodies and all(any(style in body for style in styles) == (name == "memory_v2") for body in bodies)


def test_spur_learns_from_training_raters_only_and_judges_by_its_rubric(root, rehearse, tmp_path):
    known, bodies = RatedTurns(open_release(SPEC, root / "frozen"), 7), []

    def answer(body):
        text = json.dumps(body)
        bodies.append(text)
        return (
            '{"criteria": ["It is \\"concrete\\" {{task_name}}."]}'
            if "criteria" in text
            else '{"reasons": ["Concrete."]}'
        )

    rehearse(compose=answer)
    rubric = tmp_path / "spur.toml"
    assert evaluate(root, "spur", "--model", MODEL, "--out", rubric, "--quiet") == 0
    assert 'concrete" { {task_name}}' in read_rubric(rubric).instructions
    judged = {row["conversation_id"] for row in known.ratings.values() if known.split[row["rater_id"]] == "test"}
    openings = {known.conversations[name]["messages"][0]["content"] for name in judged}
    own = {
        row["messages"][0]["content"] for row in known.conversations.values() if row["conversation_id"] not in judged
    }
    assert not any(json.dumps(text)[1:-1] in body for text in openings - own for body in bodies)
    out, result = tmp_path / "s.json", tmp_path / "r.json"
    said = folder(root) / "said.offline-original.json"
    assert evaluate(root, "judge", said, "--judge", "offline:fair", "--rubric", rubric, "--out", out, "--quiet") == 0
    assert evaluate(root, "calibrate", out, "--no-baselines", "--out", result, "--quiet") == 0
    scores = {row["score"] for row in of(read_result(result), "offline:fair", "spur")["reliability"]["raw"]}
    assert scores == {3, 4}


def test_spur_without_a_model_takes_the_reasons_of_raters(root, tmp_path, capsys):
    words = ["--model", "offline:reasons", "--out", tmp_path / "spur.toml", "--json"]
    assert evaluate(root, "spur", *words) == 0
    criteria = json.loads(capsys.readouterr().out)["criteria"]
    assert "The reply cannot be put into practice as it stands." in criteria["dissatisfied"]
    assert 1 <= len(criteria["satisfied"]) <= 10


@pytest.mark.parametrize(
    ("files", "words", "named"),
    [
        (["strong"], [], "has not scored the recorded replies"),
        (["original", "original"], [], "two results of"),
        (["original", "strong", "strong"], [], "two results of"),
        (["original"], ["--base", "zero"], "zero_shot"),
        (["original"], ["--calibration", "refcdf"], "reference_cdf"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_in_one_line(root, capsys, files, words, named):
    paths = [next(folder(root).glob(f"scores.offline-{name}.*.json")) for name in files]
    assert evaluate(root, "calibrate", *paths, *words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and named in said and said.count("\n") == 1


def test_a_judge_without_any_score_is_refused_with_its_file_and_counts(root, rehearse, tmp_path, capsys):
    rehearse(compose=lambda body: "Score: 3")
    out, rubric = tmp_path / "nothing.json", RUBRICS / "zero_shot.toml"
    words = ["--judge", MODEL, "--rubric", rubric, "--limit", "3", "--out", out, "--quiet"]
    assert evaluate(root, "judge", folder(root) / "said.offline-original.json", *words) == 1
    assert evaluate(root, "calibrate", out, *scores_of(root)) == 2
    said = capsys.readouterr().err
    assert f"no score of {MODEL}, zero_shot in {out}: some scored item, found unscored 3" in said


def test_scores_of_another_protocol_or_scale_are_refused(root):
    path = scores_of(root)[0]
    good = read_scores(path, read_result(path))
    header = orjson.loads(orjson.dumps(good.header))
    header["run"]["protocol"] = "responses"
    with pytest.raises(RequestError, match="scores of no replay"):
        entries([Scores(good.path, header, good.metrics, good.frame)])
    odd = Metric(good.metrics[0].name, "turn", Scale("integers", 0, 10), good.metrics[0].aggregation)
    with pytest.raises(RequestError, match="scale of"):
        entries([Scores(good.path, good.header, (odd,), good.frame)])
