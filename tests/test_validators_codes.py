"""The list of checks is written from the rules, and is up to date."""

from pathlib import Path

from validators.codes import codes, document, main

ROOT = Path(__file__).resolve().parents[1]


def test_the_list_in_docs_is_up_to_date():
    assert (ROOT / "docs/checks.md").read_text("utf-8") == document(), "run: python -m validators.codes"


def test_a_stale_or_absent_list_makes_the_exit_code_1_and_is_written_on_demand(tmp_path, capsys):
    file = str(tmp_path / "checks.md")
    assert main(["--check", "--file", file]) == 1
    assert main(["--file", file]) == 0
    assert main(["--check", "--file", file]) == 0
    Path(file).write_text("old")
    assert main(["--check", "--file", file, "--json"]) == 1
    assert '"fresh": false' in capsys.readouterr().out


def test_no_code_is_listed_twice_for_one_field():
    listed = [(each.code, each.table, each.meaning) for each in codes()]
    assert len(set(listed)) == len(listed)


def test_every_code_is_family_and_kind_in_lower_case():
    assert all(each.code.replace(".", "_").replace("_", "").islower() and each.code.count(".") == 1 for each in codes())
