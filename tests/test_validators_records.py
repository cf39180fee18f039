"""Every rule of every record schema bites, and the engine agrees with the reference package.

The mutations are made by walking the schemas: for each keyword of each node a valid row is broken
in just that rule. A schema with a keyword that no mutation exists for fails the test.
"""

import copy
import functools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import hypothesis
import jsonschema
import pytest
from conftest import lists_of, one_row, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.benchmarks import benchmark
from schemas.records import record_names, record_schema
from schemas.tables import Row, Table
from validators.records import examine, failures

TABLES = record_names()

# What says nothing about a value.
ANNOTATIONS = {
    "$schema",
    "$id",
    "title",
    "description",
    "x-source",
    "x-vocab",
    "x-planned",
    "x-derived-from",
    "examples",
}

# What is walked, or stands together with another keyword.
STRUCTURE = {"properties", "items"}


@dataclass(frozen=True)
class Mutation:
    """A valid row broken in one rule: the row, the code it must be found by, and the field."""

    rule: str
    row: Row
    code: str
    field: str


def table_named(name: str) -> Table:
    for known in ("heart", "heart-published", "personalens-published"):
        if name in benchmark(known).tables:
            described = benchmark(known).table(name)
            return Table(name, described.key)
    return Table(name, (next(iter(record_schema(name)["properties"])),))


def mutations(table: str) -> Iterator[Mutation]:
    yield from of_node(table, record_schema(table), [])


def of_node(table: str, node: dict[str, Any], path: list[str | int]) -> Iterator[Mutation]:
    unknown = node.keys() - ANNOTATIONS - STRUCTURE - BREAKERS.keys()
    assert not unknown, f"no mutation exists for {unknown} in {table} {path}"
    for keyword in node.keys() & BREAKERS.keys():
        for field, row in BREAKERS[keyword](table, node, path):
            code = "schema." + re.sub("([A-Z])", r"_\1", keyword).lower()
            yield Mutation(f"{'.'.join(map(str, path)) or table} {keyword} {field}", row, code, field)
    for name, child in node.get("properties", {}).items():
        yield from of_node(table, child, [*path, name])
    if "items" in node:
        yield from of_node(table, node["items"], [*path, 0])


def dotted(path: list[str | int]) -> str:
    return ".".join(map(str, path))


def at(row: Any, path: list[str | int]) -> Any:
    return functools.reduce(lambda value, step: value[step], path, row)


def with_value(table: str, path: list[str | int], value: Any) -> Row:
    row = one_row(table)
    at(row, path[:-1])[path[-1]] = value
    return row


def break_type(table, node, path):
    if not path:
        return
    allowed = {node["type"]} if isinstance(node["type"], str) else set(node["type"])
    others = {"string": "x", "integer": 7, "number": 0.5, "boolean": True, "array": [], "object": {}, "null": None}
    for kind, value in others.items():
        if kind not in allowed and not (kind == "integer" and "number" in allowed):
            yield dotted(path), with_value(table, path, value)


def break_enum(table, node, path):
    yield dotted(path), with_value(table, path, "no such term")


def break_pattern(table, node, path):
    value = at(one_row(table), path)
    for other in ("", "\n" + value, value + "\n", value + "é", "~" * max(1, len(value))):
        if not re.search(node["pattern"].removesuffix("$") + r"\Z", other):
            yield dotted(path), with_value(table, path, other)


def break_minimum(table, node, path):
    yield dotted(path), with_value(table, path, node["minimum"] - 1)
    if "integer" not in node["type"]:
        yield dotted(path), with_value(table, path, math.nextafter(node["minimum"], -math.inf))


def break_maximum(table, node, path):
    yield dotted(path), with_value(table, path, node["maximum"] + 1)
    if "integer" not in node["type"]:
        yield dotted(path), with_value(table, path, math.nextafter(node["maximum"], math.inf))


def break_min_length(table, node, path):
    yield dotted(path), with_value(table, path, "é" * (node["minLength"] - 1))


def break_max_length(table, node, path):
    yield dotted(path), with_value(table, path, "é" * (node["maxLength"] + 1))


def items_of(node: dict[str, Any], count: int) -> list[Any]:
    drawn = []

    @settings(max_examples=1, phases=[hypothesis.Phase.generate])
    @given(lists_of(node, count, count, filled=True))
    def draw(items):
        drawn.append(items)

    draw()
    return copy.deepcopy(drawn[0])


