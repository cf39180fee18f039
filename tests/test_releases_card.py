"""The card: it says what the manifest says, its figures are what its commands give, and machines can read it."""

import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET

import orjson
import pyarrow.parquet as pq
import pytest
import yaml
from benchmark_samples import CARD, write_benchmark
from release_samples import PROVENANCE, ROOT, command, release_of, small_tables

from releases.__main__ import main
from releases.asking.bounded import Patience
from releases.cards.card import figures
from releases.cards.figures import bars, draw, number
from releases.cards.front_matter import head
from releases.cards.texts import card_texts
from releases.query import connect
from schemas.benchmarks import benchmark, benchmark_names
from schemas.errors import RequestError


def tables_made_by(backend, model=None):
    tables = small_tables()
    for rows in tables.values():
        for row in rows:
            if "provenance" in row:
                row["provenance"] = {**PROVENANCE, "backend": backend, "model": model}
    return tables


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("card"), "heart@0.1.0", tables_made_by("offline"))


@pytest.fixture(scope="module")
def readme(release):
    return (release.folder / "README.md").read_text("utf-8")


def test_a_card_says_plainly_that_composed_text_is_composed(readme):
    assert "composed, not written by a language model and not by people" in readme
    assert "For research on narrative" in readme and "build with a model" in readme
    assert "No person has reviewed the decisions" in readme


def test_a_card_names_the_models_and_says_when_text_is_mixed(tmp_path):
    written = release_of(tmp_path / "a", "heart@0.1.0", tables_made_by("messages", "model-x"))
    text = (written.folder / "README.md").read_text("utf-8")
    assert "written by language models" in text and "model `model-x`" in text and "is composed" not in text
    tables = tables_made_by("messages", "model-x")
    tables["memories"][0]["provenance"] = PROVENANCE
    mixed = release_of(tmp_path / "b", "heart@0.1.0", tables)
    assert "Part of the text" in (mixed.folder / "README.md").read_text("utf-8")


def test_a_reviewed_release_does_not_say_that_nobody_looked(tmp_path):
    tables = small_tables()
    for row in tables["decisions"]:
        row["review"] = {"status": "unanimous", "annotators": 3, "digest": "a" * 64}
    text = (release_of(tmp_path, "heart@0.1.0", tables).folder / "README.md").read_text("utf-8")
    assert "No person has reviewed" not in text
    assert f"| `decisions` | unanimous | {len(tables['decisions'])} |" in text


def test_every_table_is_listed_with_its_rows(release, readme):
    for table, rows in release.tables.items():
        assert re.search(rf"^\| `{table}` \| {rows:,} \|", readme, re.M)


def test_every_figure_stands_beside_the_command_that_gives_its_numbers(release, readme, capfdbinary):
    blocks = re.findall(r"!\[(.+?)\]\((figures/.+?\.svg)\)\n\n```sh\n(.+?)\n```", readme)
    assert len(blocks) == len(figures(card_texts(benchmark("heart")), release.tables)) >= 4
    for reported, image, line in blocks:
        words = shlex.split(line)
        assert words[:5] == ["python", "-m", "releases", "query", "heart@0.1.0"]
        assert main(["query", str(release.folder), words[5], "--json"]) == 0
        rows = orjson.loads(capfdbinary.readouterr().out)
        numbers = [f"{row['label']}: {number(row['value'])}" for row in rows]
        assert reported.endswith("; ".join(numbers))
        drawn = ET.fromstring((release.folder / image).read_text("utf-8"))
        assert "; ".join(numbers) == drawn.find("{*}desc").text


def test_a_figure_is_drawn_to_scale_and_survives_any_label(release):
    (figure,) = [f for f in figures(card_texts(benchmark("heart")), release.tables) if f.name == "answers-by-letter"]
    with connect(release) as connection:
        shown = bars(connection, figure, Patience(60))
    drawn = ET.fromstring(draw(figure, shown))
    lengths = [float(r.get("width")) for r in drawn.findall("{*}rect") if r.get("fill") == "#3b6ea5"]
    assert len(lengths) == len(shown)
    top = max(bar.value for bar in shown)
    for bar, length in zip(shown, lengths, strict=True):
        assert length == pytest.approx(max(lengths) * bar.value / top, abs=0.1)
    strange = [type(shown[0])('<script>"&', 1.0, None)]
    assert ET.fromstring(draw(figure, strange)).find("{*}desc").text == '<script>"&: 1'
    assert ET.fromstring(draw(figure, [])) is not None


