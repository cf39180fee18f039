"""Comparing releases: what was planted is found, no more and no less, and has its consequence."""

import copy
import dataclasses

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from release_samples import ROOT, command, many_memories, release_of, small_tables

from releases.comparing import Diff, TableDiff, compare_rows, diff
from releases.roles import TableRoles, roles_of, roles_of_both
from releases.versioning import RULES, Change, Effect, demand, document, required, required_between
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.records import record_schema
from schemas.release_names import Version, parse_name


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("first"), "heart@0.1.0", small_tables())


def changed(tmp_path, change):
    """A release of the small tables after a change of them, without a parent."""
    tables = small_tables()
    change(tables)
    return release_of(tmp_path, "heart@5.0.0", tables)


def table_of(found, name):
    (table,) = [table for table in found.tables if table.name == name]
    return table


def test_a_release_does_not_differ_from_itself_nor_from_the_same_rows_under_another_version(first, tmp_path):
    again = changed(tmp_path, lambda tables: None)
    assert diff(first, first).same and diff(first, again).same
    assert required(diff(first, again), roles_of_both(first, again)) == Change(
        "patch", ("tables are equal; card or metadata only",)
    )
    assert again.content_digest == first.content_digest


def test_planted_changes_are_found_by_row_and_field(first, tmp_path):
    def plant(tables):
        tables["memories"][2]["content_full"] = "Something else happens."
        tables["memories"][2]["age"] += 0
        tables["memories"][3]["triggers"][0] = "bell"
        tables["memories"][3]["context"] = "Elsewhere"
        tables["memories"].append(many_memories(999)[-1])
        del tables["memories"][5]
        tables["mcq_keys"][1]["answer"] = "A"

    found = diff(first, changed(tmp_path, plant))
    before = small_tables()["memories"]
    memories, keys = table_of(found, "memories"), table_of(found, "mcq_keys")
    assert memories.added == ["MEM_01_0999"]
    assert memories.removed == [before[5]["id"]]
    assert memories.changed == {before[2]["id"]: ["content_full"], before[3]["id"]: ["context", "triggers"]}
    assert memories.by_field() == {"content_full": 1, "context": 1, "triggers": 1}
    assert keys.changed == {small_tables()["mcq_keys"][1]["question_id"]: ["answer"]}
    assert [table.name for table in found.tables if not table.same] == ["mcq_keys", "memories"]


def test_the_other_way_round_added_is_removed(first, tmp_path):
    other = changed(tmp_path, lambda tables: tables["ledgers"].pop())
    gone, come = table_of(diff(first, other), "ledgers"), table_of(diff(other, first), "ledgers")
    assert gone.removed == come.added == [small_tables()["ledgers"][-1]["fact_id"]]
    assert gone.added == come.removed == []


ROWS = st.dictionaries(st.integers(0, 30), st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20)


@settings(suppress_health_check=list(HealthCheck))
@given(ROWS, ROWS)
def test_two_streams_are_compared_as_two_dictionaries_would_be(before, after):
    def stream(rows):
        return iter([{"k": k, "a": a, "b": b} for k, (a, b) in sorted(rows.items())])

    made = TableDiff("t", (len(before), len(after)))
    compare_rows(made, ("k",), stream(before), stream(after))
    assert made.added == [str(k) for k in sorted(after.keys() - before.keys())]
    assert made.removed == [str(k) for k in sorted(before.keys() - after.keys())]
    both = sorted(k for k in before.keys() & after.keys() if before[k] != after[k])
    fields = {str(k): [n for i, n in enumerate("ab") if before[k][i] != after[k][i]] for k in both}
    assert made.changed == fields


