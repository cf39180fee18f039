"""Simulated users and assistants of planted likability: deterministic, in character, and as good as planted."""

import functools
import statistics

import pytest
from likability_samples import priors_of, profiles

from audits.checks import dialogues
from audits.checks import profiles as checks
from audits.subjects import subjects
from evaluators.subjects.assistants import ASSISTANTS, Moves
from evaluators.subjects.counterfactuals import with_level, with_option
from evaluators.subjects.play import play
from evaluators.subjects.reading import known, moment
from evaluators.subjects.truth import planted_scores, turn_score
from evaluators.subjects.users import MOST_WORDS, Said, UserTurn, length_of, user_turn
from evaluators.subjects.wishes import wishes
from evaluators.subjects.wording import bank, in_register, register_signs, word_count, written_out
from schemas.errors import RequestError
from schemas.randomness import rng_for

RNG = rng_for(7, "tests", "subjects", "x")


@functools.cache
def played(name, place, seed=7):
    profile = profiles()[place]
    return play(profile, priors_of(profile), ASSISTANTS[name], seed)


def session_means(name, place):
    scores = [[] for _ in range(10)]
    for each in played(name, place):
        score = turn_score(each.scores)
        if score is not None:
            scores[each.session - 1].append(score)
    return [statistics.fmean(each) for each in scores]


def slope(series):
    return statistics.linear_regression(range(1, len(series) + 1), series).slope


def test_a_conversation_has_five_turns_in_each_of_ten_sessions():
    assert [(each.session, each.turn) for each in played("ceiling", 0)] == [
        (session, turn) for session in range(1, 11) for turn in range(1, 6)
    ]


@pytest.mark.parametrize("name", ASSISTANTS)
def test_the_same_seed_says_the_same_and_another_seed_something_else(name):
    profile = profiles()[2]
    again = play(profile, priors_of(profile), ASSISTANTS[name], 7)
    assert again == played(name, 2)
    other = play(profile, priors_of(profile), ASSISTANTS[name], 8)
    assert [each.assistant for each in other] != [each.assistant for each in again]


def test_simulated_users_have_no_finding_in_500_sessions():
    rows = [
        {
            "item": f"{place}/{each.session}/{each.turn}/{speaker}",
            "persona": profile["persona_id"],
            "session": f"{each.session:03}",
            "turn": f"{each.turn:03}",
            "speaker": speaker,
            "text": text,
        }
        for place, profile in enumerate(profiles())
        for each in played("ceiling", place)
        for speaker, text in (("user", each.user), ("assistant", each.assistant))
    ]
    related = {"profiles": profiles()}
    read = subjects("dialogues", ("item",), rows, 0)
    assert dialogues.audit(read, read, related, frozenset()) == []
    assert dialogues.coverage(read, related) == []


def test_users_stay_within_fifty_words():
    assert max(word_count(each.user) for place in range(50) for each in played("ceiling", place)) <= MOST_WORDS


def test_the_planted_order_of_the_assistants_holds_in_the_true_scores():
    means = {
        name: statistics.fmean(statistics.fmean(session_means(name, place)) for place in range(16))
        for name in ASSISTANTS
    }
    ranked = sorted(means, key=means.__getitem__, reverse=True)
    assert ranked == ["ceiling", "forgetful", "verbose", "static", "wrong_register", "sycophant"]


def test_the_ceiling_improves_over_sessions_and_the_static_one_does_not():
    rising = [slope(session_means("ceiling", place)) for place in range(50)]
    level = [slope(session_means("static", place)) for place in range(50)]

    def interval(values):
        half = 1.96 * statistics.stdev(values) / len(values) ** 0.5
        return statistics.fmean(values) - half, statistics.fmean(values) + half

    assert interval(rising)[0] > 0
    assert interval(level)[0] < 0 < interval(level)[1]


@pytest.mark.parametrize(
    ("name", "metric"),
    [("wrong_register", "formality_matching"), ("verbose", "conversation_length"), ("forgetful", "callback")],
)
def test_each_fault_lies_in_its_metric(name, metric):
    def mean(who):
        scores = [each.scores[metric] for place in range(16) for each in played(who, place)]
        return statistics.fmean(score for score in scores if score is not None)

    assert mean(name) + 1 < mean("ceiling")


