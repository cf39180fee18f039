"""Freezing: the same rows give the same bytes, whole or not at all, once."""

import os
import random
import resource
import shutil
import stat
import subprocess
import sys
import time

import orjson
import pytest
from release_samples import (
    CHECKS,
    KILLS,
    RECIPE,
    ROOT,
    command,
    files_of,
    keeper,
    many_memories,
    names_in,
    release_of,
    small_tables,
    write_workspace,
)

from releases.freeze import Plan, freeze
from releases.verify import verify
from schemas.errors import RequestError
from schemas.release_names import parse_name

FREEZE = """
import pathlib, duckdb, pyarrow.dataset, pyarrow.parquet
from releases.freeze import Plan, freeze
from schemas.release_names import parse_name
from schemas.workspace import Workspace
sys.path.insert(0, "tests")
from release_samples import CHECKS

def work(argument):
    build, frozen = map(pathlib.Path, argument.split("|"))
    freeze(Plan(parse_name("heart@0.1.0"), Workspace(build, "heart"), frozen), CHECKS)
"""


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("parent"), "heart@0.1.0", small_tables())


def test_the_same_rows_give_the_same_bytes_in_another_process_and_order(tmp_path):
    tables = small_tables()
    one = release_of(tmp_path / "one", "heart@0.1.0", tables)
    shuffled = {name: random.Random(3).sample(rows, len(rows)) for name, rows in tables.items()}
    build = tmp_path / "two" / "build"
    write_workspace(build, shuffled)
    with keeper(FREEZE) as process:
        assert process.run(f"{build}|{tmp_path / 'two' / 'frozen'}")
    assert files_of(tmp_path / "two/frozen/heart/0.1.0") == files_of(one.folder)


def test_a_release_holds_nothing_of_a_clock_a_machine_or_a_place(tmp_path):
    release = release_of(tmp_path, "heart@0.1.0", small_tables())
    year, here = str(time.gmtime().tm_year).encode(), str(tmp_path).encode()
    for name, data in files_of(release.folder).items():
        assert here not in data, name
        if not name.endswith(".parquet"):
            assert year not in data, name


