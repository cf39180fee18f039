"""Asking a release: the views are right, every example runs, and nothing else is in reach."""

import csv
import io
import os
import shlex
import signal
import subprocess
import sys

import orjson
import pyarrow.parquet as pq
import pytest
from release_samples import ROOT, release_of, small_tables

from releases.__main__ import main
from releases.query import connect, examples, query, views
from releases.roles import records
from schemas.errors import RequestError


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("query"), "heart@0.1.0", small_tables())


def test_every_table_is_there_with_its_rows(release):
    for table, rows in small_tables().items():
        assert query(release, f"SELECT * FROM {table}").to_pylist() == rows


def test_the_questions_carry_their_options_and_their_key(release):
    keys = {row["question_id"]: row["answer"] for row in small_tables()["mcq_keys"]}
    for row in query(release, "SELECT * FROM questions").to_pylist():
        (asked,) = [q for q in small_tables()["mcqs"] if q["question_id"] == row["question_id"]]
        texts = {option["label"]: option["content"] for option in asked["options"]}
        assert [row[letter] for letter in "abcd"] == [texts[letter] for letter in "ABCD"]
        assert row["answer"] == keys[row["question_id"]] and row["gold"] == texts[row["answer"]]


def test_the_options_carry_their_source_and_one_gold_a_question(release):
    rows = query(release, "SELECT * FROM options").to_pylist()
    assert len(rows) == 4 * len(small_tables()["mcqs"])
    sources = {
        (key["question_id"], source["label"]): source["character_id"]
        for key in small_tables()["mcq_keys"]
        for source in key["sources"]
    }
    for row in rows:
        assert row["source_character_id"] == sources[row["question_id"], row["label"]]
    golden = [row["question_id"] for row in rows if row["is_gold"]]
    assert sorted(golden) == sorted({row["question_id"] for row in rows})


def test_the_timeline_is_the_life_in_the_order_lived(release):
    rows = query(release, "SELECT * FROM timeline ORDER BY character_id, step").to_pylist()
    lived = sorted(small_tables()["memories"], key=lambda row: (row["character_id"], row["age"], row["id"]))
    assert [row["id"] for row in rows] == [row["id"] for row in lived]
    assert all(row["characters"] == len(lived[n]["content_full"]) for n, row in enumerate(rows))


def test_activated_memories_keep_their_rank(release):
    for row in small_tables()["activations"]:
        where = f"character_id = '{row['character_id']}' AND scenario_id = '{row['scenario_id']}'"
        sql = f"SELECT memory_id FROM activated WHERE {where} AND step = '{row['step']}' ORDER BY rank"
        found = [each["memory_id"] for each in query(release, sql).to_pylist()]
        assert found == [memory["memory_id"] for memory in row["memories"]]


def test_views_apply_where_their_tables_are():
    assert {view.name for view in views({"mcqs": "mcqs", "mcq_keys": "mcq_keys"})} == {"questions", "options"}
    assert views({"mcqs": "mcqs"}) == []
    assert views({"mcqs": None, "mcq_keys": "mcq_keys"}) == []  # a record of its own may have other columns


def test_every_example_runs_and_there_are_a_dozen(release):
    shown = examples(records(release.manifest))
    assert len(shown) >= 12
    for example in shown:
        assert query(release, example.sql).num_columns > 0, example.title


def test_variables_of_the_program_are_out_of_reach(release):
    import pyarrow as pa

    secret = pa.table({"a": [1]})
    with pytest.raises(RequestError, match="secret does not exist"):
        query(release, "SELECT * FROM secret")
    assert secret.num_rows == 1


def test_the_lock_holds_without_the_check_of_statements(release):
    import duckdb

    for sql in ("SET enable_external_access = true", "RESET lock_configuration", "INSTALL httpfs", "ATTACH 'x.db'"):
        with connect(release) as connection, pytest.raises(duckdb.Error):
            connection.execute(sql)


@pytest.fixture
def asked(release, capfdbinary):
    """What the verb prints for these words, as bytes."""

    def ask(*words):
        assert main(["query", str(release.folder), *map(str, words)]) == 0
        return capfdbinary.readouterr().out

    return ask


