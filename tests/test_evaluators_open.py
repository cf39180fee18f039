"""The second track: decisions in a model's own words, judged, in three states."""

import json

import pytest
from evaluator_samples import evaluate, small_release
from release_samples import small_tables

from evaluators.protocols.open_ended import FIELDS
from evaluators.scoring.results import read_result

MODEL = "claude-haiku-4-5"
ANSWER = {field: f"I think of {field} and stay." for field in FIELDS}
SCORES = dict(zip(FIELDS, (3, 2, 4, 3, 5), strict=True))


def is_judge(body):
    return "You compare" in json.dumps(body.get("system"))


def distinct(tables):
    """Give every decision thoughts of its own."""
    thoughts = ("river lantern", "copper engine", "marble orchard", "velvet harbour")
    for row, thought in zip(tables["decisions"], thoughts, strict=True):
        row["inner_consciousness"]["summary"] = thought


@pytest.fixture(autouse=True)
def small(tmp_path):
    return small_release(tmp_path, distinct)


def run(tmp_path, *words):
    out = tmp_path / "open.json"
    code = evaluate(tmp_path, "open", "--setting", "recent", *words, "--quiet", "--out", out)
    return code, read_result(out)


def judged(result):
    """Metric -> its figures."""
    return {one["metric"]: one for one in result["figures"]["judged"] if one["judge"] != "people"}


def test_an_answer_is_judged_part_by_part_and_its_narrative_summed_up(tmp_path, rehearse):
    rehearse(compose=lambda body: json.dumps(SCORES if is_judge(body) else ANSWER))
    code, result = run(tmp_path, "--model", MODEL, "--judge", MODEL)
    found = judged(result)
    assert code == 0 and found["summary"]["states"]["scored"] == 4
    assert {name: found[name]["mean"]["value"] for name in FIELDS} == SCORES
    assert found["narrative"]["mean"]["value"] == pytest.approx(0.6)
    assert [one["over"] for one in found["narrative"]["mean"]["intervals"]] == ["character_id", "scenario_id", "both"]


@pytest.mark.parametrize(
    "verdict",
    ['{"summary": 3}', "4, 4, 4, 4, 4", json.dumps({**SCORES, "summary": 6}), json.dumps({**SCORES, "summary": "3"})],
)
def test_a_verdict_that_cannot_be_read_is_unscored_and_never_0(tmp_path, rehearse, verdict):
    rehearse(compose=lambda body: verdict if is_judge(body) else json.dumps(ANSWER))
    code, result = run(tmp_path, "--model", MODEL, "--judge", MODEL)
    narrative = judged(result)["narrative"]
    assert code == 1 and narrative["states"]["unscored"] == 4 and narrative["mean"]["value"] is None


def test_an_answer_that_cannot_be_read_is_not_judged(tmp_path, rehearse):
    asked = []
    rehearse(compose=lambda body: asked.append(1) or json.dumps(SCORES) if is_judge(body) else "I would stay.")
    code, result = run(tmp_path, "--model", MODEL, "--judge", MODEL)
    assert code == 1 and asked == []
    assert judged(result)["summary"]["states"]["unscored"] == 4


def test_the_judge_sees_the_gold_and_no_traits(tmp_path, rehearse):
    seen = []
    rehearse(compose=lambda body: seen.append(body) or json.dumps(SCORES if is_judge(body) else ANSWER))
    run(tmp_path, "--model", MODEL, "--judge", MODEL)
    tables = small_tables()
    texts = [json.dumps(body, ensure_ascii=False) for body in seen]
    golds = [row["final_decision"] for row in tables["decisions"]]
    for body, text in zip(seen, texts, strict=True):
        assert any(json.dumps(gold, ensure_ascii=False)[1:-1] in text for gold in golds) == is_judge(body)
        assert not any(c["self_value_logic"] in text or c["archetype"] in text for c in tables["characters"])


def test_the_gold_is_the_ceiling_and_another_character_the_floor(tmp_path):
    _, gold = run(tmp_path, "--model", "offline:gold")
    _, other = run(tmp_path, "--model", "offline:other")
    assert judged(gold)["narrative"]["mean"]["value"] == 1
    assert judged(other)["narrative"]["mean"]["value"] < 1


def test_people_are_one_more_judge_and_no_part_of_the_consensus(tmp_path):
    lines = ["question_id,field,rater,score"]
    for place, row in enumerate(small_tables()["mcqs"]):
        lines += [f"{row['question_id']},summary,{rater},{5 - place % 2}" for rater in ("r1", "r2")]
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("\n".join(lines) + "\n")
    code, result = run(tmp_path, "--model", "offline:gold", "--ratings", str(ratings))
    agreed = {one["metric"]: one for one in result["figures"]["agreement"]}
    assert code == 0 and agreed["summary"]["items"] == 4 and agreed["summary"]["exact"] == 0.5
    assert agreed["final_decision"]["items"] == 0 and result["figures"]["consensus"] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question_id,field,score\n", "ratings without a column"),
        ("question_id,field,rater,score\nQ,mood,r,3\n", "unknown metric 'mood'"),
        ("item,metric,rater,score\nQ,summary,r,3.5\n", "bad score '3.5'"),
        ("item,metric,rater,score\nQ,summary,r,3\nQ,summary,r,4\n", "two ratings of 'r' on summary in "),
        ("item,metric,rater,score\nQ_CHAR_01_SCN_NOWHERE_1,summary,one,3\n", "unknown item 'Q_CHAR_01_SCN_NOWHERE_1'"),
    ],
)
def test_malformed_ratings_are_one_line_with_their_place(tmp_path, capsys, text, message):
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    words = ["--setting", "vanilla", "--model", "offline:gold", "--ratings", path]
    assert evaluate(tmp_path, "open", *words) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {message}") and "ratings.csv" in err and err.count("\n") == 1


def test_runs_that_differ_never_share_a_file(tmp_path, small):
    words = ["--model", "offline:gold", "--quiet"]
    for more in (
        ["vanilla"],
        ["vanilla", "--limit", "2"],
        ["recent"],
        ["recent", "--k", "1"],
        ["recent", "--seed", "8"],
    ):
        assert evaluate(tmp_path, "open", *words, "--setting", *more) == 0
    assert len(list((tmp_path / "out/evaluations").glob("*/said.open.*.json"))) == 5
    assert len(list((tmp_path / "out/evaluations").glob("*/scores.open.*.json"))) == 5


def test_open_answers_are_reported_and_ranked(tmp_path, small):
    paths = []
    for model in ("gold", "other"):
        paths.append(tmp_path / f"{model}.json")
        words = ["--model", f"offline:{model}", "--setting", "vanilla", "--quiet", "--out", paths[-1]]
        assert evaluate(tmp_path, "open", *words) == 0
    assert evaluate(tmp_path, "report", *paths, "--out", tmp_path / "r.html", "--quiet") == 0
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "Narrative" in text and "Characters like these" in text
