"""Figures of dialogues about tasks: planted rates come back, contexts are paired, the report shows them."""

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from task_samples import table

from audits.__main__ import main as audit
from evaluators.__main__ import main
from evaluators.task_dialogues.clustered import Users, corrected_rate

USERS = "5"


def evaluate(folder, *words):
    return main([*words, "--workspace", str(folder), "--quiet"])


def folder_of(path):
    return path / "evaluations" / "personalens@1.0.0"


def held(path, model, *words):
    """Run, judge and audit; the files of the run, its scores and its findings."""
    before = set(folder_of(path).glob("*.json"))
    run = ("run", "--release", "personalens@1.0.0", "--model", f"offline:{model}", "--users", USERS)
    assert evaluate(path, *run, *words) == 0
    (said,) = set(folder_of(path).glob("*.json")) - before
    assert evaluate(path, "judge", str(said), "--judge", "offline:noisy", "offline:exact") == 0
    (scores,) = set(folder_of(path).glob("scores*.json")) - before
    return said, scores


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    path = tmp_path_factory.mktemp("dialogues")
    return path, [held(path, "mixed"), held(path, "mixed", "--context", "interactions"), held(path, "inventive")]


@pytest.fixture(scope="module")
def findings(runs, tmp_path_factory):
    files = []
    for said, _ in runs[1]:
        rows = said.with_name(said.name.replace(".json", ".turns.parquet"))
        words = ["--benchmark", "personalens", "--table", "task_turns", "--rows", str(rows), "--json", "--quiet"]
        out = tmp_path_factory.mktemp("findings") / f"{said.stem}.json"
        files.append(_printed([*words, "--release", "personalens@1.0.0", "--processes", "1"], out))
    return files


def _printed(words, out):
    import contextlib
    import io

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert audit(words) == 1
    out.write_text(printed.getvalue())
    return out


@pytest.fixture(scope="module")
def figures(runs, findings):
    path, made = runs
    said, scores = zip(*made, strict=True)
    words = ["dialogues", *map(str, said), "--release", "personalens@1.0.0", "--scores", *map(str, scores)]
    assert evaluate(path, *words, "--findings", *map(str, findings)) == 0
    return json.loads((folder_of(path) / "dialogues.json").read_text())["figures"]


def of(entries, **wanted):
    return [one for one in entries if all(one[name] == value for name, value in wanted.items())]


def test_every_run_has_its_turns_words_and_ends_by_kind(figures):
    tasks = {row["task_id"]: row["kind"] for row in table("tasks")}
    for one in figures["runs"]:
        assert one["users"] == int(USERS)
        assert one["ended"] == {"signal": one["dialogues"], "limit": 0, "failed": 0}
        counts = {kind: made["turns"]["items"] for kind, made in one["kinds"].items()}
        assert counts["single"] + counts["multi"] == counts["all"] == one["dialogues"]
        assert one["kinds"]["multi"]["turns"]["value"] > one["kinds"]["single"]["turns"]["value"]
        assert set(Counter(tasks.values())) == {"single", "multi"}


def test_an_exact_judge_gives_what_is_true(figures):
    exact = of(figures["scores"], judge="offline:exact")
    assert {one["metric"] for one in exact} >= {"task_completion", "personalization", "hallucinated_personalization"}
    for one in exact:
        assert one["kinds"] == one["planted"]


@pytest.mark.parametrize("metric", ["task_completion", "hallucinated_personalization"])
def test_a_noisy_judge_freed_from_its_errors_gives_the_planted_rate_within_its_interval(figures, metric):
    for one in of(figures["corrected"], judge="offline:noisy", metric=metric):
        (truth,) = {own["planted"]["all"]["value"] for own in of(figures["scores"], run=one["run"], metric=metric)}
        assert one["low"] <= truth <= one["high"]


def test_the_rate_of_invented_preferences_by_rule_is_the_planted_one_within_its_interval(figures):
    for one in figures["runs"]:
        found = one["findings"]["task_dialogue.preference_invented"]["all"]["found"]
        metric = of(figures["scores"], run=one["run"], metric="hallucinated_personalization")[0]
        assert found["low"] <= metric["planted"]["all"]["value"] <= found["high"]


