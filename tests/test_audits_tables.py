"""A benchmark says which audits its tables get: any table of any benchmark can have the general ones."""

import json

import orjson
import pytest
from benchmark_samples import CARD

from audits import audit, not_checked
from audits.codes import codes
from audits.command import main
from audits.tables import GENERAL, of_record
from schemas.benchmarks import benchmark, benchmark_names
from schemas.errors import RequestError
from schemas.records import term_ids

TOML = """
name = "letters"
title = "Letters between two houses"

[tables.letters]
key = ["number"]
audits = ["format", "repeated", "language", "duplicates"]
text = "body"
window = ["sender"]

[tables.drafts]
key = ["number"]
record = "letters"

[tables.stories]
key = ["id"]
record = "memories"
audits = ["format", "memories"]
"""
LETTERS = {
    "description": "One letter a row.",
    "properties": {
        "number": {"type": "integer", "description": "Number of the letter."},
        "sender": {"type": "string", "description": "Who wrote it."},
        "initial": {
            "type": "string",
            "description": "First letter of the sender.",
            "x-derived-from": {"field": "sender", "pattern": "^(.)"},
        },
        "body": {"type": "string", "description": "The letter."},
        "remark": {"type": ["string", "null"], "description": "What the archive says of it."},
    },
}
BODY = "The roof of the barn is done, and we have begun to paint the door in the green you sent us in the spring. "


@pytest.fixture
def home(tmp_path):
    (tmp_path / "records").mkdir()
    (tmp_path / "benchmark.toml").write_text(TOML, "utf-8")
    (tmp_path / "card.toml").write_text(CARD, "utf-8")
    (tmp_path / "records/letters.schema.json").write_bytes(orjson.dumps(LETTERS))
    return tmp_path


def letter(number, body=BODY, **more):
    return {"number": number, "sender": "Ines", "body": body, "remark": None, **more}


def written(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def test_a_table_of_any_benchmark_gets_the_general_audits_it_asks_for(home):
    rows = [letter(1), letter(1, BODY + "Yours."), letter(2, "Here is the revised letter draft: {name}"), letter(3, 4)]
    table = benchmark(home).table("letters")
    found = audit(table, rows)
    assert {(each.code, each.row_id) for each in found} == {
        ("format.repeated", "1"),
        ("duplicate.semantic", "1"),
        ("format.prompt", "2"),
        ("format.residue", "2"),
        ("format.type", "3"),
    }
    assert {each.table for each in found} == {"letters"}
    assert {each.code for each in found} <= set(codes(table))
    assert not_checked(table, rows, {}, codes(table)) == []


def test_only_rows_that_agree_on_the_window_are_compared(home):
    rows = [letter(1), letter(2, sender="Tom")]
    assert audit(benchmark(home).table("letters"), rows) == []


def test_a_table_named_otherwise_than_its_record_is_audited_as_the_record_and_named_in_findings(home):
    found = audit(benchmark(home).table("stories"), [{"id": "MEM_04_0001", "content_full": "I left."}])
    assert ("length.short", "stories") in {(each.code, each.table) for each in found}


def test_the_command_audits_a_table_of_a_folder_of_ones_own(home, capsys):
    rows = written(home / "mine.jsonl", letter(1), letter(2, "Wait."))
    words = ["--benchmark", str(home), "--rows", rows, "--json"]
    assert main([*words, "--table", "letters"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 2


def test_a_table_without_audits_is_said_to_have_none_and_where_to_add_them(home, capsys):
    rows = written(home / "mine.jsonl", letter(1))
    assert main(["--benchmark", str(home), "--table", "drafts", "--rows", rows]) == 2
    expected = f"error: table drafts has no audits: add `audits = [...]` to {home / 'benchmark.toml'}"
    assert capsys.readouterr().err.strip() == expected


def test_a_flag_of_another_kind_of_table_is_refused(home, capsys):
    rows = written(home / "mine.jsonl", letter(1))
    assert main(["--benchmark", str(home), "--table", "letters", "--rows", rows, "--deep"]) == 2
    assert "--deep is not for this table" in capsys.readouterr().err


def test_an_audit_of_a_text_needs_a_text_column(home):
    (home / "benchmark.toml").write_text(TOML.replace('text = "body"\n', ""), "utf-8")
    with pytest.raises(RequestError, match="no text column for the audit language"):
        audit(benchmark(home).table("letters"), [letter(1)])


@pytest.mark.parametrize(
    ("old", "new", "nearest"),
    [('"repeated"', '"repeat"', "repeated"), ('"body"', '"boddy"', "body"), ('["sender"]', '["sendr"]', "sender")],
)
def test_a_wrong_audit_text_or_window_is_answered_with_the_nearest(home, old, new, nearest):
    (home / "benchmark.toml").write_text(TOML.replace(old, new), "utf-8")
    with pytest.raises(RequestError, match=rf"benchmark\.toml.*{nearest}"):
        benchmark(home)


def test_every_audit_of_the_vocabulary_is_general_or_a_module_of_checks():
    table = benchmark("heart").table("memories")
    for name in term_ids("audits"):
        if name not in GENERAL:
            (module,) = of_record(type(table)("any", ("id",), audits=(name,)))
            assert callable(module.audit)
    assert set(GENERAL) <= set(term_ids("audits"))


def test_every_audited_table_that_is_shipped_has_codes():
    tables = [table for name in benchmark_names() for table in benchmark(name).tables.values() if table.audits]
    assert {table.name for table in tables} >= {"memories", "scenarios", "decisions", "users"}
    assert all(codes(table) for table in tables)
