"""The second track: decisions in a model's own words, judged, in three states."""

import json

import pytest
from evaluator_samples import evaluate, result_at, small_release
from release_samples import small_tables

from evaluators.protocols.judging import FIELDS

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
    return code, result_at(out)


def test_an_answer_is_judged_part_by_part(tmp_path, rehearse):
    rehearse(compose=lambda body: json.dumps(SCORES if is_judge(body) else ANSWER))
    code, result = run(tmp_path, "--model", MODEL, "--judge", MODEL)
    assert code == 0 and result["figures"]["states"] == {"scored": 4, "unscored": 0, "failed": 0}
    assert result["figures"]["fields"] == {field: float(score) for field, score in SCORES.items()}
    assert result["figures"]["narrative"] == 0.6
    assert all(item["scores"] == SCORES for item in result["items"])


@pytest.mark.parametrize(
    "verdict",
    ['{"summary": 3}', "4, 4, 4, 4, 4", json.dumps({**SCORES, "summary": 6}), json.dumps({**SCORES, "summary": "3"})],
)
def test_a_verdict_that_cannot_be_read_is_unscored_and_never_0(tmp_path, rehearse, verdict):
    rehearse(compose=lambda body: verdict if is_judge(body) else json.dumps(ANSWER))
    code, result = run(tmp_path, "--model", MODEL, "--judge", MODEL)
    assert code == 1 and result["figures"]["states"]["unscored"] == 4
    assert result["figures"]["narrative"] is None
    assert all(item["scores"] is None and item["answer"] == ANSWER for item in result["items"])


def test_an_answer_that_cannot_be_read_is_not_judged(tmp_path, rehearse):
    judged = []
    rehearse(compose=lambda body: judged.append(1) or json.dumps(SCORES) if is_judge(body) else "I would stay.")
    code, result = run(tmp_path, "--model", MODEL, "--judge", MODEL)
    assert code == 1 and judged == []
    assert {item["state"] for item in result["items"]} == {"unscored"}


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
    assert gold["figures"]["narrative"] == 1
    assert other["figures"]["narrative"] < 1
    assert all(item["answer"] is not None for item in other["items"])


def test_people_and_judge_are_held_against_each_other(tmp_path):
    code, result = run(tmp_path, "--model", "offline:gold")
    lines = ["question_id,field,rater,score"]
    for place, item in enumerate(result["items"]):
        lines += [f"{item['question_id']},summary,r1,{5 - place % 2}", f"{item['question_id']},summary,r2,5"]
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("\n".join(lines) + "\n")
    code, result = run(tmp_path, "--model", "offline:gold", "--ratings", str(ratings))
    people = result["figures"]["people"]["summary"]
    assert code == 0 and (people["items"], people["ratings"]) == (4, 8)
    assert people["distance"] == 0.25
    assert result["figures"]["people"]["final_decision"]["items"] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question_id,field,score\n", "ratings without a column"),
        ("question_id,field,rater,score\nQ,mood,r,3\n", "unknown field 'mood'"),
        ("question_id,field,rater,score\nQ,summary,r,3.5\n", "bad score '3.5'"),
    ],
)
def test_malformed_ratings_are_told_with_their_place(tmp_path, capsys, text, said):
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    words = ["--setting", "vanilla", "--model", "offline:gold", "--ratings", path]
    assert evaluate(tmp_path, "open", *words) == 2
    assert said in capsys.readouterr().err


def test_ratings_of_a_question_that_nobody_asks_are_refused(tmp_path, small, capsys):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("question_id,field,rater,score\nQ_CHAR_01_SCN_NOWHERE_1,summary,one,3\n")
    words = ["--setting", "vanilla", "--model", "offline:gold", "--ratings", ratings]
    assert evaluate(tmp_path, "open", *words) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: unknown question 'Q_CHAR_01_SCN_NOWHERE_1'") and told.count("\n") == 1


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
    assert len(list((tmp_path / "out/evaluations").glob("*/open.*.json"))) == 5


def test_the_report_takes_no_open_answers_and_says_so(tmp_path, small, capsys):
    out = tmp_path / "open.json"
    assert evaluate(tmp_path, "open", "--model", "offline:gold", "--setting", "vanilla", "--quiet", "--out", out) == 0
    assert evaluate(tmp_path, "report", out, "--out", tmp_path / "r.html") == 2
    told = capsys.readouterr().err
    assert "a result of `open`" in told and "one that `choice` wrote" in told
