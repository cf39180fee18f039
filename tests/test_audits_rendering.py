"""The report for people: short lines, one a finding, that say where, what, and how to see the rest."""

from dataclasses import replace

import orjson
import pytest

from audits import audit
from audits.report import SHOWN, lines
from audits.tables import audited
from schemas.findings import Finding


def report(table, rows, *codes):
    return list(lines(audit(table, rows, {}, only=codes or None), rows, audited(table)))


def finding(text, message, span=None, field="content_full", row_id="m1"):
    return Finding("length.short", "memories", row_id, field, "error", span, text, message, "Anamnesis")


def line_of(found, rows=()):
    return next(line for line in lines([found], rows, audited("memories")) if line.startswith("  m1"))


def test_the_whole_text_of_a_row_never_lands_in_the_report_though_two_rows_carry_its_id():
    rows = [{"id": "m1", "content_full": "The hamster was out. " * 300}] * 2
    reported = report("memories", rows, "duplicate")
    assert any("row 2: nearly the same as m1 (row 1)" in line for line in reported)
    assert max(map(len, reported)) < 400


@pytest.mark.parametrize(
    ("text", "message"),
    [("779", "779 characters, at least 2,000 needed"), ("4501", "4,501 characters"), ("m1", "another row has it")],
)
def test_what_the_message_or_the_id_says_is_not_said_twice(text, message):
    assert line_of(finding(text, message)) == f"  m1 content_full: {message}"


def test_what_offends_is_shown_where_the_message_does_not_say_it():
    assert line_of(finding("79", "779 characters")) == "  m1 content_full: 79  779 characters"


def test_words_in_a_list_are_shown_in_their_sentence():
    row = {"id": "m1", "triggers": ["the rain", "a ladder and a stair"]}
    shown = line_of(finding("ladder", "a word", (2, 8), "triggers.1"), [row])
    assert shown == "  m1 triggers.1: “a [ladder] and a stair”  a word"


def test_how_to_see_the_findings_that_are_left_out_is_said():
    reported = report("memories", [{"id": f"m{number}"} for number in range(SHOWN + 2)], "format.id")
    assert "  … 2 more; --json lists all of them" in reported


def test_the_columns_a_row_has_in_place_of_its_text_are_named_once():
    rows = [{"id": f"m{number}", "text": "It rained.", "Memory\x1b Text": "It rained."} for number in range(9)]
    reported = [line for line in report("memories", rows, "format.missing") if "unknown columns" in line]
    (line,) = reported
    assert "'Memory  Text', 'text'" in line and "the text is read from content_full" in line.lower()
    assert not any("unknown columns" in line for line in report("memories", [{"content_full": "It rained."}]))


def test_rows_without_an_id_are_named_by_their_place():
    reported = report("decisions", [{"final_decision": "She stays. She sits."}], "person")
    assert (
        "Rows without character_id or scenario_id are named by their place: #1 is the first row of the table"
        in reported
    )
    assert not any("named by their place" in line for line in report("memories", [{"id": "m1"}], "format.missing"))


def test_other_codes_of_the_same_words_are_shown_beside_the_message():
    found = replace(finding("79", "79 characters"), also=("format.cut", "person.third"))
    assert line_of(found) == "  m1 content_full: 79 characters (also format.cut, person.third)"


def test_a_report_of_anything_is_printable():
    rows = [orjson.loads(b'{"id": "m\\u001b", "content_full": "\\u0000 Years later\\u001b[0m I knew."}')]
    assert all(line.isprintable() for line in report("memories", rows))
