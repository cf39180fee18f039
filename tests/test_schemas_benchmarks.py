"""A benchmark is data: what its files say is checked when it is read, and every mistake is one line."""

import copy
import os
import random
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmark_samples import BENCHMARK, KINDS, MEALS, PETS, write_benchmark

from schemas import benchmarks
from schemas.benchmarks import benchmark, benchmark_names
from schemas.errors import RequestError
from schemas.tables import Link

ROOT = Path(__file__).resolve().parents[1]

PARTS: dict[str, Any] = {"pets": PETS, "meals": MEALS, "kinds": KINDS}

MORE = """
[tables.answers]
record = "mcq_keys"
key = ["question_id"]
rows_per = { question_id = 1 }
role = "keys"

[build]
steps = ["builders.memories"]

[evaluation]
preset = "heart"

[review]
table = "meals"
"""


def refusal(home: Path) -> str:
    """The one line with which a folder is refused."""
    with pytest.raises(RequestError) as caught:
        benchmark(home)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_a_folder_of_users_is_a_benchmark_with_its_records_and_vocabularies(tmp_path):
    pets = benchmark(write_benchmark(tmp_path / "mine"))
    assert (pets.name, pets.paper, list(pets.tables)) == ("pets", None, ["pets", "meals"])
    assert pets.table("pets").schema["properties"]["kind"]["enum"] == ["cat", "dog"]
    assert pets.links == (Link("meals", (("pet_id",),), "pets", ("pet_id",), True),)
    assert benchmark(pets.spec) == pets


def test_the_name_of_a_folder_is_the_name_of_its_benchmark_where_the_file_says_none(tmp_path):
    toml = BENCHMARK.replace('name = "pets"', "")
    assert benchmark(write_benchmark(tmp_path / "zoo", benchmark=toml)).name == "zoo"
    assert re.search(
        r'wrong value "My Zoo" in .*, field name', refusal(write_benchmark(tmp_path / "My Zoo", benchmark=toml))
    )


def test_a_table_may_have_the_record_of_another_name(tmp_path):
    toml = BENCHMARK + '\n[tables.strays]\nrecord = "pets"\nkey = ["pet_id"]\n'
    table = benchmark(write_benchmark(tmp_path, benchmark=toml)).table("strays")
    assert table.schema["description"] == "One pet a row."


def test_a_shipped_name_is_never_a_folder_of_users(tmp_path, monkeypatch):
    write_benchmark(tmp_path / "heart")
    monkeypatch.chdir(tmp_path)
    assert benchmark("heart").home is None
    assert benchmark("./heart").name == "pets"


def test_a_folder_of_users_cannot_take_a_shipped_name(tmp_path):
    line = refusal(write_benchmark(tmp_path, benchmark=BENCHMARK.replace('"pets"', '"heart"', 1)))
    assert "name 'heart' is taken" in line


@pytest.mark.parametrize("absent", ["benchmark", "card"])
def test_a_folder_without_benchmark_or_card_is_refused(tmp_path, absent):
    assert f"missing {absent}.toml" in refusal(write_benchmark(tmp_path, **{absent: None}))


def test_a_missing_folder_is_refused_with_its_path(tmp_path):
    assert f"missing folder in {tmp_path / 'none'}" in refusal(tmp_path / "none")


