"""Rebuilding: the same content, or where the two part; and nothing but builders is ever run."""

import orjson
import pytest
from release_samples import CHECKS, command, many_memories, release_of, small_tables, write_workspace

from builders.__main__ import main as build
from releases.freeze import Plan, freeze
from releases.manifest import encode, sealed
from releases.opening import open_release
from releases.rebuild import compare, rebuild
from schemas.errors import RequestError
from schemas.release_names import parse_name
from schemas.workspace import Workspace


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("rebuild"), "heart@0.1.0", small_tables())


def with_recipe(release, folder, command_words):
    """The release with another recipe, its manifest put right again."""
    from release_samples import copy_of

    copy = copy_of(release, folder)
    manifest = orjson.loads((copy / "manifest.json").read_bytes())
    recipe = manifest["built"]["recipe"]
    manifest["built"]["recipe"] = recipe | {"command": command_words} if command_words is not None else None
    (copy / "manifest.json").write_bytes(encode(sealed(manifest)))
    return copy


def test_the_same_rows_in_another_order_of_files_are_the_same_content(release, tmp_path):
    workspace = write_workspace(tmp_path, {name: rows[::-1] for name, rows in small_tables().items()})
    assert all(table.same for table in compare(release, workspace))


def test_where_rows_part_is_reported_by_table_row_and_field(release, tmp_path):
    tables = small_tables()
    tables["memories"][1]["context"] = "Elsewhere"
    tables["memories"].append(many_memories(999)[-1])
    found = {table.table: table for table in compare(release, write_workspace(tmp_path, tables))}
    assert {name for name, table in found.items() if not table.same} == {"memories"}
    assert found["memories"].diff.changed == {tables["memories"][1]["id"]: ["context"]}
    assert found["memories"].diff.added == ["MEM_01_0999"]


def test_a_table_that_was_not_rebuilt_differs(release, tmp_path):
    workspace = write_workspace(tmp_path, small_tables())
    workspace.path("mcqs").unlink()
    (table,) = [table for table in compare(release, workspace) if not table.same]
    assert (table.table, table.found) == ("mcqs", None)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["os"],
        ["releases", "freeze", "heart@9.9.9"],
        ["builders; rm -rf x"],
        ["builders.x", "--workspace", "elsewhere"],
        ["builders.x", "--workspace=elsewhere"],
        ["-c", "print(1)"],
    ],
)
def test_a_recipe_that_is_no_command_of_builders_is_not_run(release, tmp_path, words):
    tampered = open_release(with_recipe(release, tmp_path / "copy", words))
    with pytest.raises(RequestError, match="unusable recipe"):
        rebuild(tampered, tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_a_release_without_a_recipe_says_so(release, tmp_path):
    done = command("rebuild", with_recipe(release, tmp_path / "copy", None))
    assert done.returncode == 2 and done.stderr.startswith("error: no recipe") and done.stderr.count("\n") == 1


def test_a_recipe_is_run_and_its_rows_are_compared(release, tmp_path):
    """The recipe here makes the characters alone: they are compared, the other tables are not rebuilt."""
    copy = with_recipe(release, tmp_path / "copy", ["builders.personas", "--benchmark", "heart"])
    done = command("rebuild", copy, "--json", "--keep", tmp_path / "work")
    document = orjson.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    built = list(Workspace(tmp_path / "work", "heart").rows("characters"))
    assert len(built) == 11
    assert document["tables"]["characters"]["same"] is False
    assert document["tables"]["characters"]["found"] is not None
    assert document["tables"]["mcqs"]["found"] is None


def test_a_recipe_that_fails_is_a_failure_of_the_machine_and_says_which(release, tmp_path):
    copy = with_recipe(release, tmp_path / "copy", ["builders.personas", "--benchmark", "hart"])
    done = command("rebuild", copy)
    assert done.returncode == 3
    assert "python -m builders.personas --benchmark hart ended with 2" in done.stderr


def test_a_release_of_built_rows_rebuilds_to_the_same_content(tmp_path):
    few = [word for number in range(1, 5) for word in ("--char", f"CHAR_0{number}")]
    words = ["run", "heart", *few, "--count", "12", "--workspace", str(tmp_path / "build"), "--quiet"]
    assert build(words) in (0, 1)
    frozen = freeze(
        Plan(parse_name("heart@0.1.0"), Workspace(tmp_path / "build", "heart"), tmp_path / "frozen"), CHECKS
    )
    done = command("rebuild", frozen.folder, "--json")
    assert done.returncode == 0, done.stderr
    document = orjson.loads(done.stdout)
    assert document["same"] is True
    assert set(document["tables"]) == set(frozen.tables)
