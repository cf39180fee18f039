"""The documentation says what is there: its commands exist, with their flags, and its links lead somewhere."""

import contextlib
import importlib
import importlib.util
import io
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
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