WRONG_TOML = {
    "unknown setting 'row' .* field tables.meals. Did you mean: rows": ('file = "pet_id"', "row = 3"),
    "unknown setting 'tabels' .* Did you mean: tables": ("[[links]]", "[tabels]\n[[links]]"),
    "unknown setting 'both_way' .* field links.0. Did you mean: both_ways": ("both_ways", "both_way"),
    "missing setting 'title'": ('title = "Pets and what they ate"', ""),
    "missing setting 'key' .* field tables.pets: a list of the columns": ('key = ["pet_id"]', ""),
    "wrong value 3 .* field tables.pets.key: a list of the columns": ('key = ["pet_id"]', "key = 3"),
    "unknown column 'pet' .* field tables.meals.key. Did you mean: pet_id": ('["pet_id", "day"]', '["pet", "day"]'),
    "wrong key .* field tables.meals.key: food never to be null": ('["pet_id", "day"]', '["pet_id", "food"]'),
    "unknown column 'pets_id' .* field tables.meals.file": ('file = "pet_id"', 'file = "pets_id"'),
    "unknown column 'meal' .* field tables.meals.filled. Known: day, food": ('file = "pet_id"', 'filled = ["meal"]'),
    "day cannot be null .* field tables.meals.filled": ('file = "pet_id"', 'filled = ["day"]'),
    "unknown column 'foot' .* field tables.meals.gold. Did you mean: food": ('file = "pet_id"', 'gold = ["foot"]'),
    "unknown column 'foot' .* field tables.meals.metadata": ('file = "pet_id"', 'metadata = ["foot"]'),
    "unknown column 'pet' .* field tables.meals.rows_per": ('file = "pet_id"', "rows_per = { pet = 3 }"),
    "unknown record 'mails' .* field tables.meals.record. Did you mean: meals": ('file = "pet_id"', 'record = "mails"'),
    "unknown record 'petz'": ("[tables.pets]", '[tables.petz]\nkey = ["x"]\n[tables.pets]'),
    "unknown audit 'memory' .* field tables.meals.audits. Did you mean: memories": (
        'file = "pet_id"', 'audits = ["memory"]'),
    "unknown table 'pet' .* field tables.meals.reads. Did you mean: pets": ('file = "pet_id"', 'reads = ["pet"]'),
    "unknown role 'question' .* Did you mean: questions": ('file = "pet_id"', 'role = "question"'),
    "wrong table .* field tables.meals.gold_of: a table whose role is": ('file = "pet_id"', 'gold_of = "pets"'),
    "unknown table 'pet' .* field links.0.to. Did you mean: pets": ('to = "pets.pet_id"', 'to = "pet.pet_id"'),
    "unknown column 'id' .* field links.0.to": ('to = "pets.pet_id"', 'to = "pets.id"'),
    "link between different types .* from is integer, to is string": ('to = "pets.pet_id"', 'to = "pets.name"'),
    "uneven link": ('to = "pets.pet_id"', 'to = ["pets.pet_id", "pets.name"]'),
    "two tables .* field links.0.to": ('to = "pets.pet_id"', 'to = ["pets.pet_id", "meals.pet_id"]'),
    "name 'findings' is taken": (
        "[tables.meals]", '[tables.findings]\nrecord = "pets"\nkey = ["pet_id"]\n[tables.meals]'),
    "unknown table 'meal' .* field review.table. Did you mean: meals": (
        "[[links]]", '[review]\ntable = "meal"\n[[links]]'),
    "unknown table 'answers' .* field questions.keys": (
        "[[links]]", '[questions]\ntable = "pets"\nkeys = "answers"\n[[links]]'),
    "wrong role .* field tables.pets.role": ("[[links]]", '[questions]\ntable = "pets"\nkeys = "meals"\n[[links]]'),
    "unknown step 'builders.memory' .* field build.steps. Did you mean: builders.memories": (
        "[[links]]", '[build]\nsteps = ["builders.memory"]\n[[links]]'),
    "unknown step 'steps.py' .* field build.steps": ("[[links]]", '[build]\nsteps = ["steps.py"]\n[[links]]'),
    "wrong value .* field build.steps: a list of different builder modules": (
        "[[links]]", '[build]\nsteps = ["builders.memories", "builders.memories"]\n[[links]]'),
    "unknown protocol 'chose' .* Did you mean: choice": ("[[links]]", '[evaluation]\nprotocols = ["chose"]\n[[links]]'),
    "wrong value .* field links: a list of different": (
        "[[links]]", '[[links]]\nfrom = "meals.pet_id"\nto = "pets.pet_id"\nboth_ways = true\n[[links]]'),
    "no column question_id in table pets .* field questions.table: the columns that audits.shortcuts needs": (
        "[tables.meals]",
        'role = "questions"\n[questions]\ntable = "pets"\nkeys = "meals"\n[tables.meals]\nrole = "keys"'),
    "no column persona_id in table profiles .* field evaluation.protocols: the columns that protocol sessions needs": (
        "[[links]]",
        '[evaluation]\nprotocols = ["sessions"]\n[tables.profiles]\nrecord = "pets"\nkey = ["pet_id"]\n'
        '[tables.priors]\nkey = ["category"]\n[[links]]'),
    "wrong value 1000000000000000000000 .* field tables.meals.rows": (
        'file = "pet_id"', "rows = 1000000000000000000000"),
    "malformed TOML": ("[tables.pets]", "[tables.pets"),
}  # fmt: skip


