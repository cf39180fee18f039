"""Dialogues: views of the speakers, what ends a conversation, failures, and going on after a kill."""

import functools
import itertools
from dataclasses import replace

import pytest

from models.backends import BackendSettings, run
from models.dialogue import Dialogue, Said, Speaker, StopRule, View, dialogue
from models.offline import drive
from models.prices import read_prices
from models.rehearsal.faults import Fault, Faults
from models.request import Reply
from models.roles import read_roles
from schemas.errors import MachineError


def counted(moment):
    """What is said offline: who, where in the dialogue, and how many messages of which side were seen."""
    sides = "".join(role[0] for role, _ in moment.messages)
    return f"{moment.speaker} {moment.session}.{moment.number} saw {sides}"


USER = Speaker("user", "user", counted, fixed=("You are Ann.",), opening="Begin the conversation.")
SUBJECT = Speaker("assistant", "subject", counted)


TWO_TURNS = StopRule(2)


def held(speakers=(USER, SUBJECT), rule=TWO_TURNS, **more):
    return drive(dialogue("d", speakers, rule, **more))


def echo(body):
    """What the server's models say: how many turns they were shown, and the last one's start."""
    last = body["messages"][-1]["content"]
    text = last if isinstance(last, str) else last[-1]["text"]
    return f"{len(body['messages'])} turns, last: {text[:40]}"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr("models.pacing.FIRST_WAIT", 0.01)


@pytest.fixture
def settings(tmp_path):
    return BackendSettings("messages", read_roles(), read_prices(), tmp_path / "journal.sqlite", quiet=True)


def talks(count, **more):
    rule = StopRule(more.pop("turns", 3), more.pop("sessions", 1))
    return [functools.partial(dialogue, f"d/{number}", (USER, SUBJECT), rule, sample=number) for number in range(count)]


def test_speakers_take_turns_and_each_sees_itself_as_the_assistant():
    assert [(turn.speaker, turn.session, turn.number, turn.text) for turn in held().turns] == [
        ("user", 1, 1, "user 1.1 saw u"),
        ("assistant", 1, 1, "assistant 1.1 saw u"),
        ("user", 1, 2, "user 1.2 saw uau"),
        ("assistant", 1, 2, "assistant 1.2 saw uau"),
    ]


def test_a_simulated_user_keeps_its_own_opening_words_in_its_view():
    talk = held(rule=StopRule(3))
    seen = View(USER, False, talk.turns, 1).messages()
    assert seen[:2] == (("user", "Begin the conversation."), ("assistant", talk.turns[0].text))
    assert [text for role, text in seen if role == "assistant"] == [t.text for t in talk.turns if t.speaker == "user"]


def test_the_one_who_answers_is_shown_no_opening_and_no_system_part_of_the_other():
    requests = requests_of(dialogue("d", (USER, SUBJECT), StopRule(1)))
    assert (requests[0].fixed, requests[0].turns) == (("You are Ann.",), (("user", "Begin the conversation."),))
    assert (requests[1].fixed, requests[1].turns) == ((), (("user", "said d/1/01/user"),))


def requests_of(chain, answers=None):
    asked = [next(chain)]
    try:
        while True:
            asked.append(chain.send((answers or (lambda request: Reply("answered", f"said {request.id}")))(asked[-1])))
    except StopIteration:
        return asked


def test_a_new_session_begins_with_the_first_speaker_and_its_opening_under_what_was_said_before():
    requests = requests_of(dialogue("d", (USER, SUBJECT), StopRule(1, sessions=2)))
    assert [request.id for request in requests] == [
        "d/1/01/user", "d/1/01/assistant", "d/2/01/user", "d/2/01/assistant"
    ]  # fmt: skip
    assert requests[2].turns[-1] == ("user", "said d/1/01/assistant\n\nBegin the conversation.")
    assert len(requests[3].turns) == 3


def test_a_speaker_that_does_not_remember_sees_the_present_session_alone():
    forgetful = replace(SUBJECT, remembers=False)
    requests = requests_of(dialogue("d", (USER, forgetful), StopRule(1, sessions=2)))
    assert requests[3].turns == (("user", "said d/2/01/user"),)


def test_speakers_can_be_named_again_for_each_session():
    def cast(session, turns, notes):
        return replace(USER, fixed=(f"Session {session}, {len(turns)} turns so far.",)), SUBJECT

    requests = requests_of(dialogue("d", cast, StopRule(1, sessions=2)))
    assert [request.fixed for request in requests[::2]] == [
        ("Session 1, 0 turns so far.",),
        ("Session 2, 2 turns so far.",),
    ]


def test_turns_of_earlier_sessions_are_seen_and_counted_on_from_but_not_returned():
    before = held(rule=StopRule(1)).turns
    talk = held(rule=StopRule(1), history=before)
    assert [(turn.session, turn.text) for turn in talk.turns] == [(2, "user 2.1 saw uau"), (2, "assistant 2.1 saw uau")]


def test_among_three_speakers_the_others_are_named_and_their_turns_in_a_row_are_one_message():
    guest = replace(SUBJECT, name="guest", role="judge")
    requests = requests_of(dialogue("d", (USER, SUBJECT, guest), StopRule(2)))
    assert requests[2].turns == (("user", "user: said d/1/01/user\n\nassistant: said d/1/01/assistant"),)
    assert [role for role, _ in requests[3].turns] == ["user", "assistant", "user"]


