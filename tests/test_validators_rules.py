"""Every rule of every table: kept by good rows, broken by one change, found with code, row and field."""

import copy
import functools
import operator
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.benchmarks import Benchmark, benchmark
from schemas.records import term_ids
from schemas.tables import Row
from validators import check
from validators.codes import codes

Tables = dict[str, list[Row]]

CASES = orjson.loads((Path(__file__).parent / "cases/broken_rules.json").read_bytes())

HEART, PERSONALENS = benchmark("heart"), benchmark("personalens-published")
OF_GOOD_ROWS: dict[str, set[tuple[str, str, str, str]]] = {}
"""What is found by benchmark in the rows that every case changes; looked for once."""


@pytest.fixture
def small_personalens() -> Tables:
    """Two users, one preference type a domain, three tasks, and the situations that follow."""
    domains = term_ids("personalens_domains")
    kept = {"published": [], "provenance": None}
    preferences = [
        {"domain": domain, "preference": "Pace", "description": "How fast.", "categorical": True,
         "multiple": i % 2 == 0, "possible_values": ["slow", "quick"], **kept}
        for i, domain in enumerate(domains)
    ]  # fmt: skip
    tasks = [
        task("SD-Alarm-task-1", "single", 1, ["Alarm"]),
        task("SD-Books-task-2", "single", 2, ["Books"]),
        task("MD-task-1", "multi", 1, ["Alarm", "Books"]),
    ]
    users = [user("user0", set(domains)), user("user1", {"Alarm"})]
    faced = [
        ("user0", "SD-Alarm-task-1"),
        ("user0", "SD-Books-task-2"),
        ("user0", "MD-task-1"),
        ("user1", "SD-Alarm-task-1"),
    ]
    situations = [
        {"user_id": who, "task_id": what, "location": "a pier", "device": "Laptop", "time_of_day": "Night",
         "day_of_week": "Monday", "environment": "Quiet", **kept}
        for who, what in faced
    ]  # fmt: skip
    return {"preferences": preferences, "tasks": tasks, "users": users, "situations": situations}


def task(task_id: str, kind: str, number: int, domains: list[str]) -> Row:
    resolved = [{"domain": domain, "preference": "Pace"} for domain in domains]
    return {
        "task_id": task_id, "kind": kind, "number": number, "domains": domains, "description": "A thing to do.",
        "intent": "You want it done.", "goal": "It is done.", "preferences": [{"name": "Pace", "resolved": resolved}],
        "published": [], "provenance": None,
    }  # fmt: skip


def user(user_id: str, active: set[str]) -> Row:
    domains = term_ids("personalens_domains")
    said = (
        "age", "gender", "employment_status", "education", "marital_status", "english_proficiency", "ethnicity",
        "religion", "birth_country", "reside_country",
    )  # fmt: skip
    return {
        "user_id": user_id,
        "demographics": dict.fromkeys(said, "N/A"),
        "interests": [{"domain": domain, "active": domain in active} for domain in domains],
        "affinities": [
            {"domain": domain, "preference": "Pace", "multiple": i % 2 == 0, "values": ["slow"]}
            for i, domain in enumerate(domains)
        ],
        "interactions": [{"domain": domain, "summary": "Nothing much."} for domain in domains],
        "published": [],
        "provenance": None,
    }


def changed(tables: Tables, case: dict[str, Any]) -> None:
    """Make the case's one change: set, copy or remove a value, repeat an item of a list, reverse it."""
    *above, last = [int(step) if step.isdigit() else step for step in case["at"].split("/")]
    parent = functools.reduce(operator.getitem, above, tables)
    if case["do"] == "remove":
        del parent[last]
    elif case["do"] == "reverse":
        parent[last].reverse()
    elif case["do"] == "repeat":
        parent[last].append(copy.deepcopy(parent[last][case["value"]]))
    elif case["do"] == "copy":
        steps = [int(step) if step.isdigit() else step for step in case["value"].split("/")]
        parent[last] = functools.reduce(operator.getitem, steps, tables)
    else:
        parent[last] = case["value"]


def found(described, tables: Tables):
    report = check(described, tables, set(tables))
    return [f for f in report.findings if f.code not in ("table.row_count", "table.rows_per")]


def test_good_rows_of_heart_keep_every_rule_but_the_two_warnings_of_table_4(small_heart):
    assert [(f.code, f.row_id, f.severity) for f in found(HEART, small_heart)] == [
        ("table.outside_middle", "CHAR_01", "warning"),
        ("table.outside_middle", "CHAR_04", "warning"),
    ]


def test_good_rows_of_personalens_keep_every_rule(small_personalens):
    assert found(PERSONALENS, small_personalens) == []


@pytest.mark.parametrize("case", CASES["heart"], ids=lambda case: f"{case['code']} {case['at']}")
def test_a_broken_rule_of_heart_is_found_by_code_row_and_field(small_heart, case):
    assert_found(HEART, small_heart, case)


@pytest.mark.parametrize("case", CASES["personalens-published"], ids=lambda case: f"{case['code']} {case['at']}")
def test_a_broken_rule_of_personalens_is_found_by_code_row_and_field(small_personalens, case):
    assert_found(PERSONALENS, small_personalens, case)


def assert_found(described: Benchmark, tables: Tables, case: dict[str, Any]) -> None:
    expected = (case["code"], case["table"], case["row"], case["field"])
    if described.name not in OF_GOOD_ROWS:
        OF_GOOD_ROWS[described.name] = places(found(described, tables))
    assert expected not in OF_GOOD_ROWS[described.name]
    changed(tables, case)
    findings = found(described, tables)
    assert expected in places(findings)
    assert not [f for f in findings if f.code.startswith("schema.")]


def places(findings) -> set[tuple[str, str, str, str]]:
    return {(f.code, f.table, f.row_id, f.field) for f in findings}


def test_every_rule_there_is_has_a_case_that_breaks_it():
    broken = {(case["code"], case["table"]) for cases in CASES.values() for case in cases}
    assert {(each.code, each.table) for each in codes() if each.table != "any"} <= broken


def test_findings_do_not_depend_on_the_order_of_the_rows(small_heart):
    for case in CASES["heart"][15:25]:
        changed(small_heart, case)
    turned = {name: rows[::-1] for name, rows in small_heart.items()}
    assert {f for f in found(HEART, small_heart) if "duplicate" not in f.code} == {
        f for f in found(HEART, turned) if "duplicate" not in f.code
    }


def test_a_row_that_breaks_its_schema_takes_no_part_in_the_rules(small_heart):
    small_heart["memories"][0].update(stage="adolescence", context="")
    assert [f.code for f in found(HEART, small_heart) if f.row_id == "MEM_01_0001"] == ["schema.min_length"]


def test_a_neutral_character_needs_no_extreme(small_heart):
    small_heart["characters"][0].update(
        trait=None, pole=None, archetype="Neutral", big_five=dict.fromkeys("OCEAN", 0.5)
    )
    assert [f.code for f in found(HEART, small_heart) if f.row_id == "CHAR_01"] == []


def test_equally_important_values_may_be_listed_in_any_order(small_heart):
    character = small_heart["characters"][0]
    first, second = character["dominant_values"][:2]
    character["values"][first] = character["values"][second]
    character["dominant_values"][:2] = [second, first]
    assert not [f for f in found(HEART, small_heart) if f.severity == "error"]


def test_tables_without_rows_keep_every_rule(small_heart):
    assert found(HEART, {name: [] for name in small_heart}) == []
    assert found(PERSONALENS, {name: [] for name in PERSONALENS.tables}) == []
