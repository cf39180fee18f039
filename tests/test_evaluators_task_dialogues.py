"""Dialogues about a task: who sees what, how they end, what rows say, and requests that are wrong."""

import json

import polars as pl
import pytest
from task_samples import offered, table, task, user

from evaluators.__main__ import main
from evaluators.protocols.dialogue import Talk, held
from evaluators.task_dialogues.known import Scene, fields
from evaluators.task_dialogues.protocol import context_name, read_context
from evaluators.task_dialogues.speakers import CONTEXTS, STOP_WORD, Casting, speakers
from models.dialogue import StopRule
from models.request import Reply
from schemas.errors import RequestError

SITUATION = next(row for row in table("situations") if (row["user_id"], row["task_id"]) == ("user0", "SD-Alarm-task-1"))
SCENE = Scene(user("user0"), task("SD-Alarm-task-1"), SITUATION)


def casting(**changes):
    settings = {
        "subject": None, "user": None, "context": (), "vanilla": False, "ending": "word", "seed": 7, "room": 100,
        "offered": offered(),
    }  # fmt: skip
    return Casting(**{**settings, **changes})


def talk(how, max_turns=3, **said):
    """A dialogue whose speakers say what they are given, by name; the requests and what came of it."""
    scripted = {name: iter(texts) for name, texts in said.items()}
    rule = StopRule(max_turns, answered=True, last_word=True)
    chain = held("talk", Talk("item", {}, lambda *_: speakers(SCENE, how, fields(SCENE)), rule))
    requests, reply = [], None
    while True:
        try:
            request = chain.send(reply)
        except StopIteration as done:
            return requests, done.value.dialogue
        requests.append(request)
        reply = Reply("answered", next(scripted[request.id.rsplit("/", 1)[1]]))


def system_of(requests, side):
    return "\n".join(next(one for one in requests if one.id.endswith(side)).fixed)


ONCE = {"user": ["Wake me.", f"Thanks. {STOP_WORD}"], "assistant": ["When?", "Goodbye."]}


def test_the_user_sees_profile_situation_and_intent_and_never_the_goal_or_its_id():
    requests, _ = talk(casting(), **ONCE)
    prompt = system_of(requests, "user")
    for text in ("6:30", "a radio station", "India", SITUATION["location"], SCENE.task["intent"]):
        assert text in prompt
    assert SCENE.task["goal"] not in prompt
    assert "user0" not in prompt
    assert "Terry Pratchett" not in prompt, "preferences of other domains are not shown"


@pytest.mark.parametrize("context", [(), *[(name,) for name in CONTEXTS], CONTEXTS[:2], CONTEXTS])
def test_the_assistant_sees_what_its_context_names_and_the_same_instruction(context):
    requests, _ = talk(casting(context=context), **ONCE)
    prompt = system_of(requests, "assistant")
    signs = {"demographics": "Employed part-time", "interactions": "radio station", "situation": SITUATION["location"]}
    assert {name for name, sign in signs.items() if sign in prompt} == set(context)
    assert prompt.startswith(system_of(talk(casting(), **ONCE)[0], "assistant"))
    for hidden in (SCENE.task["goal"], SCENE.task["intent"], "user0"):
        assert hidden not in prompt


def test_vanilla_is_neither_shown_the_person_nor_asked_to_suit_them():
    plain = system_of(talk(casting(vanilla=True), **ONCE)[0], "assistant")
    asked = system_of(talk(casting(), **ONCE)[0], "assistant")
    assert asked.startswith(plain) and len(asked) > len(plain)


def test_after_the_stop_word_the_assistant_answers_once_more_and_the_word_is_taken_out():
    _, found = talk(casting(), **ONCE)
    assert [turn.text for turn in found.turns] == ["Wake me.", "When?", "Thanks.", "Goodbye."]
    assert found.ended == "signal"


def test_every_stop_word_of_a_message_is_taken_out():
    said = {**ONCE, "user": ["Wake me.", f"{STOP_WORD} Thanks. {STOP_WORD}"]}
    assert talk(casting(), **said)[1].turns[2].text == "Thanks."


def test_without_an_end_a_dialogue_has_one_message_and_two_for_each_turn_and_closes_on_the_user():
    said = {"user": iter(lambda: "Go on.", None), "assistant": iter(lambda: "And?", None)}
    _, found = talk(casting(), max_turns=5, **said)
    assert (len(found.turns), found.turns[-1].speaker, found.ended) == (11, "user", "limit")


