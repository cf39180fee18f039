"""``python -m validators``: sources, output, exit codes, and what happens to rows that fail."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from schemas.arrow import arrow_schema
from schemas.benchmarks import benchmark
from schemas.records import record_schema
from schemas.rows import read_jsonl, write_jsonl
from schemas.workspace import Workspace
from validators.__main__ import main

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def workspace(tmp_path, small_heart) -> Workspace:
    made = Workspace(tmp_path / "ws", "heart")
    for name, rows in small_heart.items():
        made.write(name, rows)
    return made


@pytest.fixture
def release(tmp_path, small_heart) -> Path:
    folder = tmp_path / "release"
    for name, rows in small_heart.items():
        (folder / name).mkdir(parents=True)
        table = pa.Table.from_pylist(rows, schema=arrow_schema(record_schema(name)))
        parquet.write_table(table.slice(0, 3), folder / name / "test-00000-of-00002.parquet")
        parquet.write_table(table.slice(3), folder / name / "test-00001-of-00002.parquet")
    return folder


def document(capsys, *words: str) -> tuple[int, dict]:
    code = main([*words, "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    return code, json.loads(out)


def refused(capsys, *words: str) -> str:
    assert main(list(words)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


def test_a_workspace_and_a_release_of_the_same_rows_get_the_same_report(capsys, workspace, release):
    from_workspace = document(capsys, "--benchmark", "heart", "--workspace", str(workspace.folder.parent))
    from_release = document(capsys, "--benchmark", "heart", "--release", str(release))
    assert from_workspace == from_release
    assert from_release[1]["rows"]["memories"] == 12
    assert from_release[1]["counts"] == {"table.outside_middle": 2, "table.row_count": 3, "table.rows_per": 4}


def test_errors_make_the_exit_code_1_and_warnings_do_not(capsys, workspace):
    place = ["--workspace", str(workspace.folder.parent)]
    assert document(capsys, "--benchmark", "heart", *place)[0] == 1
    code, found = document(capsys, "--benchmark", "heart", "--table", "decisions", *place)
    assert (code, found["findings"]) == (0, [])
    code, found = document(capsys, "--benchmark", "heart", "--table", "activations", *place)
    assert code == 0


def test_stderr_says_what_was_checked_and_what_is_wrong(capsys, workspace):
    main(["--benchmark", "heart", "--workspace", str(workspace.folder.parent)])
    out, err = capsys.readouterr()
    assert out == ""
    assert f"heart: 49 rows in {len(benchmark('heart').tables)} tables" in err
    assert "CHAR_02 and CHAR_03 0.40" in err
    assert "warning table.outside_middle in characters, row CHAR_01, field big_five" in err
    assert err.splitlines()[-1] == "7 errors, 2 warnings"


def test_quiet_says_nothing_and_keeps_the_exit_code(capsys, workspace):
    assert main(["--benchmark", "heart", "--workspace", str(workspace.folder.parent), "--quiet"]) == 1
    assert capsys.readouterr() == ("", "")


def test_a_threshold_of_separation_is_a_setting(capsys, workspace):
    words = ["--benchmark", "heart", "--table", "characters", "--workspace", str(workspace.folder.parent)]
    assert "table.separation" not in document(capsys, *words)[1]["counts"]
    assert document(capsys, *words, "--separation", "0.45")[1]["counts"]["table.separation"] == 1


def test_rows_that_fail_are_named_by_file_line_and_field_and_kept_and_good_rows_go_on(
    capsys, workspace, tmp_path, small_heart
):
    rows, path = small_heart["memories"], tmp_path / "mine.jsonl"
    rows[2]["age"] = 99
    rows[4]["stage"] = "adolescence"
    del rows[6]["id"]
    path.write_bytes(
        b"\n".join(
            [json.dumps(row).encode() for row in rows[:3]]
            + [b"", b"  "]
            + [json.dumps(row).encode() for row in rows[3:]]
        )
    )
    words = [
        "--benchmark",
        "heart",
        "--table",
        "memories",
        "--rows",
        str(path),
        "--workspace",
        str(workspace.folder.parent),
    ]
    code, found = document(capsys, *words)
    assert code == 1
    assert (found["rows"], found["accepted"], found["rejected"]) == ({"memories": 12}, 9, 3)
    placed = {(f["code"], f["file"], f["line"], f["row_id"], f["field"]) for f in found["findings"]}
    assert placed == {
        ("schema.maximum", str(path), 3, "MEM_01_0003", "age"),
        ("table.stage_of_age", str(path), 7, "MEM_02_0002", "stage"),
        ("schema.required", str(path), 9, "#7", "id"),
    }
    kept = list(read_jsonl(workspace.folder / "rejected/memories.jsonl"))
    assert [(each["line"], each["codes"], each["row"]) for each in kept] == [
        (3, ["schema.maximum"], rows[2]),
        (7, ["table.stage_of_age"], rows[4]),
        (9, ["schema.required"], rows[6]),
    ]
    assert list(workspace.rows("memories")) != rows  # the workspace's own rows are untouched


def test_rejected_rows_of_other_files_stay_and_a_second_run_changes_nothing(capsys, workspace, tmp_path, small_heart):
    words = ["--benchmark", "heart", "--workspace", str(workspace.folder.parent), "--table", "memories", "--rows"]
    small_heart["memories"][0]["age"] = 99
    for name in ("a.jsonl", "b.jsonl", "a.jsonl"):
        write_jsonl(tmp_path / name, small_heart["memories"][:2])
        assert main([*words, str(tmp_path / name), "--quiet"]) == 1
    kept = list(read_jsonl(workspace.folder / "rejected/memories.jsonl"))
    assert sorted(Path(each["file"]).name for each in kept) == ["a.jsonl", "b.jsonl"]


def test_without_a_workspace_rows_are_checked_alone_and_nothing_is_written(capsys, tmp_path, small_heart, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_heart["memories"][0]["age"] = 99
    write_jsonl(tmp_path / "memories.jsonl", small_heart["memories"])
    code, found = document(capsys, "--benchmark", "heart", "--rows", "memories.jsonl")
    assert (code, found["rejected"]) == (1, 1)
    assert {each["name"] for each in found["skipped"]} == {"link.dangling"}
    assert [path.name for path in tmp_path.iterdir()] == ["memories.jsonl"]


def test_good_rows_of_a_user_are_accepted_with_exit_code_0(capsys, release, tmp_path, small_heart):
    write_jsonl(tmp_path / "memories.jsonl", small_heart["memories"])
    code, found = document(
        capsys, "--benchmark", "heart", "--rows", str(tmp_path / "memories.jsonl"), "--release", str(release)
    )
    assert (code, found["accepted"], found["rejected"], found["skipped"]) == (0, 12, 0, [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--benchmark", "hart"], "unknown benchmark 'hart'. Did you mean: heart"),
        (
            ["--benchmark", "heart", "--table", "memory"],
            "unknown table 'memory' in benchmark heart. Did you mean: memories",
        ),
        (["--benchmark", "heart", "--workspace", "absent"], "no rows of heart in absent/heart"),
        (["--benchmark", "heart", "--release", "absent"], "missing folder in absent"),
        (["--benchmark", "heart", "--release", "."], "no release of heart in .: Parquet files in folders characters"),
        (["--benchmark", "heart", "--release", ".", "--workspace", "."], "two sources"),
        (["--benchmark", "heart", "--rows", "absent.jsonl"], "unknown table of the rows in absent.jsonl"),
        (["--benchmark", "heart", "--rows", "memories.jsonl"], "missing file in memories.jsonl"),
        (["--benchmark", "heart", "--table", "memories", "--rows", "."], "a folder instead of a file in ."),
        (["--benchmark", "heart", "--separation", "2"], "argument --separation: must be between 0 and 1"),
        (["--benchmark", "heart", "--separation", "far"], "argument --separation"),
        ([], "the following arguments are required: --benchmark"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_2(capsys, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, *words)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"id": "é"}'.encode("latin-1"), "not UTF-8 in mine.jsonl:1"),
        ('{"id": "x"}\n'.encode("utf-16"), "not UTF-8 in mine.jsonl:1"),
        (b'\xef\xbb\xbf{"id": "x"}\n', "byte order mark in mine.jsonl:1"),
        (b"[1, 2]\n", "not an object in mine.jsonl:1"),
        (b"null\n", "not an object in mine.jsonl:1"),
        (b'{"age": NaN}\n', "malformed JSON in mine.jsonl:1"),
        (b"[" * 100_000, "malformed JSON in mine.jsonl:1"),
        (b"", "no rows in mine.jsonl"),
        (b"\n \n", "no rows in mine.jsonl"),
        (b"\x00\x01\x02", "malformed JSON in mine.jsonl:1"),
    ],
)
def test_a_file_without_rows_is_one_line_exit_code_2_and_nothing_written(capsys, tmp_path, monkeypatch, content, said):
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_bytes(content)
    assert said in refused(
        capsys, "--benchmark", "heart", "--table", "memories", "--rows", "mine.jsonl", "--workspace", "ws"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.jsonl"]


TABLE_6 = (
    "id", "timeline", "context", "content_summary", "content_full", "triggers", "relevance_tags", "psych_conclusion",
    "behavior_policy", "emotion_signature",
)  # fmt: skip


def own(tmp_path, rows) -> tuple[str, ...]:
    """The arguments that check these rows as memories of a user."""
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    (tmp_path / "memories.jsonl").write_bytes(b"\n".join(lines))
    return "--benchmark", "heart", "--rows", str(tmp_path / "memories.jsonl")


def test_a_memory_with_the_ten_fields_of_table_6_is_a_valid_row(capsys, tmp_path, small_heart):
    rows = [{name: row[name] for name in TABLE_6} for row in small_heart["memories"]]
    code, found = document(capsys, *own(tmp_path, rows))
    assert (code, found["accepted"], found["rejected"]) == (0, 12, 0)
    assert [(f["code"], f["severity"], f["field"]) for f in found["findings"]] == [
        ("schema.absent_column", "note", name) for name in ("domain", "ledger_refs", "provenance", "tier")
    ]
    ran = {each["name"] for each in found["checks"]}
    assert {"table.timeline", "table.id_order"} <= ran  # age, stage and character follow from the ten
    assert {(each["name"], each["why"]) for each in found["skipped"] if each["name"] != "link.dangling"} == {
        ("table.of_another_character", "no row has ledger_refs")
    }
    assert "memories.stages" in found["reports"] and "memories.tiers" not in found["reports"]


def test_what_the_ten_fields_say_is_checked(capsys, tmp_path, small_heart):
    rows = [{name: row[name] for name in TABLE_6} for row in small_heart["memories"]]
    rows[0]["timeline"] = "Adolescence (7)"
    rows[1]["id"] = "memory one"
    code, found = document(capsys, *own(tmp_path, rows))
    placed = {(f["code"], f["line"], f["field"]) for f in found["findings"] if f["severity"] == "error"}
    assert code == 1
    assert placed == {("table.timeline", 1, "timeline"), ("schema.pattern", 2, "id")}


def test_a_row_may_lack_what_others_of_the_file_have_where_only_a_builder_knows_it(capsys, tmp_path, small_heart):
    for name in ("tier", "ledger_refs", "provenance", "stage"):
        del small_heart["memories"][3][name]
    code, found = document(capsys, *own(tmp_path, small_heart["memories"]))
    assert (code, found["accepted"], found["findings"]) == (0, 12, [])


def test_a_column_that_no_row_has_is_one_finding_and_the_rest_is_checked(capsys, tmp_path, small_heart):
    for row in small_heart["memories"]:
        del row["triggers"]
    small_heart["memories"][2]["age"] = 99
    code, found = document(capsys, *own(tmp_path, small_heart["memories"]))
    assert code == 1
    assert [(f["code"], f["severity"], f["field"], f["row_id"]) for f in found["findings"]] == [
        ("schema.absent_column", "error", "triggers", ""),
        ("schema.maximum", "error", "age", "MEM_01_0003"),
    ]
    assert (found["accepted"], found["rejected"]) == (0, 12)


def test_a_bad_line_and_a_doubled_id_are_findings_and_the_rest_is_still_checked(capsys, tmp_path, small_heart):
    first, second, third, *_ = small_heart["memories"]
    third["age"] = 99
    code, found = document(capsys, *own(tmp_path, [first, b'{"id": "MEM_0', second, {**first, "context": ""}, third]))
    assert code == 1
    assert [(f["code"], f["line"], f["row_id"]) for f in found["findings"]] == [
        ("table.duplicate_key", 4, "MEM_01_0001"),
        ("schema.maximum", 5, "MEM_01_0003"),
        ("schema.line", 2, "line 2"),
    ]
    assert (found["accepted"], found["rejected"]) == (2, 3)


def test_one_row_has_no_distribution(capsys, tmp_path, small_heart):
    assert document(capsys, *own(tmp_path, small_heart["memories"][:1]))[1]["reports"] == {}


def test_figures_and_rules_pass_over_columns_that_no_character_has(capsys, tmp_path, small_heart):
    for row in small_heart["characters"]:
        del row["values"], row["big_five"]
    write_jsonl(tmp_path / "characters.jsonl", small_heart["characters"])
    code, found = document(capsys, "--benchmark", "heart", "--rows", str(tmp_path / "characters.jsonl"))
    assert code == 1
    assert {(f["code"], f["field"]) for f in found["findings"]} == {
        ("schema.absent_column", "values"),
        ("schema.absent_column", "big_five"),
    }
    assert {"table.separation", "table.dominant_values"} <= {each["name"] for each in found["skipped"]}


def test_a_truncated_file_of_the_workspace_is_one_line(capsys, workspace):
    path = workspace.path("memories")
    path.write_bytes(path.read_bytes()[:-40])
    assert f"malformed JSON in {path}:12" in refused(
        capsys, "--benchmark", "heart", "--workspace", str(workspace.folder.parent)
    )


def test_a_damaged_parquet_file_is_one_line(capsys, release):
    path = release / "memories/test-00001-of-00002.parquet"
    path.write_bytes(path.read_bytes()[:-10])
    assert f"unreadable Parquet in {path}" in refused(capsys, "--benchmark", "heart", "--release", str(release))


def test_a_release_with_another_column_is_reported_by_field(capsys, release):
    path = release / "decisions/test-00000-of-00002.parquet"
    table = parquet.read_table(path)
    parquet.write_table(table.rename_columns(["who", *table.column_names[1:]]), path)
    code, found = document(capsys, "--benchmark", "heart", "--release", str(release), "--table", "decisions")
    assert code == 1
    assert found["counts"]["schema.additional_properties"] == 3
    assert {f["row_id"] for f in found["findings"] if f["code"] == "schema.required"} == {"#1", "#2", "#3"}


def test_a_missing_table_asked_for_by_name_is_a_wrong_request(capsys, workspace):
    workspace.path("mcqs").unlink()
    words = ["--benchmark", "heart", "--workspace", str(workspace.folder.parent)]
    assert "missing table mcqs in" in refused(capsys, *words, "--table", "mcqs")
    assert document(capsys, *words)[1]["counts"]["table.missing"] == 1


def test_help_shows_an_example(capsys):
    assert main(["--help"]) == 0
    assert "example:\n  python -m validators --benchmark heart" in capsys.readouterr().out


def test_a_wrong_request_is_answered_without_loading_the_table_libraries():
    script = (
        "import sys; from validators.__main__ import main; code = main(['--benchmark', 'hart']); "
        "sys.exit(10 * code + any(name in sys.modules for name in ('polars', 'pandera', 'pyarrow')))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 20, done.stderr


def test_the_environment_cannot_switch_the_table_checks_off(workspace):
    rows = list(workspace.rows("memories"))
    rows[0]["stage"] = "adolescence"
    workspace.write("memories", rows)
    words = ["--benchmark", "heart", "--table", "memories", "--workspace", str(workspace.folder.parent), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "validators", *words],
        cwd=ROOT,
        env={"PANDERA_VALIDATION_ENABLED": "False", "PANDERA_VALIDATION_DEPTH": "SCHEMA_ONLY"},
        capture_output=True,
        check=False,
    )
    assert json.loads(done.stdout)["counts"]["table.stage_of_age"] == 1


def test_the_command_of_every_benchmark_knows_its_tables(capsys, tmp_path):
    for name in ("heart-published", "personalens-published"):
        (tmp_path / name / "nothing").mkdir(parents=True)
        said = refused(capsys, "--benchmark", name, "--workspace", str(tmp_path))
        assert f"no rows of {name}" in said
        assert benchmark(name).tables
