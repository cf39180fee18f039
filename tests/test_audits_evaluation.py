"""Adult evaluation that no pattern foresaw: what is weighed, whose words count, and where the weights come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits import audit, evaluation
from perf import evaluation as fitting

ADULT = "Her tidiness replaced the closeness we were owed."


def found(text, age=9):
    return audit("memories", [{"id": "MEM_01_0001", "age": age, "content_full": text}], only=["perspective.adult"])


def test_a_sentence_that_reads_so_is_found_by_its_weightiest_words():
    (finding,) = found(f"The dog barked at us. {ADULT} We had soup.")
    assert finding.severity == "error"
    assert "it reads so, by tidiness, replaced, closeness" in finding.message
    assert finding.text == "tidiness replaced the closeness"


@pytest.mark.parametrize(
    "text",
    [
        'Miss Bell said, "Her tidiness replaced the closeness we were owed." I drew a frog.',
        "She wrote tidiness and replaced and closeness on the board for us.",
        "I sat with Tidiness and Closeness, who are cats, and we were owed milk.",
        "The soup was hot, and I blew on it until my nose ran.",
        "Closeness replaced tidiness.",
    ],
)
def test_others_words_mentioned_words_names_and_scraps_are_not_weighed(text):
    assert found(text) == []


def test_a_sentence_in_which_a_pattern_found_something_is_judged_once():
    (finding,) = found(f"I only now understand how {ADULT.lower()}")
    assert finding.text == "I only now understand"


@pytest.mark.parametrize(("age", "findings"), [(6, 1), (12, 1), (13, 0), (None, 0)])
def test_only_a_child_is_judged(age, findings):
    assert len(found(ADULT, age)) == findings


@given(st.lists(st.text("abcdefgh'\u2019-I", min_size=1, max_size=9), min_size=1, max_size=12))
def test_a_sentence_weighs_what_all_its_fragments_weigh(words):
    known = dict(line.split("\t") for line in evaluation.WEIGHTS.read_text("utf-8").splitlines())
    weights = {piece: float(value) for piece, value in known.items()}
    assert evaluation.weight(words) == pytest.approx(fitting.weight(words, weights))


def test_the_weights_are_those_fitted_to_the_labelled_sentences():
    lines = (line.split("\t") for line in evaluation.WEIGHTS.read_text("utf-8").splitlines())
    kept = {piece: float(value) for piece, value in lines}
    fitted = fitting.best()
    # Solvers differ in the last digits from machine to machine.
    odd = [piece for piece in kept.keys() | fitted if abs(kept.get(piece, 0) - fitted.get(piece, 0)) > 0.05]
    assert len(odd) < len(kept) / 100
