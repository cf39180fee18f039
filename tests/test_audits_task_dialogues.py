"""Audits of dialogues about a task: what was planted is found, what was not is no finding, and labelled sentences."""

import json
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from task_samples import played, table, task, user

import audits
from audits import audit
from audits.__main__ import main
from audits.checks import task_dialogues as checks

CODES = tomllib.loads((Path(audits.__file__).parent / "checks" / "task_dialogues.toml").read_text("utf-8"))["codes"]
RELATED = {name: table(name) for name in ("users", "tasks", "preferences")}
PLANTED = {
    "hasty": "task_dialogue.preference_first",
    "leaking": "task_dialogue.goal_leaked",
    "swapped": "task_dialogue.role_swapped",
    "contradicting": "task_dialogue.profile_contradicted",
    "reciting": "task_dialogue.profile_read_out",
    "endless": "task_dialogue.not_ended",
}
CASES = json.loads((Path(__file__).parent / "cases" / "invented_preferences.json").read_text("utf-8"))


def rows_of(user_id, task_id, messages):
    dialogue, turn, rows = f"{user_id}/{task_id}", 0, []
    for speaker, text in messages:
        turn += speaker == "user"
        rows.append(
            {
                "item": f"{dialogue}/001/{turn:03}/{speaker}",
                "dialogue": dialogue,
                "user_id": user_id,
                "task_id": task_id,
                "turn": f"{turn:03}",
                "speaker": speaker,
                "text": text,
            }
        )
    return rows


def all_rows(assistant, manner, every=160):
    made = [
        rows_of(who["user_id"], what["task_id"], one.messages) for who, what, one in played(assistant, manner, every)
    ]
    return [row for rows in made for row in rows]


def found(rows, only=None):
    return audit("task_turns", rows, {**RELATED, "task_turns": rows}, only, processes=1)


def dialogues_with(code, rows):
    return {finding.row_id.rsplit("/", 3)[0] for finding in found(rows) if finding.code == code}


@pytest.mark.parametrize("assistant", ["attentive", "asking", "ignoring", "failing", "forgetful", "robotic"])
def test_nothing_is_found_in_dialogues_without_a_planted_fault(assistant):
    assert [finding.as_dict() for finding in found(all_rows(assistant, "steady"))] == []


@pytest.mark.parametrize(("manner", "code"), PLANTED.items())
def test_the_fault_of_a_user_is_found_in_its_dialogues_and_no_other_fault_is(manner, code):
    rows = all_rows("attentive", manner)
    assert {finding.code for finding in found(rows)} <= {code, "task_dialogue.not_ended"}
    assert len(dialogues_with(code, rows)) >= 0.9 * len({row["dialogue"] for row in rows})


def test_invented_preferences_are_found_exactly_where_they_were_planted():
    planted, rows = set(), []
    for who, what, one in played("mixed", every=80):
        own = rows_of(who["user_id"], what["task_id"], one.messages)
        rows += own
        planted |= {own[0]["dialogue"]} if one.scores["hallucinated_personalization"] else set()
    assert planted
    assert dialogues_with("task_dialogue.preference_invented", rows) == planted


def test_a_value_that_the_user_stated_before_is_not_invented():
    who, what = user("user0"), task("SD-Alarm-task-1")
    said = [("user", "Set an alarm."), ("assistant", "Which tone?"), ("user", "Birdsong, for once.")]
    rows = rows_of(who["user_id"], what["task_id"], [*said, ("assistant", "You prefer birdsong, so I took it.")])
    assert found(rows, ["task_dialogue.preference_invented"]) == []
    without = rows_of(who["user_id"], what["task_id"], [said[0], ("assistant", "You prefer birdsong, so I took it.")])
    (finding,) = found(without, ["task_dialogue.preference_invented"])
    assert finding.text == "birdsong"
    assert "a radio station as Alarm: Alarm tone" in finding.message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:50])
def test_labelled_sentences_that_no_bank_wrote_are_told_apart(case):
    """Sentences of an assistant to user0, labelled by hand; ``missed`` are known to be out of reach of the rules."""
    rows = rows_of("user0", case["task"], [("user", "Hello."), ("assistant", case["text"]), ("user", "Thanks.")])
    values = [finding.text.lower() for finding in found(rows, ["task_dialogue.preference_invented"])]
    assert values == ([] if case.get("missed") else case["invented"])


@pytest.mark.parametrize(
    ("code", "text", "hit"),
    [
        (each["code"], text, kind == "hits")
        for each in CODES
        for kind in ("hits", "misses")
        for text in each.get(kind, ())
    ],
)
def test_the_examples_of_a_code_hold(code, text, hit):
    rows = rows_of(
        "user0", "SD-Alarm-task-1", [("user", "Hello."), ("assistant", "Yes?"), ("user", text), ("assistant", "Well.")]
    )
    assert [finding.code for finding in found(rows, [code])] == [code] * hit


def test_the_stop_word_left_in_a_message_and_an_empty_message_are_found():
    rows = rows_of(
        "user0",
        "SD-Alarm-task-1",
        [("user", "Thanks. TERMINATE"), ("assistant", " "), ("user", "Bye"), ("assistant", "Bye")],
    )
    assert {finding.code for finding in found(rows)} == {"task_dialogue.stop_word_left", "task_dialogue.empty"}


def test_a_user_that_ends_with_its_first_message_is_found():
    rows = rows_of("user0", "SD-Alarm-task-1", [("user", "Set an alarm."), ("assistant", "Done.")])
    assert [finding.code for finding in found(rows)] == ["task_dialogue.ended_at_once"]


@pytest.mark.parametrize("said", [[("user", "")], [("user", "Set an alarm."), ("assistant", ""), ("user", "")]])
def test_a_dialogue_that_broke_off_was_ended_by_nobody(said):
    rows = [{**row, "ended": "failed"} for row in rows_of("user0", "SD-Alarm-task-1", said)]
    assert {finding.code for finding in found(rows)} == {"task_dialogue.empty"}


def test_parquet_rows_are_audited_by_the_command_beside_a_release(tmp_path, capsys):
    rows = all_rows("inventive", "steady", every=800)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "turns.parquet")
    words = ["--benchmark", "personalens", "--table", "task_turns", "--rows", str(tmp_path / "turns.parquet")]
    assert main([*words, "--release", "personalens@1.0.0", "--processes", "1", "--json"]) == 1
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert set(counts) == {"task_dialogue.preference_invented"}


def test_without_the_release_it_says_what_was_not_checked(tmp_path, capsys):
    rows = all_rows("attentive", "steady", every=800)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "turns.parquet")
    words = ["--benchmark", "personalens", "--table", "task_turns", "--rows", str(tmp_path / "turns.parquet")]
    assert main([*words, "--processes", "1", "--json"]) == 0
    assert "not checked: no users, tasks, preferences" in json.loads(capsys.readouterr().out)["skipped"][0]


def test_dialogues_of_users_that_the_release_lacks_are_named():
    rows = rows_of("user999999", "SD-Alarm-task-1", [("user", "Hi"), ("assistant", "Hi")])
    (line,) = checks.not_checked(rows, RELATED, frozenset())
    assert "user999999" in line