def test_the_python_and_duckdb_lines_of_the_card_point_at_what_is_there(release, readme):
    place = f"releases/frozen/heart/{release.version}"
    assert f'load_dataset("{place}", "mcqs", split="test")' in readme
    for path in re.findall(rf"'{place}/(.+?)'", readme):
        assert list(release.folder.glob(path))


def test_the_card_at_the_root_is_the_same_words_with_links_that_lead_somewhere(release, readme, tmp_path):
    out = tmp_path / "DATASET_CARD.md"
    assert command("card", release.folder, "--out", out).returncode == 0
    text = out.read_text("utf-8")
    assert text.startswith("# HEART-BENCH") and "config_name" not in text
    links = re.findall(r"!\[.+?\]\((.+?)\)", text)
    assert len(links) >= 4 and all((tmp_path / link).is_file() for link in links)
    assert re.sub(r"\]\(\S*figures/", "](figures/", text) == readme.split("\n---\n", 1)[1].lstrip("\n")
    assert command("card", release.folder, "--out", out, "--check").returncode == 0
    out.write_text(text + "edited", "utf-8")
    assert command("card", release.folder, "--out", out, "--check").returncode == 1
    nothing = command("card", release.folder, "--check")
    assert (
        nothing.returncode == 2 and nothing.stdout == "" and nothing.stderr.startswith("error: --check without --out")
    )


def test_the_card_cites_the_content_and_carries_the_canary(release, readme):
    assert f"content sha256:{release.content_digest}" in readme
    assert re.search(r"^`canary GUID [0-9a-f-]{36}`$", readme, re.M)


def test_every_shipped_benchmark_has_a_card_that_can_be_used():
    for name in benchmark_names():
        said = card_texts(benchmark(name))
        assert said["license"] and said["canary"] and said["summary"].strip() and said["rai"]


WRONG_CARDS = {
    "missing setting 'license'": ('license = "cc0-1.0"', ""),
    "unknown setting 'licence' .* Did you mean: license": ('license = "cc0-1.0"', 'licence = "cc0-1.0"'),
    "unknown table 'meal' .* field default_table. Did you mean: meals": ('"meals"', '"meal"'),
    "wrong value 3 .* field tags: a list of texts": ("summary", "tags = 3\nsummary"),
    "wrong value .* field canary: a UUID": ("8a4b6a0e", "8a"),
    "unknown table 'meal' .* field figure.0.needs": (
        "canary",
        'figure = [{name = "f", title = "t", unit = "u", sql = "s", needs = ["meal"]}]\ncanary',
    ),
    "malformed TOML": ("summary =", "summary"),
}


@pytest.mark.parametrize("expected", WRONG_CARDS)
def test_a_mistake_in_a_card_is_one_line_with_file_field_and_nearest_name(tmp_path, expected):
    old, new = WRONG_CARDS[expected]
    home = write_benchmark(tmp_path, card=CARD.replace(old, new, 1))
    with pytest.raises(RequestError, match=expected) as caught:
        card_texts(benchmark(home))
    assert str(home / "card.toml") in str(caught.value) and "\n" not in str(caught.value)


def test_the_head_of_the_card_declares_what_datasets_reads_from_the_files(release, readme):
    said = yaml.safe_load(readme.split("---\n")[1])
    filled = {table for table, rows in release.tables.items() if rows} | {"heart_eval"}
    assert {config["config_name"] for config in said["configs"]} == filled
    assert [config["config_name"] for config in said["configs"] if config.get("default")] == ["mcqs"]
    for config in said["configs"]:
        assert config["description"] == f"content-sha256={release.content_digest}"
        assert config["version"] == "0.1.0"
    for info in said["dataset_info"]:
        (path,) = (release.folder / info["config_name"]).glob("*.parquet")
        assert info["splits"][0]["num_examples"] == pq.read_metadata(path).num_rows


