"""Replay: candidates get the prefix and nothing of the rater's scores, whatever is shown beside it."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from satisfaction_samples import evaluate, folder, small_release

from evaluators.protocols.replay import cleaned, prefix
from evaluators.protocols.replay_prompts import MODES
from evaluators.satisfaction.turn_fields import NO_MEMORY, RatedTurns, memory_text, reply_of
from evaluators.scoring.results import read_result
from releases import open_release
from schemas.errors import RequestError

MODEL = "claude-haiku-4-5"
MESSAGES = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1, max_size=5)), max_size=8)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("replay")
    small_release(root)
    return root


@pytest.fixture(scope="module")
def release(root):
    return open_release("persturn@0.1.0", root / "frozen")


def said(root, name):
    header = read_result(folder(root) / f"said.{name}.json")
    return header, pl.read_parquet(folder(root) / f"said.{name}.turns.parquet")


@given(MESSAGES)
def test_a_prefix_alternates_begins_with_the_user_and_keeps_every_word_after_that(messages):
    rows = [{"role": role, "content": text} for role, text in messages] + [{"role": "assistant", "content": "last"}]
    turn = sum(role == "assistant" for role, _ in messages)
    shown = prefix({"messages": rows}, turn)
    roles = [role for role, _ in shown]
    assert roles == ["user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant"][: len(roles)]
    first = next((place for place, (role, _) in enumerate(messages) if role == "user"), len(messages))
    words = "".join(text for _, text in messages[first:])
    assert "".join(text.replace("\n\n", "") for _, text in shown) == words.replace("\n\n", "")


def test_thoughts_and_a_fence_round_the_whole_reply_are_taken_off():
    assert cleaned("<think>the user\nwants</think>\n\nTake the train.") == "Take the train."
    assert cleaned("```markdown\nTake the train.\n```") == "Take the train."
    assert cleaned("Like this:\n```\na\n```") == "Like this:\n```\na\n```"
    assert cleaned(" <think>only</think> ") == ""


def test_recorded_replies_are_those_of_evaluated_raters_word_for_word(root, release):
    assert evaluate(root, "run", "--model", "offline:original", "--quiet") == 0
    header, rows = said(root, "offline-original")
    known = RatedTurns(release, 7)
    due = {name for name, row in known.ratings.items() if known.split[row["rater_id"]] == "test"}
    assert set(rows["item"]) == due and header["run"]["mode"] is None
    for row in rows.head(40).rows(named=True):
        rating = known.ratings[row["item"]]
        assert row["reply"] == reply_of(known.conversations[rating["conversation_id"]], rating["turn"])
    assert "score" not in rows.columns and "gold" not in rows.columns
    assert evaluate(root, "run", "--model", "offline:original", "--split", "all", "--quiet") == 0
    assert set(said(root, "offline-original.split-all")[1]["item"]) == set(known.ratings)


def test_offline_candidates_draw_replies_of_training_raters_and_are_better_and_worse_than_the_recorded(root, release):
    for name in ("strong", "weak"):
        assert evaluate(root, "run", "--model", f"offline:{name}", "--quiet") == 0
    known = RatedTurns(release, 7)
    train = {
        reply_of(known.conversations[row["conversation_id"]], row["turn"])
        for row in known.ratings.values()
        if known.split[row["rater_id"]] == "train"
    }
    strong, weak = (said(root, f"offline-{name}")[1] for name in ("strong", "weak"))
    assert set(strong["reply"]) | set(weak["reply"]) <= train
    assert len(strong) == 20 and strong["planted"].mean() > weak["planted"].mean() + 1
    assert strong["quality"].min() > weak["quality"].max()


@pytest.mark.parametrize("mode", MODES)
def test_a_model_is_sent_the_prefix_and_what_its_mode_shows_and_never_a_score(root, release, rehearse, mode):
    bodies = []

    def answer(body):
        bodies.append(body)
        return "<think>hm</think>Take the early train."

    rehearse(compose=answer)
    assert evaluate(root, "run", "--model", MODEL, "--mode", mode, "--limit", "6", "--quiet") == 0
    _, rows = said(root, f"{MODEL}.{mode}.limit6")
    assert rows["reply"].unique().to_list() == ["Take the early train."] and set(rows["state"]) == {"said"}
    assert rows["planted"].null_count() == 6
    assert all(("system" in body) == (mode != "raw") for body in bodies) and len(bodies) == 6
    text = json.dumps(bodies)
    assert "satisf" not in text and "avg_" not in text and "reason" not in text
    memories = {row["scoring_style"] for row in release.rows("user_memories")}
    assert not any(style in text for style in memories)
    assert all(body["messages"][-1]["role"] == "user" for body in bodies)


def test_an_empty_reply_is_asked_for_three_times_and_then_failed(root, rehearse):
    asked = []

    def answer(body):
        asked.append(body)
        return "<think>nothing</think>"

    rehearse(compose=answer)
    out = root / "empty.json"
    assert evaluate(root, "run", "--model", MODEL, "--limit", "2", "--out", out, "--quiet") == 3
    states = read_result(out)["figures"]["states"]
    assert {state for state, count in states.items() if count} == {"failed"} and states["failed"] == 2
    rows = pl.read_parquet(root / "empty.turns.parquet")
    assert len(asked) == 6 and set(rows["reason"]) == {"empty after 3 attempts"}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--model", "offline:strong", "--mode", "task"], "--mode"),
        (["--model", "offline:original", "--selection", "blind"], "--selection"),
        (["--model", "offline:weak", "--split", "all"], "--split"),
        (["--model", "offline:strog"], "offline:strong"),
    ],
)
def test_what_changes_nothing_for_a_candidate_is_refused_in_one_line(root, capsys, words, named):
    assert evaluate(root, "run", *words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and named in said and said.count("\n") == 1


def test_a_turn_without_a_memory_says_so_in_its_field(release):
    known = RatedTurns(release, 7)
    conversation = next(iter(known.conversations.values()))
    known.memories.clear()
    fields = known.fields(conversation, 0, "x")
    assert fields["memory_v2"] == fields["memory_v3"] == NO_MEMORY == memory_text(None)
    assert fields["memory_mean"] is None


def test_imported_raters_have_no_truth_and_no_offline_candidate(release):
    known = RatedTurns(release, 7)
    for row in known.ratings.values():
        row["planted"] = None
    assert known.truth(list(known.ratings)[:1], {}) == {}
    from evaluators.protocols.replay_candidates import Pool

    with pytest.raises(RequestError, match="without planted quality"):
        Pool(known)
