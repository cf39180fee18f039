"""The published datasets through the validators: what is right with them, and what is wrong, to the row.

The counts are those measured on the published files; the papers' own tables differ in places.
"""

import collections

import pytest

from builders.importers.__main__ import main as import_dataset
from schemas.benchmarks import benchmark
from schemas.workspace import Workspace
from validators import check


def report_on(dataset: str, source, folder):
    assert import_dataset([dataset, "--from", str(source), "--workspace", str(folder), "--quiet"]) == 1
    workspace = Workspace(folder, f"{dataset}-published")
    return check(benchmark(f"{dataset}-published"), {name: workspace.rows(name) for name in workspace.benchmark.tables})


@pytest.fixture(scope="module")
def heart(shared, tmp_path_factory):
    return report_on("heart", shared / "data/heart", tmp_path_factory.mktemp("heart"))


@pytest.fixture(scope="module")
def personalens(shared, tmp_path_factory):
    archive = shared / "data/personalens/personalens-published.tar.xz"
    return report_on("personalens", archive, tmp_path_factory.mktemp("personalens"))


def failures(report) -> dict[tuple[str, str], int]:
    return {(each.name, each.table): each.failures for each in report.checks if each.failures}


def test_heart_as_published_breaks_these_rules_so_many_times_and_no_other(heart):
    assert failures(heart) == {
        ("link.dangling", "activations"): 165,  # 15 scenarios of step 1 that were dropped, eleven characters each
        ("table.memory_twice", "activations"): 26,
        ("table.fine_short", "activations"): 123,  # 122 short of the offer, and one passed over that lists an id twice
        ("table.fine_outside_coarse", "activations"): 512,
        ("table.scenario_age", "activations"): 88,  # four scenarios, two steps, eleven characters
    }


def test_heart_as_published_has_the_published_numbers_of_rows(heart):
    assert {name: heart.rows[name] for name in ("scenarios", "decisions", "mcqs", "mcq_keys", "activations")} == {
        "scenarios": 64, "decisions": 673, "mcqs": 673, "mcq_keys": 673, "activations": 704 + 869,
    }  # fmt: skip


def test_heart_as_published_has_eight_scenarios_a_stage_and_skewed_distractors(heart):
    assert {each["rows"] for each in heart.reports["scenarios.stages"]} == {8}
    sizes = {each["step"]: each for each in heart.reports["activations.sizes"]}
    assert (sizes["fine"]["least"], sizes["fine"]["most"]) == (14, 50)
    distractors = sorted(each["rows"] for each in heart.reports["mcq_keys.distractors"])
    assert sum(distractors) == 3 * 673
    assert distractors[-1] > 2 * distractors[0]
    assert sum(each["rows"] for each in heart.reports["mcq_keys.answers"]) == 673


def test_personalens_as_published_keeps_every_rule_but_one_value_offered_twice(personalens):
    assert failures(personalens) == {("table.possible_values", "preferences"): 1}
    assert [f.row_id for f in personalens.findings] == ["Rental Cars/Preferred Rental Company"]
    assert dict(personalens.rows) == {
        "preferences": 90, "tasks": 111, "users": 1500, "situations": 122_133, "published_files": 4522,
        "task_turns": 0,
    }  # fmt: skip


def test_personalens_as_published_has_the_active_users_and_situations_that_were_counted(personalens):
    users = {each["domain"]: each["users"] for each in personalens.reports["users.domains"]}
    assert sum(users.values()) == 22_887
    assert (users["Alarm"], users["Buses"], users["Sports"], users["Travel"]) == (1415, 224, 482, 1489)
    faced = {each["domain"]: (each["single"], each["multi"]) for each in personalens.reports["situations.domains"]}
    assert sum(single for single, _ in faced.values()) == 98_115
    assert (faced["Alarm"], faced["Books"], faced["Calendar"]) == ((5660, 3970), (7465, 5241), (6000, 18_611))


def test_all_checks_looked_at_all_rows(heart, personalens):
    for report in (heart, personalens):
        looked = collections.Counter(each.table for each in report.checks if each.name == "schema")
        assert set(looked) == set(report.rows)
        for each in report.checks:
            if each.name in ("schema", "table.duplicate_key"):
                assert each.rows == report.rows[each.table]
