"""Planted dialogues about tasks: the behaviours do what they are named for, and the truth follows from the acts."""

import pytest
from task_samples import offered, pairs, played, table, task

from evaluators.subjects.tasks.play import play
from evaluators.subjects.tasks.requests import request_in_first_person
from evaluators.subjects.tasks.script import BEHAVIOURS
from evaluators.subjects.tasks.slots import slots
from evaluators.subjects.tasks.users import read


def mean(assistant, metric):
    values = [one.scores[metric] for _, _, one in played(assistant)]
    return sum(values) / len(values)


def test_the_same_seed_says_the_same_and_another_does_not():
    (who, what), *_ = pairs()
    one, two, other = (play(who, what, offered(), "mixed", seed).messages for seed in (7, 7, 8))
    assert one == two != other


@pytest.mark.parametrize("assistant", BEHAVIOURS)
def test_a_steady_user_begins_takes_turns_and_ends_every_dialogue(assistant):
    for _, _, one in played(assistant):
        speakers = [speaker for speaker, _ in one.messages]
        assert one.ended
        assert speakers == ["user", "assistant"] * (len(speakers) // 2)


def test_behaviours_are_ordered_by_personalization_as_planted():
    values = {name: mean(name, "personalization") for name in ("attentive", "asking", "inventive", "ignoring")}
    assert values["attentive"] > values["asking"] > values["inventive"] > values["ignoring"] == 1.0


def test_task_completion_is_as_planted():
    assert mean("failing", "task_completion") == 0
    assert mean("attentive", "task_completion") > 0.9
    assert 0.6 < mean("mixed", "task_completion") < 0.8


def test_only_who_invents_preferences_hallucinates():
    rates = {name: mean(name, "hallucinated_personalization") for name in BEHAVIOURS}
    assert {name for name, rate in rates.items() if rate} == {"inventive", "mixed"}


def test_the_form_of_a_record_costs_naturalness_and_asking_again_coherence():
    assert mean("robotic", "assistant_naturalness") == 2 < mean("attentive", "assistant_naturalness") == 5
    assert mean("forgetful", "assistant_coherence") < 4 < mean("attentive", "assistant_coherence") == 5


def test_a_value_called_the_users_is_one_exactly_where_the_act_is_right():
    for _, _, one in played("mixed"):
        for move in one.script.moves:
            if move.value is not None:
                own = move.value in move.slot.values
                assert own == (move.act in ("right", "use")), move


def test_the_first_message_of_a_steady_user_states_no_preference_and_that_of_a_hasty_one_does():
    for manner, stated in (("steady", False), ("hasty", True)):
        for who, what, one in played("attentive", manner, every=400):
            first = slots(who, what, offered())[0]
            assert (first.values[0].casefold() in one.messages[0][1].casefold()) == stated


def test_a_user_that_never_ends_is_stopped_by_the_limit_on_its_own_message():
    (who, what), *_ = pairs()
    one = play(who, what, offered(), "attentive", 7, "endless", max_turns=5)
    assert not one.ended
    assert len(one.messages) == 1 + 2 * 5
    assert one.messages[-1][0] == "user"


def test_a_user_that_ends_at_once_leaves_the_task_undone():
    (who, what), *_ = pairs()
    one = play(who, what, offered(), "attentive", 7, "abrupt")
    assert (one.messages, one.ended, one.scores["task_completion"]) == ((), True, 0.0)


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("Which alarm tone do you want?", "asked"),
        ("I have set birdsong as your alarm tone.", "wrong"),
        ("I'm unable to access your calendar.", "failed"),
        ("Your alarm has been set up for 6:30.", "done"),
        ("Let me look into it.", "other"),
    ],
)
def test_a_user_reads_messages_that_no_bank_wrote(message, what):
    who = next(row for row in table("users") if not _has(row, "birdsong"))
    assert read(message, slots(who, task("SD-Alarm-task-1"), offered()))[0] == what


def _has(row, value):
    return any(value in entry["values"] for entry in row["affinities"])


def test_requests_are_in_the_first_person():
    for row in table("tasks"):
        request = request_in_first_person(row["intent"])
        assert "assistant" not in request
        assert " you " not in f" {request.lower()} ".replace("thank you", "")
        assert request[0].isupper()


def test_the_request_of_a_task_reads_as_a_person_would_say_it():
    said = request_in_first_person(task("SD-Alarm-task-1")["intent"])
    assert said == (
        "I have an appointment early tomorrow that I must not miss."
        " Please have an alarm set for it that will really wake me."
    )
