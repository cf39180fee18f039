"""Benchmarks and vocabularies: the files agree with each other, and a table is added by writing two of them."""

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from schemas.benchmarks import benchmark, benchmark_names
from schemas.errors import RequestError
from schemas.records import record_names, record_schema, term_ids, vocabulary

ROOT = Path(__file__).resolve().parents[1]
VOCABULARIES = sorted(path.stem for path in (ROOT / "schemas/vocab").glob("*.json"))


@pytest.mark.parametrize("name", benchmark_names())
def test_tables_are_in_order_of_dependency(name):
    order = list(benchmark(name).tables)
    for link in benchmark(name).links:
        assert order.index(link.to_table) <= order.index(link.table), link


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_vocabulary_has_a_title_a_source_and_distinct_labelled_terms(name):
    content = orjson.loads((ROOT / f"schemas/vocab/{name}.json").read_bytes())
    assert content["title"] and content["source"]
    assert len(set(term_ids(name))) == len(term_ids(name)) > 0
    assert all(term["label"] for term in vocabulary(name))


def test_every_vocabulary_that_a_schema_names_exists():
    text = b"".join(path.read_bytes() for path in (ROOT / "schemas/records").glob("*.json"))
    named = {part.split(b'"')[0].decode() for part in text.split(b'vocab": "')[1:]}
    assert named <= set(VOCABULARIES)


def test_memory_stages_are_contiguous_from_6_to_50_and_count_11000():
    stages = vocabulary("memory_stages")
    assert (stages[0]["from_age"], stages[-1]["to_age"]) == (6, 50)
    assert all(after["from_age"] == before["to_age"] + 1 for before, after in itertools.pairwise(stages))
    assert sum(stage["published_count"] for stage in stages) == 11_000


def test_scenario_stages_have_the_published_overlapping_ranges_and_the_ids_of_memory_stages():
    stages = vocabulary("scenario_stages")
    assert term_ids("scenario_stages") == term_ids("memory_stages")
    shared = [before["to_age"] for before, after in itertools.pairwise(stages) if before["to_age"] == after["from_age"]]
    assert shared == [22, 28, 33, 40, 45]


def test_tier_shares_sum_to_one_and_both_presets_have_rising_ranges_inside_0_to_1():
    tiers = vocabulary("intensity_tiers")
    assert sum(tier["share"] for tier in tiers) == 1
    for preset in ("ecological", "paper-prompt"):
        assert all(0 <= low < high <= 1 for low, high in (tier[preset] for tier in tiers))


def test_there_are_19_schwartz_values_in_circumplex_order_of_four_groups():
    groups = [value["group"] for value in vocabulary("schwartz_values")]
    assert len(groups) == 19
    runs = [group for i, group in enumerate(groups) if i == 0 or groups[i - 1] != group]
    assert runs == ["openness_to_change", "self_enhancement", "conservation", "self_transcendence"]


def test_diamonds_ratings_cover_the_64_published_scenarios_with_the_published_means():
    means = {}
    for dimension in vocabulary("diamonds"):
        counts = dimension["published_ratings"]
        assert len(counts) == 7 and sum(counts) == 64
        means[dimension["id"]] = round(sum(rating * count for rating, count in enumerate(counts, 1)) / 64, 2)
    assert means == {
        "duty": 3.95, "intellect": 4.02, "adversity": 4.50, "mating": 1.81,
        "positivity": 1.95, "negativity": 6.34, "deception": 4.25, "sociality": 4.17,
    }  # fmt: skip


def test_archetypes_are_both_poles_of_each_trait_and_the_neutral_one_with_the_published_mean_intensity():
    archetypes = vocabulary("archetypes")
    poles = {(term["trait"], term["pole"]) for term in archetypes}
    assert poles == {(trait, pole) for trait in term_ids("big_five") for pole in ("high", "low")} | {(None, None)}
    assert round(sum(term["published_intensity"] for term in archetypes) / 11, 4) == 0.6203


def test_personalens_has_20_domains_with_90_preference_types_of_which_70_are_categorical():
    domains = vocabulary("personalens_domains")
    types = [preference for domain in domains for preference in domain["preferences"]]
    assert (len(domains), len(types)) == (20, 90)
    assert sum(preference["categorical"] for preference in types) == 70
    for domain in domains:
        assert len({preference["id"] for preference in domain["preferences"]}) == len(domain["preferences"])


def test_unknown_names_are_refused_with_the_nearest_ones():
    with pytest.raises(RequestError, match=r"unknown benchmark 'hart'. Did you mean: heart"):
        benchmark("hart")
    with pytest.raises(RequestError, match=r"unknown table 'memory' in benchmark heart. Did you mean: memories"):
        benchmark("heart").table("memory")
    with pytest.raises(RequestError, match=r"unknown record 'Memorys'. Did you mean: memories"):
        record_schema("Memorys")
    with pytest.raises(RequestError, match=r"unknown vocabulary 'big_six'. Did you mean: big_five"):
        vocabulary("big_six")


def test_shared_definitions_are_no_table():
    assert "common" not in record_names()


def test_a_table_is_added_by_one_schema_file_and_a_section_of_toml(tmp_path):
    for package in ("schemas", "validators"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "builders").symlink_to(ROOT / "builders")
    diary = {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "diaries", "title": "Diaries",
        "description": "One day a row.", "type": "object", "additionalProperties": False,
        "required": ["day_id", "character_id", "mood", "text"],
        "properties": {
            "day_id": {"type": "string", "pattern": "^DAY_[0-9]{3}$", "description": "Id.", "x-source": "a test"},
            "character_id": {"type": "string", "minLength": 1, "description": "Who.", "x-source": "a test"},
            "mood": {"type": "string", "x-vocab": "intensity_tiers", "description": "How.", "x-source": "a test"},
            "text": {"type": "string", "minLength": 1, "description": "What.", "x-source": "a test"},
        },
    }  # fmt: skip
    (tmp_path / "schemas/records/diaries.schema.json").write_bytes(orjson.dumps(diary))
    toml = tmp_path / "schemas/benchmarks/heart.toml"
    line = '[tables.diaries]\nkey = ["day_id"]\nrows = 2\n'
    toml.write_text(toml.read_text("utf-8").replace("\n[[links]]", line + "\n[[links]]", 1), "utf-8")
    rows = [
        {"day_id": "DAY_001", "character_id": "CHAR_01", "mood": "A", "text": "Rain."},
        {"day_id": "DAY_001", "character_id": "CHAR_01", "mood": "Z", "text": "Rain."},
        {"day_id": "DAY_003", "character_id": "CHAR_01", "mood": "B", "text": "Sun."},
    ]
    folder = tmp_path / "build/heart/diaries"
    folder.mkdir(parents=True)
    (folder / "all.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))

    done = in_copy(tmp_path, "validators", "--benchmark", "heart", "--table", "diaries", "--json")
    assert done.returncode == 1, done.stderr
    found = orjson.loads(done.stdout)
    assert [(f["code"], f["row_id"]) for f in found["findings"]] == [
        ("table.row_count", ""),
        ("schema.enum", "DAY_001"),
    ]
    in_copy(tmp_path, "schemas.docs.tables", "--file", "tables.md")
    assert "### diaries" in (tmp_path / "tables.md").read_text("utf-8")


def in_copy(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
