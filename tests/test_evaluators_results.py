"""Results as files: checked when read, compared only with their like."""

import orjson
import pytest
from evaluator_samples import SPEC, evaluate, result_at, wide_tables
from release_samples import frozen_once


@pytest.fixture
def runs(tmp_path):
    frozen_once(tmp_path, SPEC, wide_tables())
    made = []
    for model in ("random", "longest", "reader"):
        made.append(tmp_path / f"{model}.json")
        words = ["--setting", "recent", "--model", f"offline:{model}", "--quiet", "--out", made[-1]]
        evaluate(tmp_path, "choice", *words)
    return made


def test_a_comparison_follows_from_the_answers(tmp_path, runs, capsys):
    assert evaluate(tmp_path, "compare", *runs, "--json") == 0
    document = orjson.loads(capsys.readouterr().out)
    right = [[item["correct"] for item in result_at(path)["items"]] for path in runs]
    pair = document["pairs"][0]
    assert pair["difference"] == pytest.approx((sum(right[1]) - sum(right[0])) / len(right[0]))
    assert pair["only_second"] == sum(b and not a for a, b in zip(right[0], right[1], strict=True))
    assert len(document["pairs"]) == 3 and len(document["floors"]) == 3
    assert document["agreement"][1][1]["rate"] == 1
    assert document["agreement"][0][2] == document["agreement"][2][0]


def test_rank_correlations_need_three_models_in_both_settings(tmp_path, runs, capsys):
    more = []
    for model in ("random", "longest", "reader"):
        more.append(tmp_path / f"rag-{model}.json")
        evaluate(
            tmp_path, "choice", "--setting", "naive_rag", "--model", f"offline:{model}", "--quiet", "--out", more[-1]
        )
    capsys.readouterr()
    evaluate(tmp_path, "compare", *runs, *more, "--json")
    (pair,) = orjson.loads(capsys.readouterr().out)["settings"]
    assert pair["models"] == 3 and (pair["rho"] is None or -1 <= pair["rho"] <= 1)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[: len(text) // 2], "malformed JSON"),
        (lambda text: b"[]", "not a result"),
        (lambda text: text.replace(b'"result_version": 3', b'"result_version": 9'), "newer version"),
        (lambda text: text.replace(b'"correct": false', b'"correct": true'), "figures do not follow"),
        (lambda text: text.replace(b'"state": "scored"', b'"state": "guessed"'), "not a result"),
    ],
)
def test_a_file_that_is_no_result_or_was_edited_is_refused(tmp_path, runs, capsys, damage, said):
    runs[0].write_bytes(damage(runs[0].read_bytes()))
    assert evaluate(tmp_path, "compare", *runs) == 2
    assert said in capsys.readouterr().err


def test_runs_of_different_questions_are_not_compared(tmp_path, runs, capsys):
    document = result_at(runs[0])
    other = result_at(runs[1])
    for item in other["items"]:
        item["question_id"] += "9"
    other["baselines"] = {n: {k + "9": v for k, v in a.items()} for n, a in other["baselines"].items()}
    runs[1].write_bytes(orjson.dumps(other))
    assert document["release"] == other["release"]
    assert evaluate(tmp_path, "compare", *runs[:2]) == 2
    assert "results of different questions: 24 here in" in capsys.readouterr().err
