"""Dialogues over sessions as a protocol: who sees what, what is written, what happens to one that stops half-way."""

import json

import orjson
import polars as pl
import pytest
from dialogue_samples import evaluators, folder, said_rows, small_release

from audits.__main__ import main as audits
from evaluators.protocols.dialogue import Talk, held
from evaluators.scoring.results import read_result
from models.dialogue import Speaker, StopRule
from models.offline import drive

MODEL = "claude-haiku-4-5"
OTHER = "claude-sonnet-4-6"


@pytest.fixture
def root(tmp_path):
    small_release(tmp_path)
    return tmp_path


def system(body):
    return json.dumps(body.get("system", ""))


def user_side(body):
    return "writes to an AI assistant" in system(body)


def chat(body):
    """A server's models as both sides: plain words, and lists where lists are asked for."""
    everything = json.dumps(body)
    if "The conversations are over" in everything:
        return json.dumps({"memories": [{"memory": "The user has a cat.", "type": "explicit"}]})
    if "lists what it learned" in everything:
        return json.dumps({"marks": [{"number": 1, "correct": False}]})
    if "renew it after each exchange" in everything:
        keys = ("formality", "length", "humor", "chattiness", "depth", "directness", "facts")
        return json.dumps({**dict.fromkeys(keys, ""), "length": "brief"})
    return f"Message {len(body['messages'])} of the {'user' if user_side(body) else 'assistant'}."


def test_every_turn_of_every_session_is_a_row_with_who_said_it(root):
    assert evaluators(root, "run", "--model", "offline:ceiling", "--quiet") == 0
    turns = said_rows(root, "offline-ceiling", "turns")
    assert len(turns) == 3 * 3 * 5 * 2 and turns["text"].null_count() == 0
    assert turns.group_by("speaker", "role").len().sort("speaker").rows() == [
        ("assistant", "subject", 45),
        ("user", "user", 45),
    ]
    talks = said_rows(root, "offline-ceiling", "dialogues")
    assert set(talks["ended"]) == {"limit"} and set(talks["messages"]) == {"30"}
    assert set(said_rows(root, "offline-ceiling", "sessions")["session"]) == {"001", "002", "003"}


def test_what_offline_sides_did_is_planted_on_the_assistants_rows_alone(root):
    evaluators(root, "run", "--model", "offline:static", "--quiet")
    turns = said_rows(root, "offline-static", "turns")
    assistants = turns.filter(pl.col("speaker") == "assistant")
    assert assistants["planted_formality_matching"].null_count() == 0
    assert turns.filter(pl.col("speaker") == "user")["planted_state"].null_count() == 45


def test_the_user_sees_profile_agenda_and_history_and_the_assistant_the_history_alone(root, rehearse):
    bodies = []

    def answer(body):
        bodies.append(body)
        return chat(body)

    rehearse(compose=answer)
    assert evaluators(root, "run", "--model", MODEL, "--user", OTHER, "--limit", "1", "--quiet") == 0
    users = [body for body in bodies if user_side(body)]
    others = [body for body in bodies if "talks with the same person" in system(body)]
    assert len(users) == 15 and len(others) == 15 + 1
    assert all("Way of talking" in system(body) and "Your agenda" in system(body) for body in users)
    assert not any("Way of talking" in json.dumps(body) or "agenda" in json.dumps(body) for body in others)
    assert max(len(body["messages"]) for body in others[:-1]) >= 29, "the history carries over sessions"
    assert {body["model"] for body in users} == {OTHER} and {body["model"] for body in others} == {MODEL}


def test_without_memory_the_assistant_sees_the_present_session_alone(root, rehearse):
    most = []

    def answer(body):
        if "talks with the same person" in system(body):
            most.append(len(body["messages"]))
        return chat(body)

    rehearse(compose=answer)
    evaluators(root, "run", "--model", MODEL, "--memory", "none", "--limit", "1", "--quiet")
    assert max(most) <= 11
    assert read_result(folder(root) / f"said.{MODEL}.memory-none.limit1.json")["run"]["memory"] == "none"


def test_a_summary_of_preferences_is_renewed_each_turn_and_shown_from_the_next_on(root, rehearse):
    shown = []

    def answer(body):
        if "talks with the same person" in system(body) and len(body["messages"]) % 2:
            shown.append("- length: brief" in system(body).replace("\\n", "\n"))
        return chat(body)

    rehearse(compose=answer)
    evaluators(root, "run", "--model", MODEL, "--memory", "dup", "--limit", "1", "--quiet")
    assert shown[0] is False and all(shown[1:])
    notes = said_rows(root, f"{MODEL}.memory-dup.limit1", "notes")
    assert len(notes) == 15 and set(notes["text"]) == {"- length: brief"}