def test_contexts_of_one_model_are_compared_on_the_same_situations(figures):
    paired = of(figures["contexts"], metric="personalization", judge="offline:exact")
    assert len(paired) == 1, "runs of other models are not paired"
    assert "context interactions" in paired[0]["second"]
    assert paired[0]["kinds"]["all"]["low"] > 0
    assert of(figures["contexts"], metric="task_completion", judge="offline:exact")[0]["kinds"]["all"]["items"]


def test_the_report_has_a_chapter_with_scores_contexts_findings_and_the_paper(figures, runs, tmp_path):
    path, _ = runs
    out = tmp_path / "report.html"
    assert evaluate(path, "report", str(folder_of(path) / "dialogues.json"), "--out", str(out)) == 0
    page = out.read_text()
    for section in ("scores", "corrected", "findings", "contexts", "said", "words", "evenness", "paper", "again"):
        assert f"task-{section}" in page
    for words in ("Misprints", "Table 13", "Beside the paper", "No model has been asked"):
        assert words in page


def test_scores_of_a_run_that_is_not_named_are_refused(runs, capsys):
    path, made = runs
    words = ["dialogues", str(made[0][0]), "--release", "personalens@1.0.0", "--scores", str(made[2][1])]
    assert evaluate(path, *words) == 2
    assert "scores of another run" in capsys.readouterr().err


def test_findings_of_another_run_are_refused(runs, findings, capsys):
    path, made = runs
    words = ["dialogues", str(made[0][0]), "--release", "personalens@1.0.0", "--findings", str(findings[2])]
    assert evaluate(path, *words) == 2
    assert "findings of another run" in capsys.readouterr().err


def test_a_judge_that_tells_nothing_apart_gives_no_corrected_rate():
    flat = (0.5, np.full(10, 0.5))
    assert corrected_rate(flat, flat, flat, 5)["value"] is None


def test_planted_rates_are_within_the_corrected_interval_in_nearly_all_replications():
    """A judge with hits of .85 and false alarms of .15, examined on one set of users and used on another."""
    inside = 0
    for seed in range(60):
        chance = np.random.default_rng(seed)
        truth = chance.random(4000) < 0.7
        judged = np.where(chance.random(4000) < 0.15, ~truth, truth)
        frame = pl.DataFrame(
            {"user_id": [f"user{place % 50}" for place in range(4000)], "truth": truth, "value": judged}
        )
        known, asked = frame[:2000], frame[2000:]
        users = Users(frame["user_id"].to_list(), seed)
        found = corrected_rate(
            users.drawn(asked, "value"),
            users.drawn(known.filter(pl.col("truth")), "value"),
            users.drawn(known.filter(~pl.col("truth")), "value"),
            50,
        )
        inside += found["low"] <= asked["truth"].mean() <= found["high"]
    assert inside >= 54


def test_dialogues_that_were_over_before_anybody_spoke_are_counted_and_judged_as_not_completed(tmp_path):
    words = ("run", "--release", "personalens@1.0.0", "--model", "offline:attentive", "--user", "offline:abrupt")
    assert evaluate(tmp_path, *words, "--limit", "4") == 0
    (said,) = folder_of(tmp_path).glob("said*.json")
    assert evaluate(tmp_path, "judge", str(said), "--judge", "offline:exact") == 0
    (scores,) = folder_of(tmp_path).glob("scores*.json")
    words = ["dialogues", str(said), "--release", "personalens@1.0.0", "--scores", str(scores)]
    assert evaluate(tmp_path, *words) == 0
    found = json.loads((folder_of(tmp_path) / "dialogues.json").read_text())["figures"]
    assert found["runs"][0]["silent"] == 4
    (completed,) = of(found["scores"], metric="task_completion")
    assert (completed["kinds"]["all"]["value"], completed["kinds"]["all"]["items"]) == (0.0, 4)
