"""Inspect and lm-evaluation-harness through their own command lines, as docs/evaluation.md gives them.

Each is looked for on the PATH and skipped where it is not installed. They run from the repository's root and from
another folder; the models they name are those of the rehearsal server.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evaluators.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/evaluation.md").read_text("utf-8")


def documented(program):
    """The words of the command that the page gives for a program."""
    return shlex.split(re.search(rf"^{program} .*$", PAGE, re.MULTILINE)[0])


def call(words, folder, cache):
    """Run a harness in a folder; offline, so that a look-up of anything fails."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not on the PATH")
    settings = {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "HF_HOME": str(cache), "INSPECT_DISPLAY": "none"}
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(params=["root", "elsewhere"])
def folder(request, tmp_path):
    """Where a command is given, and how a path of the repository is named there."""
    if request.param == "root":
        return ROOT, lambda path: path
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere", lambda path: str(ROOT / path)


def test_the_documented_inspect_command_finds_its_release(folder, tmp_path, rehearse):
    rehearse(compose=lambda body: json.dumps({"reasoning": "So it seems.", "choice": "B"}))
    where, named = folder
    words = [named(word) if word.startswith("evaluators/") else word for word in documented("inspect")]
    logs = tmp_path / "logs"
    call([*words, "-T", "limit=5", "--log-dir", str(logs), "--log-format", "json"], where, tmp_path / "hf")
    (log,) = [json.loads(path.read_text("utf-8")) for path in logs.glob("*.json")]
    assert log["status"] == "success" and log["results"]["total_samples"] == 5
    assert log["eval"]["task_args"]["release"] == "heart@2.0.0"
    answers = {sample["scores"]["chosen_option"]["answer"] for sample in log["samples"]}
    assert answers == {"B"}


def exported(tmp_path):
    """The folder of six exported questions."""
    data = str(tmp_path / "lm_eval_data")
    words = [
        "--release",
        "heart@2.0.0",
        "--setting",
        "vanilla",
        "--limit",
        "6",
        "--out",
        str(tmp_path / "lm_eval_data"),
    ]
    assert main(["export", *words, "--workspace", str(tmp_path), "--quiet"]) == 0
    return data


def run_lm_eval(words, where, tmp_path, task):
    """The figures of a task."""
    call([*words, "--output_path", str(tmp_path / "out")], where, tmp_path / "hf")
    (result,) = [json.loads(path.read_text("utf-8")) for path in (tmp_path / "out").rglob("results*.json")]
    assert result["n-samples"][task]["effective"] == 6
    return result["results"][task]


def test_the_documented_lm_eval_command_finds_the_exported_questions(folder, tmp_path, rehearse):
    rehearse(compose=lambda body: json.dumps({"reasoning": "So it seems.", "choice": "B"}))
    data = exported(tmp_path)
    words = [data if word == "lm_eval_data" else word for word in documented("lm_eval")]
    words[words.index("--model_args") + 1] += f",base_url={os.environ['ANTHROPIC_BASE_URL']}/v1/messages"
    figures = run_lm_eval(words, folder[0], tmp_path, "heart_choice")
    rows = pq.read_table(Path(data) / "heart_choice.parquet").to_pylist()
    expected = sum(row["labels"][row["answer"]] == "B" for row in rows) / 6
    assert figures["exact_match,letter"] == pytest.approx(expected)


def test_lm_eval_takes_likelihoods_of_the_exported_questions(folder, tmp_path):
    words = ["lm_eval", "--include_path", exported(tmp_path), "--tasks", "heart_choice_likelihood", "--model", "dummy"]
    assert 0 <= run_lm_eval(words, folder[0], tmp_path, "heart_choice_likelihood")["acc,none"] <= 1