@pytest.mark.parametrize("expected", WRONG_TOML)
def test_a_mistake_in_benchmark_toml_is_one_line_with_file_field_and_nearest_name(tmp_path, expected):
    old, new = WRONG_TOML[expected]
    assert old in BENCHMARK
    line = refusal(write_benchmark(tmp_path, benchmark=BENCHMARK.replace(old, new, 1)))
    assert re.search(expected, line), line
    assert str(tmp_path / "benchmark.toml") in line
    assert "\n" not in line


def with_field(record: dict[str, Any], **field: Any) -> dict[str, Any]:
    changed = copy.deepcopy(record)
    changed["properties"]["name"] = {"description": "x", **field}
    return changed


WRONG_RECORDS = {
    "unknown keyword 'minLenght' .* field properties.name. Did you mean: minLength": with_field(
        PETS, type="string", minLenght=3
    ),
    "unknown keyword 'propertys' .* Did you mean: properties": PETS | {"propertys": {}},
    "missing keyword 'properties'": {"description": "x"},
    "missing keyword 'type' .* field name: one of string": with_field(PETS, const=3),
    "unknown type 'strin' .* field name. Did you mean: string": with_field(PETS, type="strin"),
    "wrong type .* field name: one type, or a list of it and null": with_field(PETS, type=["string", "integer"]),
    "minLength on a field of type integer .* field name": with_field(PETS, type="integer", minLength=3),
    "minLength above maxLength .* field name: minLength to be at most maxLength: 3": with_field(
        PETS, type="string", minLength=4, maxLength=3
    ),
    "missing keyword 'items' .* field name": with_field(PETS, type="array"),
    "missing keyword 'properties' .* field name": with_field(PETS, type="object"),
    "wrong value -1 .* field properties.name.minLength: a whole number": with_field(PETS, type="string", minLength=-1),
    "unknown vocabulary 'pet_kind' .* field name. Did you mean: pet_kinds": with_field(
        PETS, type="string", **{"x-vocab": "pet_kind"}
    ),
    "unknown vocabulary 'pet_kind' .* field name.x-each-property": with_field(
        PETS, type="object",
        **{"x-properties-from-vocab": "pet_kinds", "x-each-property": {"type": "string", "x-vocab": "pet_kind"}},
    ),
    "unknown keyword 'min' .* field properties.name.x-each-property. Did you mean": with_field(
        PETS, type="object",
        **{"x-properties-from-vocab": "pet_kinds", "x-each-property": {"type": "integer", "min": 1}},
    ),
    "unknown shared part 'common#/\\$defs/provenanc' .* Did you mean: common": with_field(
        PETS, **{"$ref": "common#/$defs/provenanc"}
    ),
    "unusable schema .* field name": with_field(PETS, type="string", pattern="("),
    "unknown field 'nam' .* field required. Did you mean: name": PETS | {"required": ["pet_id", "nam", "kind"]},
    "name is not listed .* every field is always there": PETS | {"required": ["pet_id", "kind"]},
    "unknown field 'pet' .* field name.x-derived-from. Did you mean: pet_id": with_field(
        PETS, type="string", **{"x-derived-from": {"field": "pet", "pattern": "(.)"}}
    ),
    "wrong x-derived-from .* a pattern with a group": with_field(
        PETS, type="string", **{"x-derived-from": {"field": "kind", "pattern": "."}}
    ),
    "wrong \\$id .* 'pets'": PETS | {"$id": "pet"},
}  # fmt: skip


@pytest.mark.parametrize("expected", WRONG_RECORDS)
def test_a_mistake_in_a_record_schema_is_one_line_with_file_field_and_nearest_name(tmp_path, expected):
    line = refusal(write_benchmark(tmp_path, pets=WRONG_RECORDS[expected]))
    assert re.search(expected, line), line
    assert "pets.schema.json" in line
    assert "\n" not in line


