"""Lexical diversity is what its definitions say, and Self-BLEU is NLTK's."""

import json
import math
import warnings

import hypothesis
import pytest
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from audits import diversity
from audits.diversity import measure, self_bleu, tokens_of
from schemas.workspace import Workspace

WORDS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=12), min_size=2, max_size=7)


@hypothesis.given(WORDS)
def test_self_bleu_is_nltks_of_each_text_against_the_others(said):
    method = SmoothingFunction(epsilon=0.1).method1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [
            sentence_bleu(said[:number] + said[number + 1 :], tokens, smoothing_function=method)
            for number, tokens in enumerate(said)
        ]
    assert self_bleu(said) == pytest.approx(sum(expected) / len(said), abs=1e-12)


def test_equal_texts_have_self_bleu_one_and_strangers_zero():
    assert self_bleu([["a", "b", "c", "d", "e"]] * 3) == pytest.approx(1)
    assert self_bleu([["a", "b", "c", "d"], ["e", "f", "g", "h"]]) == 0


def test_dist_and_entropy_by_hand():
    found = measure([["Red, red wine.", "Red wine."]])
    # Tokens: red , red wine . | red wine .  Bigrams: 4 + 2, of which "red wine" and "wine ." twice.
    assert found.dist_1 == 4 / 8
    assert found.dist_2 == 4 / 6
    assert found.ent_4 == pytest.approx(math.log(2))  # two 4-grams in the first text, none in the second


def test_n_grams_do_not_cross_texts():
    assert measure([["one", "two"]]).dist_2 is None


def test_the_mean_is_over_units_and_each_measure_counts_where_it_is_defined():
    found = measure([["same same"], ["one two"], ["", "  "]])
    assert (found.units, found.texts, found.compared) == (3, 2, 0)
    assert found.dist_1 == pytest.approx((0.5 + 1) / 2)
    assert found.self_bleu is None


def test_no_units_measure_nothing():
    assert measure([]) == diversity.Diversity(0, 0, 0, None, None, None, None)


@hypothesis.given(st.lists(st.lists(st.text(max_size=30), max_size=4), max_size=4))
def test_any_text_gives_values_within_bounds(units):
    found = measure(units)
    for value in (found.dist_1, found.dist_2, found.self_bleu):
        assert value is None or 0 <= value <= 1
    assert found.ent_4 is None or found.ent_4 >= 0


@hypothesis.given(st.text(max_size=50))
def test_tokens_keep_every_letter_and_mark_but_no_space(text):
    joined = "".join(tokens_of(text))
    assert joined == "".join(c for c in text.lower() if not c.isspace())


def test_the_command_groups_rows(tmp_path, small_heart, capsys):
    Workspace(tmp_path, "heart").write("scenarios", small_heart["scenarios"])
    words = ["--benchmark", "heart", "--table", "scenarios", "--workspace", str(tmp_path), "--field", "context_text"]
    assert diversity.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["units"] == 1
    assert diversity.main([*words, "--by", "id", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["units"] == len(small_heart["scenarios"])


def test_texts_within_lists_make_each_row_a_unit(tmp_path, small_heart, capsys):
    Workspace(tmp_path, "heart").write("mcqs", small_heart["mcqs"])
    words = ["--benchmark", "heart", "--table", "mcqs", "--workspace", str(tmp_path), "--field", "options.content"]
    assert diversity.main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["units"] == document["compared"] == len(small_heart["mcqs"])
    assert document["texts"] == 4 * len(small_heart["mcqs"])


@pytest.mark.parametrize(
    "words", [["--field", "contxt"], ["--field", "context_text", "--by", "stages"], ["--field", "name"]]
)
def test_a_wrong_request_exits_2(words, tmp_path, capsys):
    assert diversity.main(["--benchmark", "heart", "--table", "scenarios", "--workspace", str(tmp_path), *words]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_rows_of_users_are_measured_and_their_missing_text_is_reported(tmp_path, capsys):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "a", "content_full": "It rained."}\n{"content_full": ["It", 5]}\n{"text": "no"}\n', "utf-8")
    words = ["--benchmark", "heart", "--table", "memories", "--rows", str(path), "--field"]
    assert diversity.main([*words, "content_full", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["texts"] == 2
    assert diversity.main([*words, "context"]) == 2
    assert "Name the field that holds it with --field" in capsys.readouterr().err
