"""Pairs that cannot be: by a fact of the life, or by a line of a block list."""

import orjson
import pytest
from builder_samples import HEART

from builders import compatibility, personas
from builders.compatibility import exclusions
from builders.life import ledgers
from builders.personas import load_characters
from builders.scenarios import step as scenarios
from schemas.benchmarks import benchmark
from schemas.workspace import Workspace
from validators.records import failures

WHO = {"character_id": "CHAR_04"}


def fact(number, kind="partner", role="husband", first=20, last=30, ends="divorce"):
    return {"fact_id": f"LED_04_{number:03d}", "character_id": "CHAR_04", "kind": kind, "role": role,
            "from_age": first, "to_age": last, "ends_by": ends}  # fmt: skip


def scenario(age, *requires):
    return {"id": "SCN_SETTLING_DOWN_1", "age": age, "requires": list(requires)}


def found(age, requires, *facts):
    return exclusions([scenario(age, *requires)], list(facts), [WHO])


@pytest.mark.parametrize("age", [20, 25, 30])
def test_a_fact_that_holds_at_the_age_excludes_nothing(age):
    assert found(age, ["partner"], fact(1)) == []


@pytest.mark.parametrize(("age", "words"), [(19, "only from 20"), (31, "until 30 (divorce)")])
def test_a_fact_that_does_not_hold_yet_or_any_more_excludes_and_is_named(age, words):
    (row,) = found(age, ["partner"], fact(1))
    assert row["fact_id"] == "LED_04_001" and words in row["reason"]


def test_without_any_such_fact_the_exclusion_says_so():
    (row,) = found(30, ["partner"], fact(1, kind="family", role="brother"))
    assert row["fact_id"] is None and row["reason"] == "requires partner; the life has none"


def test_one_role_of_several_is_enough_and_other_roles_are_not():
    brother = fact(1, kind="family", role="older brother", last=50, ends=None)
    assert found(30, ["family:brother|sister"], brother) == []
    assert found(30, ["family:mother|father"], brother) != []


def test_the_nearest_fact_is_named():
    (row,) = found(40, ["partner"], fact(1, last=25), fact(2, first=30, last=38), fact(3, first=48, last=50))
    assert row["fact_id"] == "LED_04_002"


@pytest.fixture
def built(tmp_path):
    space = Workspace(tmp_path, "heart")
    personas.write_characters(space, load_characters())
    for character in load_characters():
        ledgers.write_ledger(space, character, HEART)
    scenarios.main(["--workspace", str(tmp_path), "--quiet"])
    return space


def test_every_requirement_of_the_64_follows_from_the_ledger_at_that_age(built, tmp_path, capsys):
    assert compatibility.main(["--workspace", str(tmp_path), "--json"]) == 0
    rows = orjson.loads(capsys.readouterr().out)["exclusions"]
    assert failures(benchmark("heart").table("exclusions"), rows) == []
    ages = {row["id"]: row["age"] for row in built.rows("scenarios")}
    facts = {row["fact_id"]: row for row in built.rows("ledgers")}
    assert 0 < len(rows) < 70  # the paper's 31 of 704 is of this order
    for row in rows:
        if row["fact_id"]:
            near = facts[row["fact_id"]]
            assert near["character_id"] == row["character_id"]
            assert not near["from_age"] <= ages[row["scenario_id"]] <= near["to_age"]


def test_a_block_list_adds_its_pairs_with_their_reasons(built, tmp_path, capsys):
    block = tmp_path / "block.csv"
    block.write_text("character_id,scenario_id,reason\nCHAR_06,SCN_SETTLING_DOWN_8,has never rowed\n", "utf-8")
    compatibility.main(["--workspace", str(tmp_path), "--json"])
    before = orjson.loads(capsys.readouterr().out)["exclusions"]
    assert compatibility.main(["--workspace", str(tmp_path), "--block", str(block), "--json"]) == 0
    after = orjson.loads(capsys.readouterr().out)["exclusions"]
    (added,) = [row for row in after if row not in before]
    assert (added["requirement"], added["reason"], added["fact_id"]) == ("blocked", "has never rowed", None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("character_id,scenario_id,reason\nCHAR_66,SCN_SETTLING_DOWN_8,x\n", "unknown character_id 'CHAR_66'"),
        ("character_id,scenario_id,reason\nCHAR_06,SCN_SETTLING_DOWN_9,x\n", "SCN_SETTLING_DOWN_8"),
        ("who,where\nCHAR_06,SCN_SETTLING_DOWN_8\n", "block list without its columns"),
        ("character_id,scenario_id,reason\nCHAR_06\n", "unknown scenario_id"),
        ("", "block list without its columns"),
        ("character_id,scenario_id,reason\nCHAR_06,SCN_SETTLING_DOWN_8,né\n".encode("latin-1"), "another encoding"),
    ],
)
def test_a_broken_block_list_is_reported_in_one_line(built, tmp_path, capsys, text, said):
    block = tmp_path / "block.csv"
    block.write_bytes(text if isinstance(text, bytes) else text.encode())
    code = compatibility.main(["--workspace", str(tmp_path), "--block", str(block)])
    err = capsys.readouterr().err
    assert code == 2 and said in err and err.count("\n") == 1


def test_a_missing_block_list_and_missing_tables_are_reported_in_one_line(tmp_path, capsys):
    assert compatibility.main(["--workspace", str(tmp_path)]) == 2
    assert "missing table" in capsys.readouterr().err
