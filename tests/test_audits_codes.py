"""The catalogue of codes: every computed code has examples that are run, and the page is fresh."""

import copy
from pathlib import Path

import orjson
import pytest

from audits import audit
from audits.codes import ANY_TABLE, codes, computed, document, select
from audits.duplicates import near_duplicates
from audits.subjects import source_of
from schemas.errors import RequestError

ROOT = Path(__file__).resolve().parents[1]
SOUND = orjson.loads((ROOT / "tests/cases/sound_rows.json").read_bytes())
OURS = ("memories", "scenarios", "decisions")


def sound(table):
    return copy.deepcopy(SOUND[table])


def changed(table, change):
    """A sound row with fields replaced; ``drop`` takes one away, ``repeat`` writes the long text several times."""
    row = sound(table)
    long = {"memories": "content_full", "scenarios": "context_text"}
    for name, value in change.items():
        if name == "drop":
            del row[value]
        elif name == "repeat":
            row[long[table]] = " ".join([row[long[table]]] * value)
        else:
            row[name] = value
    return row


def of_example(code):
    """The table whose sound row an example of a code changes."""
    return "memories" if code.table == ANY_TABLE else code.table


def found(table, row):
    return {code for finding in audit(table, [row], SOUND) for code in finding.codes}


def examples(kind):
    for code in computed():
        if code.table in (*OURS, ANY_TABLE):
            for example in getattr(code, kind):
                if not isinstance(example, str):
                    yield pytest.param(code, example, id=f"{code.table}-{code.code}-{orjson.dumps(example)[:40]}")


@pytest.mark.parametrize("table", OURS)
def test_nothing_is_found_in_a_sound_row(table):
    assert found(table, sound(table)) == set()


@pytest.mark.parametrize(("code", "example"), list(examples("hits")))
def test_every_documented_hit_is_found(code, example):
    table = of_example(code)
    assert code.code in found(table, changed(table, example))


@pytest.mark.parametrize(("code", "example"), list(examples("misses")))
def test_no_documented_miss_is_found(code, example):
    table = of_example(code)
    assert code.code not in found(table, changed(table, example))


def test_every_code_has_a_hit_and_a_miss():
    assert [code.code for code in computed() if code.table in OURS and not (code.hits and code.misses)] == []


def test_every_finding_of_a_sound_row_broken_in_any_way_has_a_catalogued_code():
    for table in OURS:
        rows = [changed(table, example.values[1]) for example in examples("hits") if example.values[0].table == table]
        assert {finding.code for finding in audit(table, rows, SOUND)} <= set(codes(table))


def named_by_the_page(finding):
    """Whether codes.md names a finding's source: the same, or of several rules of a code the one that was broken."""
    parts = finding.source.removeprefix("HEART-BENCH ").split(", ")
    return all(part in source_of(finding.table, finding.code) for part in parts)


def test_every_finding_has_a_source_that_the_page_of_codes_names_for_its_code():
    found = []
    for table in OURS:
        rows = [changed(table, example.values[1]) for example in examples("hits") if example.values[0].table == table]
        found += audit(table, [*rows, {}], SOUND)
    found += near_duplicates.findings([sound("memories")] * 2, near_duplicates.scope_of("memories"), across=True)
    found += audit("users", [{}, {"interests": [], "affinities": []}])
    assert sorted({(each.table, each.code, each.source) for each in found if not named_by_the_page(each)}) == []
    assert {"format.missing", "format.repeated", "format.range", "fields.target"} <= {each.code for each in found}


def test_a_finding_without_a_source_of_its_own_has_that_of_its_code():
    (finding,) = audit("memories", [changed("memories", {"drop": "triggers"})], SOUND)
    assert (finding.code, finding.source) == ("format.missing", "HEART-BENCH Table 6")
    assert source_of("decisions", "format.missing") == "HEART-BENCH appendix G.4.3"
    assert source_of("memories", "no.such") == "Anamnesis"


def test_a_line_separator_is_found_as_the_page_of_codes_says():
    (rule,) = [code.rule for code in computed() if code.code == "format.control"]
    assert "U+2028" in rule
    assert "format.control" in found("memories", changed("memories", {"context": "Kitchen,\u2028Sunday evening"}))


def test_a_family_selects_all_of_its_codes():
    assert select("memories", ["perspective"]) == {"perspective.adult", "perspective.future"}
    assert select("memories", ["perspective.*"]) == select("memories", ["perspective"])


def test_an_unknown_code_is_answered_with_the_nearest():
    with pytest.raises(RequestError, match=r"perspective\.future"):
        select("memories", ["perspektive.future"])


def test_the_page_of_codes_is_fresh_and_names_every_code():
    text = (ROOT / "docs/codes.md").read_text("utf-8")
    assert text == document()
    assert [code for table in OURS for code in codes(table) if f"### {code}\n" not in text] == []
