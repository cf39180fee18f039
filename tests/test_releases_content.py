"""The canonical form: what the digests cover, and what leaves no trace in them."""

import hashlib
import subprocess
import sys
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import rows_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from release_samples import ROOT, many_memories, release_of, small_tables, write_workspace

from releases.content import ContentDigest, batch_of_lines, canonical, release_digest, schema_digest, to_batch
from releases.parquet import read_batches, write_table
from releases.source import rows_in_order
from schemas.arrow import arrow_schema
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.records import record_schema

HEART = benchmark("heart")

_DIGEST = """
import sys, pathlib, pyarrow.parquet as pq
from releases.content import ContentDigest
for folder in sys.argv[1:]:
    digest = ContentDigest()
    for path in sorted(pathlib.Path(folder).glob("*.parquet")):
        digest.update(pq.read_table(path).to_pylist())
    print(digest.hexdigest())
"""

OTHER_WRITERS = {
    "snappy": {"compression": "snappy", "row_group_size": 7},
    "no-dictionary": {"compression": "zstd", "compression_level": 19, "use_dictionary": False},
    "small-pages": {"compression": "none", "version": "1.0", "data_page_size": 64, "write_statistics": False},
}


def digests_in_another_process(*folders):
    done = subprocess.run(
        [sys.executable, "-c", _DIGEST, *map(str, folders)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_codec_encoding_and_row_groups_leave_no_trace_in_the_content_digest(tmp_path):
    rows = many_memories(50)
    (tmp_path / "ours").mkdir()
    entry = write_table(tmp_path / "ours", HEART.table("memories"), rows).entry
    table = pa.Table.from_pylist(rows, schema=arrow_schema(record_schema("memories")))
    for name, options in OTHER_WRITERS.items():
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "one.parquet", **options)
    found = digests_in_another_process(tmp_path / "ours/memories", *(tmp_path / name for name in OTHER_WRITERS))
    assert found == [entry["content_digest"]] * 4


def test_shards_leave_no_trace_in_the_content_digest_and_are_cut_by_the_size_of_the_rows(tmp_path):
    rows = many_memories(5000)
    entries = {}
    for size in (10**9, 10**6):
        folder = tmp_path / str(size)
        folder.mkdir()
        entries[size] = write_table(folder, HEART.table("memories"), rows, bytes_per_file=size).entry
    whole, cut = entries[10**9], entries[10**6]
    assert len(whole["files"]) == 1 and len(cut["files"]) > 1
    assert [file["path"] for file in cut["files"]] == [
        f"memories/test-{number:05d}-of-{len(cut['files']):05d}.parquet" for number in range(len(cut["files"]))
    ]
    assert sum(file["rows"] for file in cut["files"]) == whole["rows"] == 5000
    assert cut["content_digest"] == whole["content_digest"]


def test_the_content_digest_is_that_of_the_canonical_json_lines(tmp_path):
    release = release_of(tmp_path, "heart@0.1.0", small_tables())
    lines = (tmp_path / "work/heart@0.1.0/heart/mcqs/all.jsonl").read_bytes()
    assert release.manifest["tables"]["mcqs"]["content_digest"] == hashlib.sha256(lines).hexdigest()


def test_the_canonical_form_is_pinned():
    digest = ContentDigest()
    digest.update([{"a": 'é"\\\n\u2028', "b": 1.0, "c": 1e-7, "d": 1e16, "e": 0.1, "f": -0.0, "g": 2**53 + 1}])
    expected = '{"a":"é\\"\\\\\\n\u2028","b":1.0,"c":1e-07,"d":1e+16,"e":0.1,"f":-0.0,"g":9007199254740993}\n'
    assert digest.hexdigest() == hashlib.sha256(expected.encode()).hexdigest()
    assert (digest.rows, digest.size) == (1, len(expected.encode()))


@pytest.mark.parametrize("table", list(HEART.tables))
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_valid_row_is_stored_as_it_is(table, data):
    rows = data.draw(st.lists(rows_of(table), min_size=1, max_size=3))
    schema, digest = arrow_schema(record_schema(table)), ContentDigest()
    batch, text = to_batch(rows, schema, table, HEART.table(table).key)
    assert batch.to_pylist() == rows
    digest.update(batch.to_pylist())
    assert hashlib.sha256(text).hexdigest() == digest.hexdigest()
    assert (read := batch_of_lines(text, schema)) is None or read.equals(batch)


def test_canonical_lines_are_read_by_column_and_no_others():
    (batch,) = read_batches([Path("releases/frozen/heart/2.0.0/mcqs/test-00000-of-00001.parquet")])
    schema, text = batch.schema, canonical(batch)
    read = batch_of_lines(text, schema)
    assert read is not None and read.equals(batch)
    others = (text[:-1], text + b"\n", text.replace(b",", b", ", 1), text[:-2] + b',"more":1}\n', b"[" + text, b"")
    assert [batch_of_lines(other, schema) for other in others] == [None] * len(others)


@pytest.mark.parametrize(
    ("field", "value"),
    [("age", 2**63), ("age", "old"), ("age", 1.5), ("nonsense", 1), ("triggers", "cage"), ("provenance", {"who": "I"})],
)
def test_a_row_that_would_come_back_different_is_refused_by_name(field, value):
    rows = many_memories(3)
    rows[1][field] = value
    with pytest.raises(RequestError, match="row MEM_01_0002"):
        to_batch(rows, arrow_schema(record_schema("memories")), "memories", ("id",))


def test_a_field_too_few_is_refused_by_name():
    rows = many_memories(2)
    del rows[1]["ledger_refs"]
    with pytest.raises(RequestError, match="row MEM_01_0002, field ledger_refs"):
        to_batch(rows, arrow_schema(record_schema("memories")), "memories", ("id",))


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields[::-1],
        lambda fields: [fields[0].with_nullable(not fields[0].nullable), *fields[1:]],
        lambda fields: [fields[0].with_type(pa.int64()), *fields[1:]],
        lambda fields: [fields[0].with_name("other"), *fields[1:]],
        lambda fields: fields[:-1],
    ],
)
def test_the_schema_digest_covers_names_types_nullability_and_order(change):
    schema = arrow_schema(record_schema("mcqs"))
    assert schema_digest(pa.schema(change(list(schema)))) != schema_digest(schema)


