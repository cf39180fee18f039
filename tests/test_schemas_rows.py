"""Rows as JSON Lines: canonical, whole or absent, and malformed files named by line."""

import os
import subprocess
import sys

import orjson
import pytest
from conftest import one_row, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import RequestError
from schemas.rows import encode, numbered_jsonl, read_jsonl, sweep, write_jsonl, write_whole


@settings(max_examples=30)
@given(rows=st.lists(rows_of("ledgers"), max_size=4))
def test_rows_come_back_as_they_were_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("rows") / "ledgers.jsonl"
    assert write_jsonl(path, rows) == len(rows)
    assert list(read_jsonl(path)) == rows
    assert path.read_bytes().count(b"\n") == len(rows)


def test_a_row_is_one_line_in_the_order_of_its_fields():
    assert encode({"b": "é\n", "a": [1, None]}) == '{"b":"é\\n","a":[1,null]}\n'.encode()


def test_lines_are_numbered_as_a_person_counts_them(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n\n  \n{"a": 2}')
    assert list(numbered_jsonl(path)) == [(1, {"a": 1}), (4, {"a": 2})]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1}\n{"a":', r"malformed JSON in .*rows.jsonl:2"),
        (b'{"a": "\xe9"}', r"not UTF-8 in .*rows.jsonl:1"),
        (b"7", r"not an object in .*rows.jsonl:1: one JSON object a line"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, content, said):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(RequestError, match=said):
        list(read_jsonl(path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[{"id": "a"}, {"id": "b"}]', "a JSON array instead of JSON Lines"),
        (b'[\n{"id": "a"}\n]\n', "a JSON array instead of JSON Lines"),
        (b'{\n  "id": "a"\n}\n', "JSON over several lines instead of JSON Lines"),
        (b"id,text\n1,hello\n", "a table .CSV or the like. instead of JSON Lines"),
        (b"id\ttext\n1\thello\n", "a table .CSV or the like. instead of JSON Lines"),
    ],
)
def test_a_file_of_another_form_is_reported_once_and_no_line_of_it_is_to_be_removed(tmp_path, content, said):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(RequestError, match=said) as refused:
        list(read_jsonl(path))
    assert "remove that line" not in str(refused.value) and f"{path}:1" not in str(refused.value)


def test_a_line_that_is_a_list_in_a_file_of_objects_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n[1, 2]\n')
    with pytest.raises(RequestError, match=r"not an object in .*rows.jsonl:2: .* Fix or remove that line"):
        list(read_jsonl(path))


def test_a_dash_reads_what_is_piped_in():
    script = "from pathlib import Path; from schemas.rows import read_jsonl; print(list(read_jsonl(Path('-'))))"
    done = subprocess.run([sys.executable, "-c", script], input=b'{"a": 1}\n', capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[{'a': 1}]"


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(RequestError, match="missing file"):
        list(read_jsonl(tmp_path / "absent.jsonl"))
    with pytest.raises(RequestError, match="a folder instead of a file"):
        list(read_jsonl(tmp_path))


def test_a_file_whose_rows_fail_half_way_keeps_its_old_content_and_leaves_nothing(tmp_path):
    path = tmp_path / "rows.jsonl"
    write_jsonl(path, [{"a": 1}])

    def failing():
        yield {"a": 2}
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        write_jsonl(path, failing())
    assert list(read_jsonl(path)) == [{"a": 1}]
    assert [each.name for each in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_writer_that_is_killed_leaves_no_file_under_the_name_and_its_rest_is_swept(tmp_path):
    script = (
        "import os, signal, sys; from pathlib import Path; from schemas.rows import write_whole\n"
        "def chunks():\n    yield b'x' * 100_000\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_whole(Path(sys.argv[1]), chunks())"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "rows.jsonl")], check=False)
    assert done.returncode == -9
    (rest,) = tmp_path.iterdir()
    assert rest.name.startswith(".rows.jsonl.")
    mine = tmp_path / f".other.{os.getpid()}.part"
    mine.touch()
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [mine]


def test_folders_on_the_way_are_made(tmp_path):
    write_whole(tmp_path / "a/b/c.txt", [b"one", b"two"])
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"onetwo"


def test_what_json_cannot_hold_is_refused_before_a_file_appears(tmp_path):
    with pytest.raises(orjson.JSONEncodeError):
        write_jsonl(tmp_path / "rows.jsonl", [one_row("memories") | {"context": "\ud800"}])
    assert list(tmp_path.iterdir()) == []
