"""The documentation says what is there: its commands exist, with their flags, and its links lead somewhere."""

import contextlib
import importlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def commands(page: Path) -> list[list[str]]:
    """The ``python -m`` commands of a page's shell blocks, as words, without comments and what they are piped into."""
    lines = [
        line for block in _BLOCK.findall(page.read_text("utf-8")) for line in re.sub(r"\\\n\s*", "", block).splitlines()
    ]
    words = [shlex.split(line, comments=True) for line in lines]
    found = [line[line.index("python") :] for line in words if "python" in line]
    return [_up_to_operator(line) for line in found if line[1:2] == ["-m"]]


def _up_to_operator(words: list[str]) -> list[str]:
    stops = [place for place, word in enumerate(words) if word in ("|", "&&", "||", ";", ">", "2>", "&")]
    return words[: stops[0]] if stops else words


def help_of(module: str, before: list[str]) -> str:
    """What ``python -m MODULE [VERB …] --help`` prints."""
    place = importlib.util.find_spec(module)
    assert place is not None, f"there is no {module}"
    name = f"{module}.__main__" if place.submodule_search_locations else module
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        assert importlib.import_module(name).main([*before, "--help"]) == 0
    return printed.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_exists_with_all_its_flags(page):
    for words in commands(page):
        module, rest = words[2], words[3:]
        if not _ours(module):
            continue
        first = next((place for place, word in enumerate(rest) if word.startswith("-")), len(rest))
        text = help_of(module, rest[:first])
        flags = [word.split("=")[0] for word in rest if word.startswith("--")]
        missing = [flag for flag in flags if not re.search(rf"(?<![\w-]){flag}(?![\w-])", text)]
        assert not missing, f"{page.name}: {shlex.join(words)} has no {', '.join(missing)}"


def _ours(module: str) -> bool:
    """Whether a module is of this project, and not of a tool (pytest, venv)."""
    return (ROOT / module.split(".")[0]).is_dir()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page):
    missing = [link for link in _LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert not missing


def released() -> list[list[str]]:
    """The commands of the README that ask the release which lies in the repository."""
    return [
        words for words in commands(ROOT / "README.md") if words[2:4] and words[2] == "releases" and _asks(words[3])
    ]


def _asks(verb: str) -> bool:
    return verb in ("list", "show", "verify", "query")


@pytest.mark.parametrize("words", released(), ids=lambda words: " ".join(words[2:5]))
def test_what_the_readme_asks_of_the_release_in_the_repository_is_answered(words):
    done = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout or done.stderr


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "releases.md"], ids=lambda page: page.name)
def test_the_python_of_a_page_runs_on_the_release_in_the_repository(page, tmp_path):
    """As typed, offline, with an empty cache."""
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    for block in _PYTHON.findall(page.read_text("utf-8")):
        done = subprocess.run([sys.executable, "-c", block], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
