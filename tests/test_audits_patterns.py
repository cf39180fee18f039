"""Patterns are data, and these tests are what holds them: hits, misses, spans, and time on hostile text."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audits.patterns.criteria import criteria
from audits.patterns.matcher import matches
from audits.text.normalisation import fold
from audits.text.passage import Passage

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "audits/patterns"
MOST_EXPRESSIONS = 2_000
each_criterion = pytest.mark.parametrize("code", criteria())


def own(code):
    return [pattern for pattern in criteria()[code].patterns if pattern.file.stem == code]


@each_criterion
def test_every_hit_of_a_pattern_is_hit_by_it(code):
    for pattern in own(code):
        found = {text: [match.name for match in matches(criteria()[code], Passage(text))] for text in pattern.hits}
        assert [text for text, names in found.items() if pattern.name not in names] == [], pattern.name


@each_criterion
def test_no_miss_of_a_pattern_is_hit_by_any_pattern_of_its_criterion(code):
    for pattern in own(code):
        found = [(match.name, text) for text in pattern.misses for match in matches(criteria()[code], Passage(text))]
        assert found == [], pattern.name


@each_criterion
def test_every_expression_can_be_compiled(code):
    for pattern in criteria()[code].patterns:
        assert all(each.compiled for each in pattern.expressions)
        assert (pattern.excuse_before is None) == (pattern.unless is None)
        assert (pattern.excuse_after is None) == (pattern.unless_after is None)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_the_name_of_a_file_is_its_code(path):
    assert tomllib.loads(path.read_text("utf-8"))["code"] == path.stem


def test_there_are_no_more_expressions_than_a_person_can_read():
    files = [tomllib.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.toml")]
    lines = [line for file in files for each in file["patterns"] for line in each["expressions"].splitlines() if line]
    assert len(lines) <= MOST_EXPRESSIONS


SENTENCES = [
    text for c in criteria().values() if c.table == "memories" for p in c.patterns for text in p.hits + p.misses
]
ODD = ["\x00", "\ud83d", "İstanbul", "e\u0301", "😀", "我走了。", "\u2028", "’", "“", "'", '"', "\t", "\r\n", "  "]
texts = st.lists(st.sampled_from(SENTENCES) | st.sampled_from(ODD) | st.text(max_size=12), max_size=8)
joints = st.sampled_from([" ", "\n", "\n\n", "  ", "\r\n\r\n", "\t", " \n "])


def joined(parts, joint):
    return joint.join(parts)


@given(text=st.builds(joined, texts, joints))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_span_points_into_the_text_at_what_was_matched(text):
    passage = Passage(text)
    for code in ("perspective.future", "identity.gendered"):
        for match in matches(criteria()[code], passage):
            assert 0 <= match.start < match.end <= len(text)
            assert fold(text[match.start : match.end]).text.strip() in passage.folded.text


@pytest.mark.parametrize(
    "text",
    [
        "Yèars ago… İ said. \U0001f600 Years later I knew.",
        "İİİ. “Ça va.” Years later I knew.",
        "A\u0301da left. Years  later I knew.",
    ],
)
def test_a_span_is_true_beside_characters_that_fold_to_more_or_stand_outside_the_basic_plane(text):
    (match, *_) = matches(criteria()["perspective.future"], Passage(text))
    assert fold(text[match.start : match.end]).text.startswith("years later")


def test_folding_keeps_the_length_of_every_single_character():
    changed = [code for code in range(0x110000) if len(fold(chr(code)).text) != 1 and not chr(code).isspace()]
    assert changed == []


@given(text=st.text(st.sampled_from("aI \n\t\r.“”’'\"İ\ud83d😀"), max_size=60))
def test_every_place_of_a_folded_text_is_the_place_of_its_character(text):
    folded = fold(text)
    for place, sign in enumerate(folded.text):
        original = text[folded.at(place)]
        assert sign == "\n" or sign == " " or fold(original).text == sign
        assert folded.at(folded.place(folded.at(place))) == folded.at(place)
    assert folded.at(len(folded.text)) == len(text)
