"""The commands ``builders.importers`` and ``builders.importers.export``: what they write, say, and refuse."""

import os
import re
import shutil
import tarfile
from pathlib import Path

import importer_samples as samples
import orjson
import pytest

from builders.importers.__main__ import main
from builders.importers.codes import codes
from builders.importers.codes import main as list_codes
from builders.importers.export import main as export
from schemas.rows import read_jsonl
from schemas.workspace import Workspace

DATASETS = {"heart": samples.heart, "personalens": samples.personalens}


def run(tmp_path, source, *words, dataset="heart"):
    return main([dataset, "--from", str(source), "--workspace", str(tmp_path / "build"), *words])


def bytes_below(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def tables_of(workspace):
    """The bytes of all tables, findings and rejects; the recipe names where they came from."""
    return {path: content for path, content in bytes_below(workspace).items() if path.suffix == ".jsonl"}


@pytest.fixture
def source(tmp_path):
    return samples.folder_of(samples.heart(), tmp_path / "published")


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_faultless_dataset_is_imported_with_exit_code_0(tmp_path, capsys, dataset):
    published = samples.folder_of(DATASETS[dataset](), tmp_path / "published")
    assert run(tmp_path, published, "--json", dataset=dataset) == 0
    out, err = capsys.readouterr()
    document = orjson.loads(out)
    assert document.keys() == {"benchmark", "tables", "findings", "not_read", "workspace"}
    assert (document["benchmark"], document["findings"]) == (f"{dataset}-published", {})
    assert document["workspace"] == str(tmp_path / "build")
    workspace = Workspace(tmp_path / "build", f"{dataset}-published")
    assert {name: len(list(workspace.rows(name))) for name in document["tables"]} == document["tables"]
    assert "No findings." in err


def test_findings_make_exit_code_1_and_are_listed_with_what_they_mean_and_an_example(tmp_path, capsys):
    documents = samples.heart()
    del documents["scenarios.json"]["scenarios"]["school_age"][0]["trigger_event"]["action_required"]
    published = samples.folder_of(documents, tmp_path / "published")
    assert run(tmp_path, published, "--json") == 1
    out, err = capsys.readouterr()
    assert orjson.loads(out)["findings"] == {"published.action_required_missing": 1}
    (finding,) = read_jsonl(tmp_path / "build/heart-published/findings/scenarios.jsonl")
    assert (finding["code"], finding["row_id"]) == ("published.action_required_missing", "SCN_SCHOOL_AGE_1")
    assert "1  published.action_required_missing: a scenario does not say which decision is asked for" in err
    assert "e.g. scenarios SCN_SCHOOL_AGE_1, trigger_event.action_required: is absent" in err


def test_rejected_rows_are_kept_beside_the_others_until_an_import_without_them(tmp_path, capsys):
    documents = samples.heart()
    documents["ground_truth.json"]["pairs"][0]["stage"] = "old_age"
    broken = samples.folder_of(documents, tmp_path / "broken")
    assert run(tmp_path, broken, "--json") == 1
    assert orjson.loads(capsys.readouterr().out)["tables"]["decisions"] == 7
    rejected = tmp_path / "build/heart-published/rejected/decisions.jsonl"
    (record,) = read_jsonl(rejected)
    assert (record["file"], record["codes"]) == ("ground_truth.json", ["schema.enum"])
    assert record["published"] == documents["ground_truth.json"]["pairs"][0]
    assert run(tmp_path, samples.folder_of(samples.heart(), tmp_path / "whole"), "--quiet") == 0
    assert not rejected.exists()
    assert capsys.readouterr().err == ""


def test_the_same_dataset_gives_the_same_bytes_from_a_folder_a_tar_and_a_zip(tmp_path, source):
    with tarfile.open(tmp_path / "p.tar.xz", "w:xz") as tar:
        tar.add(source, "HEART-BENCH/benchmark")
    zipped = shutil.make_archive(str(tmp_path / "p"), "zip", source)
    made = []
    for number, path in enumerate((source, source, tmp_path, tmp_path / "p.tar.xz", zipped)):
        assert main(["heart", "--from", str(path), "--workspace", str(tmp_path / f"w{number}"), "--quiet"]) == 0
        made.append(tables_of(tmp_path / f"w{number}"))
    assert all(one == made[0] for one in made)


def test_the_workspace_records_how_its_rows_were_made(tmp_path, source):
    run(tmp_path, source, "--quiet")
    recipe = Workspace(tmp_path / "build", "heart-published").recipe()
    assert recipe["command"] == ["builders.importers", "heart", "--from", str(source)]
    assert len(recipe["settings"]["published"]) == 64


def _cut(folder):
    path = folder / "mcq.json"
    path.write_bytes(path.read_bytes()[:-30])


def _recode(folder):
    path = folder / "scenarios.json"
    path.write_bytes(path.read_text("utf-8").encode("utf-16"))


def _repeat(folder):
    path = folder / "ground_truth.json"
    document = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps({"pairs": document["pairs"] + document["pairs"][:1]}))


