"""SQL that wants out, or wants too much: refused in one line, or bounded in time and memory; nothing is changed."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import orjson
import pytest
from release_samples import ROOT, files_of, release_of, small_tables

from releases.asking.bounded import Batches, Patience
from releases.query import MOST_SQL, ask, connect
from schemas.errors import RequestError


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("hostile"), "heart@0.1.0", small_tables())


HOSTILE = [
    "ATTACH '{out}/evil.db'",
    "COPY (SELECT 1) TO '{out}/evil.csv'",
    "COPY memories TO '{out}/evil' (FORMAT parquet, PARTITION_BY (stage))",
    "WITH x AS (COPY (SELECT 1 a) TO '{out}/evil.csv') SELECT * FROM x",
    "WITH x AS (COPY (SELECT 1 a) TO '{release}/evil.csv') SELECT * FROM x",
    "WITH x AS (COPY (SELECT 1 a) TO '{parquet}' (FORMAT parquet, USE_TMP_FILE false)) SELECT * FROM x",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}/evil.csv'",
    "EXPORT DATABASE '{out}/evil'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_list",
    "PRAGMA enable_external_access",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '{parquet}'",
    "SELECT * FROM read_parquet('{parquet}')",
    "SELECT * FROM read_parquet('https://localhost/x.parquet')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET memory_limit = '900GB'",
    "RESET memory_limit",
    "SELECT * FROM query('COPY (SELECT 1) TO ''{out}/evil.csv''')",
    "WITH x AS (DELETE FROM memories RETURNING *) SELECT * FROM x",
    "DROP VIEW memories",
    "CREATE TABLE t AS SELECT 1",
    "CALL pragma_version()",
    "SELECT 1; SELECT 2",
    "SELECT 1; ATTACH '{out}/evil.db'",
    "",
    "-- nothing",
    "SELEC 1",
    "SELECT * FROM nothing_of_that_name",
    "SELECT id::INTEGER FROM memories",
    "SELECT error('two\nlines')",
    # Other ways to a file, a network, a variable of the environment.
    "SELECT getenv('HOME')",
    "SELECT * FROM read_json_auto('/etc/passwd')",
    "SELECT content FROM read_text(['/proc/self/environ'])",
    "SELECT * FROM parquet_metadata('{parquet}')",
    "SELECT * FROM read_duckdb('{out}/x.db')",
    "SELECT * FROM sqlite_scan('/etc/passwd', 't')",
    "SELECT * FROM 's3://bucket/x.parquet'",
    "FROM query_table(['memories', '/etc/passwd'])",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_csv(''/etc/passwd'')'))",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT NULL::POINTER",
    # Settings, and what writes files aside.
    "FROM enable_logging('QueryLog', storage => 'file', storage_path => '{out}/logs')",
    "FROM enable_profiling()",
    "PRAGMA profiling_output = '{out}/p.json'",
    "SET GLOBAL log_query_path = '{out}/q.log'",
    "SET VARIABLE x = 1",
    "SET custom_extension_repository = 'http://127.0.0.1:9'",
    # Everything that makes or changes something.
    "CREATE OR REPLACE TEMP MACRO memories() AS TABLE SELECT 1",
    "CREATE SEQUENCE s",
    "CREATE PERSISTENT SECRET x IN LOCAL_FILE (TYPE s3)",
    "CREATE TEMP TABLE x AS FROM read_csv('/etc/passwd')",
    "INSERT INTO memories SELECT * FROM memories",
    "MERGE INTO memories USING memories m ON true WHEN MATCHED THEN DELETE",
    "TRUNCATE memories",
    "BEGIN",
    "CHECKPOINT",
    "USE temp",
    "UPDATE EXTENSIONS",
    "FORCE INSTALL httpfs FROM 'http://127.0.0.1:9'",
    "LOAD '{out}/x.duckdb_extension'",
    # Prepared statements and parameters.
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SELECT $1",
    "SELECT nextval('s')",
    # Statements inside statements.
    "EXPLAIN ANALYZE DELETE FROM memories",
    "EXPLAIN COPY (SELECT 1) TO '{out}/e.csv'",
    "WITH x AS MATERIALIZED (UPDATE memories SET age = 1 RETURNING *) FROM x",
    "WITH a AS (WITH b AS (COPY (SELECT 1) TO '{out}/e.csv') SELECT * FROM b) SELECT * FROM a",
    "SELECT (WITH x AS (COPY (SELECT 1 a) TO '{out}/e.csv') SELECT count(*) FROM x)",
    "WITH RECURSIVE x AS (COPY (SELECT 1 a) TO '{out}/e.csv') SELECT * FROM x",
    "SELECT * FROM (PIVOT memories ON stage USING count(*))",
    # Comments, quotes, other alphabets, half characters.
    "/* SELECT */ COPY (SELECT 1) TO '{out}/e.csv'",
    "SELECT 1 /* ; */; -- x\nATTACH '{out}/e.db'",
    "SELECT $$;$$; COPY (SELECT 1) TO '{out}/e.csv'",
    "SELECT 1\x00; ATTACH '{out}/e.db'",
    "\ufeffATTACH '{out}/e.db'",
    "ＡＴＴＡＣＨ '{out}/e.db'",
    "SEL\u200bECT 1",
    "SELECT '\ud800'",
    # Depth and length.
    "SELECT " + "(" * 9_000 + "1" + ")" * 9_000,
    "SELECT " + " + ".join(["1"] * 4_000),
    "SELECT * FROM " + "(SELECT * FROM " * 1_000 + "memories" + ")" * 1_000,
    "SELECT '" + "x" * MOST_SQL + "'",
]


def test_hostile_or_broken_sql_is_refused_in_one_line_and_changes_nothing(release, tmp_path):
    places = {"{out}": tmp_path, "{release}": release.folder, "{parquet}": release.paths("mcqs")[0]}
    before = files_of(release.folder)
    with connect(release) as connection:
        for asked in HOSTILE:
            sql = asked
            for name, place in places.items():
                sql = sql.replace(name, str(place))
            with pytest.raises(RequestError) as refused, ask(connection, sql) as batches:
                list(batches)
            assert "\n" not in str(refused.value), asked
            assert list(tmp_path.iterdir()) == [], asked
    assert files_of(release.folder) == before


# Each with how it ends: refused for what it is, for time or for memory; or answered, its rows counted.
GREEDY = {
    "SELECT repeat('x', 2500000000) AS s": "memory|longer",
    "SELECT list(i) FROM range(300000000) t(i)": "memory|longer",
    "SELECT range(500000000)": "memory|longer",
    "SELECT string_agg(repeat('a', 1000), '') FROM range(2000000)": "memory|longer",
    "SELECT repeat(content_full, 4000000) FROM memories": "memory|longer",
    "SELECT lpad('x', 2000000000, 'ab')": "memory|longer than 0.4 s",
    "SELECT array_agg(a.i) FROM range(20000) a(i), range(20000) b": "memory|longer",
    "SELECT count(*) FROM range(10000000000) a, range(1000000) b": "longer than 0.4 s",
    "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b": "longer than 0.4 s",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r": "longer than 0.4 s|memory",
    "SELECT * FROM range(100000000000) t(i)": "longer than 0.4 s",
    "SELECT a.content_full FROM memories a, range(100000000)": "longer than 0.4 s",
    "SELECT * FROM memories a, memories b, memories c, memories d, memories e, memories f, memories g": "longer|rows",
    "SELECT i FROM range(30000) t(i)": "rows|longer",
    "SELECT repeat('y', 100000) FROM range(3000)": "rows|longer",
    "SELECT list_transform(range(300000000), lambda x : x * 2)": "memory|longer",
    "SELECT string_split(repeat('a,', 400000000), ',')": "memory|longer",
    "SELECT regexp_matches(repeat('a', 3000), '(a?){1000}a{1000}(a|aa)+$')": "rows|longer|bad repetition",
    "SELECT json_extract(repeat('[', 100000) || repeat(']', 100000), '$[0]')": "rows|longer|nesting|JSON",
    "SELECT i FROM range(1000000000000) t(i) USING SAMPLE 10 ROWS": "longer than 0.4 s",
    "SELECT count(*) FROM range(100000000) a(i) ASOF JOIN range(100000000) b(i) ON a.i >= b.i": "longer|memory",
    "WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r": "memory|longer",
    "SELECT map_from_entries(list_transform(range(50000000), lambda x : (x, x)))": "memory|longer",
    "SELECT DATE '290000-01-01' AS d": "cannot be shown",
}
# A small process that starts each command: the most memory of its children is then theirs, not that of the test runner.
SCRIPT = """
import json, resource, subprocess, sys
folder, questions, out = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
for sql in questions:
    words = ["query", folder, sql, "--timeout", "0.4", "--format", "csv", "--out", out]
    ran = subprocess.run([sys.executable, "-m", "releases", *words], stderr=subprocess.PIPE, text=True)
    print(json.dumps([ran.returncode, ran.stderr]), flush=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_greedy_sql_is_bounded_in_time_and_memory(release, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, release.folder, orjson.dumps(list(GREEDY)).decode(), tmp_path / "out.csv"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    *outcomes, most = [orjson.loads(line) for line in ran.stdout.splitlines()]
    assert len(outcomes) == len(GREEDY), ran.stderr
    for (sql, expected), (code, reported) in zip(GREEDY.items(), outcomes, strict=True):
        assert re.search(expected, reported) and reported.count("\n") == 1, (sql, code, reported)
        assert code == (0 if reported.endswith(".csv\n") else 2), (sql, code, reported)
    assert most < 1.2 * 2**20, "KiB"


def command(release, sql, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "releases", "query", str(release.folder), sql, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_what_the_engine_cannot_stop_or_does_not_survive_ends_in_one_line_and_leaves_no_file(release, tmp_path):
    """One call that does not listen, and tables that multiply until a thread is refused memory and ends the process."""
    doubled = ", ".join(f"a{n} AS (SELECT * FROM a{n - 1} x, a{n - 1} y)" for n in range(1, 40))
    asked = {
        "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))": "longer than 0.3 s",
        f"WITH a0 AS (SELECT * FROM memories), {doubled} SELECT count(*) FROM a39": "longer than 0.3 s|more memory",
    }
    out = tmp_path / "out.csv"
    started = {sql: command(release, sql, "--timeout", "0.3", "--format", "csv", "--out", str(out)) for sql in asked}
    for sql, process in started.items():
        said, reported = process.communicate()
        assert (process.returncode, said, reported.count("\n")) == (2, "", 1) and re.search(asked[sql], reported), (
            reported
        )
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_waits_for_its_query_passes_an_interrupt_on(release):
    process = command(release, "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text():
        time.sleep(0.01)
    while "duckdb" not in Path(f"/proc/{children.read_text().strip()}/maps").read_text():
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, reported = process.communicate(timeout=60)
    assert process.returncode == 130 and reported.startswith("error: interrupted") and reported.count("\n") == 1


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.005])
def test_a_select_ends_though_its_time_is_over_before_the_engine_begins(seconds):
    endless = "SELECT count(*) FROM range(900000000) a, range(900000000) b"
    for _ in range(5):
        with (
            pytest.raises(RequestError, match="SQL took longer"),
            Batches(duckdb.connect(), endless, Patience(seconds), "heart@1.0.0") as batches,
        ):
            list(batches)