def test_the_schema_digest_ignores_how_a_writer_names_list_elements():
    one, other = (pa.schema([("a", pa.list_(pa.field(name, pa.string())))]) for name in ("item", "element"))
    assert schema_digest(one) == schema_digest(other)


@pytest.mark.parametrize("part", ["key", "rows", "schema_digest", "content_digest"])
def test_the_release_digest_covers_every_part_of_every_table(part):
    table = {"key": ["id"], "rows": 1, "schema_digest": "a", "content_digest": "b", "files": []}
    other = {**table, part: ["x"] if part == "key" else 2 if part == "rows" else "c"}
    assert release_digest({"t": table}) != release_digest({"t": other})
    assert release_digest({"t": table}) == release_digest({"t": {**table, "files": [1]}})


@settings(max_examples=40)
@given(data=st.data())
def test_rows_come_in_order_of_key_however_they_lie_in_files(data, tmp_path_factory):
    ids = data.draw(st.lists(st.integers(0, 9999), unique=True, min_size=1, max_size=25))
    files = data.draw(st.lists(st.integers(1, 5), min_size=len(ids), max_size=len(ids)))
    root = tmp_path_factory.mktemp("merge")
    workspace = write_workspace(root, {})
    folder = workspace.path("memories").parent
    (folder / "all.jsonl").unlink()
    for number, key in zip(ids, files, strict=True):
        with (folder / f"{key}.jsonl").open("ab") as out:
            out.write(orjson.dumps({"id": f"MEM_01_{number:04d}"}) + b"\n")
    assert [row["id"] for row in rows_in_order(workspace, "memories")] == [f"MEM_01_{n:04d}" for n in sorted(ids)]


def test_a_key_that_occurs_twice_is_refused_by_name(tmp_path):
    workspace = write_workspace(tmp_path, {"memories": many_memories(3)})
    folder = workspace.path("memories").parent
    (folder / "again.jsonl").write_bytes(orjson.dumps(many_memories(2)[1]))
    with pytest.raises(RequestError, match="duplicate key in memories, row MEM_01_0002"):
        list(rows_in_order(workspace, "memories"))


def test_a_row_without_its_key_is_refused(tmp_path):
    workspace = write_workspace(tmp_path, {})
    workspace.path("memories").write_bytes(b'{"age": 3}\n')
    with pytest.raises(RequestError, match="row without its key in memories"):
        list(rows_in_order(workspace, "memories"))


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [1e-4, 9.999999999999999e-05, 1e15, 999999999999999.9, 1e16, 1e22, 5e-324, -0.0, 0.1, 123456.789, 1e-7]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NESTED = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "number": st.none() | NUMBERS,
        "whole": st.integers(-(2**63), 2**63 - 1),
        "inside": st.fixed_dictionaries({"numbers": st.lists(NUMBERS, max_size=3), "yes": st.booleans()}),
    }
)


@settings(max_examples=200)
@given(st.lists(NESTED, min_size=1, max_size=4))
def test_the_fast_digest_of_a_batch_is_that_of_its_rows_as_python_writes_them(rows):
    inside = pa.struct([("numbers", pa.list_(pa.float64())), ("yes", pa.bool_())])
    schema = pa.schema([("text", pa.string()), ("number", pa.float64()), ("whole", pa.int64()), ("inside", inside)])
    fast, plain = ContentDigest(), ContentDigest()
    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
    fast.update(rows, batch)
    plain.update(batch.to_pylist())
    assert fast.hexdigest() == plain.hexdigest() and fast.size == plain.size