def test_callback_applies_only_after_a_detail_was_shared():
    for place in range(16):
        assert played("sycophant", place)[0].scores["callback"] is None


def test_a_reply_does_not_depend_on_anything_but_history_and_seed():
    history = (Said(1, 1, "user", "Hey! tell me what matters most about ferns"),)
    for reply in ASSISTANTS.values():
        assert reply(history, 7) == reply(list(history), 7)
        assert reply(history, 7).moves.length == length_of(reply(history, 7).text)


def test_two_options_of_style_make_two_ways_of_talking():
    profile, prior = profiles()[0], priors_of(profiles()[0])

    def says(option):
        return user_turn(with_option(profile, option), prior, 1, 1, []).text

    assert register_signs(says("formality.always_formal")) < 0 < register_signs(says("formality.always_casual"))


def test_a_user_complains_of_a_reply_that_is_far_too_long_until_it_is_shorter():
    person, prior = with_option(profiles()[0], "conversation_length.always_brief"), priors_of(profiles()[0])
    first = user_turn(person, prior, 1, 1, [])

    def second(reply):
        history = [Said(1, 1, "user", first.text), Said(1, 1, "assistant", reply)]
        return user_turn(person, prior, 1, 2, history)

    assert "react" in second("word " * 150).acts and "react" not in second("word " * 10).acts


def test_a_text_is_written_out_again_from_any_register():
    text = "I am sure that it is something good, thank you, and I do not want to go."
    casual = in_register(text, "casual", RNG)
    assert casual != text and "I'm" in casual
    assert written_out(casual).lower().rstrip(".") == text.lower().rstrip(".")


def test_an_assistant_reads_mood_allusion_detail_and_open_door():
    assert moment("I must say it, nobody answers.").mood == -1
    assert "boulder" in (moment("Well, I feel like Sisyphus with a spreadsheet.").allusion or "")
    assert moment("I know somebody who will want to hear this, I mentioned them once.").opens_callback
    found = known([Said(1, 1, "user", "By the way, my sister Linda has just moved to Leeds.")])
    assert [(detail.mention, detail.text) for detail in found.details] == [
        ("your sister Linda", "has just moved to Leeds")
    ]


def test_the_true_score_of_a_reply_goes_by_what_the_person_wants():
    profile = profiles()[0]
    wish = wishes(profile, priors_of(profile)[0])
    exact = Moves(register=wish.register, length=wish.length, depth=wish.depth)
    scores = planted_scores(wish, UserTurn("Hello.", ("ask",)), exact, shared_before=False)
    assert scores["formality_matching"] == scores["conversation_length"] == scores["knowledge_adaptation"] == 5
    assert scores["emotional_adaptation"] is scores["callback"] is scores["reference_understanding"] is None
    felt = planted_scores(wish, UserTurn("Hello.", ("feel", "allude")), exact, shared_before=True)
    assert felt["emotional_adaptation"] == felt["reference_understanding"] == 2


def test_a_turn_without_any_applicable_metric_has_no_score():
    assert turn_score({"callback": None}) is None
    assert turn_score({"callback": None, "humor_fit": 4, "formality_matching": 1}) == 2.5


def test_a_counterfactual_user_differs_in_one_thing_and_is_still_a_sound_profile():
    for changed in (with_option(profiles()[0], "recap.no_recaps"), with_level(profiles()[0], "trust", "low")):
        assert [column for column in changed if changed[column] != profiles()[0][column]] in (
            ["styles"],
            ["facets"],
            [],
        )
        read = subjects("profiles", ("persona_id",), [changed], 0)
        assert checks.audit(read, read, {}, frozenset()) == []


@pytest.mark.parametrize("call", [lambda p: with_option(p, "recap.never"), lambda p: with_level(p, "trust", "highest")])
def test_an_unknown_option_or_level_is_refused(call):
    with pytest.raises(RequestError, match="unknown"):
        call(profiles()[0])


def test_nobody_greets_at_the_first_meeting_as_if_there_had_been_another():
    again = [line for lines in bank("user")["greeting_again"].values() for line in lines]
    assert {*again} < {line for lines in bank("user")["greeting"].values() for line in lines}
    for place in range(len(profiles())):
        first, *_ = (each.user for each in played("ceiling", place))
        spoken = written_out(first).casefold()
        assert not [line for line in again if spoken.startswith(written_out(line).rstrip(".").casefold())]