def _remove(folder):
    (folder / "activated_memories_step2.json").unlink()


def _replace(folder):
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "notes.txt").write_text("a diary")


def _vanish(folder):
    shutil.rmtree(folder)


@pytest.mark.parametrize("harm", [_cut, _recode, _repeat, _remove, _replace, _vanish])
def test_a_wrong_request_is_one_line_with_exit_code_2_and_writes_nothing(tmp_path, capsys, source, harm):
    run(tmp_path, source, "--quiet")
    before = bytes_below(tmp_path / "build")
    harm(source)
    capsys.readouterr()
    for workspace in ("build", "fresh"):
        assert main(["heart", "--from", str(source), "--workspace", str(tmp_path / workspace), "--json"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\n") == 1
    assert bytes_below(tmp_path / "build") == before
    assert not (tmp_path / "fresh").exists()


@pytest.mark.parametrize(
    "words, expected",
    [
        (["hart", "--from", "."], "Did you mean: heart?"),
        (["heart"], "--from"),
        (["heart", "--from", "."], "nothing of HEART-BENCH"),
        (["personalens", "--from", "."], "nothing of PersonaLens"),
    ],
)
def test_a_bad_argument_is_reported_with_what_would_do(tmp_path, monkeypatch, capsys, words, expected):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert expected in capsys.readouterr().err


def test_a_workspace_that_another_holds_is_left_alone(tmp_path, capsys, source):
    with Workspace(tmp_path / "build", "heart-published").lock():
        assert run(tmp_path, source) == 3
    assert f"process {os.getpid()}" in capsys.readouterr().err
    assert not (tmp_path / "build/heart-published/scenarios").exists()


@pytest.mark.parametrize("command", [main, export])
def test_help_shows_an_example(capsys, command):
    assert command(["--help"]) == 0
    assert "example:\n  python -m builders.importers" in capsys.readouterr().out


@pytest.mark.parametrize("dataset", DATASETS)
def test_an_export_gives_back_every_published_file(tmp_path, capsys, dataset):
    documents = DATASETS[dataset]()
    run(tmp_path, samples.folder_of(documents, tmp_path / "published"), "--quiet", dataset=dataset)
    words = [f"{dataset}-published", "--to", str(tmp_path / "again"), "--workspace", str(tmp_path / "build"), "--json"]
    assert export(words) == 0
    assert orjson.loads(capsys.readouterr().out)["files"] == len(documents)
    assert samples.read_folder(tmp_path / "again") == documents


def test_an_export_counts_the_rejected_rows_it_leaves_out(tmp_path, capsys):
    documents = samples.heart()
    broken = documents["ground_truth.json"]["pairs"].pop(2)
    with_broken = samples.heart()
    with_broken["ground_truth.json"]["pairs"][2] = broken | {"stage": "old_age"}
    run(tmp_path, samples.folder_of(with_broken, tmp_path / "published"), "--quiet")
    assert export(["heart-published", "--to", str(tmp_path / "again"), "--workspace", str(tmp_path / "build")]) == 1
    assert "1 rejected rows are not in them" in capsys.readouterr().err
    assert samples.read_folder(tmp_path / "again") == documents


def test_an_export_refuses_what_it_cannot_do_and_writes_nothing(tmp_path, capsys, source):
    workspace = ["--workspace", str(tmp_path / "build")]
    run(tmp_path, source, "--quiet")
    refused = {
        "Did you mean: heart-published": ["heart", "--to", str(tmp_path / "again")],
        "nothing imported": ["personalens-published", "--to", str(tmp_path / "again")],
        "something is there already": ["heart-published", "--to", str(source)],
    }
    for expected, words in refused.items():
        assert export([*words, *workspace]) == 2
        assert expected in capsys.readouterr().err
    rows = tmp_path / "build/heart-published/mcqs/all.jsonl"
    rows.write_bytes(rows.read_bytes().replace(b'"label":"A"', b'"label":"Z"', 1))
    assert export(["heart-published", "--to", str(tmp_path / "again"), *workspace]) == 2
    assert "broken row" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_the_list_of_codes_in_the_docs_is_up_to_date(monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[1])
    assert list_codes(["--check"]) == 0


@pytest.mark.parametrize("code", codes().values(), ids=lambda code: code.code)
def test_every_code_has_the_form_of_the_house_and_says_what_it_means(code):
    assert re.fullmatch(r"published\.[a-z_]+", code.code)
    assert code.severity in ("error", "warning", "note")
    assert code.meaning[0].islower() and len(code.meaning) > 20
