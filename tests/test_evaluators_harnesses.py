"""Inspect and lm-evaluation-harness through their own command lines, as docs/evaluation.md gives them.

Each is looked for on the PATH and skipped where it is not installed. They run from the repository's root and from
another folder; only the model is replaced, by the harness's own one without a server.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

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


def test_the_documented_inspect_command_finds_its_release(folder, tmp_path):
    where, named = folder
    words = [named(word) if word.startswith("evaluators/") else word for word in documented("inspect")]
    words[words.index("--model") + 1] = "mockllm/model"
    logs = tmp_path / "logs"
    call([*words, "-T", "limit=5", "--log-dir", str(logs), "--log-format", "json"], where, tmp_path / "hf")
    (log,) = [json.loads(path.read_text("utf-8")) for path in logs.glob("*.json")]
    assert log["status"] == "success" and log["results"]["total_samples"] == 5
    assert log["eval"]["task_args"]["release"] == "heart@1.0.0"


@pytest.mark.parametrize(("task", "metric"), [("heart_choice", "exact_match"), ("heart_choice_likelihood", "acc")])
def test_the_documented_lm_eval_command_finds_the_exported_questions(folder, tmp_path, task, metric):
    where, _ = folder
    data, out = tmp_path / "lm_eval_data", tmp_path / "out"
    words = ["--release", "heart@1.0.0", "--setting", "vanilla", "--limit", "6", "--out", str(data), "--quiet"]
    assert main(["export", *words, "--workspace", str(tmp_path)]) == 0
    words = [str(data) if word == "lm_eval_data" else word for word in documented("lm_eval")]
    words[words.index("--model") + 1], words[words.index("--tasks") + 1] = "dummy", task
    call([*words, "--output_path", str(out)], where, tmp_path / "hf")
    (result,) = [json.loads(path.read_text("utf-8")) for path in out.rglob("results*.json")]
    assert result["n-samples"][task]["effective"] == 6
    assert any(name.startswith(metric) for name in result["results"][task])
