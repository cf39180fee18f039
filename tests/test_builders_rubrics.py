"""The build of profiles, priors and rubrics as commands: repeatable, stale when it should be, and over the wire."""

import re

import orjson
import pytest
from likability_samples import priors_of, profiles

from builders import rubrics
from builders.priors import step as priors
from builders.profiles import step as profiles_step
from builders.profiles.requests import WRITTEN
from schemas.records import term_ids, vocabulary
from schemas.workspace import Workspace

SIX = 6  # who is drawn depends on how many are


def build(root, *more, size=("--profiles", "4"), sessions=("--sessions", "3")):
    """Exit codes of the three commands in a workspace."""
    common = ["--benchmark", "likebench", "--workspace", str(root), "--quiet", *more]
    asking = [profiles_step.main([*common, *size]), priors.main([*common, *sessions])]
    return [*asking, rubrics.main(["--benchmark", "likebench", "--workspace", str(root), "--quiet"])]


def files(root):
    space = Workspace(root, "likebench")
    return {table: space.path(table).read_bytes() for table in ("profiles", "priors", "rubrics")}


def test_the_rubrics_are_the_vocabulary_word_for_word():
    rows = rubrics.rubrics(7)
    assert [row["metric"] for row in rows] == list(term_ids("likability_metrics"))
    assert [row["levels"] for row in rows] == [metric["levels"] for metric in vocabulary("likability_metrics")]


def test_the_same_commands_write_the_same_bytes(tmp_path):
    assert build(tmp_path / "one") == build(tmp_path / "two") == [0, 0, 0]
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_second_build_does_nothing_and_another_number_rebuilds(tmp_path, capsys):
    build(tmp_path)
    words = ["--benchmark", "likebench", "--workspace", str(tmp_path), "--json"]
    assert profiles_step.main([*words, "--profiles", "4"]) == 0
    assert orjson.loads(capsys.readouterr().out)["outcomes"][0]["action"] == "up to date"
    assert profiles_step.main([*words, "--profiles", "5"]) == 0
    assert orjson.loads(capsys.readouterr().out)["outcomes"][0]["rows"] == 5
    assert priors.main([*words, "--sessions", "3"]) == 0
    assert orjson.loads(capsys.readouterr().out)["outcomes"][0]["rows"] == 15


@pytest.mark.parametrize(
    ("module", "words", "said"),
    [
        (profiles_step, ["--bias-strength", "2"], "impossible bias strength"),
        (profiles_step, ["--profiles", "900"], "too few names"),
        (priors, ["--sessions", "2"], "too few sessions or turns"),
    ],
)
def test_an_impossible_request_is_one_line_and_exit_code_2(module, words, said, tmp_path, capsys):
    build(tmp_path)
    capsys.readouterr()
    assert module.main(["--benchmark", "likebench", "--workspace", str(tmp_path), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and said in line


def test_priors_without_profiles_name_the_command_that_makes_them(tmp_path, capsys):
    assert priors.main(["--benchmark", "likebench", "--workspace", str(tmp_path)]) == 2
    assert "python -m builders.profiles" in capsys.readouterr().err


def model(body):
    """What the offline writer would say, as a model's JSON."""
    text = orjson.dumps(body).decode()
    name = re.search(r"Name: ([A-Z][a-z]+); age", text)[1]
    row = next(row for row in profiles(SIX) if row["name"] == name)
    if "Session 1:" in text:
        agendas = [{"session": prior["session"], "agenda": prior["agenda"]} for prior in priors_of(row)]
        return orjson.dumps({"agendas": agendas}).decode()
    if "Entities wanted" in text:
        return orjson.dumps({column: row[column] for column in WRITTEN}).decode()
    return orjson.dumps({"interests": [each["interest"] for each in row["subjects"]]}).decode()


def test_a_model_over_the_wire_fills_the_same_tables(tmp_path, rehearse):
    api = rehearse(compose=model)
    assert build(tmp_path, "--backend", "messages", size=("--profiles", str(SIX)), sessions=())[:2] == [0, 0]
    space = Workspace(tmp_path, "likebench")
    offline = {row["persona_id"]: row for row in profiles(SIX)}
    for row in space.rows("profiles"):
        assert row["provenance"]["backend"] == "messages" and row["provenance"]["prompt"] == "profile@1"
        assert {**row, "provenance": None} == {**offline[row["persona_id"]], "provenance": None}
    agendas = {(row["persona_id"], row["session"]): row["agenda"] for row in space.rows("priors")}
    assert agendas == {
        (prior["persona_id"], prior["session"]): prior["agenda"] for row in profiles(SIX) for prior in priors_of(row)
    }
    assert api.stats()["answered_twice"] == 0


def test_a_model_that_declines_leaves_the_profile_out_and_the_exit_code_says_so(tmp_path, rehearse, capsys):
    rehearse(compose=lambda body: "I would rather not.")
    words = ["--benchmark", "likebench", "--workspace", str(tmp_path), "--backend", "messages", "--profiles", "2"]
    assert profiles_step.main([*words, "--json"]) == 3
    assert orjson.loads(capsys.readouterr().out)["failed"] == 2
    assert list(Workspace(tmp_path, "likebench").rows("profiles")) == []