def test_an_end_in_the_last_word_is_still_answered():
    said = {"user": ["a", "b", f"c {STOP_WORD}"], "assistant": ["x", "y", "z"]}
    _, found = talk(casting(), max_turns=2, **said)
    assert [turn.text for turn in found.turns] == ["a", "x", "b", "y", "c", "z"]


def test_a_user_that_says_nothing_but_the_stop_word_is_not_answered():
    _, found = talk(casting(), user=[STOP_WORD], assistant=[])
    assert (found.turns, found.ended) == ((), "signal")


def test_the_signal_ends_a_dialogue_whatever_words_are_in_the_message():
    said = {
        "user": [{"message": f"Wake me {STOP_WORD}", "ends": False}, {"message": "Thanks.", "ends": True}],
        "assistant": ["When?", "Bye."],
    }
    requests, found = talk(casting(ending="signal"), **said)
    assert [turn.text for turn in found.turns] == [f"Wake me {STOP_WORD}", "When?", "Thanks.", "Bye."]
    assert requests[0].schema["required"] == ["message", "ends"]


def evaluate(tmp_path, *words):
    return main(["run", "--release", "personalens@1.0.0", "--workspace", str(tmp_path), "--quiet", *words])


def rows(tmp_path, name):
    (file,) = (tmp_path / "evaluations" / "personalens@1.0.0").glob(f"*.{name}.parquet")
    return pl.read_parquet(file)


def test_a_run_writes_who_said_what_how_it_ended_and_what_is_true(tmp_path):
    assert evaluate(tmp_path, "--model", "offline:mixed", "--limit", "12", "--context", "situation") == 0
    turns, dialogues = rows(tmp_path, "turns"), rows(tmp_path, "dialogues")
    assert len(dialogues) == 12
    assert set(dialogues["ended"]) == {"signal"} and set(dialogues["context"]) == {"situation"}
    assert dialogues["planted_task_completion"].null_count() == 0
    assert set(turns["user_id"] + "/" + turns["task_id"]) == set(dialogues["item"])
    assert {"goal", "affinities", "interactions"} <= set(dialogues.columns)


def test_whole_users_are_sampled_and_the_same_seed_says_the_same(tmp_path):
    for name in ("one", "two"):
        assert evaluate(tmp_path / name, "--model", "offline:mixed", "--users", "2") == 0
    one, two = (rows(tmp_path / name, "turns") for name in ("one", "two"))
    assert one.equals(two)
    counts = dict(rows(tmp_path / "one", "dialogues")["user_id"].value_counts().rows())
    assert len(counts) == 2
    assert all(sum(row["user_id"] == name for row in table("situations")) == count for name, count in counts.items())


@pytest.mark.parametrize(
    ("manner", "ended", "messages"), [("endless", "limit", 9), ("abrupt", "signal", 0), ("swapped", "limit", 9)]
)
def test_users_that_never_end_end_at_once_or_swap_roles_are_held_and_counted(tmp_path, manner, ended, messages):
    words = ("--model", "offline:attentive", "--user", f"offline:{manner}", "--limit", "3", "--max-turns", "4")
    assert evaluate(tmp_path, *words) == 0
    dialogues = rows(tmp_path, "dialogues")
    assert set(dialogues["ended"]) == {ended}
    assert set(dialogues["messages"]) == {str(messages)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--context", "demographic"], "demographics"),
        (["--context", "vanilla", "situation"], "vanilla alone"),
        (["--user", "offline:nobody"], "offline:steady"),
        (["--memory", "dup"], "Leave --memory out"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(tmp_path, capsys, words, message):
    assert evaluate(tmp_path, "--model", "offline:mixed", *words) == 2
    assert message in capsys.readouterr().err


def test_the_price_of_a_model_is_shown_before_anything_is_asked(tmp_path, capsys):
    words = ("--model", "claude-sonnet-4-6", "--user", "claude-haiku-4-5", "--limit", "2", "--dry-run", "--json")
    assert evaluate(tmp_path, *words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["dialogues"] == 2 and document["cost"] > 0


def test_contexts_are_in_one_order_and_have_one_name():
    assert read_context(["situation,demographics"]) == (("demographics", "situation"), False)
    assert context_name(*read_context(["situation", "demographics"])) == "demographics,situation"
    assert context_name(*read_context([])) == "none"
    assert context_name(*read_context(["vanilla"])) == "vanilla"


def test_a_situation_of_an_unknown_user_is_refused():
    from evaluators.task_dialogues.protocol import scenes

    class Lacking:
        name = "mine@1.0.0"

        def rows(self, name):
            return {"users": [], "tasks": table("tasks"), "situations": [SITUATION]}[name]

    with pytest.raises(RequestError, match="user0"):
        list(scenes(Lacking(), None, 7))
