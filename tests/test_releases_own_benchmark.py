"""A benchmark of one's own: a folder of two tables is frozen, verified, queried and compared, and nothing is edited."""

import copy
import shutil
from pathlib import Path

import orjson
import pytest
from benchmark_samples import BENCHMARK, CARD, ROWS, write_benchmark

from releases.__main__ import main
from releases.opening import open_release
from schemas.rows import write_jsonl


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write_benchmark(tmp_path / "pets")


@pytest.fixture
def frozen(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and where its releases lie."""
    monkeypatch.chdir(tmp_path)
    return Path("releases/frozen")


def write_rows(rows: dict[str, list[dict[str, object]]]) -> None:
    for name, listed in rows.items():
        write_jsonl(Path("build/pets") / name / "all.jsonl", listed)


def releases(*words: object) -> int:
    return main([str(word) for word in words])


def freeze(home: Path, version: str, rows: dict[str, list[dict[str, object]]]) -> int:
    write_rows(rows)
    return releases("freeze", f"pets@{version}", "--benchmark", home)


def test_two_tables_are_frozen_and_then_verified_and_queried_without_the_folder(home, frozen, capsys):
    assert freeze(home, "0.1.0", ROWS) == 0
    shutil.rmtree(home)
    assert releases("verify", "pets@0.1.0") == 0
    capsys.readouterr()
    question = "SELECT name, count(food) AS seen FROM pets JOIN meals USING (pet_id) GROUP BY name ORDER BY name"
    assert releases("query", "pets@0.1.0", question, "--json") == 0
    assert orjson.loads(capsys.readouterr().out) == [{"name": "Mog", "seen": 1}, {"name": "Rex", "seen": 1}]
    assert releases("query", "pets@0.1.0", "--examples", "--json") == 0
    assert "SELECT * FROM pets LIMIT 5" in capsys.readouterr().out
    assert releases("show", "pets@0.1.0") == 0


def test_two_releases_are_compared_without_the_folder_by_the_roles_that_the_manifests_keep(home, frozen, capsys):
    toml = BENCHMARK.replace('file = "pet_id"', 'file = "pet_id"\nmetadata = ["food"]')
    (home / "benchmark.toml").write_text(toml)
    assert freeze(home, "1.0.0", ROWS) == 0
    rows = copy.deepcopy(ROWS)
    rows["meals"][0]["food"] = "tuna"
    assert freeze(home, "1.0.1", rows) == 0
    shutil.rmtree(home)
    capsys.readouterr()
    assert releases("diff", "pets@1.0.0", "pets@1.0.1", "--json") == 1
    found = orjson.loads(capsys.readouterr().out)
    assert (found["change"], found["reasons"]) == ("patch", ["meals.food (metadata): 1 rows changed"])


def test_a_changed_row_is_too_much_for_a_patch(home, frozen, capsys):
    assert freeze(home, "1.0.0", ROWS) == 0
    rows = copy.deepcopy(ROWS)
    rows["pets"][0]["name"] = "Tom"
    assert freeze(home, "1.0.1", rows) == 2
    assert "Freeze it as pets@2.0.0" in capsys.readouterr().err
    assert not (frozen / "pets/1.0.1").exists()


def test_tables_that_nobody_audits_are_named_in_manifest_and_card(home, frozen):
    assert freeze(home, "0.1.0", ROWS) == 0
    release = open_release("pets@0.1.0", frozen)
    assert release.manifest["checks"]["unaudited"] == ["pets", "meals"]
    card = (release.folder / "README.md").read_text("utf-8")
    assert "Not audited, only checked for their shape: `pets`, `meals`." in card
    assert "Follows no paper." in card and "One pet a row" in card
    assert release.manifest["paper"] is None


def test_what_does_not_keep_its_own_schema_is_refused(home, frozen, capsys):
    rows = copy.deepcopy(ROWS)
    rows["pets"][0]["kind"] = "fish"
    rows["meals"][0]["pet_id"] = 7
    assert freeze(home, "0.1.0", rows) == 1
    said = capsys.readouterr().err
    assert "schema.enum" in said and "link.dangling" in said
    assert not frozen.exists()


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"card": None}, "missing card.toml in"),
        ({"card": CARD.replace("license =", "licence =", 1)}, "unknown setting 'licence' in"),
        ({"benchmark": None}, "missing benchmark.toml in"),
        ({"pets": {"description": "x", "propertys": {}}}, "unknown keyword 'propertys' in"),
    ],
)
def test_a_folder_with_a_mistake_is_refused_before_anything_is_written(tmp_path, frozen, capsys, files, line):
    home = write_benchmark(tmp_path / "wrong" / "pets", **files)
    write_rows(ROWS)
    assert releases("freeze", "pets@0.1.0", "--benchmark", home) == 2
    assert capsys.readouterr().err.startswith(f"error: {line}")
    assert not frozen.exists()


def test_the_name_of_a_release_has_to_be_that_of_the_folder(home, frozen, capsys):
    write_rows(ROWS)
    assert releases("freeze", "dogs@0.1.0", "--benchmark", home) == 2
    assert "error: pets is no dogs" in capsys.readouterr().err


def test_lists_of_lists_can_be_frozen_and_read_back(tmp_path, frozen):
    record = {
        "description": "One board a row.",
        "properties": {
            "pet_id": {"type": "integer"},
            "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        },
    }
    home = write_benchmark(
        tmp_path / "boards",
        benchmark='title = "Boards"\n[tables.pets]\nkey = ["pet_id"]\n',
        pets=record,
        card=CARD.replace("meals", "pets"),
    )
    write_jsonl(Path("build/boards/pets/all.jsonl"), [{"pet_id": 1, "grid": [[1, 2], []]}])
    assert releases("freeze", "boards@0.1.0", "--benchmark", home) == 0
    release = open_release("boards@0.1.0", frozen)
    assert list(release.rows("pets")) == [{"pet_id": 1, "grid": [[1, 2], []]}]
    described = orjson.loads((release.folder / "croissant.json").read_bytes())
    assert described["recordSet"][0]["field"][1]["arrayShape"] == "-1,-1"