@pytest.mark.parametrize(
    ("rows", "size"), [(999, "n<1K"), (1000, "1K<n<10K"), (11_000, "10K<n<100K"), (2 * 10**7, "n>10M")]
)
def test_the_size_category_is_the_hubs(release, rows, size):
    asked = {"mcqs": {**release.manifest["tables"]["mcqs"], "rows": rows}}
    manifest = {**release.manifest, "tables": asked, "configs": {}}
    text = head(manifest, card_texts(benchmark("heart")), {"mcqs": 1})
    assert yaml.safe_load(text.split("---\n")[1])["size_categories"] == [size]


CROISSANT = """
import sys, orjson, mlcroissant as mlc
dataset = mlc.Dataset(jsonld=sys.argv[1] + "/croissant.json")
issues = dataset.metadata.ctx.issues
rows = {str(each.id): len(list(dataset.records(each.id))) for each in dataset.metadata.record_sets}
print(orjson.dumps({"errors": list(issues.errors), "warnings": list(issues.warnings), "rows": rows,
    "rai": [key for key in dataset.metadata.to_json() if key.startswith("rai:")]}).decode())
"""


def read_croissant(folder):
    return subprocess.run(
        [sys.executable, "-c", CROISSANT, str(folder)], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_croissant_is_valid_and_every_table_loads_through_it(tmp_path):
    pytest.importorskip("mlcroissant", reason="extra croissant is not installed")
    release = release_of(tmp_path, "heart@0.1.0", small_tables(), released="2031-05-06")
    read = read_croissant(release.folder)
    assert read.returncode == 0, read.stderr
    found = orjson.loads(read.stdout)
    assert found["errors"] == [] and found["warnings"] == []
    assert found["rows"] == release.tables
    assert len(found["rai"]) >= 12


def test_croissant_readers_find_a_changed_file(tmp_path):
    pytest.importorskip("mlcroissant", reason="extra croissant is not installed")
    release = release_of(tmp_path, "heart@0.1.0", small_tables())
    path = release.folder / "croissant.json"
    sha256 = release.manifest["files"]["mcqs/test-00000-of-00001.parquet"]["sha256"]
    path.chmod(0o644)
    path.write_text(path.read_text("utf-8").replace(sha256, "0" * 64), "utf-8")
    read = read_croissant(release.folder)
    assert read.returncode != 0 and "GenerationError" in read.stderr


def test_croissant_lists_every_parquet_file_with_its_checksum(release):
    document = orjson.loads((release.folder / "croissant.json").read_bytes())
    files = {part["@id"]: part for part in document["distribution"]}
    parquet = {name for name in release.manifest["files"] if name.endswith(".parquet")}
    assert set(files) == parquet
    for name, part in files.items():
        listed = release.manifest["files"][name]
        assert (part["sha256"], part["contentSize"]) == (listed["sha256"], f"{listed['bytes']} B")


DATASETS = """
import sys, datasets
datasets.disable_progress_bars()
for folder in sys.argv[2:]:
    rows = datasets.load_dataset(folder, sys.argv[1], split="test")
    print(len(rows), rows[0]["question_id"], rows[0]["options"][0]["content"])
"""


def load_by_datasets(home, *words):
    return subprocess.run(
        [sys.executable, "-c", DATASETS, *map(str, words)],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_datasets_loads_offline_and_never_takes_one_release_for_another(tmp_path):
    """Its cache keys a local folder by its last name and the card's head; both releases lie in folders `0.1.0`."""
    tables = small_tables()
    one = release_of(tmp_path / "one", "heart@0.1.0", tables)
    tables["mcqs"][0]["options"][0]["content"] = "Quite another thing."
    other = release_of(tmp_path / "other", "heart@0.1.0", tables)
    done = load_by_datasets(tmp_path / "home", "mcqs", one.folder, other.folder)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    small = small_tables()["mcqs"]
    assert first == f"{len(small)} {small[0]['question_id']} {small[0]['options'][0]['content']}"
    assert second == f"{len(small)} {small[0]['question_id']} Quite another thing."