def test_results_come_as_table_csv_json_and_parquet(release, asked, tmp_path):
    sql = "SELECT id, age, age / 2 AS half, triggers, sum(age) OVER () AS total, NULL AS none FROM memories LIMIT 3"
    expected = query(release, sql)
    assert orjson.loads(asked(sql, "--json")) == [{**row, "total": int(row["total"])} for row in expected.to_pylist()]
    rows = list(csv.DictReader(io.StringIO(asked(sql, "--format", "csv").decode())))
    assert [row["id"] for row in rows] == expected["id"].to_pylist()
    assert [orjson.loads(row["triggers"]) for row in rows] == expected["triggers"].to_pylist()
    assert asked(sql, "--format", "parquet", "--out", tmp_path / "r.parquet") == b""
    assert pq.read_table(tmp_path / "r.parquet").equals(expected)
    assert pq.read_table(io.BytesIO(asked(sql, "--format", "parquet"))).equals(expected)
    table = asked(sql).decode().splitlines()
    assert len(table) == 5 and table[0].split() == ["id", "age", "half", "triggers", "total", "none"]


def test_columns_of_the_same_name_are_all_kept(asked):
    assert sorted(orjson.loads(asked("SELECT 1 AS a, 2 AS a", "--json"))[0].values()) == [1, 2]


def test_the_examples_are_printed_as_commands_that_work(asked):
    shown = orjson.loads(asked("--examples", "--json"))
    assert len(shown) >= 12 and all({"title", "sql"} == each.keys() for each in shown)
    assert asked("--examples").count(b"python -m releases query") == len(shown)


@pytest.mark.parametrize("place", [0, 2, 3])
def test_the_sql_may_stand_before_after_and_between_options(release, capfd, place):
    words = ["--format", "csv", "--quiet"]
    words.insert(place, "SELECT 1 AS one")
    assert main(["query", str(release.folder), *words]) == 0
    assert capfd.readouterr().out == "one\n1\n"


@pytest.mark.parametrize("words", [(), ("",), (" -- nothing",)])
def test_a_query_without_sql_is_refused_in_one_line(release, capfd, words):
    assert main(["query", str(release.folder), *words]) == 2
    reported = capfd.readouterr().err
    assert reported.startswith("error: ") and "SQL" in reported and reported.count("\n") == 1


def test_the_printed_examples_find_the_release_where_it_was_found(release, capfd):
    root = release.folder.parents[1]
    assert main(["query", "heart@0.1.0", "--frozen", str(root), "--examples"]) == 0
    commands = [line for line in capfd.readouterr().out.splitlines() if line.startswith("python -m releases ")]
    assert commands
    for command in commands:
        assert main(shlex.split(command)[3:]) == 0, command


def test_a_long_query_can_be_interrupted(release):
    sql = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
    script = "import sys; from releases.__main__ import main\nprint('ready', flush=True); sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "query", str(release.folder), sql],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1)
    process.send_signal(signal.SIGINT)
    _, reported = process.communicate(timeout=30)
    assert process.returncode == 130 and reported.startswith("error: interrupted") and reported.count("\n") == 1


def test_no_more_rows_than_wanted_are_given_and_that_there_are_more_is_said(release, capfd):
    assert main(["query", str(release.folder), "SELECT id FROM memories", "--max-rows", "3", "--format", "csv"]) == 0
    out, reported = capfd.readouterr()
    assert out.count("\n") == 4 and "stopped after 3 rows; there are more" in reported
    assert main(["query", str(release.folder), "SELECT id FROM memories", "--max-rows", "12", "--format", "csv"]) == 0
    out, reported = capfd.readouterr()
    assert out.count("\n") == 13 and reported == ""


def test_a_file_of_a_query_that_failed_halfway_is_not_there(release, tmp_path, capfd):
    sql = "SELECT CASE WHEN i < 50000 THEN i ELSE error('half') END AS i FROM range(100000) t(i)"
    assert main(["query", str(release.folder), sql, "--format", "csv", "--out", str(tmp_path / "x.csv")]) == 2
    assert "half" in capfd.readouterr().err and list(tmp_path.iterdir()) == []
