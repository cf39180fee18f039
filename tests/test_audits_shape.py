"""Left-overs of prompts and pages: the same in every table, told once."""

import copy
import itertools
import tomllib
from pathlib import Path

import orjson
import pytest

from audits import audit
from audits.checks import row_format

EXAMPLES = tomllib.loads(Path(row_format.__file__).with_suffix(".toml").read_text("utf-8"))["examples"]
SOUND = orjson.loads((Path(__file__).parent / "cases/sound_rows.json").read_bytes())
FIELDS = {"memories": "context", "scenarios": "name", "decisions": "final_decision"}
each_table = pytest.mark.parametrize("table", FIELDS)


def residue(table, text):
    """What is found in a row of a table, a text in place of one of its fields."""
    row = {**copy.deepcopy(SOUND[table]), FIELDS[table]: text}
    return [finding for finding in audit(table, [row], SOUND) if finding.code == "format.residue"]


@each_table
def test_what_a_prompt_or_a_page_leaves_is_found_in_every_table(table):
    missed = [text for text in EXAMPLES["hits"] if not residue(table, text)]
    assert missed == (["As told in MEM_04_0017, I leave."] if table == "decisions" else [])  # citation.memory there


@each_table
def test_what_looks_like_it_is_left_alone(table):
    assert [text for text in EXAMPLES["misses"] if residue(table, text)] == []


@pytest.mark.parametrize("table", ["memories", "decisions"])
def test_what_is_found_in_every_table_is_reported_once(table):
    rows = [{**copy.deepcopy(SOUND[table]), FIELDS[table]: text} for text in EXAMPLES["hits"]]
    for row in rows:
        found = audit(table, [row], SOUND, only=["format.residue", *(["format.prompt"] if table == "memories" else [])])
        spans = sorted(each.span for each in found)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans)), found


@each_table
def test_a_preamble_of_a_model_is_found_at_the_beginning_of_a_text_of_any_table(table):
    def prompts(text):
        row = {**copy.deepcopy(SOUND[table]), FIELDS[table]: text}
        return [finding for finding in audit(table, [row], SOUND) if "format.prompt" in finding.codes]

    assert [text for text in EXAMPLES["preambles"] if not prompts(text)] == []
    assert [text for text in EXAMPLES["no_preambles"] if prompts(text)] == []


def test_a_mark_of_a_nested_field_or_an_entry_of_a_list_is_shown():
    row = copy.deepcopy(SOUND["memories"])
    row["triggers"][2] = "a ladder <|end|>"
    (found,) = [each for each in audit("memories", [row], SOUND) if each.code == "format.residue"]
    assert (found.field, found.text) == ("triggers.2", "<|end|>")


def test_an_id_is_in_the_fields_of_ids_and_nowhere_else():
    row = copy.deepcopy(SOUND["memories"])
    assert [each for each in audit("memories", [row], SOUND) if each.code == "format.residue"] == []
    assert residue("memories", row["id"])[0].text == row["id"]