def test_a_reminder_stands_under_the_last_turn_and_in_no_later_view():
    requests = requests_of(dialogue("d", (replace(USER, reminder="Stay short."), SUBJECT), StopRule(2)))
    assert requests[0].turns[-1][1].endswith("\n\nStay short.")
    assert not any("Stay short." in text for _, text in requests[2].turns[:-1])


def test_a_stop_word_ends_the_dialogue_and_is_not_said_aloud():
    def leaving(moment):
        return "That is all. ###STOP###" if moment.number == 2 else "Go on."

    talk = held((replace(USER, compose=leaving), SUBJECT), StopRule(9, stop_word="###STOP###"))
    assert (talk.ended, len(talk.turns), talk.turns[-1].text) == ("stop_word", 3, "That is all.")
    assert talk.turns[-1].answer == "That is all. ###STOP###"


def test_a_stop_word_alone_adds_no_turn():
    talk = held((replace(USER, compose=lambda _: "DONE"), SUBJECT), StopRule(9, stop_word="DONE"))
    assert (talk.ended, talk.turns) == ("stop_word", ())


def test_only_those_who_may_end_the_dialogue_can():
    rule = StopRule(2, stop_word="DONE", stop_by=("user",))
    assert held((USER, replace(SUBJECT, compose=lambda _: "DONE with it")), rule).ended == "limit"


def test_an_answer_of_a_form_can_end_the_dialogue_by_a_signal():
    schema = {"type": "object", "required": ["text", "done"]}
    user = replace(
        USER,
        schema=schema,
        compose=lambda moment: {"text": f"word {moment.number}", "done": moment.number == 2},
        read=lambda answer: Said(answer["text"], answer["done"]),
    )
    talk = held((user, SUBJECT), StopRule(9))
    assert (talk.ended, [turn.text for turn in talk.turns if turn.speaker == "user"]) == (
        "signal",
        ["word 1", "word 2"],
    )


def test_a_user_who_never_stops_is_stopped_by_the_limit_and_the_reason_says_so():
    talk = held(rule=StopRule(3, stop_word="DONE"))
    assert (talk.ended, len(talk.turns)) == ("limit", 6)
    assert "'DONE'" in talk.reason and "1 x 3 turns" in talk.reason


def test_a_failure_keeps_the_dialogue_so_far_with_the_reason_and_the_request():
    def answers(request):
        return Reply("failed", reason="500") if request.id == "d/1/02/user" else Reply("answered", "words")

    chain = dialogue("d", (USER, SUBJECT), StopRule(3))
    request = next(chain)
    try:
        while True:
            request = chain.send(answers(request))
    except StopIteration as over:
        talk = over.value
    assert (talk.ended, talk.reason, len(talk.turns)) == ("failed", "500", 2)
    assert talk.failure.request == "d/1/02/user"


def test_an_empty_answer_is_asked_for_again():
    replies = iter(["", "words"])
    requests = requests_of(
        dialogue("d", (USER, SUBJECT), StopRule(1)), lambda _: Reply("answered", next(replies, "more"))
    )
    assert [request.id for request in requests] == ["d/1/01/user", "d/1/01/user#2", "d/1/01/assistant"]


@pytest.mark.parametrize(
    "speakers",
    [(USER,), (USER, USER), (SUBJECT, USER), (USER, SUBJECT, replace(USER, name="a"), replace(USER, name="b"))],
)
def test_speakers_nobody_could_tell_apart_or_begin_with_are_refused(speakers):
    with pytest.raises(ValueError, match=r"speakers of different names|needs an opening"):
        held(speakers)


def test_on_a_model_every_turn_is_asked_with_the_turns_before_it(rehearse, settings):
    rehearse(compose=echo)
    talks_held = list(run(talks(4), settings))
    for talk in talks_held:
        assert (talk.ended, len(talk.turns)) == ("limit", 6)
        shown = [int(turn.text.split()[0]) for turn in talk.turns]
        assert shown == [1, 1, 3, 3, 5, 5]


def test_one_side_may_be_played_offline_and_the_other_by_a_model(rehearse, settings):
    api = rehearse(compose=echo)
    mixed = replace(settings, roles=read_roles(chosen=["user=offline"]))
    (talk,) = run(talks(1), mixed)
    assert talk.turns[0].text == "user 1.1 saw u"
    assert talk.turns[1].text == "1 turns, last: user 1.1 saw u"
    assert api.stats()["answered"] == 3


def test_a_run_that_ended_in_mid_dialogue_goes_on_with_the_next_speaker_and_asks_nothing_twice(rehearse, settings):
    api = rehearse(compose=echo)
    undisturbed = list(run(talks(5), replace(settings, journal=settings.journal.with_name("other.sqlite"))))
    before = api.stats()["answered"]
    for most in itertools.count(1):
        limited = replace(settings, max_cost=0.0158 + 0.001 * most, concurrency=1)
        try:
            talks_held = list(run(talks(5), limited))
            break
        except MachineError:
            continue
    assert most > 1
    assert [texts(talk) for talk in talks_held] == [texts(talk) for talk in undisturbed]
    assert api.stats()["answered"] - before == 30


def texts(talk: Dialogue) -> list[str]:
    return [turn.text for turn in talk.turns]


def test_faults_of_the_server_do_not_change_what_is_said(rehearse, settings):
    storm = Faults([Fault("limited", 0.2), Fault("drop", 0.1), Fault("error", 0.1)])
    rehearse(compose=echo)
    calm = [texts(talk) for talk in run(talks(4), replace(settings, journal=settings.journal.with_name("calm.sqlite")))]
    rehearse(compose=echo, faults=storm)
    assert [texts(talk) for talk in run(talks(4), settings)] == calm
