"""The reference of tables is generated, complete, and up to date."""

from pathlib import Path

import jsonschema
import orjson
import pytest

from schemas.benchmarks import benchmark_names
from schemas.docs.tables import main, reference
from schemas.records import record_names, record_schema

ROOT = Path(__file__).resolve().parents[1]


def test_the_reference_in_docs_is_up_to_date():
    assert (ROOT / "docs/tables.md").read_text("utf-8") == reference(), "run: python -m schemas.docs.tables"


def test_it_has_a_section_for_every_benchmark_table_and_vocabulary():
    text = reference()
    vocabularies = {path.stem for path in (ROOT / "schemas/vocab").glob("*.json")}
    for name in {*benchmark_names(), *record_names(), *vocabularies}:
        assert f"\n### {name}\n" in text


@pytest.mark.parametrize("table", record_names())
def test_every_column_is_in_its_table_with_its_description(table):
    section = reference().split(f"\n### {table}\n", 1)[1].split("\n### ", 1)[0]
    for name, node in record_schema(table)["properties"].items():
        (line,) = [line for line in section.splitlines() if line.startswith(f"| `{name}` |")]
        assert node["description"].replace("|", "\\|") in line
        assert node["x-source"] in line


@pytest.mark.parametrize("record", record_names())
def test_every_table_has_a_valid_example_row(record):
    section = reference().split(f"\n### {record}\n", 1)[1].split("\n### ", 1)[0]
    row = orjson.loads(section.split("```json\n", 1)[1].split("\n```", 1)[0])
    assert not list(jsonschema.Draft202012Validator(record_schema(record)).iter_errors(row))


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    width = 0
    for line in reference().splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = line.replace("\\|", "").count("|")
        width = width or cells
        assert cells == width, line


def test_check_writes_nothing_and_exits_with_1_when_the_file_differs(tmp_path, capsys):
    file = tmp_path / "docs" / "tables.md"
    assert main(["--check", "--file", str(file)]) == 1
    assert not file.exists()
    assert "is stale. Run: python -m schemas.docs.tables" in capsys.readouterr().err
    assert main(["--file", str(file)]) == 0
    assert main(["--check", "--file", str(file)]) == 0
    file.write_text(file.read_text("utf-8") + "\nedited by hand\n", "utf-8")
    assert main(["--check", "--file", str(file), "--quiet"]) == 1
