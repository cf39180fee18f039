"""Anchors kept between runs: read where they are those of the expressions, found again where not."""

import sys

import pytest

from audits.patterns import kept

SOURCES = ["years later", "it took me .* to see"]
FOUND = [{"years later": (0, 0)}, {"it took me ": (0, 0), " to see": (11, 1011)}]


@pytest.fixture
def find(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    calls = []

    def found():
        calls.append(None)
        return FOUND

    found.calls = calls
    return found


def file():
    return kept._path("perspective.future")


def test_anchors_are_found_once_and_read_from_then_on(find):
    assert [kept.kept("perspective.future", SOURCES, find) for _ in range(3)] == [FOUND] * 3
    assert len(find.calls) == 1


def test_anchors_of_other_expressions_are_found_again(find):
    kept.kept("perspective.future", SOURCES, find)
    kept.kept("perspective.future", [*SOURCES, "at last"], find)
    assert len(find.calls) == 2


@pytest.mark.parametrize("left", [b"", b"{", b'{"key": "of another program", "anchors": []}'])
def test_a_broken_or_stale_file_is_replaced(find, left):
    file().parent.mkdir(parents=True)
    file().write_bytes(left)
    assert kept.kept("perspective.future", SOURCES, find) == FOUND
    assert kept.kept("perspective.future", SOURCES, find) == FOUND
    assert len(find.calls) == 1


def test_nothing_is_kept_where_no_byte_code_is(find, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert kept.kept("perspective.future", SOURCES, find) == FOUND
    assert not file().exists()


def test_nothing_fails_where_the_package_cannot_be_written_to(find, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "file"))
    assert kept.kept("perspective.future", SOURCES, find) == FOUND
