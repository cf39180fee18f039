"""Adult evaluation that no pattern foresaw: what is weighed, whose words count, and where the weights come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits import audit
from audits.checks import adult_language
from perf import evaluation as fitting

ADULT = "Her tidiness replaced the closeness we were owed."


def found(text, age=9):
    return audit("memories", [{"id": "MEM_01_0001", "age": age, "content_full": text}], only=["perspective.adult"])


def test_a_sentence_that_reads_so_is_found_by_its_weightiest_words():
    (finding,) = found(f"The dog barked at us. {ADULT} We had soup.")
    assert finding.severity == "error"
    assert "it reads so, by Her, tidiness, closeness" in finding.message
    assert finding.text == "Her tidiness replaced the closeness"


@pytest.mark.parametrize(
    "text",
    [
        'Miss Bell said, "Her tidiness replaced the closeness we were owed." I drew a frog.',
        "I sat with Tidiness and Closeness, who are cats, and we were owed milk.",
        "The soup was hot, and I blew on it until my nose ran.",
        "Closeness replaced tidiness.",
    ],
)
def test_others_words_names_and_scraps_are_not_weighed(text):
    assert found(text) == []


def test_a_sentence_in_which_a_pattern_found_something_is_judged_once():
    (finding,) = found(f"I only now understand how {ADULT.lower()}")
    assert finding.text == "I only now understand"


@pytest.mark.parametrize(("age", "findings"), [(6, 1), (12, 1), (13, 0), (None, 0)])
def test_only_a_child_is_judged(age, findings):
    assert len(found(ADULT, age)) == findings


WORD = st.text("abcdefgh'I", min_size=1, max_size=9)


@given(st.lists(WORD | st.sampled_from(["(name)", "(number)", ",", "\u2014", "I'd"]), min_size=1, max_size=12))
def test_a_sentence_weighs_what_all_its_pieces_weigh(tokens):
    weights = adult_language.weights()
    pieces = sum(weights.by_piece.get(piece, 0) for piece in adult_language.pieces(tokens))
    whole = weights.by_piece[adult_language.BIAS] + pieces / len(tokens) ** 0.5
    weight = weights.sentence(tokens)
    assert weight < adult_language.HOPELESS or weight == pytest.approx(whole)


def test_the_weights_are_those_fitted_to_the_labelled_sentences():
    assert fitting.main(["--check", "--quiet"]) == 0
