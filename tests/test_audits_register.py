"""Words above a child: how a word is weighed, whose words count, and how many are too many."""

import pytest

from audits import audit
from audits.checks.age_register import register

HEAVY = "I saw the vacillation and the obfuscation."


def found(text, code, age=9):
    row = {"id": "MEM_01_0001", "age": age, "content_full": text}
    return audit("memories", [row], only=[code])


@pytest.mark.parametrize("word", ["analyse", "analyze", "Analysed", "analyzing", "analyses"])
def test_a_word_weighs_the_same_in_both_spellings_and_all_inflections(word):
    assert register().weight(word) == register().weight("analyse") == 3


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("anxieties", "anxiety"),  # -ies
        ("acquiesced", "acquiesce"),  # -ed for -e
        ("afflicted", "afflict"),
        ("aggravating", "aggravate"),
        ("ambiguously", "ambiguous"),
        ("apathetically", "apathetic"),
        ("affably", "affable"),
        ("aloofness", "aloof"),
        ("adversary's", "adversary"),  # genitives
        ("adversary’s", "adversary"),
        ("ardor", "ardour"),
        ("abhorred", "abhor"),  # doubled
        ("disaffection", "affection"),  # negated
        ("unambiguous", "ambiguous"),
        ("self-absorbed", "ambiguous"),  # with a hyphen: its heaviest part, and self- always
        ("half-ambiguous", "ambiguous"),
    ],
)
def test_a_form_weighs_what_its_base_weighs(word, base):
    assert register().weight(word) == register().weight(base) == 3


@pytest.mark.parametrize("word", ["stations", "station's", "vacation", "questions", "family's", "cities", "running"])
def test_words_of_every_day_weigh_nothing_in_spite_of_their_ending(word):
    assert register().weight(word) == 0


@pytest.mark.parametrize(("word", "weight"), [("obfuscation", 3), ("tion", 0), ("besiegement", 1)])
def test_a_word_of_no_list_is_weighed_by_its_ending_if_it_is_long_enough(word, weight):
    assert register().weight(word) == weight


@pytest.mark.parametrize(
    "text",
    [
        'Miss Bell said, "It is the vacillation and the obfuscation." I drew a frog.',
        "Miss Bell said vacillation and obfuscation, and I drew a frog.",
        "She wrote vacillation and obfuscation on the board.",
        "It is called vacillation and obfuscation.",
        "We sailed on the Vacillation with Captain Obfuscation.",
    ],
)
def test_words_of_others_words_mentioned_and_names_are_not_the_childs(text):
    assert found(text, "age.register", 7) == []


def test_a_capital_at_the_beginning_of_a_sentence_is_no_name():
    assert found("Vacillation was in the kitchen.", "age.register", 7)


def test_a_mention_excuses_words_of_its_own_clause_alone():
    assert found("He said no, and I saw the vacillation and the obfuscation.", "age.register")


def test_the_same_word_twice_weighs_once():
    assert found("I saw the vacillation, and a vacillation it was.", "age.register", 12) == []


def test_heavy_words_of_several_sentences_do_not_add_up():
    assert found("I saw the vacillation. I saw the obfuscation.", "age.register", 12) == []


@pytest.mark.parametrize(("age", "findings"), [(6, 1), (12, 1), (13, 0), (None, 0)])
def test_only_a_child_is_held_to_a_childs_words(age, findings):
    assert len(found(HEAVY, "age.register", age)) == findings
