"""The catalogue of codes: every computed code has examples that are run, and the page is fresh."""

import copy
from pathlib import Path

import orjson
import pytest

from audits import audit
from audits.codes import codes, computed, document, select
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


def found(table, row):
    return {finding.code for finding in audit(table, [row], SOUND)}


def examples(kind):
    for code in computed():
        if code.table in OURS:
            for example in getattr(code, kind):
                if not isinstance(example, str):
                    yield pytest.param(code, example, id=f"{code.table}-{code.code}-{orjson.dumps(example)[:40]}")


@pytest.mark.parametrize("table", OURS)
def test_nothing_is_found_in_a_sound_row(table):
    assert found(table, sound(table)) == set()


@pytest.mark.parametrize(("code", "example"), list(examples("hits")))
def test_every_documented_hit_is_found(code, example):
    assert code.code in found(code.table, changed(code.table, example))


@pytest.mark.parametrize(("code", "example"), list(examples("misses")))
def test_no_documented_miss_is_found(code, example):
    assert code.code not in found(code.table, changed(code.table, example))


def test_every_code_has_a_hit_and_a_miss():
    assert [code.code for code in computed() if code.table in OURS and not (code.hits and code.misses)] == []


def test_every_finding_of_a_sound_row_broken_in_any_way_has_a_catalogued_code():
    for table in OURS:
        rows = [changed(table, example.values[1]) for example in examples("hits") if example.values[0].table == table]
        assert {finding.code for finding in audit(table, rows, SOUND)} <= set(codes(table))


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
