"""Rows in an object store are audited as those in a folder are, and a store that is denied is one line."""

import importlib.util
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_samples import CHECKS, files_of, many_memories, small_tables, write_workspace

from audits.command import main
from releases import gate
from releases.__main__ import main as releases_main
from schemas.arrow import arrow_schema
from schemas.engines import stores
from schemas.engines.choice import scratch
from schemas.engines.shards import readable, shards_of
from schemas.errors import MachineError, RequestError
from schemas.records import record_schema

ROOT = Path(__file__).resolve().parents[1]
ASKED = ["--benchmark", "heart", "--table", "memories", "--engine", "local", "--processes", "1", "--json", "--rows"]

needs_moto = pytest.mark.skipif(
    not (importlib.util.find_spec("moto") and importlib.util.find_spec("flask")),
    reason="needs moto: pip install .[stores]",
)


@pytest.fixture
def lab(monkeypatch):
    """A bucket of a local S3 server, where the environment says S3 is."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    point_to(monkeypatch, f"http://{host}:{port}")
    create_bucket(host, port)
    yield "s3://lab"
    server.stop()
    stores._system.cache_clear()


def point_to(monkeypatch, endpoint):
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    stores._system.cache_clear()


def create_bucket(host, port):
    import http.client

    connection = http.client.HTTPConnection(host, port)
    connection.request("PUT", "/lab", headers={"Host": f"{host}:{port}"})
    assert connection.getresponse().status == 200


def put_rows(folder, rows, each):
    system, inside = stores.opened(folder)
    schema = arrow_schema(record_schema("memories"))
    for number, start in enumerate(range(0, len(rows), each)):
        table = pa.Table.from_pylist(rows[start : start + each], schema=schema)
        pq.write_table(table, f"{inside}/{number:05d}.parquet", filesystem=system)


@needs_moto
def test_rows_in_a_bucket_are_audited_as_those_in_a_folder_with_partitions_in_the_bucket(lab, tmp_path, capsys):
    rows = many_memories(30)
    put_rows(f"{lab}/memories", rows, 11)
    (tmp_path / "memories").mkdir()
    put_rows(str(tmp_path / "memories"), rows, 30)
    assert main([*ASKED, str(tmp_path / "memories")]) == 1
    in_folder = capsys.readouterr().out
    assert main([*ASKED, f"{lab}/memories", "--scratch", f"{lab}/scratch"]) == 1
    assert capsys.readouterr().out == in_folder
    assert json.loads(in_folder)["rows"] == 30
    assert not [name for name in stores.files(f"{lab}/scratch", (".z",)) if name]


@needs_moto
def test_a_missing_bucket_is_one_line(lab):
    with pytest.raises(RequestError, match=r"missing file or folder in s3://other/memories"):
        shards_of("s3://other/memories")


def test_a_store_out_of_reach_is_one_line_and_exit_code_3(tmp_path):
    environment = {
        **os.environ,
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "audits", *ASKED, "s3://lab/memories"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("error: store cannot be used in s3://lab/memories: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_scratch_folder_is_of_its_own_and_gone_in_the_end(tmp_path):
    with scratch(str(tmp_path)) as one, scratch(str(tmp_path)) as other:
        assert one != other
        stores.write(stores.join(one, "kind-0/0.z"), b"bytes")
    assert not list(tmp_path.iterdir())


def test_errors_of_a_local_disk_stay_what_they_are(tmp_path):
    with pytest.raises(PermissionError), stores.errors_reported(tmp_path):
        raise PermissionError(13, "Permission denied", str(tmp_path))
    with pytest.raises(MachineError, match="store cannot be used in s3://lab"), stores.errors_reported("s3://lab"):
        raise OSError("AWS Error ACCESS_DENIED during HeadObject operation\nmore")


@pytest.mark.parametrize(
    ("said", "error", "line"),
    [
        ("AWS Error NETWORK_CONNECTION during GetObject operation", MachineError, "store cannot be used"),
        ("google::cloud::Status(UNAVAILABLE: retry policy exhausted)", MachineError, "store cannot be used"),
        ("Corrupt snappy compressed data.", RequestError, "unreadable Parquet"),
        ("Couldn't deserialize thrift: don't know what type: ", RequestError, "unreadable Parquet"),
    ],
)
def test_a_store_that_fails_while_a_file_is_read_is_not_taken_for_a_broken_file(said, error, line):
    path = "s3://lab/memories/0.parquet"
    with pytest.raises(error, match=f"{line} in {path}"), readable(path):
        raise OSError(said)


@needs_moto
def test_a_broken_footer_in_a_bucket_is_named_as_one_on_disk_is(lab, tmp_path):
    put_rows(f"{lab}/memories", many_memories(3), 3)
    system, inside = stores.opened(f"{lab}/memories/00000.parquet")
    with system.open_input_stream(inside) as stream:
        whole = bytes(stream.read())
    broken = whole[:-60] + b"\xff" * 52 + whole[-8:]
    (tmp_path / "00000.parquet").write_bytes(broken)
    stores.write(f"{lab}/memories/00000.parquet", broken)
    for folder in (f"{lab}/memories", tmp_path):
        with pytest.raises(RequestError, match=r"unreadable Parquet in .*/00000.parquet: Couldn't deserialize"):
            shards_of(folder)


def test_a_folder_is_fetched_without_hidden_names_and_only_what_is_new_once_more(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    for name in ("memories/a.jsonl", "memories/b.jsonl", ".audits/c", "d/.lock", "recipe.json"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
        os.utime(source / name, (1, 1))
    assert stores.fetch_folder(source, target) == 3
    assert set(files_of(target)) == {"memories/a.jsonl", "memories/b.jsonl", "recipe.json"}
    (target / "memories/a.jsonl").write_text("as large as it was"[:16])
    (target / "memories/b.jsonl").write_text("cut")
    (target / "memories/removed.jsonl").write_text("{}")
    stores.fetch_folder(source, target)
    assert (target / "memories/a.jsonl").read_text() == "as large as it w"
    assert not (target / "memories/removed.jsonl").exists()
    os.utime(source / "memories/a.jsonl")
    os.utime(target / "memories/a.jsonl", (1, 1))
    stores.fetch_folder(source, target)
    assert files_of(target)["memories/a.jsonl"] == b"memories/a.jsonl"
    assert files_of(target)["memories/b.jsonl"] == b"memories/b.jsonl"


def test_a_folder_without_anything_to_fetch_is_named(tmp_path):
    with pytest.raises(RequestError, match=r"missing file or folder in .*nothing"):
        stores.fetch_folder(tmp_path / "nothing", tmp_path / "target")
    assert not (tmp_path / "target").exists()


@needs_moto
def test_a_workspace_in_a_bucket_is_frozen_as_one_on_disk_is(lab, tmp_path, monkeypatch):
    outcome = gate.Outcome(CHECKS, (), ())
    monkeypatch.setattr(gate, "check", lambda *_: outcome)
    build = write_workspace(tmp_path / "build", small_tables()).folder
    for name, data in files_of(build).items():
        stores.write(f"{lab}/build/heart/{name}", data)
    frozen = ["--quiet", "--frozen"]
    assert releases_main(["freeze", "heart@0.1.0", "--workspace", f"{lab}/build", *frozen, str(tmp_path / "one")]) == 0
    assert (
        releases_main(["freeze", "heart@0.1.0", "--workspace", str(tmp_path / "build"), *frozen, str(tmp_path / "two")])
        == 0
    )
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