def test_what_the_assistant_learned_is_listed_and_marked_by_the_user(root):
    evaluators(root, "run", "--model", "offline:ceiling", "--quiet")
    evaluators(root, "run", "--model", "offline:sycophant", "--quiet")
    learned = said_rows(root, "offline-ceiling", "learned")
    assert set(learned["kind"]) == {"explicit", "implicit"}
    assert set(learned.filter(pl.col("kind") == "explicit")["correct"]) == {"true"}
    assert set(said_rows(root, "offline-sycophant", "learned")["correct"]) == {"false"}


def test_the_same_command_writes_the_same_bytes_and_asks_nothing_twice(root, rehearse):
    asked = []

    def answer(body):
        asked.append(body)
        return chat(body)

    rehearse(compose=answer)
    words = ("run", "--model", MODEL, "--user", OTHER, "--limit", "2", "--quiet")
    assert evaluators(root, *words) == 0
    before = {path.name: path.read_bytes() for path in folder(root).iterdir()}
    count = len(asked)
    assert evaluators(root, *words) == 0
    assert {path.name: path.read_bytes() for path in folder(root).iterdir()} == before and len(asked) == count


def test_a_dialogue_whose_user_says_nothing_stops_there_and_is_named(root, rehearse):
    def answer(body):
        return "" if user_side(body) and len(body["messages"]) > 4 else chat(body)

    rehearse(compose=answer)
    assert evaluators(root, "run", "--model", MODEL, "--user", OTHER, "--limit", "1", "--quiet") == 1
    name = f"{MODEL}.user-{OTHER}.limit1"
    turns = said_rows(root, name, "turns")
    (gone,) = turns.filter(pl.col("text").is_null()).rows(named=True)
    assert (gone["speaker"], gone["session"], gone["turn"], gone["state"]) == ("user", "001", "003", "unreadable")
    assert said_rows(root, name, "dialogues")["ended"].to_list() == ["failed"]
    assert len(turns) == 5


def test_a_dry_run_tells_what_each_role_would_be_asked_and_asks_nothing(root, capsys):
    assert evaluators(root, "run", "--model", MODEL, "--user", OTHER, "--dry-run", "--json") == 0
    document = orjson.loads(capsys.readouterr().out)
    assert document["dialogues"] == 3 and document["cost"] > 0
    assert {one["role"]: one["requests"] for one in document["planned"]} == {"subject": 48, "user": 48}
    assert not folder(root).exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "offline:ceilin"], "error: unknown offline model 'offline:ceilin' in --model. Did you mean"),
        (["--model", "offline:static", "--user", "offline:x"], "error: unknown offline model 'offline:x' in --user"),
        (["--model", "offline:static", "--samples", "2"], "error: --samples with the protocol sessions"),
    ],
)
def test_a_wrong_request_is_one_line(root, capsys, words, said):
    assert evaluators(root, "run", *words) == 2
    err = capsys.readouterr().err
    assert err.startswith(said) and err.count("\n") == 1


def test_a_stop_word_of_the_user_is_answered_once_more_where_the_rule_says_so():
    def says(moment):
        return "That is all. DONE" if moment.number == 2 else "Go on."

    user = Speaker("user", "user", says, opening="Begin.")
    other = Speaker("assistant", "subject", lambda _: "Certainly.")
    for answered, last in ((True, "assistant"), (False, "user")):
        talk = Talk("t", {}, (user, other), StopRule(9, stop_word="DONE", stop_by=("user",), answered=answered))
        found = drive(held("t", talk)).dialogue
        assert (found.ended, found.turns[-1].speaker) == ("stop_word", last)


def test_a_user_that_drifts_is_found_by_the_audit_of_its_messages_and_scored_by_the_rubric(root, capsys):
    assert evaluators(root, "run", "--model", "offline:static", "--user", "offline:drifting", "--quiet") == 0
    name = "offline-static.user-offline-drifting"
    rows = folder(root) / f"said.{name}.turns.parquet"
    words = ["--benchmark", "likebench", "--table", "session_turns", "--rows", str(rows), "--json"]
    assert audits([*words, "--release", str(root / "frozen/likebench/0.1.0"), "--processes", "1"]) == 1
    counts = orjson.loads(capsys.readouterr().out)["counts"]
    turns = said_rows(root, name, "turns").filter(pl.col("role") == "subject")
    broken = turns.filter(pl.col("planted_user_in_character") == 1)
    assert counts["dialogue.character_break"] > 0 and len(broken) >= counts["dialogue.character_break"]
    assert turns.filter(pl.col("session") == "001")["planted_user_in_character"].to_list() == [5.0] * 15
