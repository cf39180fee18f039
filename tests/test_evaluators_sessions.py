"""LikeBench judged and reported: seven metrics a turn, what is left out, curves and slopes, the page."""

import itertools
import json
import math

import numpy as np
import polars as pl
import pytest
from dialogue_samples import evaluators, folder, said_rows, small_release
from evaluator_samples import browser
from hypothesis import given
from hypothesis import strategies as st

from evaluators.__main__ import main
from evaluators.reporting.dialogues.learned import memory_figures
from evaluators.rubrics.loading import rubrics_of
from evaluators.scoring.metrics import Aggregation, Metric, Scale
from evaluators.scoring.results import read_result
from evaluators.scoring.score_rows import rows_beside
from evaluators.scoring.series_figures import difference, series_figures, series_of
from evaluators.scoring.trends import slopes, trend
from models.journal import read_only
from models.journal.accounts import spent
from models.prices import read_prices
from models.rehearsal.speakers import talk
from schemas.records import term_ids

MODEL = "claude-haiku-4-5"
HOW = Aggregation(
    within=("persona",), clusters=("persona",), only=("ended", "limit"), series="session", segments=(1, 3, 6, 10)
)
METRICS = [
    Metric(name, "turn", Scale("integers", 1, 5), HOW, "likebench.likability@1", "0" * 64) for name in ("one", "two")
]


@pytest.fixture
def root(tmp_path):
    small_release(tmp_path)
    return tmp_path


def judged(root, model, *words):
    """The scores of an offline model under offline judges."""
    name = model.replace("offline:", "offline-")
    assert evaluators(root, "run", "--model", model, "--quiet") == 0
    said = folder(root) / f"said.{name}.json"
    out = folder(root) / f"scores.{name}.json"
    assert evaluators(root, "judge", said, "--judge", "offline:exact", *words, "--quiet", "--out", out) == 0
    return out


def frame(cells, ended="limit"):
    """Score rows from (persona, session, turn, metric) -> value."""
    rows = [
        {
            "item": f"{persona}/{session}/{turn}",
            "metric": metric,
            "judge": "j",
            "state": "not_applicable" if value is None else "scored",
            "value": None if value is None else float(value),
            "planted": None,
            "planted_state": None,
            "reason": None,
            "persona": persona,
            "session": f"{session:03}",
            "type": "social" if persona < "b" else "antisocial",
            "ended": ended if persona != "z" else "failed",
        }
        for (persona, session, turn, metric), value in cells.items()
    ]
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "planted": pl.Float64})


def figures(cells):
    (found,) = series_figures(frame(cells), METRICS, 7)
    return found


def test_the_seven_metrics_are_one_call_and_two_of_them_always_apply():
    (rubric,) = [one for one in rubrics_of("likebench") if one.id == "likebench.likability"]
    assert [part.name for part in rubric.parts] == list(term_ids("likability_metrics"))
    always = {part.name for part in rubric.parts if part.not_applicable is None}
    assert always == {"formality_matching", "conversation_length"}


def test_a_turn_is_the_mean_of_what_applies_and_a_session_the_mean_of_turns_with_a_score():
    found = figures(
        {
            ("a", 1, 1, "one"): 2,
            ("a", 1, 1, "two"): 4,
            ("a", 1, 2, "one"): None,
            ("a", 1, 2, "two"): 5,
            ("a", 2, 1, "one"): None,
            ("a", 2, 1, "two"): None,
            ("a", 3, 1, "one"): 1,
            ("a", 3, 1, "two"): None,
        }
    )
    # Session 1: (3 + 5) / 2; session 2 has no score and is no place of the curve; session 3: 1.
    assert [dot["value"] for dot in found["curve"]] == [4.0, 1.0]
    assert found["mean"]["value"] == 2.5


