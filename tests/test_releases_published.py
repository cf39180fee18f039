"""The published HEART-BENCH as a release: real data through import, gate, freeze, query and verify."""

import re

import orjson
import pytest
from release_samples import ROOT, command

from builders.importers.__main__ import main as import_published
from releases.__main__ import main
from releases.opening import open_release
from releases.query import query
from releases.verify import verify

# What the authors' files are known to hold, and are kept with.
KNOWN = (
    "anchor.identity",
    "citation.memory",
    "format.residue",
    "link.dangling",
    "person.third",
    "table.fine_outside_coarse",
    "table.memory_twice",
    "table.scenario_age",
    "vocabulary.clinical",
)


@pytest.fixture(scope="module")
def published(shared, tmp_path_factory):
    root = tmp_path_factory.mktemp("published")
    assert import_published(["heart", "--from", str(shared / "data/heart"), "--workspace", str(root), "--quiet"]) in (
        0,
        1,
    )
    words = ["freeze", "heart-published@1.0.0", "--workspace", str(root), "--frozen", str(root / "frozen"), "--quiet"]
    assert main([*words, "--allow", *KNOWN, "--why", "kept as published"]) == 0
    return open_release("heart-published@1.0.0", root / "frozen")


def test_every_published_question_and_decision_is_in_it_and_verifies(published):
    assert published.tables["mcqs"] == published.tables["mcq_keys"] == published.tables["decisions"] == 673
    assert published.tables["scenarios"] == 64 and published.tables["activations"] == 704 + 869
    assert verify(published.folder).problems == ()


def test_the_gold_option_is_the_characters_own_decision_in_every_question(published):
    sql = """
        SELECT count(*) AS n FROM questions q
        JOIN decisions d ON d.character_id = q.character_id AND d.scenario_id = q.scenario_id
        WHERE q.gold = d.final_decision
    """
    assert query(published, sql).to_pylist() == [{"n": 673}]


def test_the_card_says_how_the_published_questions_can_be_guessed(published):
    figures = {f["name"]: f for f in published.manifest["checks"]["audits"]["mcqs"]["figures"]}
    assert figures["the opposite pole is among the distractors"]["rate"] == pytest.approx(537 / 610, abs=1e-4)
    card = (published.folder / "README.md").read_text("utf-8")
    assert "| the opposite pole is among the distractors | 610 | 88.0% |" in card
    assert "imported from published data" in card and "composed" not in card


def test_show_tells_where_it_comes_from(published):
    done = command("show", published.folder, "--json")
    groups = orjson.loads(done.stdout)["built"]["rows"]
    assert {group["origin"] for group in groups} == {"imported"}


def test_the_demo_allows_what_the_published_files_hold_and_of_what_is_built_only_small_numbers():
    script = (ROOT / "scripts/demo").read_text("utf-8")
    calls = re.findall(r"releases freeze (\S+)@((?:.*\\\n)*.*)\n", script)
    passed = {name: tuple(re.findall(r"\b[a-z]+\.[a-z_]+\b", words.partition("--allow")[2])) for name, words in calls}
    few = ("table.row_count", "table.rows_per")  # 100 memories a character, 6 profiles of 3 sessions
    assert passed == {"heart": (), "fidelity": (), "likebench": few, "heart-published": KNOWN}
    small, whole = re.findall(r"allowed=\((.*)\)", script)
    assert small.startswith("--allow " + " ".join(few) + " --why ")
    assert whole == ""  # all 11,000 memories pass as they are
