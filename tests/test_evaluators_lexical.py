"""Lexical diversity, beside plain definitions written out for one dialogue at a time."""

import math
import re
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.task_dialogues.lexical import MEASURES, lexical_diversity

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "The", "it's", ",", "."]), min_size=1, max_size=9).map(" ".join)
TALKS = st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=4)


def tokens(text):
    return re.findall(r"\w+(?:['’]\w+)*|[^\w\s]", text.lower())


def ngrams(words, order):
    return [tuple(words[place : place + order]) for place in range(len(words) - order + 1)]


def distinct(messages, order):
    found = [gram for words in messages for gram in ngrams(words, order)]
    return len(set(found)) / len(found) if found else None


def entropy(messages):
    counts = Counter(gram for words in messages for gram in ngrams(words, 4))
    total = sum(counts.values())
    return -sum(n / total * math.log(n / total) for n in counts.values()) if total else None


def bleu(words, others, most):
    logs = []
    for order in range(1, most + 1):
        counts = Counter(ngrams(words, order))
        of_others = [Counter(ngrams(other, order)) for other in others]
        hits = sum(min(n, max(own[gram] for own in of_others)) for gram, n in counts.items())
        if order == 1 and not hits:
            return 0.0
        logs.append(math.log((hits or 0.1) / max(1, sum(counts.values()))))
    closest = min((len(other) for other in others), key=lambda length: (abs(length - len(words)), length))
    penalty = 1.0 if len(words) >= closest else math.exp(1 - closest / len(words))
    return penalty * math.exp(sum(logs) / most)


def self_bleu(messages, most):
    if len(messages) < 2:
        return None
    scores = [bleu(one, messages[:place] + messages[place + 1 :], most) for place, one in enumerate(messages)]
    return sum(scores) / len(scores)


def expected(texts):
    messages = [tokens(text) for text in texts]
    made = {"dist_1": distinct(messages, 1), "dist_2": distinct(messages, 2), "ent_4": entropy(messages)}
    return made | {f"self_bleu_{order}": self_bleu(messages, order) for order in (2, 3, 4)}


def measured(talks):
    rows = [{"dialogue": f"d{number}", "text": text} for number, texts in enumerate(talks) for text in texts]
    return {row["dialogue"]: row for row in lexical_diversity(pl.DataFrame(rows)).rows(named=True)}


@settings(max_examples=60, deadline=None)
@given(TALKS)
def test_all_dialogues_at_once_are_measured_as_each_by_itself(talks):
    found = measured(talks)
    for number, texts in enumerate(talks):
        for name, value in expected(texts).items():
            assert found[f"d{number}"][name] == pytest.approx(value), (name, texts)


def test_the_same_message_again_is_no_variety_and_strange_words_are_all():
    found = measured([["so be it then"] * 2, ["so be it then", "one more hour left"]])
    assert found["d0"]["self_bleu_4"] == pytest.approx(1) and found["d0"]["dist_1"] == 0.5
    assert found["d1"]["self_bleu_4"] == 0 and found["d1"]["dist_1"] == 1


def test_messages_without_text_are_left_out_and_no_dialogue_is_no_row():
    rows = pl.DataFrame(
        {"dialogue": ["d", "d"], "text": ["hello there", None]}, schema={"dialogue": pl.String, "text": pl.String}
    )
    (row,) = lexical_diversity(rows).rows(named=True)
    assert row["dist_1"] == 1 and row["self_bleu_2"] is None
    assert lexical_diversity(rows.clear()).columns == ["dialogue", *MEASURES]