def test_people_whose_dialogue_stopped_half_way_are_left_out_and_named():
    cells = {(who, session, 1, "one"): 3 for who in ("a", "b") for session in (1, 2)}
    cells |= {("z", 1, 1, "one"): 1}
    found = figures(cells)
    assert found["mean"]["value"] == 3.0 and found["people"] == 2 and found["left_out"] == ["z"]


def test_a_constant_curve_has_slope_0_and_no_fit():
    found = figures({("a", session, 1, "one"): 3 for session in range(1, 5)})
    whole = found["trends"][0]
    assert (whole["slope"]["value"], whole["scaled"], whole["fit"]) == (0.0, 0.0, None)


def test_segments_share_their_end_points_and_end_where_the_sessions_do():
    ten = {("a", session, 1, "one"): 1 + session % 5 for session in range(1, 11)}
    assert [(one["first"], one["last"]) for one in figures(ten)["trends"]] == [(1, 10), (1, 3), (3, 6), (6, 10)]
    three = {key: value for key, value in ten.items() if key[1] <= 3}
    assert [(one["first"], one["last"]) for one in figures(three)["trends"]] == [(1, 3)]


@given(st.lists(st.integers(1, 5), min_size=2, max_size=10))
def test_slopes_of_a_matrix_are_those_of_each_series(series):
    assert slopes(np.array([series], dtype=np.float64))[0] == pytest.approx(trend(series).slope, abs=1e-9)


