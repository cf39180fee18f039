"""A file of patterns that breaks a rule is refused with the file, the pattern and what is wrong with it."""

import pytest

from audits.patterns.criteria import criteria
from audits.patterns.matcher import Matcher
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
hits = ["Years later I knew."]
misses = ["Years passed."]
"""


def refused(tmp_path, text):
    (tmp_path / "mine.own.toml").write_text(text, "utf-8")
    with pytest.raises(RequestError) as raised:
        Matcher(criteria(tmp_path).values())
    return str(raised.value)


def test_expressions_stand_one_a_line_and_parts_are_filled_in(tmp_path):
    (tmp_path / "mine.own.toml").write_text(FILE, "utf-8")
    (pattern,) = criteria(tmp_path)["mine.own"].patterns
    assert [each.source for each in pattern.expressions] == [
        r"\byears (?:(?:later|after))\b",
        r"\bweeks (?:(?:later|after))\b",
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("years {later}", "years {soon}", "unknown part {soon}"),
        ("years {later}", "years (later", "malformed expression"),
        ("years {later}", "(?<=a|ab)years", "look-behind requires fixed-width"),
        ("years {later}", "Years {later}", "capitals in the expression"),
        ("years {later}", "[a-z]+", "expression without an anchor"),
        ('why = "Because."', "", "missing key 'why'"),
        ('why = "Because."', 'why = "Because."\nreason = "None."', "unknown key 'reason'"),
    ],
)
def test_what_is_wrong_is_told_with_the_name_of_the_pattern(tmp_path, old, new, told):
    message = refused(tmp_path, FILE.replace(old, new))
    assert told in message
    assert "mine.own.toml" in message
    assert "first" in message


def test_two_patterns_of_one_name_are_refused(tmp_path):
    again = FILE[FILE.index("[[patterns]]") :]
    assert "two patterns of one name" in refused(tmp_path, FILE + again)


def test_a_file_that_is_no_toml_is_refused_with_the_place(tmp_path):
    assert "malformed TOML" in refused(tmp_path, FILE + "\n= 3")
