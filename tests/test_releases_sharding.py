"""A table that is written in pieces has the bytes of one that is written in one go, and finished pieces stay."""

import itertools
import random

import orjson
import pytest
from release_samples import CHECKS, files_of, many_memories, small_tables, write_workspace

from releases.freeze import Plan, freeze
from releases.parquet import write_table
from releases.provenance import Tally
from releases.sharding.tables import Sharded
from releases.source import rows_in_order
from releases.verify import verify
from schemas.engines.local import Local
from schemas.engines.shards import ROWS
from schemas.errors import RequestError
from schemas.release_names import parse_name
from schemas.workspace import Workspace

CANARY = "CANARY 1234"


def workspace_of(root, files):
    """A workspace whose table of memories has these working files."""
    workspace = Workspace(root, "heart")
    with workspace.lock():
        for number, rows in enumerate(files):
            workspace.write("memories", rows, f"CHAR_{number:02d}")
    return workspace


def shuffled_files(rows, cuts, seed):
    """Rows in files: in order, cut at some places; the last two files have rows in turn."""
    random.Random(seed).shuffle(cuts)
    ends = [0, *sorted(cuts), len(rows)]
    files = [rows[start:end] for start, end in itertools.pairwise(ends)]
    together = files.pop() + files.pop()
    return [*files, together[::2], together[1::2]]


@pytest.mark.parametrize(("cuts", "bytes_per_file"), [([700, 1000, 3100], 900_000), ([2500], 10**9), ([1, 2, 3], 1)])
def test_pieces_files_and_row_groups_leave_no_trace_in_bytes_and_digests(tmp_path, cuts, bytes_per_file):
    rows = many_memories(2 * ROWS + 345)
    workspace = workspace_of(tmp_path / "build", shuffled_files(rows, cuts, 3))
    table = workspace.benchmark.table("memories")
    made = []
    for name in ("whole", "cut"):
        folder, tally = tmp_path / name, Tally()
        folder.mkdir()
        if name == "whole":
            written = write_table(folder, table, rows_in_order(workspace, "memories"), bytes_per_file, CANARY, tally)
        else:
            sharded = Sharded(workspace, Local(1), tmp_path / "shards", bytes_per_file)
            written = sharded("memories", folder, tally, CANARY)
        made.append((written, tally.built(None), tally.review(), files_of(folder)))
    assert made[0] == made[1]
    assert len(made[0][0].entry["files"]) == {900_000: 3, 10**9: 1, 1: 5}[bytes_per_file]


def test_a_finished_piece_is_not_made_again_and_a_changed_one_is(tmp_path):
    workspace = workspace_of(tmp_path / "build", [many_memories(40)[:20], many_memories(40)[20:]])
    shards = tmp_path / "shards"
    sharded = Sharded(workspace, Local(1), shards)

    def write(name):
        (tmp_path / name).mkdir()
        sharded("memories", tmp_path / name, Tally(), None)
        return files_of(tmp_path / name), {path.name: path.stat().st_mtime_ns for path in shards.iterdir()}

    files, first = write("one")
    assert write("again") == (files, first)
    cut_short = next(shards.glob("*.json"))
    cut_short.unlink()  # the process was killed before it was finished
    (shards / f"{cut_short.stem}.arrow").write_bytes(b"half a batch")
    assert write("resumed")[0] == files
    rows = list(workspace.rows("memories", "CHAR_01"))
    workspace.write("memories", [{**rows[0], "age": rows[0]["age"] + 1}, *rows[1:]], "CHAR_01")
    changed, last = write("changed")
    assert changed != files
    assert len(last.keys() - first.keys()) == 4  # batches, canonical rows, what is known of them; and the file


@pytest.mark.parametrize("files", [[[0, 1], [1, 2]], [[0, 1, 1]], [[0, 0], [2]]])
def test_a_key_that_occurs_twice_is_refused_as_it_is_without_an_engine(tmp_path, files):
    rows = many_memories(3)
    workspace = workspace_of(tmp_path / "build", [[rows[place] for place in file] for file in files])
    (tmp_path / "staging").mkdir()
    with pytest.raises(RequestError) as whole:
        list(rows_in_order(workspace, "memories"))
    with pytest.raises(RequestError) as cut:
        Sharded(workspace, Local(1), tmp_path / "shards")("memories", tmp_path / "staging", Tally(), None)
    assert str(cut.value) == str(whole.value)


def test_a_key_that_occurs_twice_in_its_line_is_refused_on_an_engine_and_without(tmp_path):
    workspace = workspace_of(tmp_path / "build", [many_memories(30)])
    file = workspace.path("memories", "CHAR_00")
    lines = file.read_text("utf-8").splitlines()
    first = orjson.loads(lines[0])["id"]
    file.write_text("\n".join([*lines[:-1], f'{lines[-1][:-1]},"id":"{first}"}}']) + "\n", "utf-8")
    (tmp_path / "out").mkdir()
    with pytest.raises(RequestError, match=f"occurs twice in its line in memories, row {first}"):
        list(rows_in_order(workspace, "memories"))
    with pytest.raises(RequestError, match=f"occurs twice in its line in memories, row {first}"):
        Sharded(workspace, Local(1), tmp_path / "shards")("memories", tmp_path / "out", Tally(), None)


def test_a_release_frozen_on_an_engine_is_the_one_frozen_without(tmp_path):
    workspace = write_workspace(tmp_path / "build", small_tables())
    name = parse_name("heart@0.1.0")
    one = freeze(Plan(name, workspace, tmp_path / "one"), CHECKS)
    two = freeze(Plan(name, workspace, tmp_path / "two", engine=Local(1)), CHECKS)
    assert files_of(one.folder) == files_of(two.folder)
    assert verify(two.folder, engine=Local(2)) == verify(two.folder)
    assert [path.name for path in two.folder.parent.iterdir() if path.is_dir()] == ["0.1.0"]