@given(st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_the_scaled_slope_of_three_sessions_is_at_most_a_half(series):
    assert abs(trend(series).scaled) <= 0.5 + 1e-12


def test_two_runs_are_compared_person_by_person():
    first = frame({("a", 1, 1, "one"): 2, ("b", 1, 1, "one"): 3})
    second = frame({("a", 1, 1, "one"): 3, ("b", 1, 1, "one"): 4, ("c", 1, 1, "one"): 1})
    found = difference(series_of(first, METRICS[0]), series_of(second, METRICS[0]), 7)
    assert found["value"] == 1.0 and found["clusters"] == 2 and found["first"] == 2.5


def test_an_exact_judge_gives_what_was_planted_and_who_adapts_is_more_likable(root):
    found = {}
    for name in ("ceiling", "sycophant"):
        (one,) = [
            each
            for each in read_result(judged(root, f"offline:{name}"))["figures"]["series"]
            if each["rubric"].startswith("likebench.likability")
        ]
        found[name] = one["mean"]["value"]
    assert found["ceiling"] > found["sycophant"] + 0.5
    examined = read_result(folder(root) / "scores.offline-ceiling.json")["figures"]["examined"]
    assert {one["exact"] for one in examined if one["exact"] is not None} == {1.0}


def test_evidence_stands_in_the_reply_and_the_judge_sees_the_history_but_not_what_follows(root, rehearse):
    prompts = []

    def answer(body):
        text = json.dumps(body)
        if "You judge how likable" not in text:
            return json.dumps({"user_in_character": 4, "user_in_character_evidence": "log"})
        prompts.append(body["messages"][-1]["content"])
        return "{}"

    rehearse(compose=answer)
    evaluators(root, "run", "--model", "offline:ceiling", "--limit", "1", "--quiet")
    said = folder(root) / "said.offline-ceiling.limit1.json"
    assert evaluators(root, "judge", said, "--judge", MODEL, "--quiet") == 1
    texts = [one if isinstance(one, str) else one[-1]["text"] for one in prompts]
    turns = said_rows(root, "offline-ceiling.limit1", "turns").filter(pl.col("speaker") == "user")["text"].to_list()
    assert len(texts) == 15
    for place, (text, message) in enumerate(zip(sorted(texts, key=len), turns, strict=True)):
        assert message in text.split("# The user's message")[1]
        assert all(later not in text for later in turns[place + 1 :])


@pytest.mark.parametrize("verdict", [6, "n/a", 4.5, None])
def test_a_verdict_that_is_no_score_is_counted_and_in_no_mean(root, rehearse, verdict):
    names = list(term_ids("likability_metrics"))
    good = dict.fromkeys(names, 3)

    def answer(body):
        text = body["messages"][-1]["content"]
        text = text if isinstance(text, str) else text[-1]["text"]
        reply = text.split("# The reply to judge")[1].split("\n\n")[1].split()[0]
        return json.dumps({**good, "callback": verdict, **{f"{name}_evidence": reply for name in names}})

    rehearse(compose=answer)
    evaluators(root, "run", "--model", "offline:static", "--limit", "1", "--quiet")
    out = root / "scores.json"
    said = folder(root) / "said.offline-static.limit1.json"
    rubric = "evaluators/rubrics/likebench/likability.toml"
    assert evaluators(root, "judge", said, "--judge", MODEL, "--rubric", rubric, "--quiet", "--out", out) == 1
    result = read_result(out)
    states = {one["metric"]: one["states"] for one in result["figures"]["judged"]}
    assert states["callback"]["unscored"] == 15 and states["humor_fit"]["scored"] == 15
    assert result["figures"]["series"][0]["mean"]["value"] == 3.0
    assert pl.read_parquet(rows_beside(out)).filter(pl.col("metric") == "callback")["value"].null_count() == 15


def test_memories_without_a_list_or_a_mark_are_counted_and_in_no_share():
    rows = pl.DataFrame(
        {
            "dialogue": ["a", "a", "a", "b"],
            "memory": ["x", "y", "z", None],
            "kind": ["explicit", "explicit", "implicit", None],
            "correct": ["true", "false", None, None],
        }
    )
    found = memory_figures(rows, 7)
    assert (found["all"]["accuracy"], found["all"]["listed"], found["all"]["unmarked"]) == (0.5, 3, 1)
    assert found["implicit"]["accuracy"] is None and found["all"]["without"] == 1
    assert found["explicit"]["correct"] == 1


def test_the_page_has_curves_gains_memories_and_every_dialogue_to_read(root):
    paths = [judged(root, "offline:ceiling"), judged(root, "offline:static")]
    assert evaluators(root, "run", "--model", "offline:static", "--memory", "dup", "--quiet") == 0
    dup = folder(root) / "said.offline-static.memory-dup.json"
    paths.append(folder(root) / "scores.dup.json")
    assert evaluators(root, "judge", dup, "--judge", "offline:exact", "--quiet", "--out", paths[-1]) == 0
    page = root / "page.html"
    assert evaluators(root, "report", *paths, "--out", page, "--quiet") == 0
    text = page.read_text()
    assert 'id="sessions"' in text and 'id="learned"' in text and 'class="band' in text
    assert "dup against full" in text and "+0.000" in text
    with browser() as seen:
        seen.open(page, 390)
        seen.run("return window.showItems()")
        bubbles = "return document.querySelectorAll('.bubble').length"
        assert seen.run(bubbles) == 30
        seen.run(
            "const f = document.querySelector('#dialogues form'); f.elements.run.value = 1;"
            "f.elements.run.dispatchEvent(new Event('change')); return 1"
        )
        words = seen.run("return document.querySelector('#dialogues .talk').textContent")
        first = said_rows(root, "offline-static", "turns").sort("dialogue", "item")["text"][1]
        assert first in words and "What the user is after" in words
        # The judge of the user's part stands under the user's messages, the judge of likability under the replies.
        chips = (
            "return [...document.querySelectorAll('.bubble{}')].map((b) => b.textContent.includes('user in character'))"
        )
        assert all(seen.run(chips.format(":not(.own)"))) and not any(seen.run(chips.format(".own")))
        assert seen.run("return document.documentElement.scrollWidth") <= 390


def test_scores_whose_dialogues_are_gone_say_so(root):
    path = judged(root, "offline:static")
    for gone in folder(root).glob("said.*"):
        gone.unlink()
    assert evaluators(root, "report", path, "--out", root / "page.html", "--quiet") == 0
    assert "Not at hand: offline:static" in (root / "page.html").read_text()


def test_every_series_and_trend_of_a_run_is_finite(root):
    found = read_result(judged(root, "offline:forgetful"))["figures"]["series"]
    numbers = itertools.chain.from_iterable(
        (one["mean"]["value"], *(dot["value"] for dot in one["curve"])) for one in found
    )
    assert all(math.isfinite(number) for number in numbers)


def test_the_same_people_with_one_option_flipped_are_compared_by_pairs(root):
    first = judged(root, "offline:static")
    words = ("--model", "offline:static", "--flip", "formality.always_casual", "--quiet")
    assert evaluators(root, "run", *words) == 0
    second = folder(root) / "scores.flipped.json"
    said = folder(root) / "said.offline-static.flip-formality-always_casual.json"
    assert evaluators(root, "judge", said, "--judge", "offline:exact", "--quiet", "--out", second) == 0
    assert evaluators(root, "report", first, second, "--out", root / "page.html", "--quiet") == 0
    assert "offline:static: flip formality.always_casual against as they are" in (root / "page.html").read_text()
    reported = [read_result(path)["figures"]["judged"] for path in (first, second)]
    means = [{one["metric"]: one["mean"]["value"] for one in each} for each in reported]
    # A neutral assistant is one step from whoever is casual, in every turn.
    assert means[1]["formality_matching"] == 3.0 and means[0]["formality_matching"] != 3.0


def test_an_unknown_option_to_flip_is_one_line(root, capsys):
    assert evaluators(root, "run", "--model", "offline:static", "--flip", "formality.casual") == 2
    assert capsys.readouterr().err.startswith("error: unknown option of style 'formality.casual'")


def test_the_forecast_of_a_run_is_within_a_tenth_of_what_the_journal_says_once_a_small_one_was_held(
    tmp_path, rehearse, capsys
):
    rehearse(compose=talk)
    words = ["run", "--release", "likebench@1.0.0", "--model", MODEL, "--user", "claude-sonnet-4-6", "--quiet"]
    words += ["--workspace", str(tmp_path)]
    assert main([*words, "--limit", "1"]) == 0
    assert main([*words, "--limit", "2", "--dry-run", "--json"]) == 0
    forecast = json.loads(capsys.readouterr().out)["cost"]
    whole = tmp_path / "whole.sqlite"
    assert main([*words, "--limit", "2", "--journal", str(whole)]) == 0
    with read_only(whole) as read:
        paid = spent(read, read_prices())
    assert paid == pytest.approx(forecast, rel=0.1)


@pytest.mark.parametrize("held", [0, 7])
def test_people_whose_assistant_says_nothing_are_counted_kept_and_in_no_curve(root, rehearse, held):
    def answer(body):
        text = json.dumps(body)
        if "talks with the same person" not in text or "The conversations are over" in text:
            return talk(body)
        own = sum(message["role"] == "assistant" for message in body["messages"])
        return "" if own >= held else "I see."

    rehearse(compose=answer)
    assert evaluators(root, "run", "--model", MODEL, "--limit", "2", "--quiet") == 1
    said = folder(root) / f"said.{MODEL}.limit2.json"
    turns = said_rows(root, f"{MODEL}.limit2", "turns")
    assert turns.filter(pl.col("state") == "unreadable")["speaker"].to_list() == ["assistant"] * 2
    out = root / "scores.json"
    rubric = "evaluators/rubrics/likebench/likability.toml"
    assert evaluators(root, "judge", said, "--judge", "offline:constant", "--rubric", rubric, "--out", out) == 1
    (found,) = read_result(out)["figures"]["series"]
    assert found["people"] == 0 and found["mean"] is None and len(found["left_out"]) == 2
    assert evaluators(root, "report", out, "--out", root / "page.html", "--quiet") == 0
    assert read_result(out)["figures"]["judged"][0]["states"]["unscored"] == 2
