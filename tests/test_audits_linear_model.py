"""The linear model: what a sentence weighs, whose words it reads, and where its weights come from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits import audit
from audits.text import linear_model
from audits.text.linear_model import features, model
from audits.text.passage import Passage, weigh
from audits.text.tokens import Read
from perf.quality.labelled_cases import PLAN

ADULT = "Her tidiness replaced the closeness we were owed."


def found(text, age=9):
    return audit("memories", [{"id": "MEM_01_0001", "age": age, "content_full": text}], only=["perspective.adult"])


def test_a_sentence_in_which_no_pattern_finds_anything_is_a_warning_if_it_reads_so():
    (finding,) = found(ADULT)
    assert finding.severity == "warning"
    assert "linear model; strongest words" in finding.message


def test_what_others_say_is_not_weighed_like_what_the_narrator_says():
    narrated, said = (
        Passage(text).scores[0, model().codes.index("perspective.adult")] for text in (ADULT, f'"{ADULT}"')
    )
    assert said < narrated


@pytest.mark.parametrize(("age", "findings"), [(6, 1), (12, 1), (13, 0), (None, 0)])
def test_only_a_child_is_judged(age, findings):
    assert len(found(ADULT, age)) == findings


texts = st.text(st.sampled_from("abc I'.!?\"“” \nÉ3İ😀"), max_size=80)


@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_a_sentence_scores_what_all_its_features_weigh(text):
    known = model()
    for sentence in Passage(text).read:
        buckets, size = features([sentence])
        weights = known.table[buckets].sum(axis=0, dtype=np.int64)
        wanted = [s.bias + w * s.scale / size**0.5 for w, s in zip(weights, known.settings.values(), strict=True)]
        size = np.array([len(sentence.numbers)])
        alone = Read([sentence.span], [1], sentence.numbers, np.array([0]), size)
        assert known.scores(alone)[0].tolist() == pytest.approx(wanted)


@given(several=st.lists(texts, max_size=5))
@settings(max_examples=40, deadline=None)
def test_texts_weighed_together_score_what_they_score_alone(several):
    together = [Passage(text) for text in several]
    weigh(together)
    for passage in together:
        assert passage.scores.tolist() == Passage(passage.text).scores.tolist()


def test_every_code_of_the_plan_is_fitted():
    assert model().codes == tuple(PLAN)


def test_the_weights_take_little_room():
    assert linear_model.WEIGHTS.stat().st_size < 6_000_000
