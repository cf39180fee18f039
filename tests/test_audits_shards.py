"""A table cut into shards is found to have the faults, figures and duplicates of the table in one piece."""

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits import audit, diversity, evenness, not_checked
from audits.codes import select
from audits.command import main
from audits.duplicates import command as duplicates
from audits.duplicates import near_duplicates
from audits.shards import across, vectors
from audits.shards.audit import Request, audit_shards
from schemas.benchmarks import benchmark
from schemas.engines.local import Local
from schemas.engines.shards import of_files
from schemas.findings import counts
from schemas.rows import write_jsonl
from schemas.sources import of_release

MEMORIES = "releases/frozen/heart/1.0.0/memories/test-00000-of-00001.parquet"


def memories(count=200):
    """Memories of two characters: one without its age, an id that two rows have, the same text in three shards."""
    rows = pq.ParquetFile(MEMORIES).read_row_group(0).to_pylist()[: count // 2]
    rows += pq.ParquetFile(MEMORIES).read_row_group(1).to_pylist()[: count // 2]
    for row in rows:
        row.pop("canary", None)
        row.pop("triggers", None)  # a column that no row has
    for place in (50, 100):
        rows[place] = {**rows[0], "id": rows[place]["id"], "age": 9}
    for row in rows[37:74]:
        row.pop("domain")  # a column that only rows of one shard lack
    rows[7] = {**rows[7], "age": None, "content_full": "他们从来没有说过这件事。" * 30}
    rows[150] = {**rows[150], "id": rows[20]["id"]}
    return rows


def in_shards(folder, rows, each):
    """The rows in files of so many rows, alternately JSON Lines and Parquet."""
    folder.mkdir()
    for number, start in enumerate(range(0, len(rows), each)):
        write_jsonl(folder / f"{number:05d}.jsonl", rows[start : start + each])
    return of_files(sorted(folder.iterdir()))


def test_the_findings_of_shards_are_those_of_the_table(tmp_path):
    table, rows = benchmark("heart").table("memories"), memories()
    wanted = select(table, None)
    shards = in_shards(tmp_path / "rows", rows, 37)
    found = audit_shards(Request(table, wanted), shards, Local(1), str(tmp_path / "scratch"), quote=5)
    assert found.findings == audit(table, rows)
    assert found.counts == counts(found.findings)
    assert {"format.repeated", "format.missing", "duplicate.semantic"} <= {each.code for each in found.findings}
    assert found.skipped == not_checked(table, rows, {}, wanted)
    assert {each.row_id for each in found.findings if each.code == "duplicate.semantic"} <= {
        row["id"] for row in found.quoted
    }


def test_findings_that_are_no_errors_can_be_counted_instead_of_listed(tmp_path):
    table, rows = benchmark("heart").table("memories"), memories()
    request = Request(table, select(table, None), errors_only=True)
    found = audit_shards(request, in_shards(tmp_path / "rows", rows, 90), Local(1), str(tmp_path / "scratch"))
    every = audit(table, rows)
    assert found.counts == counts(every)
    assert found.findings == [finding for finding in every if finding.severity == "error"] != every


@pytest.mark.parametrize(
    ("name", "table", "most"),
    [("likebench", "priors", 200), ("personalens", "users", 40), ("heart", "scenarios", 64)],
)
def test_so_are_those_of_tables_that_look_into_others_and_compare_all_rows(tmp_path, name, table, most):
    found = of_release(f"{name}@1.0.0", benchmark(name))
    declared = found.benchmark.table(table)
    rows = [row for row, _ in zip(found.rows(table), range(most), strict=False)]
    related = {each: found.if_any(each) for each in declared.reads}
    request = Request(
        declared,
        select(declared, None),
        related={each: tuple(of_files(found.files[each])) for each in declared.reads if each in found.files},
    )
    sharded = audit_shards(request, in_shards(tmp_path / "rows", rows, 90), Local(1), str(tmp_path / "scratch"))
    assert sharded.findings == audit(declared, rows, related)
    assert sharded.skipped == not_checked(declared, rows, related, select(declared, None))


def printed(capsys, command, *arguments):
    code = command(["--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def test_commands_print_the_same_with_an_engine_and_without(tmp_path, capsys):
    rows = [row for row in memories() if row["age"] is not None]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    in_shards(tmp_path / "rows", rows, 100)
    asked = ["--benchmark", "heart", "--table", "memories"]
    whole, cut = ["--rows", str(tmp_path / "rows.jsonl")], ["--rows", str(tmp_path / "rows"), "--engine", "local"]
    cut += ["--processes", "1", "--scratch", str(tmp_path)]
    of_words = ["--field", "content_full", "--by", "character_id,stage"]
    for command, more in (
        (main, ["--only", "format,person"]),
        (duplicates.main, ["--threshold", "0.5"]),
        (duplicates.main, ["--threshold", "0.5", "--across"]),
        (evenness.main, []),
        (diversity.main, of_words),
    ):
        assert printed(capsys, command, *asked, *more, *whole) == printed(capsys, command, *asked, *more, *cut)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows", "rows.jsonl"]  # no partition stays


def reworded(rows, share, seed):
    """Copies of rows under other ids, each with this share of its words taken from other rows."""
    rng = random.Random(seed)
    spare = [word for row in rows for word in row["content_full"].split()]
    copies = []
    for number, row in enumerate(rows):
        words = [rng.choice(spare) if rng.random() < share else word for word in row["content_full"].split()]
        copies.append({**row, "id": f"MEM_99_{number:04d}", "content_full": " ".join(words)})
    return copies


def test_pairs_of_many_blocks_are_those_of_the_whole_table_and_candidates_are_among_them(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "BLOCK", 16)
    table, rows = benchmark("heart").table("memories"), memories(160)
    rows = [row for row in rows if row["age"] is not None]
    rows += [copy for share in (0.02, 0.1, 0.2) for copy in reworded(rows[:20], share, seed=7)]
    scope = near_duplicates.scope_of(table)
    whole = near_duplicates.findings(rows, scope, across=True)
    shards = in_shards(tmp_path / "rows", rows, 50)
    exact = across.find_across(table, scope, shards, Local(1), str(tmp_path / "exact"), 0.85)
    assert (exact.findings, exact.compared, exact.recall) == (whole, len(rows), None)
    some = across.find_across(table, scope, shards, Local(1), str(tmp_path / "some"), 0.85, approximate=True)
    assert {each.row_id for each in some.findings} <= {each.row_id for each in whole}
    assert 0.9 * some.recall.pairs <= some.recall.found <= some.recall.pairs


def test_approximate_without_an_engine_is_refused(capsys):
    assert duplicates.main(["--benchmark", "heart", "--across", "--approximate"]) == 2
    assert "--approximate without --across and --engine" in capsys.readouterr().err


def test_the_preferences_of_users_in_shards_are_those_of_all_users(tmp_path, capsys):
    users = of_release("personalens@1.0.0", benchmark("personalens")).rows("users")
    rows = [row for row, _ in zip(users, range(30), strict=False)]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    in_shards(tmp_path / "rows", rows, 7)
    asked = ["--benchmark", "personalens", "--table", "users", "--release", "personalens@1.0.0", "--rows"]
    whole = printed(capsys, evenness.main, *asked, str(tmp_path / "rows.jsonl"))
    cut = [*asked, str(tmp_path / "rows"), "--engine", "local", "--processes", "1"]
    assert printed(capsys, evenness.main, *cut) == whole


def test_a_cut_shard_is_one_line_and_exit_code_2(tmp_path, capsys):
    pq.write_table(pa.Table.from_pylist([{"id": "MEM_01_0001"}]), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-20])
    arguments = ["--benchmark", "heart", "--table", "memories", "--rows", str(tmp_path), "--engine", "local"]
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(f"error: unreadable Parquet in {tmp_path}/b.parquet")