def test_everything_is_read_only_and_nothing_else_is_left(tmp_path):
    release = release_of(tmp_path, "heart@0.1.0", small_tables())
    for path in [release.folder, *release.folder.rglob("*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o222, path
    assert names_in(release.folder.parent) == ["0.1.0"]
    assert [p.name for p in release.folder.parent.iterdir() if p.is_dir()] == ["0.1.0"]


def test_rows_are_in_order_of_key(tmp_path):
    release = release_of(tmp_path, "heart@0.1.0", small_tables())
    for table in release.tables:
        keys = [tuple(row.values()) for row in release.keys_of(table)]
        assert keys == sorted(keys) and len(set(keys)) == len(keys)


def test_a_version_is_never_overwritten(tmp_path):
    release = release_of(tmp_path, "heart@0.1.0", small_tables())
    before = files_of(release.folder)
    with pytest.raises(RequestError, match=r"heart@0\.1\.0 exists .* never overwritten"):
        release_of(tmp_path, "heart@0.1.0", {**small_tables(), "memories": many_memories(3)})
    assert files_of(release.folder) == before


def test_a_link_in_the_place_of_a_release_is_left_alone(tmp_path):
    (tmp_path / "frozen/heart").mkdir(parents=True)
    (tmp_path / "frozen/heart/0.1.0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RequestError, match="never overwritten"):
        release_of(tmp_path, "heart@0.1.0", small_tables())
    assert not (tmp_path / "elsewhere").exists()


def test_a_missing_table_is_refused_and_nothing_is_left(tmp_path):
    workspace = write_workspace(tmp_path / "build", small_tables())
    workspace.path("mcqs").unlink()
    with pytest.raises(RequestError, match=r"missing table .*mcqs\. Build mcqs first"):
        freeze(Plan(parse_name("heart@0.1.0"), workspace, tmp_path / "frozen"), CHECKS)
    assert names_in(tmp_path / "frozen/heart") == []


def test_a_row_that_does_not_fit_is_refused_and_nothing_is_left(tmp_path):
    memories = many_memories(2500)
    memories[2100]["age"] = "eight"
    workspace = write_workspace(tmp_path / "build", {**small_tables(), "memories": memories})
    with pytest.raises(RequestError, match="row does not fit in memories, row MEM_01_2101"):
        freeze(Plan(parse_name("heart@0.1.0"), workspace, tmp_path / "frozen"), CHECKS)
    assert [path.name for path in (tmp_path / "frozen/heart").iterdir()] == [".lock"]


def test_the_manifest_says_who_made_which_rows_and_who_reviewed_them(tmp_path):
    tables = small_tables()
    source = {
        "origin": "built",
        "backend": "messages",
        "model": "model-x",
        "prompt": "decide@1",
        "prompt_digest": "b" * 64,
        "seed": 7,
        "revision": 1,
        "repairs": ["person.third"],
    }
    tables["decisions"][0]["provenance"] = source
    tables["decisions"][0]["review"] = {"status": "unanimous", "annotators": 3, "digest": "c" * 64}
    manifest = release_of(tmp_path, "heart@0.1.0", tables).manifest
    (group,) = [group for group in manifest["built"]["rows"] if group["backend"] == "messages"]
    named = {key: value for key, value in source.items() if key not in ("revision", "repairs")}
    assert group == {"table": "decisions", **named, "rows": 1, "repaired": 1}
    others = len(tables["decisions"]) - 1
    assert manifest["review"] == {"decisions": {"unanimous": 1, "unreviewed": others}}
    assert manifest["built"]["recipe"]["command"] == RECIPE
    assert manifest["built"]["recipe"]["seed"] == 7


def later_memory():
    """One of an age that no scenario is of."""
    return {**many_memories(999)[-1], "age": 49}


@pytest.mark.parametrize(
    ("version", "change", "refusal"),
    [
        ("0.1.1", lambda tables: tables["mcq_keys"][0].update(answer="A"), "Freeze it as heart@1.0.0"),
        ("0.9.0", lambda tables: tables["mcqs"][0]["options"][0].update(content="other"), "Freeze it as heart@1.0.0"),
        ("0.2.0", lambda tables: tables["memories"].pop(), "Freeze it as heart@1.0.0"),
        ("0.2.0", lambda tables: tables["memories"].append(many_memories(999)[-1]), "Freeze it as heart@1.0.0"),
        ("0.1.1", lambda tables: tables["memories"].append(later_memory()), "Freeze it as heart@0.2.0"),
        ("0.1.1", lambda tables: tables["mcqs"][0].update(provenance=None, published=[]), None),
        ("0.2.0", lambda tables: tables["memories"].append(later_memory()), None),
        ("1.0.0", lambda tables: tables["mcq_keys"][0].update(answer="A"), None),
        ("0.1.1", lambda tables: None, None),
    ],
)
def test_the_version_has_to_be_as_large_a_step_as_the_change(parent, tmp_path, version, change, refusal):
    shutil.copytree(parent.folder.parent, tmp_path / "frozen/heart")
    tables = small_tables()
    change(tables)
    if refusal is None:
        assert release_of(tmp_path, f"heart@{version}", tables).manifest["parent"]["version"] == "0.1.0"
        return
    with pytest.raises(RequestError, match=refusal):
        release_of(tmp_path, f"heart@{version}", tables)
    assert names_in(tmp_path / "frozen/heart") == ["0.1.0"]


def test_a_parent_that_does_not_verify_stops_the_freeze(tmp_path):
    parent = release_of(tmp_path, "heart@0.1.0", small_tables())
    card = parent.folder / "README.md"
    card.chmod(0o644)
    card.write_text("edited", "utf-8")
    with pytest.raises(RequestError, match=r"release does not verify in heart@0\.1\.0, README\.md"):
        release_of(tmp_path, "heart@0.1.1", small_tables())


def test_killed_at_any_instant_it_leaves_a_whole_release_or_none_and_the_next_run_makes_it(tmp_path):
    write_workspace(tmp_path / "build", {**small_tables(), "memories": many_memories(1500)})
    with keeper(FREEZE) as process:
        start = time.monotonic()
        assert process.run(f"{tmp_path / 'build'}|{tmp_path / 'calm'}")
        length = time.monotonic() - start
        expected = files_of(tmp_path / "calm/heart/0.1.0")
        chance, broken = random.Random(7), 0
        for number in range(KILLS):
            frozen = tmp_path / str(number)
            argument = f"{tmp_path / 'build'}|{frozen}"
            finished = process.run(argument, seconds=chance.uniform(0.05, 1.05) * length)
            if (frozen / "heart/0.1.0").exists():
                assert verify(frozen / "heart/0.1.0").problems == ()
            else:
                assert not finished
                broken += 1
                assert process.run(argument)
            assert files_of(frozen / "heart/0.1.0") == expected
            assert names_in(frozen / "heart") == ["0.1.0"]
    assert broken >= 3


def test_a_full_disk_is_reported_in_one_line_and_leaves_nothing(tmp_path):
    write_workspace(tmp_path / "build", {**small_tables(), "memories": many_memories(3000)})

    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    script = (
        "import sys; sys.path.insert(0, 'tests'); from release_samples import CHECKS; from pathlib import Path\n"
        "from releases.freeze import Plan, freeze; from schemas.release_names import parse_name\n"
        "from schemas.command import parser, run; from schemas.workspace import Workspace\n"
        "plan = Plan(parse_name('heart@0.1.0'), Workspace(Path(sys.argv[1]), 'heart'), Path(sys.argv[2]))\n"
        "sys.exit(run(lambda args: freeze(plan, CHECKS) and 0, parser('x', 'x', 'x'), []))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "build"), str(tmp_path / "frozen")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=no_room,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1 and "Free some room" in done.stderr
    assert [path.name for path in (tmp_path / "frozen/heart").iterdir()] == [".lock"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("heart@1.0",), "error: bad version '1.0'"),
        (("hart@1.0.0",), "error: unknown benchmark 'hart'"),
        (("heart@0.1.0", "--allow", "length.short"), "error: --allow without its reason"),
        (("heart@0.1.0", "--date", "tomorrow"), "error: argument --date: 'tomorrow' is not a date"),
        (("heart@0.1.0", "--date", "2026-02-30"), "error: argument --date: '2026-02-30' is not a date"),
        (("heart@0.1.0",), "error: no working rows in"),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(tmp_path, words, line):
    done = command("freeze", *words, "--workspace", tmp_path / "nothing", "--frozen", tmp_path / "frozen")
    assert done.returncode == 2
    assert done.stderr.startswith(line) and done.stderr.count("\n") == 1 and done.stdout == ""
    assert not (tmp_path / "frozen").exists()


def test_a_second_writer_learns_that_the_folder_is_held(tmp_path):
    from releases.placing import writing

    workspace = write_workspace(tmp_path / "build", small_tables())
    plan = Plan(parse_name("heart@0.1.0"), workspace, tmp_path / "frozen")
    with writing(tmp_path / "frozen/heart"):
        from schemas.errors import MachineError

        with pytest.raises(MachineError, match="is held"):
            freeze(plan, CHECKS)
    assert freeze(plan, CHECKS).name == plan.name


def test_the_date_is_whatever_a_person_gives_and_nothing_otherwise(tmp_path):
    undated = release_of(tmp_path / "a", "heart@0.1.0", small_tables())
    dated = release_of(tmp_path / "b", "heart@0.1.0", small_tables(), released="2031-05-06")
    assert undated.manifest["released"] is None and dated.manifest["released"] == "2031-05-06"
    assert orjson.loads((dated.folder / "croissant.json").read_bytes())["datePublished"] == "2031-05-06"
    assert undated.content_digest == dated.content_digest and undated.digest != dated.digest
