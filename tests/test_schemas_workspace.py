"""The workspace: where rows lie, who may write, and which workspaces are refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from schemas.errors import MachineError, RequestError
from schemas.findings import Finding
from schemas.rows import read_jsonl
from schemas.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]


def test_rows_are_written_in_order_of_key_and_read_in_order_of_file(tmp_path, small_heart):
    workspace = Workspace(tmp_path, "heart")
    for character in ("CHAR_02", "CHAR_01"):
        rows = [row for row in small_heart["memories"] if row["character_id"] == character]
        assert workspace.write("memories", rows[::-1], character) == 3
    assert workspace.keys("memories") == ["CHAR_01", "CHAR_02"]
    assert [row["id"] for row in workspace.rows("memories")] == [
        f"MEM_{c}_000{n}" for c in ("01", "02") for n in (1, 2, 3)
    ]
    assert [row["id"] for row in workspace.rows("memories", "CHAR_02")] == ["MEM_02_0001", "MEM_02_0002", "MEM_02_0003"]
    assert list(workspace.tables()) == ["memories"]


def test_unfinished_files_are_no_tables(tmp_path):
    workspace = Workspace(tmp_path, "heart")
    folder = workspace.path("mcqs").parent
    folder.mkdir(parents=True)
    (folder / ".all.jsonl.123.part").write_text("{}")
    assert workspace.keys("mcqs") == []
    assert workspace.tables() == {}


def test_an_unknown_benchmark_or_table_is_refused_with_the_nearest_names(tmp_path):
    with pytest.raises(RequestError, match="Did you mean: heart"):
        Workspace(tmp_path, "hearts")
    with pytest.raises(RequestError, match="Did you mean: memories"):
        Workspace(tmp_path, "heart").path("memory")


@pytest.mark.parametrize(
    ("stamp", "said"),
    [
        ("{", "malformed workspace stamp"),
        ("[]", "malformed"),
        ("{}", "malformed"),
        ('{"layout": 99}', "another version"),
    ],
)
def test_a_workspace_of_another_version_is_refused(tmp_path, stamp, said):
    (tmp_path / "heart").mkdir()
    (tmp_path / "heart/workspace.json").write_text(stamp)
    with pytest.raises(RequestError, match=said):
        Workspace(tmp_path, "heart")


def test_a_second_writer_learns_who_holds_the_workspace_and_readers_are_not_held_up(tmp_path, small_heart):
    workspace = Workspace(tmp_path, "heart")
    script = (
        "import sys; from pathlib import Path; from schemas.workspace import Workspace\n"
        "with Workspace(Path(sys.argv[1]), 'heart').lock():\n    print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    holder = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(MachineError, match=f"workspace is held in .*: process {holder.pid}"), workspace.lock():
            pass
        assert workspace.keys("memories") == []
    finally:
        holder.kill()
        holder.communicate()
    with workspace.lock():
        workspace.write("memories", small_heart["memories"])
    Workspace(tmp_path, "heart")


def test_findings_are_kept_in_their_one_order(tmp_path):
    workspace = Workspace(tmp_path, "heart")
    made = [
        Finding("b.x", "memories", "MEM_01_0002", None, "error", None, None, "later", "test"),
        Finding("a.x", "memories", "MEM_01_0002", "age", "note", (1, 2), "text", "middle", "test"),
        Finding("z.x", "memories", "MEM_01_0001", None, "warning", None, None, "first", "test"),
    ]
    assert workspace.write_findings("memories", made) == 3
    kept = list(read_jsonl(workspace.folder / "findings/memories.jsonl"))
    assert [each["message"] for each in kept] == ["first", "middle", "later"]
    assert kept[1]["span"] == [1, 2]
