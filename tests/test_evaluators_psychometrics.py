"""Psychometrics: answers whose traits are known are recovered, faults show, and a model never sees the vector."""

import json
import math
import re

import numpy as np
import polars as pl
import pytest
from evaluator_samples import browser, evaluate, small_release
from release_samples import small_tables
from scipy.stats import pearsonr

from evaluators.__main__ import main
from evaluators.protocols.sentences import split
from evaluators.psychometrics.figures import trait_figures
from evaluators.psychometrics.questionnaire import options
from evaluators.psychometrics.statements import statements
from evaluators.psychometrics.subjects import NOISE, SUBJECTS
from evaluators.scoring.metrics import Aggregation
from evaluators.scoring.results import read_result

MODEL = "claude-haiku-4-5"
HOW = Aggregation("traits", clusters=("character_id",))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Subject -> scores of its questionnaire on the frozen HEART, three wordings in two orders."""
    root = tmp_path_factory.mktemp("psychometrics")
    found = {}
    for subject in SUBJECTS:
        said, scores = root / f"said.{subject}.json", root / f"scores.{subject}.json"
        words = ["--release", "heart@2.0.0", "--protocol", "questionnaire", "--setting", "recent", "--quiet"]
        words += ["--model", f"offline:{subject}", "--wordings", "3", "--orders", "2", "--out", str(said)]
        assert main(["run", *words]) == 0
        assert main(["judge", str(said), "--judge", "offline:stated", "--out", str(scores), "--quiet"]) == 0
        found[subject] = scores
    return found


def traits(path):
    (one,) = read_result(path)["figures"]["judged"]
    return one["traits"]


def test_every_statement_has_paraphrases_of_its_own_and_each_trait_ten():
    texts = [text for one in statements() for text in one.wordings]
    assert len(texts) == len(set(texts)) == 150
    assert {trait: sum(one.trait == trait for one in statements()) for trait in "OCEAN"} == dict.fromkeys("OCEAN", 10)
    assert all(split(one.said(place)) == [one.said(place)] for one in statements() for place in range(3))
    keyed = {one.id: one.keyed for one in statements()}
    assert (keyed["N02"], keyed["N01"], keyed["E01"], keyed["E02"]) == (-1, 1, 1, -1)


def test_answers_that_follow_the_release_are_recovered_within_what_their_noise_allows(runs):
    found = traits(runs["faithful"])
    # Ten statements, three wordings, two orders: the noise of a trait, before rounding and the ends of the scale.
    noise = math.sqrt(NOISE**2 + 1 / 12) / 4 / math.sqrt(60)
    assert found["error"]["value"] < 1.5 * noise and found["error"]["value"] < found["floor"]["value"] / 4
    assert found["correlation"]["intervals"][0]["low"] > 0.95
    assert all(one["ranks"] > 0.8 and one["alpha"] > 0.9 for one in found["by"].values())
    assert found["wordings"]["correlation"] > 0.9 and found["orders"]["correlation"] > 0.9


def test_a_subject_that_ignores_the_character_is_no_better_than_the_middle(runs):
    found = traits(runs["indifferent"])
    (spread,) = found["correlation"]["intervals"]
    assert spread["low"] < 0 < spread["high"]
    assert found["error"]["value"] >= found["floor"]["value"]


def test_saying_yes_and_taking_the_first_option_are_seen(runs):
    agreeing, first = traits(runs["agreeing"]), traits(runs["first"])
    assert agreeing["acquiescence"] == pytest.approx(1.5, abs=0.05)
    assert abs(traits(runs["faithful"])["acquiescence"]) < 0.2
    assert first["orders"]["same"] == 0 and first["orders"]["distance"] == 4
    assert first["wordings"]["same"] == 1 and first["correlation"]["value"] is None


def test_an_interview_shows_the_same_traits_through_a_judge(tmp_path):
    said, scores = tmp_path / "said.json", tmp_path / "scores.json"
    words = [
        "--release",
        "heart@2.0.0",
        "--protocol",
        "interview",
        "--setting",
        "recent",
        "--model",
        "offline:faithful",
    ]
    assert main(["run", *words, "--limit", "300", "--out", str(said), "--quiet"]) == 0
    judges = ["offline:exact", "offline:noisy", "offline:constant"]
    assert main(["judge", str(said), "--judge", *judges, "--out", str(scores), "--quiet"]) == 0
    found = {one["judge"]: one["traits"] for one in read_result(scores)["figures"]["judged"]}
    assert found["offline:exact"]["correlation"]["value"] > 0.85
    assert found["offline:noisy"]["correlation"]["value"] > 0.7
    assert found["offline:constant"]["error"]["value"] == pytest.approx(
        found["offline:constant"]["floor"]["value"], abs=1e-9
    )
    assert main(["judge", str(said), "--judge", "offline:stated"]) == 2


def rows(values):
    """Score rows of characters and statements; ``values`` is (character, statement) -> agreement."""
    by_id = {one.id: one for one in statements()}
    truth = {"a": 0.9, "b": 0.1, "c": 0.5}
    return pl.DataFrame(
        [
            {
                "item": f"{who}/{statement}", "state": "scored", "value": value, "reason": None, "planted_state": None,
                "character_id": who, "trait": by_id[statement].trait, "truth": f"{truth[who]}",
                "keyed": f"{by_id[statement].keyed}", "statement_id": statement, "wording": "0", "order": "0",
            }
            for (who, statement), value in values.items()
        ]
    )  # fmt: skip


def test_the_figures_are_those_of_a_calculation_by_hand():
    values = {("a", "E01"): 5.0, ("a", "E02"): 2.0, ("b", "E01"): 1.0, ("b", "E02"): 4.0, ("c", "E01"): 3.0}
    values[("c", "E02")] = None
    found = trait_figures(rows(values), HOW, 7)
    recovered = {"a": (1 + 0.75) / 2, "b": (0 + 0.25) / 2, "c": 0.5}
    truth = {"a": 0.9, "b": 0.1, "c": 0.5}
    assert found["error"]["value"] == pytest.approx(np.mean([abs(recovered[who] - truth[who]) for who in "abc"]))
    assert found["floor"]["value"] == pytest.approx((0.4 + 0.4 + 0) / 3)
    expected = pearsonr([recovered[who] for who in "abc"], [truth[who] for who in "abc"]).statistic
    assert found["correlation"]["value"] == pytest.approx(expected)
    assert found["by"]["E"]["ranks"] == 1.0 and found["wordings"] is None
    assert found["profiles"]["a"]["E"] == {"value": recovered["a"], "truth": 0.9}


def test_nothing_scored_is_no_figure_and_one_character_no_interval():
    nothing = trait_figures(rows({("a", "E01"): 5.0}).with_columns(pl.lit(None, pl.Float64).alias("value")), HOW, 7)
    assert nothing["error"] is None and nothing["cells"] == 0
    alone = trait_figures(rows({("a", "E01"): 5.0, ("a", "C01"): 4.0}), HOW, 7)
    assert alone["error"]["intervals"][0]["low"] is None and alone["correlation"]["value"] is None


def test_a_model_sees_memories_and_the_statement_and_never_the_vector(tmp_path, rehearse, capsys):
    small_release(tmp_path)
    seen = []

    def compose(body):
        seen.append(json.dumps(body, ensure_ascii=False))
        return '{"answer": 4}' if len(seen) % 3 else "I am not sure."

    rehearse(compose=compose)
    words = ["--release", "heart@0.1.0", "--protocol", "questionnaire", "--model", MODEL, "--orders", "2"]
    words += ["--limit", "12", "--concurrency", "1", "--out", tmp_path / "said.json"]
    assert evaluate(tmp_path, "run", *words) == 2
    assert "no --setting" in capsys.readouterr().err
    assert evaluate(tmp_path, "run", *words, "--setting", "recent", "--quiet") == 1
    header = read_result(tmp_path / "said.json")
    assert header["figures"]["states"]["said"] + header["figures"]["states"]["unreadable"] == 12
    assert header["figures"]["states"]["unreadable"] > 0
    people = small_tables()["characters"]
    for text in seen:
        assert not any(one["archetype"] in text or one["self_value_logic"] in text for one in people)
        assert not any(one["character_id"] in text for one in people)
    assert any(json.dumps(options(1))[1:-1] in text for text in seen)
    scores = tmp_path / "scores.json"
    said = str(tmp_path / "said.json")
    assert main(["judge", said, "--judge", "offline:stated", "--quiet", "--out", str(scores)]) == 1
    (one,) = read_result(scores)["figures"]["judged"]
    assert one["states"]["unscored"] == header["figures"]["states"]["unreadable"]


def test_the_report_shows_each_character_beside_its_truth(runs, tmp_path):
    page = tmp_path / "r.html"
    assert main(["report", *map(str, runs.values()), "--out", str(page), "--quiet"]) == 0
    text = page.read_text("utf-8")
    assert all(title in text for title in ("Recovered traits", "Trait by trait", "Reliability of the answers"))
    names = re.findall(r'<th scope="row">(offline:\w+), recent</th><td data-label="Rank">(\d)', text)
    assert names[0] == ("offline:faithful", "1") and dict(names)["offline:indifferent"] != "1"
    with browser() as chrome:
        chrome.open(page, 390)
        assert chrome.complaints() == []
        inner, wide = chrome.run("return [innerWidth, document.documentElement.scrollWidth]")
        assert wide <= inner
