"""Names of releases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_samples import release_of, small_tables

from schemas.errors import RequestError
from schemas.release_names import Name, Version, benchmarks, locate, newest_below, parse_name, parse_version, versions

NUMBERS = st.integers(0, 999_999_999)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_version_reads_back_as_it_is_written(major, minor, patch):
    version = Version(major, minor, patch)
    assert parse_version(str(version)) == version


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_versions_compare_by_number_not_by_text(one, other):
    assert (Version(*one) < Version(*other)) == (one < other)


@pytest.mark.parametrize("text", ["1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-rc1", "1.0.0 ", "", "１.0.0", "1.0.-1"])
def test_anything_but_three_plain_numbers_is_refused_in_one_line(text):
    with pytest.raises(RequestError, match="bad version") as refused:
        parse_version(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["heart", "@1.0.0", "He art@1.0.0", "../x@1.0.0", "heart-@1.0.0", "heart@"])
def test_a_name_needs_a_benchmark_and_a_version(text):
    with pytest.raises(RequestError):
        parse_name(text)


def test_a_name_leads_to_its_folder_and_an_unknown_one_to_the_nearest(tmp_path):
    frozen = tmp_path / "frozen"
    release = release_of(tmp_path, "heart@0.1.0", small_tables())
    assert locate("heart@0.1.0", frozen) == release.folder
    assert locate(str(release.folder), frozen) == release.folder
    with pytest.raises(RequestError, match=r"Did you mean: heart@0\.1\.0\?"):
        locate("hart@0.1.0", frozen)
    with pytest.raises(RequestError, match="no release"):
        locate(str(tmp_path), frozen)


def test_the_parent_is_the_newest_version_below(tmp_path):
    for version in ("0.9.0", "0.10.0", "1.0.0"):
        folder = tmp_path / "heart" / version
        folder.mkdir(parents=True)
        (folder / "manifest.json").touch()
    (tmp_path / "heart" / "2.0.0").mkdir()
    assert [str(version) for version in versions(tmp_path, "heart")] == ["0.9.0", "0.10.0", "1.0.0"]
    assert benchmarks(tmp_path) == ["heart"]
    assert newest_below(tmp_path, parse_name("heart@0.11.0")) == Name("heart", Version(0, 10, 0))
    assert newest_below(tmp_path, parse_name("heart@0.1.0")) is None
