"""JSON as it was published: what is read, what is refused, and what counts as the same."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.importers.documents import parse, parse_lines, same
from schemas.errors import RequestError

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def refusal(content):
    with pytest.raises(RequestError) as caught:
        parse(content, "x.json")
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(VALUES, st.sampled_from([None, 2]), st.booleans(), st.sampled_from([(",", ":"), (" , ", " : ")]))
def test_every_json_document_is_read_however_it_is_laid_out(value, indent, ascii_only, separators):
    content = json.dumps(value, indent=indent, ensure_ascii=ascii_only, separators=separators).encode()
    assert same(parse(content, "x.json"), orjson.loads(content))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig"])
def test_another_encoding_is_refused(encoding):
    assert "wrong encoding in x.json: UTF-8" in refusal('{"name": "café"}'.encode(encoding))


@pytest.mark.parametrize(
    "content", [b"", b"  \n", b"{", b'{"a": [1, 2', b'{"a": "b', b"[1] [2]", b"NaN", b"[1,]", b"x"]
)
def test_what_is_no_whole_document_is_refused(content):
    assert "x.json" in refusal(content)


@pytest.mark.parametrize("separator", [":", ": ", " : ", "\n:"])
def test_a_key_that_occurs_twice_in_an_object_is_refused_and_named(separator):
    content = f'{{"a": {{"same"{separator}1, "other": 2, "same"{separator}3}}}}'.encode()
    assert "duplicate key in x.json, field same" in refusal(content)


def test_a_key_that_occurs_in_two_objects_is_read():
    assert parse(b'[{"a": 1}, {"a": "x\\": y"}, {"\\u0022:": 2}]', "x.json") == [{"a": 1}, {"a": 'x": y'}, {'":': 2}]


@pytest.mark.parametrize("depth", [300, 1000, 5000, 100_000])
def test_a_document_nested_without_end_is_refused(depth):
    assert "malformed JSON" in refusal(b"[" * depth + b"]" * depth)
    assert "malformed JSON" in refusal(b'{"a" :' * depth + b"1" + b"}" * depth)


def test_lines_are_read_one_by_one_and_a_broken_one_is_named():
    assert list(parse_lines(b'{"a":1}\n\n{"a":2}', "x.jsonl")) == [{"a": 1}, {"a": 2}]
    with pytest.raises(RequestError, match=r"x\.jsonl:3"):
        list(parse_lines(b'{"a":1}\n{"a":2}\n{"a":', "x.jsonl"))


@pytest.mark.parametrize("other", [1.0, True, "1", [1], {"a": 1}, None, 2])
def test_values_that_python_takes_for_equal_and_json_does_not_are_different(other):
    assert not same({"v": 1}, {"v": other})


def test_the_order_of_keys_makes_no_difference_and_the_order_of_items_does():
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same([1, 2], [2, 1])