def break_min_items(table, node, path):
    if node["minItems"] > 0:
        yield dotted(path), with_value(table, path, items_of(node, node["minItems"] - 1))


def break_max_items(table, node, path):
    yield dotted(path), with_value(table, path, items_of(node, node["maxItems"] + 1))


def break_unique_items(table, node, path):
    items = items_of(node, max(2, node.get("minItems", 0)))
    items[1] = copy.deepcopy(items[0])
    yield dotted(path), with_value(table, path, items)


def break_required(table, node, path):
    for name in node["required"]:
        row = one_row(table)
        del at(row, path)[name]
        yield dotted([*path, name]), row


def break_additional_properties(table, node, path):
    row = one_row(table)
    at(row, path)["unexpected"] = None
    yield dotted([*path, "unexpected"]), row


BREAKERS: dict[str, Callable[..., Iterator[tuple[str, Row]]]] = {
    "type": break_type,
    "enum": break_enum,
    "pattern": break_pattern,
    "minimum": break_minimum,
    "maximum": break_maximum,
    "minLength": break_min_length,
    "maxLength": break_max_length,
    "minItems": break_min_items,
    "maxItems": break_max_items,
    "uniqueItems": break_unique_items,
    "required": break_required,
    "additionalProperties": break_additional_properties,
}


@pytest.mark.parametrize("table", TABLES)
def test_every_rule_of_the_schema_rejects_a_row_broken_in_it_naming_row_and_field(table):
    described = table_named(table)
    assert failures(described, [one_row(table)]) == []
    missed, walked = [], 0
    for mutation in mutations(table):
        walked += 1
        found = failures(described, [mutation.row], first=17)
        named = {"#17", described.row_id(one_row(table)), described.row_id(mutation.row)}
        if not any(f.code == mutation.code and f.field == mutation.field and f.row_id in named for f in found):
            missed.append((mutation.rule, [(f.code, f.field, f.row_id) for f in found]))
        assert all((f.field or "").startswith(mutation.field) for f in found), mutation.rule
    assert missed == []
    assert walked > len(record_schema(table)["properties"]) * 3


@pytest.mark.parametrize("table", TABLES)
def test_the_reference_rejects_what_the_engine_rejects_in_a_mutated_row(table):
    reference = jsonschema.Draft202012Validator(record_schema(table))
    for mutation in mutations(table):
        if mutation.code == "schema.pattern" and str(at(mutation.row, steps(mutation.field))).endswith("\n"):
            continue  # `$` of Python's re matches before a final newline; JSON Schema's does not
        assert not reference.is_valid(mutation.row), mutation.rule


def steps(field: str) -> list[str | int]:
    return [int(step) if step.isdigit() else step for step in field.split(".")]


strange = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["CHAR_01", "MEM_01_0001", "😀" * 70, "\x00", "A", "high", "6", "é" * 41]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("table", TABLES)
@settings(max_examples=40)
@given(data=st.data())
def test_engine_and_reference_find_the_same_keywords_at_the_same_places(table, data):
    row = data.draw(rows_of(table))
    for _ in range(data.draw(st.integers(1, 3))):
        put(row, data, data.draw(strange))
    expected = set()
    for error in jsonschema.Draft202012Validator(record_schema(table)).iter_errors(row):
        if error.validator == "pattern" and error.instance.endswith("\n"):
            continue
        expected.add((error.validator, dotted(list(error.absolute_path))))
    described, found = Table(table, ("none",)), set()
    for finding in failures(described, [row]):
        keyword = re.sub("_([a-z])", lambda part: part[1].upper(), finding.code.removeprefix("schema."))
        place = finding.field or ""
        if keyword in ("required", "additionalProperties"):
            place = parent(record_schema(table), place)
        if keyword == "pattern" and finding.text and finding.text.endswith("\n"):
            continue
        found.add((keyword, place))
    assert found == expected


