"""Whole benchmarks: links, counts, missing tables, parts of tables, and what the report says was looked at."""

import collections
import copy
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from releases.opening import open_release
from schemas.benchmarks import benchmark
from schemas.engines.local import Local
from schemas.engines.shards import of_files
from schemas.errors import RequestError
from schemas.rows import write_jsonl
from schemas.tables import Link, Table
from validators import check, gathered
from validators.links import Links

HEART = benchmark("heart")
PERSONALENS = benchmark("personalens")


def codes_of(report) -> dict[str, int]:
    return dict(collections.Counter(finding.code for finding in report.findings))


def test_a_whole_benchmark_runs_every_kind_of_check_and_counts_what_it_looked_at(small_heart):
    report = check(HEART, small_heart)
    assert dict(report.rows) == {name: len(rows) for name, rows in small_heart.items()}
    kinds = {check.name for check in report.checks}
    assert {"schema", "link.dangling", "table.row_count", "table.duplicate_key", "table.separation"} <= kinds
    assert {each.rows for each in report.checks if each.name == "schema" and each.table == "memories"} == {12}
    assert report.skipped == ()
    assert report.as_dict().keys() == {"benchmark", "rows", "checks", "skipped", "counts", "findings", "reports"}


def test_rows_are_read_once_and_may_come_from_generators(small_heart):
    streamed = check(HEART, {name: iter(rows) for name, rows in small_heart.items()})
    assert streamed == check(HEART, small_heart)


def test_tables_in_shards_have_the_faults_of_whole_ones(small_heart, tmp_path):
    memories = small_heart["memories"]
    memories[1] = {**memories[1], "id": None}  # named by its place, from the table's first row
    memories[-1] = {**memories[-1], "age": "nine"}
    memories[4] = {**memories[4], "ledger_refs": ["LED_99_999"]}
    shards = {name: in_files(tmp_path / name, rows, 5) for name, rows in small_heart.items()}
    whole, cut = check(HEART, small_heart), check(HEART, small_heart, engine=Local(1), shards=shards)
    assert cut == whole
    assert {"schema.type", "link.dangling", "table.rows_per"} <= {each.code for each in whole.findings}
    assert check(HEART, small_heart, {"memories"}, engine=Local(2), shards=shards) == check(
        HEART, small_heart, {"memories"}
    )


def faulty_personalens():
    """Twelve users with their situations, and of each comparison of rows a fault."""
    release = open_release("personalens@1.0.0")
    users = [copy.deepcopy(row) for row in itertools.islice(release.rows("users"), 12)]
    own = {row["user_id"] for row in users}
    tables = {name: list(release.rows(name)) for name in ("preferences", "tasks")}
    tables["users"] = users
    tables["situations"] = [row for row in release.rows("situations") if row["user_id"] in own]
    del tables["situations"][7]
    tables["situations"].append(tables["situations"][3])
    users[1]["affinities"].pop()
    active = next(entry for entry in users[2]["interests"] if entry["active"])
    active["active"] = False
    users.append(users[4])
    return tables


def test_rows_compared_a_partition_at_a_time_have_the_faults_of_whole_tables(tmp_path, monkeypatch):
    tables = faulty_personalens()
    whole = check(PERSONALENS, tables)
    shards = {name: in_files(tmp_path / name, rows, 100) for name, rows in tables.items()}
    monkeypatch.setattr(gathered, "_IN_A_PARTITION", 60)
    monkeypatch.setattr(gathered, "_AT_ONCE", 4_000)
    assert gathered.partitions(len(tables["situations"])) > 10
    assert check(PERSONALENS, tables, engine=Local(1), shards=shards) == whole
    compared = {"table.duplicate_key", "table.domain_off", "table.task_not_faced", "table.preferences_of_catalogue"}
    assert compared <= {each.code for each in whole.findings}


def test_a_whole_benchmark_is_the_same_in_partitions(small_heart, tmp_path, monkeypatch):
    small_heart["memories"][2] = small_heart["memories"][1]
    whole = check(HEART, small_heart)
    shards = {name: in_files(tmp_path / name, rows, 5) for name, rows in small_heart.items()}
    monkeypatch.setattr(gathered, "_IN_A_PARTITION", 2)
    assert check(HEART, small_heart, engine=Local(1), shards=shards) == whole


def in_files(folder, rows, each):
    """The parts of files of so many rows."""
    folder.mkdir()
    for start in range(0, len(rows), each):
        write_jsonl(folder / f"{start:05d}.jsonl", rows[start : start + each])
    return of_files(sorted(folder.iterdir()))


def test_a_table_that_is_not_there_is_an_error_of_the_whole_benchmark(small_heart):
    del small_heart["ledgers"]
    report = check(HEART, small_heart)
    assert [(f.code, f.table) for f in report.findings if f.code == "table.missing"] == [("table.missing", "ledgers")]
    assert {(each.name, each.table) for each in report.skipped} == {
        ("link.dangling", "memories"),
        ("link.dangling", "exclusions"),
    }


def test_one_table_is_checked_against_what_it_links_to_without_findings_about_the_others(small_heart):
    small_heart["characters"][0]["label"] = ""
    small_heart["memories"][0]["character_id"] = "CHAR_77"
    report = check(HEART, small_heart, {"memories"}, partial=True)
    assert dict(report.rows) == {"memories": 12}
    assert {f.table for f in report.findings} == {"memories"}
    assert ("link.dangling", "character_id", "CHAR_77") in {(f.code, f.field, f.text) for f in report.findings}


