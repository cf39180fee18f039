"""Which option a reply chose: strictly, or not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.scoring.parsing import read_choice

LABELS = ("A", "B", "C", "D")
TEXTS = (
    "I choose to stay and say what I saw, though my voice is not steady.",
    "I choose to leave early and write it down at home.",
    "I choose to ask the others first and then go along.",
    "I choose to laugh it off and offer everyone a drink.",
)


def letter(text: str) -> str | None:
    return read_choice(text, LABELS, TEXTS).letter


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ('{"reasoning": "x", "choice": "B"}', "json"),
        ('```json\n{"reasoning": "x", "choice": "b"}\n```', "json"),
        ('Here it is: {"decision_choice": "(B)"} as asked.', "json"),
        ('{"choice": "Option B", "extra": 3}', "json"),
        ("B", "letter"),
        ("(B).", "letter"),
        ("**B**", "letter"),
        ("Answer: B", "declared"),
        ("The final answer is **B**.", "declared"),
        ("A person like this would think twice. I pick option B, then.", "declared"),
        ("B) because it is quiet", "declared"),
        ("I would not choose A. My answer: B", "declared"),
        (f"This one would say: {TEXTS[1]}", "repeated"),
    ],
)
def test_a_letter_said_as_the_answer_is_read(text, how):
    chosen = read_choice(text, LABELS, TEXTS)
    assert (chosen.letter, chosen.how) == ("B", how)


@pytest.mark.parametrize(
    "text",
    [
        "A friend of mine would stay, and so would most people.",
        "I choose A friend over a rule.",
        "I choose a quiet evening.",
        "The answer is A difficult one to give.",
    ],
)
def test_the_english_article_is_no_answer(text):
    assert letter(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "I cannot say what this person would do.",
        "Answer: A or rather answer: C",
        '{"choice": "A or B"}',
        '{"choice": "E"}',
        '{"choice": null}',
        '{"choice": "A", "answer": "B"}',
        "Ich würde bleiben und alles erzählen.",
        "这个人会留下来。",
        f"Either {TEXTS[0]} or {TEXTS[2]}",
        "I would never choose B.",
        "D is what others do, B is what they say, C is what they think.",
    ],
)
def test_prose_silence_two_letters_and_another_language_are_no_answer(text):
    assert letter(text) is None


@given(st.text())
def test_any_text_reads_as_one_of_the_labels_or_none(text):
    chosen = read_choice(text, LABELS, TEXTS)
    assert chosen.letter in (*LABELS, None)
    assert bool(chosen.letter) == bool(chosen.how)
    assert bool(chosen.letter) != bool(chosen.reason)


@given(st.sampled_from(LABELS), st.text(max_size=60))
def test_the_form_that_is_asked_for_is_always_read(label, reasoning):
    assert letter(json.dumps({"reasoning": reasoning, "choice": label})) == label
