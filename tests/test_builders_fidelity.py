"""The benchmark of persona fidelity: what is asked of whom, built, validated and frozen."""

from collections import Counter

import orjson
import pytest

from builders.__main__ import main as builders
from builders.probes import probes
from builders.target_personas import target_personas
from releases.__main__ import main as releases
from schemas.benchmarks import benchmark
from schemas.tables import term_ids
from validators.records import failures


def test_every_dimension_has_three_levels_under_six_instructions():
    rows = target_personas(7)
    assert Counter((row["dimension"], row["level"]) for row in rows) == {
        (dimension, level): 6 for dimension in term_ids("big_five") for level in ("high", "neutral", "low")
    }
    assert len({row["instruction"] for row in rows}) == len(rows) == 90
    assert all(row["entity"] in row["instruction"] and "{" not in row["instruction"] for row in rows)


def test_ten_items_a_dimension_are_keyed_and_asked_in_the_first_person():
    rows = [row for row in probes(7) if row["task"] == "questionnaire"]
    assert Counter(row["dimension"] for row in rows) == dict.fromkeys(term_ids("big_five"), 10)
    assert Counter(row["keyed"] for row in rows) == {1: 26, -1: 24}
    for row in rows:
        assert f'"I {row["statement"][0].lower()}{row["statement"][1:]}"' in row["question"]


def test_each_dimension_has_a_situation_and_all_share_a_post():
    rows = [row for row in probes(7) if row["task"] != "questionnaire"]
    assert sorted(row["dimension"] or "" for row in rows) == ["", "A", "C", "E", "N", "O"]
    assert all(row["keyed"] is None and row["statement"] is None and "{" not in row["question"] for row in rows)


@pytest.mark.parametrize(("table", "rows"), [("target_personas", target_personas(7)), ("probes", probes(7))])
def test_all_rows_keep_their_record_schema(table, rows):
    declared = benchmark("fidelity").table(table)
    assert not list(failures(declared, rows)) and len(rows) == declared.rows


def test_the_tables_freeze_into_a_release_that_verifies(tmp_path, capsys):
    work, frozen = str(tmp_path / "work"), str(tmp_path / "frozen")
    assert builders(["run", "fidelity", "--workspace", work, "--json"]) == 0
    outcomes = orjson.loads(capsys.readouterr().out)["outcomes"]
    assert {each["table"]: each["rows"] for each in outcomes} == {"target_personas": 90, "probes": 56}
    assert releases(["freeze", "fidelity@0.1.0", "--workspace", work, "--frozen", frozen, "--quiet"]) == 0
    assert releases(["verify", "fidelity@0.1.0", "--frozen", frozen, "--quiet"]) == 0


def test_the_same_seed_writes_the_same_bytes_again(tmp_path):
    written = []
    for _ in range(2):
        assert builders(["run", "fidelity", "--workspace", str(tmp_path), "--quiet", "--fresh"]) == 0
        written.append([path.read_bytes() for path in sorted((tmp_path / "fidelity").glob("*/*.jsonl"))])
    assert written[0] == written[1] and len(written[0]) == 2
