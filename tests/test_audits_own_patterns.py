"""--patterns FILE: codes of one's own beside ours, refused where the file does not hold its own examples."""

import json
from pathlib import Path

import orjson
import pytest

from audits.command import main

SOUND = orjson.loads((Path(__file__).parent / "cases/sound_rows.json").read_bytes())["memories"]
PATTERNS = """
code = "mine.weather"
table = "memories"
title = "Talk of the weather"
severity = "warning"
message = "the weather is spoken of"
source = "us"
fields = ["content_full"]
voice = "any"

[[patterns]]
name = "rain"
why = "We write of rain too often."
expressions = 'rain (?:drummed|fell|came)'
hits = ["The rain fell.", "Rain came at nine.", "All night rain drummed.", "Then rain fell again.", "A rain came down."]
misses = ["The train left.", "It was raining.", "A rainbow fell apart.", "He wore a raincoat.", "I drummed on it."]
"""


def audited(tmp_path, patterns, *more, table="memories"):
    (tmp_path / "mine.toml").write_text(patterns, "utf-8")
    (tmp_path / "mine.jsonl").write_text(json.dumps(SOUND), "utf-8")
    words = ["--benchmark", "heart", "--table", table, "--rows", str(tmp_path / "mine.jsonl")]
    return main([*words, "--patterns", str(tmp_path / "mine.toml"), *more])


def test_a_code_of_users_is_found_beside_ours(tmp_path, capsys):
    assert audited(tmp_path, PATTERNS, "--json") == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["code"], finding["text"], finding["source"]) == ("mine.weather", "rain drummed", "us")


def test_codes_of_users_can_be_selected_like_ours(tmp_path, capsys):
    assert audited(tmp_path, PATTERNS, "--only", "mine", "--json") == 1
    assert audited(tmp_path, PATTERNS, "--only", "perspective", "--json") == 0
    assert capsys.readouterr().out.count("rain drummed") == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"The rain fell."', '"The snow fell."', "hit that is not found"),
        ('"The train left."', '"The train rain fell."', "miss that is found"),
        (', "A rain came down."', "", "too few hits"),
        (', "I drummed on it."', "", "too few misses"),
        ('"mine.weather"', '"perspective.future"', "code perspective.future is taken"),
        ('table = "memories"', 'table = "scenarios"', "patterns of scenarios"),
        ("fell|came)", "fell|came", "malformed expression"),
        ("why =", "reason =", "why"),
        ('code = "mine.weather"', "", "code"),
        ("[[patterns]]", "[[patterns", "malformed TOML"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_in_one_line(tmp_path, capsys, old, new, message):
    assert old in PATTERNS
    assert audited(tmp_path, PATTERNS.replace(old, new)) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("error: ") and printed.count("\n") == 1
    assert message in printed and "mine" in printed


def test_a_file_that_is_not_there_is_named(tmp_path, capsys):
    words = ["--benchmark", "heart", "--table", "memories", "--rows", str(tmp_path / "mine.jsonl")]
    assert main([*words, "--patterns", str(tmp_path / "absent.toml")]) == 2
    assert "missing file in" in capsys.readouterr().err