def test_one_table_alone_says_which_checks_it_could_not_run(small_heart):
    report = check(HEART, {"activations": small_heart["activations"]}, {"activations"}, partial=True)
    assert report.findings == ()
    assert {each.name for each in report.skipped} == {"link.dangling", "table.scenario_age", "table.future_memory"}
    assert all("not there" in each.why for each in report.skipped)


def test_a_table_the_benchmark_does_not_have_is_refused(small_heart):
    with pytest.raises(RequestError, match="unknown table 'memorys'"):
        check(HEART, {"memorys": []})
    with pytest.raises(RequestError, match="unknown table 'memorys'"):
        check(HEART, small_heart, {"memorys"})


def test_expected_numbers_of_rows_are_checked_for_the_table_and_for_each_value(small_heart):
    small_heart["memories"] = [row for row in small_heart["memories"] if row["character_id"] != "CHAR_03"]
    report = check(HEART, small_heart, {"memories"})
    found = {(f.code, f.row_id, f.text) for f in report.findings if f.code.startswith("table.row")}
    assert ("table.row_count", "", "9") in found
    assert ("table.rows_per", "CHAR_03", "0") in found
    assert ("table.rows_per", "CHAR_01", "3") in found


def test_a_part_of_a_table_is_not_held_to_expected_numbers(small_heart):
    assert not [f for f in check(HEART, small_heart, partial=True).findings if f.severity == "error"]


def test_a_dangling_value_is_named_with_row_field_and_value(small_heart):
    small_heart["activations"][0]["memories"][1]["memory_id"] = "MEM_01_0777"
    report = check(HEART, small_heart, partial=True)
    (found,) = [f for f in report.findings if f.code == "link.dangling"]
    assert (found.table, found.row_id, found.field, found.text) == (
        "activations", "CHAR_01/SCN_SCHOOL_AGE_1/coarse", "memories.memory_id", "MEM_01_0777",
    )  # fmt: skip
    assert found.message == "is no id of memories"


def test_a_table_may_link_to_its_own_later_rows(small_heart):
    small_heart["ledgers"].reverse()
    assert not [f for f in check(HEART, small_heart, partial=True).findings if f.code.startswith("link.")]


def test_a_link_that_holds_both_ways_finds_the_row_that_nothing_points_to(small_heart):
    small_heart["mcq_keys"].pop(0)
    report = check(HEART, small_heart)
    (found,) = [f for f in report.findings if f.code == "link.unreferenced"]
    assert (found.table, found.row_id, found.field) == ("mcqs", "Q_CHAR_01_SCN_SCHOOL_AGE_1", "question_id")


def test_a_row_that_breaks_its_schema_may_still_be_linked_to(small_heart):
    small_heart["memories"][0]["context"] = ""
    assert codes_of(check(HEART, small_heart, partial=True)).keys() == {"schema.min_length", "table.outside_middle"}


def test_rows_that_are_no_objects_are_findings_and_nothing_else_breaks(small_heart):
    small_heart["memories"] += [None, 7, [], "text"]
    report = check(HEART, small_heart, partial=True)
    assert [f.row_id for f in report.findings if f.code == "schema.type"] == ["#13", "#14", "#15", "#16"]


def test_findings_come_in_one_order_whatever_the_order_of_the_tables(small_heart):
    small_heart["memories"][0]["stage"] = "adolescence"
    small_heart["decisions"][0]["stage"] = "adolescence"
    turned = dict(reversed(small_heart.items()))
    assert check(HEART, turned, partial=True).findings == check(HEART, small_heart, partial=True).findings


def test_only_errors_count_as_errors(small_heart):
    report = check(HEART, small_heart, partial=True)
    assert [f.severity for f in report.findings] == ["warning", "warning"]
    assert report.errors == ()


ids = st.text("abc", min_size=1, max_size=2)


@given(st.lists(ids, max_size=8), st.lists(st.lists(ids, max_size=3), max_size=8), st.booleans(), st.booleans())
def test_links_find_exactly_the_values_that_the_other_table_lacks(targets, values, target_first, both_ways):
    link = Link("from", (("items", "ref"),), "to", ("id",), both_ways)
    to = [(f"t{i}", {"id": value}) for i, value in enumerate(targets)]
    source = [(f"s{i}", {"items": [{"ref": value} for value in row]}) for i, row in enumerate(values)]
    links = Links([link])
    steps = [(Table("to", ("id",)), to), (Table("from", ("id",)), source)]
    for table, rows in steps if target_first else steps[::-1]:
        links.see(table, links.lookups(table).seen(rows))
        links.close(table)
    ((_, looked_at, found),) = links.results()
    flat = [(f"s{i}", value) for i, row in enumerate(values) for value in row]
    assert looked_at == len(flat)
    assert sorted((f.row_id, f.text) for f in found if f.code == "link.dangling") == sorted(
        (row, value) for row, value in flat if value not in targets
    )
    unreferenced = {f.text for f in found if f.code == "link.unreferenced"}
    assert unreferenced == (set(targets) - {value for _, value in flat} if both_ways else set())


def test_a_null_points_to_nothing(small_heart):
    links = Links([Link("from", ("ref",), "to", "id")])
    for table, rows in (("to", [("t", {"id": "a"})]), ("from", [("s", {"ref": None}), ("s2", {})])):
        links.see(Table(table, ("id",)), links.lookups(Table(table, ("id",))).seen(rows))
        links.close(Table(table, ("id",)))
    assert [(looked_at, found) for _, looked_at, found in links.results()] == [(0, [])]