@pytest.mark.parametrize(
    ("table", "column", "role", "level"),
    [
        ("mcq_keys", "answer", "gold", "major"),
        ("decisions", "final_decision", "gold", "major"),
        ("mcqs", "options", "question", "major"),
        ("scenarios", "context_text", "question", "major"),
        ("memories", "content_full", "question", "major"),
        ("ledgers", "detail", "question", "major"),
        ("tables_to_come", "anything", "question", "major"),
        ("mcq_keys", "rule", "metadata", "patch"),
        ("characters", "occupation_rationale", "metadata", "patch"),
        ("memories", "provenance", "metadata", "patch"),
        ("decisions", "review", "metadata", "patch"),
        ("reviews", "rationale", "metadata", "patch"),
    ],
)
def test_the_role_of_a_column_decides_the_step(table, column, role, level):
    known = benchmark("heart").tables
    roles = TableRoles.of_table(known[table]) if table in known else TableRoles()
    change = required(Diff((TableDiff(table, (1, 1), changed={"x": [column]}),)), {table: roles})
    assert roles.of(column) == role
    assert (change.level, change.reasons) == (level, (f"{table}.{column} ({role}): 1 rows changed",))


def test_every_column_of_every_table_has_a_role(first):
    roles = roles_of(first)
    for table in first.tables:
        assert {roles[table].of(column) for column in record_schema(table)["properties"]} <= {
            "gold",
            "question",
            "metadata",
        }


def test_a_column_that_two_releases_disagree_on_is_what_costs_the_larger_step(first):
    def other(**roles):
        entry = {"record": None, "role": "shown", "gold": [], "gold_of": None, "metadata": [], **roles}
        tables = {name: {**table, "roles": entry} for name, table in first.manifest["tables"].items()}
        return dataclasses.replace(first, manifest={**first.manifest, "tables": tables})

    loose = other(metadata=["answer", "options", "content_full"])
    for both in (roles_of_both(first, loose), roles_of_both(loose, first)):
        assert both["mcq_keys"].of("answer") == "gold"
        assert both["mcqs"].of("options") == both["memories"].of("content_full") == "question"
    assert roles_of_both(loose, other(role="record"))["mcqs"].of("context") == "question"


def test_a_release_of_the_first_manifest_version_has_the_roles_of_the_shipped_benchmark(first):
    tables = {
        name: {part: value for part, value in table.items() if part != "roles"}
        for name, table in first.manifest["tables"].items()
    }
    old = dataclasses.replace(first, manifest={**first.manifest, "manifest_version": 1, "tables": tables})
    assert roles_of(old) == roles_of(first)
    assert roles_of(old)["mcqs"].role == "questions"


def test_rows_added_to_what_prompts_are_made_of_are_major_and_others_minor():
    found = Diff((TableDiff("memories", (1, 2), added=["x"]),))
    assert required(found, {"memories": TableRoles()}).level == "major"
    assert required(found, {"memories": TableRoles()}, harmless={"memories"}).level == "minor"
    for roles in (TableRoles("questions"), TableRoles("keys"), TableRoles(gold=frozenset(["a"])), TableRoles("record")):
        assert required(found, {"memories": roles}).level == "minor"


def step(first, tmp_path, change):
    return required_between(first, changed(tmp_path, change)).level


def test_a_memory_more_of_somebody_who_is_asked_about_is_major(first, tmp_path):
    assert step(first, tmp_path, lambda tables: tables["memories"].append(many_memories(999)[-1])) == "major"


def test_a_memory_more_that_no_question_may_show_is_minor(first, tmp_path):
    """It is of an age past all scenarios: the configuration's lists of permitted memories stay as they are."""
    later = {**many_memories(999)[-1], "age": 49, "stage": "midlife"}
    assert step(first, tmp_path, lambda tables: tables["memories"].append(later)) == "minor"


def test_rows_of_a_person_nobody_is_asked_about_are_minor(first, tmp_path):
    def add(tables):
        tables["memories"].append({**many_memories(999)[-1], "id": "MEM_09_0001", "character_id": "CHAR_09"})
        tables["activations"].append({**tables["activations"][0], "character_id": "CHAR_09"})
        tables["ledgers"].append({**tables["ledgers"][0], "fact_id": "LED_09_001", "character_id": "CHAR_09"})

    assert step(first, tmp_path, add) == "minor"


