"""A file of patterns that breaks a rule is refused with the file, the pattern and what is wrong with it."""

import pytest

from audits.checks.pattern_criteria import findings
from audits.patterns.criteria import criteria
from audits.patterns.user_patterns import user_criteria
from audits.subjects import Subject
from schemas.errors import RequestError

FILE = """
code = "mine.own"
table = "memories"
title = "Mine"
severity = "error"
message = "mine"
source = "my paper 3.2"
fields = ["content_full"]
voice = "narrator"
[parts]
later = "(?:later|after)"

[[patterns]]
name = "first"
why = "Because."
expressions = '''
\\byears {later}\\b
\\bweeks {later}\\b
'''
hits = ["Years later I knew.", "Weeks later I knew.", "Years after.", "Weeks after.", "It was years later."]
misses = ["Years passed.", "Weeks.", "Later.", "After years.", "After weeks."]
"""


def refused(tmp_path, text):
    path = tmp_path / "mine.own.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(RequestError) as raised:
        user_criteria(path)
    assert raised.value.exit_code == 2
    return str(raised.value)


def test_expressions_stand_one_a_line_and_parts_are_filled_in(tmp_path):
    (tmp_path / "mine.own.toml").write_text(FILE, "utf-8")
    (pattern,) = criteria(tmp_path)["mine.own"].patterns
    assert [each.compiled.pattern for each in pattern.expressions] == [
        r"\byears (?:(?:later|after))\b",
        r"\bweeks (?:(?:later|after))\b",
    ]


def test_patterns_of_users_run_beside_ours(tmp_path):
    (tmp_path / "mine.own.toml").write_text(FILE, "utf-8")
    row = Subject("memories", "m1", {"content_full": "It rained. Weeks later it snowed. 'Years later,' she said."})
    own = user_criteria(tmp_path / "mine.own.toml")
    assert [(each.code, each.text) for each in findings("memories", [row], frozenset(), own=own)] == [
        ("mine.own", "Weeks later")
    ]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("years {later}", "years {soon}", "unknown part {soon}"),
        ("years {later}", "years (later", "malformed expression"),
        ("years {later}", "(?<=a|ab)years", "look-behind requires fixed-width"),
        ('why = "Because."', "", "missing key 'why'"),
        ('why = "Because."', 'why = "Because."\nreason = "None."', "unknown key 'reason'"),
        ('why = "Because."', 'why = "Because."\nvoice = "me"', "unknown voice 'me'"),
        ('"Weeks after.", ', "", "too few hits"),
        ('"Weeks.", ', "", "too few misses"),
        ('"Years after."', '"Decades after."', "hit that is not found"),
        ('"Years passed."', '"Years later."', "miss that is found"),
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_the_file_and_the_pattern(tmp_path, old, new, what):
    message = refused(tmp_path, FILE.replace(old, new))
    assert what in message
    assert "mine.own.toml" in message
    assert "first" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('code = "mine.own"', 'code = "rubin.somatic"', "code rubin.somatic is taken"),
        ('title = "Mine"', "", "missing key 'title'"),
        ('title = "Mine"', 'titel = "Mine"', "unknown key 'titel'"),
    ],
)
def test_what_is_wrong_with_a_whole_file_is_said_with_its_name(tmp_path, old, new, what):
    message = refused(tmp_path, FILE.replace(old, new))
    assert what in message
    assert "mine.own.toml" in message


def test_two_patterns_of_one_name_are_refused(tmp_path):
    again = FILE[FILE.index("[[patterns]]") :]
    assert "two patterns of one name" in refused(tmp_path, FILE + again)


def test_a_file_that_is_no_toml_is_refused_with_the_place(tmp_path):
    assert "malformed TOML" in refused(tmp_path, FILE + "\n= 3")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(RequestError, match="missing file"):
        user_criteria(tmp_path / "mine.own.toml")
