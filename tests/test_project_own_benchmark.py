"""``docs/own-benchmark.md`` is true: its files are written into an empty folder and its commands run in order."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from schemas.benchmarks import benchmark

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/own-benchmark.md").read_text("utf-8")

_FILE = re.compile(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


def written(folder: Path) -> Path:
    for name, content in _FILE.findall(PAGE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    return folder / "pets"


def test_the_files_of_the_page_are_a_benchmark(tmp_path):
    made = benchmark(written(tmp_path))
    assert (made.name, list(made.tables), made.steps) == ("pets", ["pets", "meals"], ("steps.py",))


@pytest.mark.skipif(
    importlib.util.find_spec("builders.pipeline.run") is None, reason="build steps of a folder are not there yet"
)
def test_the_commands_of_the_page_lead_from_an_empty_folder_to_a_release_that_is_queried_and_compared(tmp_path):
    written(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "bin/python").chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    script = "set -e\n" + "".join(_COMMANDS.findall(PAGE))
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "pets@0.1.0 verifies" in done.stderr and "Pet 1" in done.stdout
    assert "meals.food" in done.stderr or "food (gold)" in done.stderr
    manifest = orjson.loads((tmp_path / "releases/frozen/pets/0.1.0/manifest.json").read_bytes())
    assert manifest["checks"]["unaudited"] == ["pets", "meals"]
    assert manifest["tables"]["meals"]["roles"]["gold"] == ["food"]