def test_a_fact_more_of_somebody_who_is_asked_about_is_major(first, tmp_path):
    """No configuration reads the ledgers, so nothing shows that it is harmless."""
    assert (
        step(
            first, tmp_path, lambda tables: tables["ledgers"].append({**tables["ledgers"][0], "fact_id": "LED_01_999"})
        )
        == "major"
    )


def test_the_page_shows_the_rules_that_are_asked(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert document() == (ROOT / "docs/releases.md").read_text("utf-8")
    for rule in RULES.values():
        assert rule.what.replace("|", "\\|") in document()


def test_rows_removed_are_major():
    assert required(Diff((TableDiff("memories", (2, 1), removed=["x"]),)), {"memories": TableRoles()}).level == "major"


def test_tables_and_columns_added_are_minor_gone_or_retyped_major():
    def level(**parts):
        found = Diff((TableDiff("memories", parts.pop("rows", (1, 1)), **parts),))
        return required(found, {"memories": TableRoles()}).level

    assert level(rows=(None, 5), added=["x"]) == "minor"
    assert level(rows=(5, None), removed=["x"]) == "major"
    assert level(columns={"mood": (None, "string")}) == "minor"
    assert level(columns={"mood": ("string", None)}) == "major"
    assert level(columns={"mood": ("string", "int64")}) == "major"
    assert level(rekeyed=True) == "major"


@pytest.mark.parametrize(
    ("level", "least"), [("major", Version(2, 0, 0)), ("minor", Version(1, 3, 0)), ("patch", Version(1, 2, 4))]
)
def test_a_step_may_be_larger_than_asked_but_not_smaller(level, least):
    parent, change = parse_name("heart@1.2.3"), Change(level, ("because",))
    for version in ("1.2.4", "1.3.0", "2.0.0"):
        name = parse_name(f"heart@{version}")
        if name.version >= least:
            demand(name, parent, change)
        else:
            with pytest.raises(RequestError, match=f"because. Freeze it as heart@{least}"):
                demand(name, parent, change)


def test_the_effect_on_denominators_counts_questions_and_what_can_still_be_compared(first, tmp_path):
    def plant(tables):
        extra = copy.deepcopy(tables["mcqs"][0])
        extra["question_id"] = "Q_CHAR_09_SCN_SCHOOL_AGE_1"
        key = {**copy.deepcopy(tables["mcq_keys"][0]), "question_id": extra["question_id"]}
        tables["mcq_keys"][0]["answer"] = "B" if tables["mcq_keys"][0]["answer"] != "B" else "A"
        tables["mcqs"][1]["options"][0]["content"] = "I leave."
        tables["mcqs"][2]["provenance"] = None
        gone = tables["mcqs"].pop()["question_id"]
        tables["mcq_keys"] = [row for row in tables["mcq_keys"] if row["question_id"] != gone] + [key]
        tables["mcqs"].append(extra)
        tables["memories"][0]["content_full"] = "It rains."

    after = changed(tmp_path, plant)
    effect = Effect.of(diff(first, after), first, after, roles_of_both(first, after))
    count = len(small_tables()["mcqs"])
    assert effect.as_dict() == {
        "questions": {"before": count, "after": count, "added": 1, "removed": 1},
        "gold_changed": 1,
        "question_changed": 1,
        "comparable": count - 3,
        "context_changed": ["memories"],
    }


def test_the_verb_tells_people_and_programs(first, tmp_path):
    after = changed(tmp_path, lambda tables: tables["mcq_keys"][0].update(answer="A", rule="published"))
    done = command("diff", first.folder, after.folder, "--json")
    document = orjson.loads(done.stdout)
    row_id = small_tables()["mcq_keys"][0]["question_id"]
    assert done.returncode == 1 and document["change"] == "major" and document["same"] is False
    assert document["tables"]["mcq_keys"]["changed"] == [{"row_id": row_id, "fields": ["answer", "rule"]}]
    assert document["evaluation"]["gold_changed"] == 1
    reported = command("diff", first.folder, after.folder)
    assert reported.stdout == "" and "answer (gold): 1 rows" in reported.stderr and "a major change" in reported.stderr
    assert command("diff", first.folder, first.folder).returncode == 0
