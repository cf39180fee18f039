"""The record schemas themselves: valid, complete, described, bounded, and storable as Arrow."""

import math
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
from conftest import one_row, rows_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.arrow import arrow_schema
from schemas.benchmarks import benchmark, benchmark_names
from schemas.records import record_names, record_schema

TABLES = record_names()

KNOWN = {
    "$schema", "$id", "title", "description", "type", "properties", "required", "additionalProperties", "items", "enum",
    "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
    "x-source", "x-vocab", "x-planned", "x-derived-from", "examples",
}  # fmt: skip


def nodes(node: dict[str, Any], path: str = ""):
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}" if path else name)
    if "items" in node:
        yield from nodes(node["items"], f"{path}[]")


def kinds(node: dict[str, Any]) -> set[str]:
    return {node["type"]} if isinstance(node["type"], str) else set(node["type"])


@pytest.mark.parametrize("table", TABLES)
def test_a_record_schema_is_a_valid_2020_12_schema(table):
    schema = record_schema(table)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == table
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("table", TABLES)
def test_no_record_schema_uses_a_keyword_that_arrow_or_the_reference_would_ignore(table):
    assert {keyword for _, node in nodes(record_schema(table)) for keyword in node} <= KNOWN


@pytest.mark.parametrize("table", TABLES)
def test_every_object_is_closed_and_requires_all_its_properties(table):
    for path, node in nodes(record_schema(table)):
        if "object" in kinds(node):
            assert node["additionalProperties"] is False, path
            assert sorted(node["required"]) == sorted(node["properties"]), path
            assert len(set(node["required"])) == len(node["required"]), path


@pytest.mark.parametrize("table", TABLES)
def test_every_field_is_described_and_every_column_names_its_source(table):
    schema = record_schema(table)
    assert schema["title"] and schema["description"].endswith(".")
    for name, column in schema["properties"].items():
        assert column.get("x-source"), name
    for path, node in nodes(schema):
        if path and not path.endswith("[]"):
            assert node.get("description", "").strip().endswith("."), path


@pytest.mark.parametrize("table", TABLES)
def test_every_number_has_both_limits_and_fits_into_64_bits(table):
    for path, node in nodes(record_schema(table)):
        if kinds(node) & {"integer", "number"}:
            assert -(2**63) <= node["minimum"] <= node["maximum"] < 2**63, path


@pytest.mark.parametrize("table", TABLES)
def test_null_is_in_the_enum_exactly_where_the_type_allows_it(table):
    for path, node in nodes(record_schema(table)):
        if "enum" in node:
            assert (None in node["enum"]) == ("null" in kinds(node)), path
            assert len(set(node["enum"])) == len(node["enum"]), path


@pytest.mark.parametrize("table", TABLES)
def test_key_columns_are_plain_and_never_null(table):
    for name in benchmark_names():
        for described in benchmark(name).tables.values():
            if described.name == table:
                for column in (*described.key, *filter(None, [described.file]), *(described.rows_per or {})):
                    assert kinds(record_schema(table)["properties"][column]) in ({"string"}, {"integer"})


@pytest.mark.parametrize("table", TABLES)
@settings(max_examples=20, suppress_health_check=[HealthCheck.data_too_large])  # a profile alone is large
@given(data=st.data())
def test_rows_come_back_from_arrow_as_they_went_in(table, data):
    rows = data.draw(st.lists(rows_of(table), max_size=3))
    schema = arrow_schema(record_schema(table))
    assert pa.Table.from_pylist(rows, schema=schema).to_pylist() == rows


@pytest.mark.parametrize("table", TABLES)
def test_the_arrow_schema_has_the_columns_in_order_and_knows_which_may_be_null(table):
    properties = record_schema(table)["properties"]
    schema = arrow_schema(record_schema(table))
    assert schema.names == list(properties)
    assert [field.nullable for field in schema] == ["null" in kinds(node) for node in properties.values()]


def test_the_arrow_schema_does_not_depend_on_the_first_row():
    schema = arrow_schema(record_schema("memories"))
    rows = [one_row("memories") | {"ledger_refs": [], "provenance": None}, one_row("memories")]
    assert pa.Table.from_pylist(rows, schema=schema).to_pylist() == rows


@pytest.mark.parametrize("table", TABLES)
@settings(max_examples=10)
@given(data=st.data())
def test_the_rows_that_tests_draw_are_valid_by_the_reference(table, data):
    row = data.draw(rows_of(table))
    assert list(jsonschema.Draft202012Validator(record_schema(table)).iter_errors(row)) == []


def test_the_row_that_tests_mutate_has_nothing_null_and_no_empty_list():
    for table in TABLES:
        assert not [path for path, value in leaves(one_row(table)) if value is None or value == []], table


def leaves(value: Any, path: str = ""):
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from leaves(child, f"{path}.{name}")


def test_vocabulary_terms_are_in_the_schema_in_their_order():
    assert record_schema("memories")["properties"]["tier"]["enum"] == ["A", "B", "C", "D"]
    assert len(record_schema("characters")["properties"]["values"]["properties"]) == 19
    assert math.isclose(record_schema("activations")["properties"]["ratio"]["maximum"], 0.5)
