"""``docs/cli.md`` holds every command there is, and none that is not."""

import functools
import re
from pathlib import Path

import pytest

from schemas.docs import commands

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def page():
    return commands.document()


def test_the_page_is_up_to_date():
    assert (ROOT / commands.FILE).read_text("utf-8") == page(), "Run: make docs"


def test_every_module_that_can_be_run_has_a_section_with_an_example():
    sections = dict(re.findall(r"^## ([^\n]+)\n\n```text\n(.*?)```", page(), re.MULTILINE | re.DOTALL))
    modules = {name.removesuffix(".__main__") for name in commands.runnable_modules()}
    assert modules >= {"builders", "builders.importers.export", "builders.offline.lint", "evaluators", "releases"}
    # A method with a command of its own beside its room's runs the same one.
    rooms = {section.split()[0] for section in sections}
    assert {name for name in modules if name not in rooms and name.rpartition(".")[0] not in rooms} == set()
    # The verbs of the journal share the example of their command.
    own = {name: text for name, text in sections.items() if not name.startswith("models journal")}
    assert [name for name, text in own.items() if "example" not in text] == []
    assert {"releases diff", "models journal cost", "validators.review export"} <= sections.keys()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("## builders.personas\n", "## builders.people\n"),
        lambda text: text + "## builders.gone\n",
        lambda text: text[: text.index("## validators")],
    ],
    ids=["renamed", "one that is gone", "missing"],
)
def test_a_page_with_a_command_too_many_or_too_few_fails_the_check(tmp_path, monkeypatch, change, capsys):
    monkeypatch.setattr(commands, "document", page)
    monkeypatch.setattr(commands, "commands", dict)
    path = tmp_path / "cli.md"
    path.write_text(change(page()), "utf-8")
    assert commands.main(["--check", "--file", str(path)]) == 1
    assert "is stale. Run: python -m schemas.docs.commands" in capsys.readouterr().err
    assert commands.main(["--file", str(path), "--quiet"]) == 0
    assert commands.main(["--check", "--file", str(path), "--quiet"]) == 0


def test_the_page_does_not_depend_on_the_width_of_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "41")
    assert commands.document() == page()


def test_docs_name_no_command_that_does_not_exist():
    known = {section.split()[0] for section in re.findall(r"^## (.+)$", page(), re.MULTILINE)}
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        named = set(re.findall(r"python -m ([a-z_][a-z_.0-9]*[a-z_0-9])", path.read_text("utf-8")))
        ours = {name for name in named if name.split(".")[0] in commands.PACKAGES}
        assert ours - known == set(), path.name
