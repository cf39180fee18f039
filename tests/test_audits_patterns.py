"""Patterns are data, and these tests are what holds them: every sentence of every file, anchors, spans, bait."""

import functools
import random
import re
import tomllib
from pathlib import Path

import pytest
from drawing import drawn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audits.patterns.criteria import criteria
from audits.patterns.matcher import Matcher
from audits.text.normalisation import fold

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "audits/patterns"
each_criterion = pytest.mark.parametrize("code", criteria())


@functools.cache
def matcher_of(code):
    return Matcher([criteria()[code]])


def own(code):
    return [pattern for pattern in criteria()[code].patterns if pattern.hits]


@each_criterion
def test_every_hit_of_a_pattern_is_hit_by_it(code):
    for pattern in own(code):
        hit = {match.text for match in matcher_of(code).scan(pattern.hits) if match.name == pattern.name}
        assert [text for number, text in enumerate(pattern.hits) if number not in hit] == [], pattern.name


@each_criterion
def test_no_miss_of_a_pattern_is_hit_by_any_pattern_of_its_criterion(code):
    for pattern in own(code):
        found = matcher_of(code).scan(pattern.misses)
        assert [(match.name, pattern.misses[match.text]) for match in found] == [], pattern.name


@each_criterion
def test_a_pattern_has_25_hits_and_25_misses_and_none_is_both(code):
    for pattern in own(code):
        assert len(set(pattern.hits)) >= 25, pattern.name
        assert len(set(pattern.misses)) >= 25, pattern.name
        assert not set(pattern.hits) & set(pattern.misses), pattern.name


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_the_name_of_a_file_is_its_code(path):
    assert tomllib.loads(path.read_text("utf-8"))["code"] == path.stem


LONGEST = 240
LONGER = {
    "citation.memory": 582,
    "format.prompt": 505,
    "format.residue": 409,
    "identity.gendered": 1022,
    "identity.named": 859,
    "person.third": 609,
    "rubin.aftermath": 375,
    "rubin.monologue": 582,
    "rubin.sensory": 505,
    "rubin.somatic": 288,
    "urgency.deferred": 518,
    "urgency.missing": 677,
    "vocabulary.inflated": 522,
}
"""Characters of the longest expression of the files that hold longer ones: none may grow."""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_an_expression_is_a_line_that_can_be_read(path):
    patterns = tomllib.loads(path.read_text("utf-8"))["patterns"]
    lines = [line for pattern in patterns for line in pattern["expressions"].splitlines()]
    assert [line for line in lines if len(line) > LONGER.get(path.stem, LONGEST)] == []


@each_criterion
def test_an_expression_finds_what_re_finds_at_every_place_and_nothing_without_an_anchor(code):
    every, matched = list(criteria()[code].anchored), 0
    for pattern, expression, anchors in every:
        searched = re.compile(expression.source)
        for text in texts_like(expression.source, pattern.hits):
            found = set()
            for anchor in (each for each in anchors if each in text):
                for place in (place for place in range(len(text)) if text.startswith(anchor, place)):
                    matches = expression.matches_at(text, 0, len(text), place, anchors[anchor])
                    found |= {each.span() for each in matches}
            wanted = {each.span() for place in range(len(text)) if (each := searched.match(text, place))}
            assert found == wanted, (expression.source, text)
            matched += bool(wanted)
    assert matched > 2 * len(every)  # of five texts each


def texts_like(expression, hits):
    """Texts that an expression may match: four alone, and one with a second, a sentence and odd letters beside it."""
    chance = random.Random(expression)
    yield from (" " * chance.randint(0, 1) + drawn(expression, chance) + " " for _ in range(4))
    letters = "".join(chance.choices("aiy '.\né", k=2))
    parts = [drawn(expression, chance), drawn(expression, chance), chance.choice(hits).lower(), letters]
    yield "".join(chance.sample(parts, k=len(parts)))


SENTENCES = [
    text for c in criteria().values() if c.table == "memories" for p in c.patterns for text in p.hits + p.misses
]
NARRATIVE = [c for c in criteria().values() if c.table == "memories" and c.at_least is None]
ODD = [
    "\x00",
    "\ud83d",
    "İstanbul",
    "e\u0301",
    "😀",
    "مرحبا بالعالم",
    "我走了。",
    "\u2028",
    "’",
    "“",
    "'",
    '"',
    "\t",
    "\r\n",
    "  ",
]
texts = st.lists(st.sampled_from(SENTENCES) | st.sampled_from(ODD) | st.text(max_size=12), max_size=8)
joints = st.sampled_from([" ", "\n", "\n\n", "  ", "\r\n\r\n", "\t", " \n "])


def joined(parts, joint):
    return joint.join(parts)


@pytest.fixture(scope="module")
def matcher():
    return Matcher(NARRATIVE)


@given(several=st.lists(st.builds(joined, texts, joints), max_size=5))
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
def test_texts_scanned_together_have_the_matches_they_have_alone(matcher, several):
    alone = [match._replace(text=number) for number, text in enumerate(several) for match in matcher.scan([text])]
    assert matcher.scan(several) == sorted(alone)


@given(text=st.builds(joined, texts, joints))
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
def test_a_span_points_at_words_that_fold_to_what_was_matched(matcher, text):
    expressions = {(p.code, p.name): p for c in NARRATIVE for p in c.patterns}
    for match in matcher.scan([text]):
        assert 0 <= match.start < match.end <= len(text)
        words = fold(text[match.start : match.end]).text
        pattern = expressions[match.code, match.name]
        around = fold("\n\n" + text[max(0, match.start - 40) : match.end + 90]).text
        found = [each[0] for one in pattern.expressions for each in re.finditer(one.source, around)]
        assert any(words in each for each in found), (words, around)


@pytest.mark.parametrize(
    "text",
    ["Yèars ago… İ said. \U0001f600 Years later, I knew.", "İİİ. “Ça va.” Years later I knew.", "a\u0301 years  later"],
)
def test_a_span_is_true_beside_characters_that_fold_to_more_or_stand_outside_the_basic_plane(text):
    (match,) = [m for m in matcher_of("perspective.future").scan([text]) if m.name == "years_later"]
    assert fold(text[match.start : match.end]).text == "years later"


def test_folding_keeps_the_length_of_every_single_character():
    changed = [code for code in range(0x110000) if len(fold(chr(code)).text) != 1 and not chr(code).isspace()]
    assert changed == []


@given(text=st.text(st.sampled_from("aI \n\t\r.“”’'\"İ\ud83d😀"), max_size=60))
def test_every_place_of_a_folded_text_is_the_place_of_its_character(text):
    folded = fold(text)
    for place, sign in enumerate(folded.text):
        original = text[folded.at(place)]
        assert sign == "\n" or sign == " " or fold(original).text == sign
    assert folded.at(len(folded.text)) == len(text)
