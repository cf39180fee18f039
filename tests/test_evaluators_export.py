"""Questions for other harnesses: the same prompts, the key beside them, task files that fit."""

import re

import pyarrow.parquet as pq
import pytest
import yaml
from evaluator_samples import SPEC, evaluate, small_release
from release_samples import frozen_once, small_tables

from evaluators.protocols.bench import read_bench, read_keys
from evaluators.protocols.prompting import How, choice_request


def test_the_file_holds_the_prompts_of_the_command_and_the_keys(tmp_path):
    bench = read_bench(small_release(tmp_path))
    assert evaluate(tmp_path, "export", "--setting", "vanilla", "--out", tmp_path / "data", "--quiet") == 0
    rows = pq.read_table(tmp_path / "data" / "heart_choice.parquet").to_pylist()
    keys = read_keys(bench.release)
    for row, question in zip(rows, bench.questions, strict=True):
        assert row["question_id"] == question.id
        assert row["prompt"] == choice_request(bench, question, How("vanilla"), ()).prompt
        assert row["labels"][row["answer"]] == keys[question.id]
        assert row["content_digest"] == bench.release.content_digest


@pytest.mark.parametrize("name", ["heart_choice", "heart_choice_likelihood"])
def test_a_task_file_lies_beside_the_data_and_names_columns_that_are_there(tmp_path, name):
    small_release(tmp_path)
    evaluate(tmp_path, "export", "--setting", "recent", "--out", tmp_path / "data", "--quiet")
    columns = set(pq.read_schema(tmp_path / "data" / "heart_choice.parquet").names)
    task = yaml.safe_load((tmp_path / "data" / f"{name}.yaml").read_text("utf-8"))
    assert task["dataset_kwargs"]["data_files"]["test"] == str(tmp_path / "data" / "heart_choice.parquet")
    assert task["task"] == name
    instructions = " ".join(str(task.get(field, "")) for field in ("doc_to_text", "doc_to_target", "doc_to_choice"))
    used = {word for word in re.findall(r"\w+", instructions) if word in columns}
    assert used >= {"prompt", "labels", "answer"}


def test_a_release_without_memories_exports_vanilla_alone(tmp_path, capsys):
    frozen_once(tmp_path, SPEC, {**small_tables(), "memories": [], "activations": [], "characters": []})
    assert evaluate(tmp_path, "export", "--setting", "vanilla", "--out", tmp_path / "data", "--quiet") == 0
    assert evaluate(tmp_path, "export", "--setting", "recent", "--out", tmp_path / "data") == 2
    assert "needs memories" in capsys.readouterr().err
