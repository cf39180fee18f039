"""An expression is only tried where a word that it needs stands: nothing that it would find may get lost by that."""

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from audits.patterns.criteria import criteria, filled
from audits.patterns.matcher import matches
from audits.patterns.needed_words import Parts, needed_words
from audits.text.normalisation import fold
from audits.text.passage import OPENING, Passage

each_criterion = pytest.mark.parametrize("code", criteria())


def expressions(code):
    return [each for pattern in criteria()[code].patterns for each in pattern.expressions]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (r"\bin hindsight\b", {"in hindsight"}),
        (r"\b(?:years|decades) later\b", {"years later", "decades later"}),
        (r"\byears? later", {"year later", "years later"}),
        (r"\bi (?:[a-z]+ )?knew\b", {"knew"}),
        (r"\bi {verb} [^.]{0,20} hindsight", {" hindsight"}),
        (r"reali[sz]ed", {"realised", "realized"}),
        (r"(?=some)thing(?<!no)", {"thing"}),
        (r"(?:ha)+! \.", {"ha", "! ."}),
        (r"[a-z]+", None),
        (r"(?:hindsight|[a-z]+)", None),
        (r"(?:hindsight)?", None),
        (r"(?i)hindsight", None),
        (r"hindsight (", None),
        (r"{unknown} hindsight", None),
    ],
)
def test_the_words_that_an_expression_needs_follow_from_how_it_is_written(line, words):
    found = needed_words(line, Parts({"verb": "saw|knew"}))
    assert found is None if words is None else found and found <= words


@each_criterion
def test_of_every_expression_words_are_known(code):
    assert [each.line for each in expressions(code) if each.words is None] == []


@each_criterion
def test_what_an_expression_finds_in_hits_has_a_word_that_it_needs(code):
    texts = [fold(OPENING + text).text for pattern in criteria()[code].patterns for text in pattern.hits]
    for expression in expressions(code):
        for found in (each for text in texts for each in expression.compiled.finditer(text)):
            assert any(word in found[0] for word in expression.words), expression.line


letters = st.text("abc ", min_size=1, max_size=4)
pieces = st.recursive(
    letters | st.sampled_from([r"\b", "[ab]", "[^c]", "[a-c]", r"\.", ".", r"\w", "(?=a)", "(?<!b)", "{part}"]),
    lambda inside: st.one_of(
        st.lists(inside, min_size=1, max_size=3).map(lambda several: f"(?:{'|'.join(several)})"),
        st.lists(inside, min_size=1, max_size=3).map("".join),
        st.tuples(inside, st.sampled_from(["?", "*", "+", "{2}", "{0,2}", "{1,2}?", "*+"])).map(
            lambda both: f"(?:{both[0]}){both[1]}"
        ),
    ),
    max_leaves=8,
)


@given(line=pieces, data=st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_an_expression_matches_has_a_word_that_it_needs(line, data):
    parts = Parts({"part": "ab|c"})
    words = needed_words(line, parts)
    assume(words is not None)
    expression = re.compile(filled(line, parts))
    text = data.draw(st.from_regex(re.compile(expression.pattern.replace("*+", "*"), re.ASCII)))
    for found in expression.finditer(text):
        assert any(word in found[0] for word in words)


def tried_everywhere(criterion):
    """The criterion with expressions of which no words are known."""
    patterns = []
    for pattern in criterion.patterns:
        expressions = tuple(replace(each) for each in pattern.expressions)
        for each in expressions:
            vars(each)["words"] = None
        patterns.append(replace(pattern, expressions=expressions))
    return replace(criterion, patterns=tuple(patterns))


EVERYWHERE = {
    code: tried_everywhere(criteria()[code]) for code in ("perspective.adult", "identity.named", "format.prompt")
}
SENTENCES = [text for code in EVERYWHERE for p in criteria()[code].patterns for text in p.hits + p.misses]


@given(
    parts=st.lists(st.sampled_from(SENTENCES), max_size=12),
    joint=st.sampled_from([" ", "\n\n", "  ", "\n"]),
    code=st.sampled_from(sorted(EVERYWHERE)),
)
@settings(max_examples=60, deadline=None)
def test_the_same_is_found_as_if_every_expression_were_tried_everywhere(parts, joint, code):
    text = joint.join(parts)
    assert matches(criteria()[code], Passage(text)) == matches(EVERYWHERE[code], Passage(text))
