"""Every engine gives the same results in the same order, whatever dies on the way."""

import hashlib
import importlib.util
import json
import os
import signal
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.engines import shards, stores
from schemas.engines.choice import engine, scratch
from schemas.engines.groups import Partitions
from schemas.engines.local import Local
from schemas.engines.shards import shards_of
from schemas.errors import MachineError, RequestError
from schemas.rows import write_jsonl

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is the extra scale")


def die_once(folder, number):
    """The square of a number; the process that is first to work on the fifth is killed."""
    marker = folder / "died"
    if number == 5 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def pairs_of(groups):
    return list(groups.items())


def die(number):
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(number):
    if number == 3:
        raise RequestError("a bad row", "table.jsonl", row="r3")
    return number


def test_results_come_in_order_and_a_killed_worker_changes_nothing(tmp_path):
    assert list(Local(2).map(partial(die_once, tmp_path), range(12))) == [n * n for n in range(12)]
    assert (tmp_path / "died").exists()


def test_an_item_that_kills_every_worker_ends_the_run_with_one_line():
    with pytest.raises(MachineError, match="workers died one after another"):
        list(Local(2).map(die, range(2)))


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_a_task_arrives_as_it_was_raised(processes):
    results = Local(processes).map(refuse, range(6))
    with pytest.raises(RequestError, match=r"^a bad row in table.jsonl, row r3$"):
        list(results)


@needs_ray
def test_ray_gives_the_results_of_local_through_a_killed_worker_and_an_error(tmp_path, monkeypatch, capsys):
    here = [os.environ.get("PYTHONPATH", ""), str(Path(__file__).parent)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, here)))  # this module is no part of the package
    ray = engine("ray", 2)
    assert list(ray.map(partial(die_once, tmp_path), range(12))) == [n * n for n in range(12)]
    with pytest.raises(RequestError, match="a bad row in table"):
        list(ray.map(refuse, range(6)))
    assert capsys.readouterr().out == ""  # Ray says there that a worker died, in the midst of a command's JSON


def test_a_missing_cluster_and_a_missing_extra_are_one_line_each():
    if importlib.util.find_spec("ray") is None:
        with pytest.raises(RequestError, match=r"Ray is not installed.*anamnesis\[scale\]"):
            engine("ray", 1)
    else:
        from schemas.engines import on_ray

        with pytest.raises(MachineError, match=r"no Ray cluster in 127\.0\.0\.1:9"):
            on_ray._check_reachable("127.0.0.1:9")


def test_a_table_in_several_files_is_read_in_order_of_name_with_the_place_of_each_part(tmp_path):
    rows = [{"id": f"r{number}", "n": number} for number in range(5000)]
    pq.write_table(pa.Table.from_pylist(rows[:4500]), tmp_path / "a.parquet", row_group_size=1000)
    write_jsonl(tmp_path / "b.jsonl", rows[4500:])
    found = shards_of(tmp_path)
    assert [(shard.first, shard.rows) for shard in found] == [(0, 2000), (2000, 2000), (4000, 500), (4500, 500)]
    assert [row for shard in found for row in shard.read()] == rows
    assert found[0].read(["n"])[7] == {"n": 7}


def test_a_long_file_of_lines_is_cut_into_parts_and_a_bad_line_keeps_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "ROWS", 3)
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps({"row": number, "text": "é" * number}) for number in range(8)]
    path.write_text("\n".join([*lines[:4], "", *lines[4:]]), "utf-8")
    parts = shards.shards_of(path)
    assert [(each.first, each.rows, each.line) for each in parts] == [(0, 3, 1), (3, 3, 4), (6, 2, 8)]
    assert [row["row"] for each in parts for row in each.read()] == list(range(8))
    path.write_text("\n".join([*lines[:6], "{"]), "utf-8")
    with pytest.raises(RequestError, match=r"rows\.jsonl:7"):
        shards.shards_of(path)[-1].read()


@pytest.mark.parametrize(("name", "content"), [("cut.parquet", b"PAR1 cut short"), ("empty.jsonl", b"")])
def test_a_file_that_is_cut_or_empty_is_one_line_with_its_name(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RequestError, match=r"unreadable Parquet in .*cut.parquet|no rows in .*"):
        shards_of(tmp_path)


def test_a_url_survives_being_a_path_and_an_unknown_scheme_is_refused():
    assert stores.location(stores.Path("s3://lab/memories")) == "s3://lab/memories"
    with pytest.raises(RequestError, match="unknown store"):
        stores.is_url("ftp://lab/memories")


def test_groups_are_whole_and_in_the_order_of_the_table_however_many_partitions(tmp_path):
    pairs = [(f"g{number % 7}", number) for number in range(100)]
    for count in (1, 5):
        with scratch(str(tmp_path)) as folder:
            partitions = Partitions(folder, count)
            for part in range(4):
                partitions.write("kind", part, pairs[part * 25 : part * 25 + 25])
            groups = dict(pair for some in partitions.map(Local(1), "kind", pairs_of, 4) for pair in some)
            assert groups == {f"g{each}": list(range(each, 100, 7)) for each in range(7)}
            assert partitions.find("kind", {"g3", "absent"}, 4) == {"g3": groups["g3"]}
    assert not list(tmp_path.iterdir())


@needs_ray
def test_a_cluster_of_two_nodes_finds_what_one_process_finds(tmp_path, monkeypatch):
    import ray
    from ray.cluster_utils import Cluster

    ray.shutdown()  # of another test
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    here = [os.environ.get("PYTHONPATH", ""), str(Path(__file__).parent)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, here)))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        on_two = engine("ray", 1)
        assert ray.cluster_resources()["CPU"] == 2
        partitions = Partitions(str(tmp_path), 3)
        partitions.write("kind", 0, [(f"g{number % 5}", number) for number in range(40)])
        grouped = [list(partitions.map(each, "kind", pairs_of, 1)) for each in (on_two, Local(1))]
        assert grouped[0] == grouped[1]
        nodes = set(on_two.map(node_of, range(8)))
        assert len(nodes) == 2
    finally:
        ray.shutdown()
        cluster.shutdown()


def node_of(number):
    import ray

    hashlib.pbkdf2_hmac("sha256", b"work", b"", 400_000)  # enough that one node does not do it all
    return ray.get_runtime_context().get_node_id()
