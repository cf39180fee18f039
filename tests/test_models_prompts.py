"""Prompt files: what they must hold, and what rendering them promises."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.prompts import Rendered, load
from schemas.errors import RequestError

FRONT = "---\nid: heart.memory\nversion: 3\n---\n"
PARTS = "<!-- fixed -->\nRules.\n\n<!-- fixed -->\nAbout {{who}}.\n\n<!-- prompt -->\nWrite {{count}} of {{who}}.\n"


@pytest.fixture
def prompt_file(tmp_path: Path):
    def write(text: str, encoding: str = "utf-8") -> Path:
        path = tmp_path / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.md"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def test_front_matter_and_digest_identify_the_prompt(prompt_file):
    prompt = load(prompt_file(FRONT + PARTS))
    assert (prompt.id, prompt.version) == ("heart.memory", 3)
    assert prompt.digest == hashlib.sha256((FRONT + PARTS).encode()).hexdigest()


def test_fixed_parts_come_apart_from_the_rest_in_their_order(prompt_file):
    rendered = load(prompt_file(FRONT + PARTS)).render(who="CHAR_04", count=5)
    assert rendered == Rendered(("Rules.", "About CHAR_04."), "Write 5 of CHAR_04.")


def test_a_file_without_parts_is_all_prompt(prompt_file):
    assert load(prompt_file(FRONT + "Say {{word}}.\n")).render(word="yes") == Rendered((), "Say yes.")


def test_a_missing_variable_is_named(prompt_file):
    with pytest.raises(RequestError, match=r"missing variable .* field count"):
        load(prompt_file(FRONT + PARTS)).render(who="x")


def test_a_variable_that_is_none_counts_as_missing(prompt_file):
    with pytest.raises(RequestError, match=r"missing variable .* field count"):
        load(prompt_file(FRONT + PARTS)).render(who="x", count=None)


def test_an_unused_variable_is_named(prompt_file):
    with pytest.raises(RequestError, match=r"unused variable .* field plan"):
        load(prompt_file(FRONT + PARTS)).render(who="x", count=1, plan="y")


@given(value=st.text())
def test_what_is_put_in_stands_as_it_is_and_is_never_read_as_a_variable(value):
    path = Path(__file__).parents[1] / "models" / "wording" / "again.md"
    assert f"\n\n{value}\n\n" in load(path).render(reason=value).prompt


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Say yes.\n", "no front matter"),
        ("---\nid: a\n---\nx\n", "malformed front matter"),
        ("---\nid: a\nversion: 1\nmodel: b\n---\nx\n", "malformed front matter"),
        ("---\nid: A b\nversion: 1\n---\nx\n", "malformed id"),
        ("---\nid: a\nversion: 0\n---\nx\n", "malformed version"),
        (FRONT + "before\n<!-- fixed -->\nx\n<!-- prompt -->\ny\n", "text before the first part"),
        (FRONT + "<!-- prompt -->\nx\n<!-- fixed -->\ny\n", "parts in another order"),
        (FRONT + "<!-- fixed -->\nx\n", "parts in another order"),
        (FRONT + "<!-- fixed -->\n\n<!-- prompt -->\ny\n", "empty part"),
        (FRONT + "Say {{ word }}.\n", "malformed variable"),
    ],
)
def test_a_malformed_file_is_refused_with_its_name(prompt_file, text, complaint):
    path = prompt_file(text)
    with pytest.raises(RequestError, match=complaint) as raised:
        load(path)
    assert str(path) in str(raised.value)


def test_a_missing_file_and_another_encoding_are_refused(prompt_file, tmp_path):
    with pytest.raises(RequestError, match="missing prompt"):
        load(tmp_path / "none.md")
    with pytest.raises(RequestError, match="encoding"):
        load(prompt_file(FRONT + "é\n", "latin-1"))
