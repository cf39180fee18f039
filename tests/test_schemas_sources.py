"""A workspace and a release of the same rows are read alike, and what is not there is named."""

import argparse
import json
from pathlib import Path

import pytest

from audits import diversity, evenness
from audits.command import main as audits
from audits.duplicates import command as duplicates
from audits.shortcuts import command as shortcuts
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.sources import add_source, of_release, source

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = [
    pytest.param(audits, ["--table", "decisions"], id="audits"),
    pytest.param(duplicates.main, ["--table", "decisions", "--field", "final_decision"], id="duplicates"),
    pytest.param(evenness.main, ["--table", "characters"], id="evenness"),
    pytest.param(diversity.main, ["--table", "scenarios", "--field", "context_text"], id="diversity"),
    pytest.param(shortcuts.main, ["--no-solvers"], id="shortcuts"),
]


def named(*words):
    made = argparse.ArgumentParser()
    made.add_argument("--benchmark", default="heart")
    made.add_argument("--workspace", type=Path)
    add_source(made)
    return source(made.parse_args(words))


@pytest.mark.parametrize(("main", "words"), COMMANDS)
def test_every_audit_reads_a_release_by_its_name_or_its_folder(main, words, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    documents = []
    for release in ("heart@2.0.0", "releases/frozen/heart/2.0.0"):
        assert main(["--benchmark", "heart", "--release", release, *words, "--json"]) in (0, 1)
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1]


def test_a_release_that_is_not_there_is_answered_with_the_nearest(monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(RequestError, match=r"heart@9\.9\.9.*heart@2\.0\.0"):
        named("--release", "heart@9.9.9")


def test_a_workspace_and_a_release_together_are_refused():
    with pytest.raises(RequestError, match="two sources"):
        named("--release", "heart@2.0.0", "--workspace", "build")


def test_a_table_that_has_no_rows_is_named_with_those_that_have(tmp_path):
    folder = tmp_path / "heart/memories"
    folder.mkdir(parents=True)
    (folder / "CHAR_04.jsonl").write_text('{"id": "MEM_04_0001"}\n')
    found = named("--workspace", str(tmp_path))
    assert [row["id"] for row in found.rows("memories")] == ["MEM_04_0001"]
    assert found.if_any("scenarios") == []
    with pytest.raises(RequestError, match=r"missing table scenarios .*There are: memories"):
        found.rows("scenarios")


def test_a_folder_without_the_benchmarks_tables_is_no_release_of_it(tmp_path):
    with pytest.raises(RequestError, match="no release of heart"):
        of_release(str(tmp_path), benchmark("heart"))