WRONG_VOCABULARIES = {
    "missing setting 'terms'": {"title": "x", "source": "x"},
    "missing setting 'title'": {"titel": "x", "source": "x", "terms": [{"id": "cat", "label": "a"}]},
    "missing setting 'label' .* field terms.0": KINDS | {"terms": [{"id": "cat"}]},
    "term listed twice .* one 'cat'": KINDS | {"terms": [{"id": "cat", "label": "a"}, {"id": "cat", "label": "b"}]},
    "wrong value 7 .* field terms.0.id": KINDS | {"terms": [{"id": 7, "label": "a"}]},
    "malformed JSON": "{",
}


@pytest.mark.parametrize("expected", WRONG_VOCABULARIES)
def test_a_mistake_in_a_vocabulary_is_one_line_with_file_and_field(tmp_path, expected):
    line = refusal(write_benchmark(tmp_path, kinds=WRONG_VOCABULARIES[expected]))
    assert re.search(expected, line), line
    assert "pet_kinds.json" in line


def changed(document: Any, rng: random.Random) -> Any:
    """A document with one thing changed: left out, of another type, renamed, or added."""
    made = copy.deepcopy(document)
    places = list(containers(made))
    place = rng.choice([each for each in places if each])
    name = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
    value = rng.choice([None, 3, -1, 2.5, True, "", "x", [], [1], ["x"], {}, {"x": 1}, 10**30])
    match rng.choice(["leave out", "retype", "rename", "add"]):
        case "leave out":
            del place[name]
        case "rename" if isinstance(place, dict):
            place[f"{name[1:]}x"] = place.pop(name)
        case "add" if isinstance(place, dict):
            place["x"] = value
        case _:
            place[name] = value
    return made


def containers(node: Any) -> Iterator[Any]:
    """Every object and list in a document."""
    if isinstance(node, dict | list):
        yield node
        for child in node.values() if isinstance(node, dict) else node:
            yield from containers(child)


def test_whatever_is_changed_in_a_file_it_is_read_or_refused_in_one_line(tmp_path, monkeypatch):
    rng, refused = random.Random(7), 0
    toml = tomllib.loads(BENCHMARK + MORE)
    for number in range(150):
        part = rng.choice(["toml", "pets", "meals", "kinds"])
        files = {name: changed(known, rng) for name, known in PARTS.items() if name == part}
        monkeypatch.setattr(benchmarks, "read_toml", lambda _, p=part: changed(toml, rng) if p == "toml" else toml)
        try:
            read = benchmark(write_benchmark(tmp_path / str(number), **files))
            assert all(table.schema["properties"] for table in read.tables.values())
        except RequestError as error:
            refused += 1
            assert "\n" not in str(error) and str(tmp_path) in str(error)
    assert refused > 75


def test_a_vocabulary_inside_each_property_is_put_in_place(tmp_path):
    each = {"type": ["string", "null"], "x-vocab": "pet_kinds"}
    record = with_field(PETS, type="object", **{"x-properties-from-vocab": "pet_kinds", "x-each-property": each})
    schema = benchmark(write_benchmark(tmp_path, pets=record)).table("pets").schema
    assert schema["properties"]["name"]["properties"]["dog"]["enum"] == ["cat", "dog", None]


def test_objects_are_closed_and_complete_without_saying_so(tmp_path):
    schema = benchmark(write_benchmark(tmp_path)).table("meals").schema
    assert schema["required"] == ["pet_id", "day", "food"]
    assert schema["additionalProperties"] is False


def test_a_shared_part_of_a_shipped_record_can_be_referred_to(tmp_path):
    record = with_field(MEALS, **{"$ref": "common#/$defs/provenance"})
    schema = benchmark(write_benchmark(tmp_path, meals=record)).table("meals").schema
    assert "origin" in schema["properties"]["name"]["properties"]


def test_every_shipped_benchmark_names_its_paper():
    assert all(benchmark(name).paper for name in benchmark_names())


def test_a_command_refuses_a_wrong_folder_in_one_line_with_exit_code_2(tmp_path):
    home = write_benchmark(tmp_path, kinds=KINDS, pets=with_field(PETS, type="string", minLenght=3))
    done = subprocess.run(
        [sys.executable, "-m", "validators", "--benchmark", str(home)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: unknown keyword 'minLenght' in .* Did you mean: minLength.*\n", done.stderr)