def put(row: Any, data: st.DataObject, value: Any) -> None:
    """Replace one value somewhere in the row."""
    while True:
        keys = list(row) if isinstance(row, dict) else list(range(len(row)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if isinstance(row[key], dict | list) and row[key] and data.draw(st.booleans()):
            row = row[key]
            continue
        row[key] = value
        return


def parent(schema: dict[str, Any], field: str) -> str:
    """The path of the object that lacks a property or has one too many; names may hold dots themselves."""
    path, node = [], schema
    while True:
        rest = field.removeprefix(dotted(path)).removeprefix(".") if path else field
        step = next((n for n in node.get("properties", {}) if rest.startswith(n + ".") and rest != n), None)
        if step is not None:
            path, node = [*path, step], node["properties"][step]
        elif "items" in node and (index := re.match(r"(\d+)\.", rest)):
            path, node = [*path, int(index[1])], node["items"]
        else:
            return dotted(path)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_no_numbers(value):
    row = one_row("memories")
    row["emotion_signature"]["intensity"] = value
    (found,) = failures(table_named("memories"), [row])
    assert (found.code, found.field) == ("schema.type", "emotion_signature.intensity")
    assert "JSON does not have" in found.message


@pytest.mark.parametrize(
    "value", [True, 10**30, -(10**30), pytest.param(10**5000, id="5001 digits"), 2**63, 15.5, "15", 1e300]
)
def test_an_age_is_a_whole_number_between_6_and_50(value):
    assert failures(table_named("memories"), [one_row("memories") | {"age": value}])


def test_a_whole_number_written_as_a_float_is_a_whole_number_as_in_json_schema():
    assert failures(table_named("memories"), [one_row("memories") | {"age": 15.0}]) == []


def test_lengths_are_counted_in_characters_not_in_bytes():
    assert failures(table_named("memories"), [one_row("memories") | {"triggers": ["😀" * 60] * 4}]) == []
    found = failures(table_named("memories"), [one_row("memories") | {"triggers": ["😀" * 61] * 4}])
    assert [finding.code for finding in found] == ["schema.max_length"] * 4


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"context": "half \ud800"}, "context"),
        ({"context": {1, 2}}, "context"),
        ({"context": b"bytes"}, "context"),
        ({"triggers": ["a", "b", "c", "\udfff"]}, "triggers.3"),
        ({7: "seven"}, None),
        ({"\ud800": 1}, "\\ud800"),
    ],
)
def test_what_json_cannot_hold_is_a_finding_that_can_be_written(change, field):
    (found,) = failures(table_named("memories"), [one_row("memories") | change])
    assert (found.code, found.field) == ("schema.not_json", field)
    str(found.as_dict()).encode("utf-8")


def test_a_row_nested_beyond_reason_is_a_finding():
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    (found,) = failures(table_named("memories"), [one_row("memories") | {"context": deep}])
    assert found.code == "schema.not_json"


@pytest.mark.parametrize("row", [7, None, [], "text"])
def test_what_is_no_object_is_a_finding_with_its_position(row):
    (found,) = failures(table_named("memories"), [row], first=3)
    assert (found.code, found.row_id, found.field) == ("schema.type", "#3", None)


def test_a_row_without_its_key_is_named_by_its_position():
    good, bad = one_row("memories"), one_row("memories")
    del bad["id"]
    (found,) = failures(table_named("memories"), [good, bad], first=101)
    assert (found.row_id, found.field) == ("#102", "id")


def test_all_failures_of_a_row_are_collected():
    row = one_row("memories") | {"age": 51, "stage": "old", "triggers": ["one"], "extra": 1}
    del row["context"]
    codes = sorted(finding.code for finding in failures(table_named("memories"), [row]))
    assert codes == [
        "schema.additional_properties", "schema.enum", "schema.maximum", "schema.min_items", "schema.required",
    ]  # fmt: skip


def test_an_unexpected_field_is_answered_with_the_nearest_known_one():
    (found,) = failures(table_named("memories"), [one_row("memories") | {"stagee": "A"}])
    assert "Did you mean stage?" in found.message


def test_a_nullable_field_that_the_benchmark_requires_may_not_be_null():
    heart, published = benchmark("heart").table("scenarios"), benchmark("heart-published").table("scenarios")
    row = one_row("scenarios") | {"diamonds": None}
    assert [(f.code, f.field) for f in failures(heart, [row])] == [("schema.filled", "diamonds")]
    assert failures(published, [row]) == []


def test_only_failing_rows_are_reported_with_their_index():
    rows = [
        one_row("memories"),
        one_row("memories") | {"age": 5},
        one_row("memories"),
        one_row("memories") | {"age": 3},
    ]
    assert [index for index, _ in examine(table_named("memories"), rows)] == [1, 3]


def test_a_long_value_is_quoted_cut():
    (found,) = failures(table_named("memories"), [one_row("memories") | {"stage": "x" * 100_000}])
    assert len(found.text) <= 80
