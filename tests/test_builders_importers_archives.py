"""Reading archives and folders that nobody vouches for."""

import gzip
import io
import os
import re
import tarfile
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.importers import archives
from builders.importers.archives import Layout, Limits
from schemas.errors import RequestError

LAYOUT = Layout("Sample", re.compile(r"one\.json|data/[a-z]+/two\.json"), ("one.json", "data/x/two.json"))
FILES = {"one.json": b"[1]", "data/x/two.json": b"[2]", "data/y/two.json": b"[3]"}
SMALL = Limits(entries=20, file_bytes=1 << 16, total_bytes=1 << 18, ratio=50, ratio_from_bytes=1 << 17)


def tar_of(path, files, mode="w:xz", extra=()):
    with tarfile.open(path, mode) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for member, content in extra:
            tar.addfile(member, io.BytesIO(content) if content is not None else None)
    return path


def zip_of(path, files, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def folder_of(path, files):
    for name, content in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return path


def refusal(path, limits=SMALL):
    with pytest.raises(RequestError) as caught:
        archives.read(path, LAYOUT, limits)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def member(name, kind=tarfile.REGTYPE, link="", size=0):
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("within", ["", "./", "repo-main/", "a/b/"])
def test_a_tar_gives_the_wanted_files_whatever_its_compression_and_top_folder(tmp_path, mode, within):
    files = {within + name: content for name, content in FILES.items()} | {"README.md": b"hello"}
    assert archives.read(tar_of(tmp_path / "a.tar", files, mode), LAYOUT).files == FILES


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_gives_the_wanted_files(tmp_path, compression):
    files = {f"top/{name}": content for name, content in FILES.items()} | {"top/notes.txt": b"-"}
    read = archives.read(zip_of(tmp_path / "a.zip", files, compression), LAYOUT)
    assert read.files == FILES
    assert read.where.endswith("a.zip:top")


@pytest.mark.parametrize("above", [0, 1, 2])
def test_a_folder_or_one_above_it_gives_the_wanted_files(tmp_path, above):
    inner = folder_of(tmp_path / "repo" / "benchmark", FILES | {".git/one.json": b"no", "other.json": b"no"})
    assert archives.read([inner, *inner.parents][above], LAYOUT).files == FILES


def test_the_fuller_of_two_copies_is_read_and_two_equal_copies_are_refused(tmp_path):
    folder_of(tmp_path / "a", FILES)
    folder_of(tmp_path / "b", {"one.json": b"[9]"})
    assert archives.read(tmp_path, LAYOUT).files == FILES
    folder_of(tmp_path / "b", FILES)
    assert "Name one of them: 'a', 'b'" in refusal(tmp_path)


def test_a_folder_of_something_else_is_refused_with_what_was_expected(tmp_path):
    folder_of(tmp_path, {"photo.txt": b"-"})
    assert re.search(r"nothing of Sample in .*: files like one\.json", refusal(tmp_path))


def test_a_folder_that_holds_the_archive_says_to_name_the_archive(tmp_path):
    tar_of(tmp_path / "sample.tar.xz", FILES)
    assert "Give the archive itself: sample.tar.xz" in refusal(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{}", b"no archive at all\n" * 400, b"\x28\xb5\x2f\xfd\x00\x00"])
def test_a_file_that_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "a.tar.xz"
    path.write_bytes(content)
    refusal(path)


def test_a_path_that_does_not_exist_is_refused(tmp_path):
    assert "nothing there" in refusal(tmp_path / "no")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "neither a folder nor a file" in refusal(tmp_path / "pipe")
    os.mkfifo(tmp_path / "one.json")
    assert "not a regular file" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["../one.json", "/one.json", "a/../../one.json", "..\\one.json", "C:/one.json"])
def test_a_member_whose_path_leaves_the_archive_is_refused(tmp_path, name):
    assert "unsafe archive" in refusal(tar_of(tmp_path / "a.tar", FILES | {name: b"[]"}))
    assert "unsafe archive" in refusal(zip_of(tmp_path / "a.zip", FILES | {name: b"[]"}))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path, kind):
    extra = [(member("data/x/link.json", kind, "/etc/passwd"), None)]
    assert "link, device" in refusal(tar_of(tmp_path / "a.tar", FILES, extra=extra))


def test_a_link_in_a_zip_is_refused(tmp_path):
    path = zip_of(tmp_path / "a.zip", FILES)
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("data/z/two.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert "link or device" in refusal(path)


def test_a_link_that_leaves_the_folder_is_refused_and_one_within_is_followed(tmp_path):
    folder_of(tmp_path / "outside", {"secret.json": b"[]"})
    folder = folder_of(tmp_path / "in", {"real.json": b"[7]", "data/x/two.json": b"[2]"})
    (folder / "one.json").symlink_to(folder / "real.json")
    assert archives.read(folder, LAYOUT).files["one.json"] == b"[7]"
    (folder / "one.json").unlink()
    (folder / "one.json").symlink_to(tmp_path / "outside" / "secret.json")
    assert "leaves the folder" in refusal(folder)


def test_two_members_of_one_name_are_refused(tmp_path):
    extra = [(member("one.json", size=3), b"[9]")]
    assert "two members of one name" in refusal(tar_of(tmp_path / "a.tar", FILES, extra=extra))
    path = zip_of(tmp_path / "a.zip", FILES)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("one.json", b"[9]")
    assert "two members of one name" in refusal(path)


def test_too_many_members_are_refused(tmp_path):
    many = FILES | {f"{number}.txt": b"" for number in range(30)}
    assert "more than 20 members" in refusal(tar_of(tmp_path / "a.tar", many))
    assert "more than 20 members" in refusal(zip_of(tmp_path / "a.zip", many))
    assert "more than 20 files" in refusal(folder_of(tmp_path / "many", many))


def test_a_file_that_is_too_large_is_refused(tmp_path):
    large = {"one.json": os.urandom(SMALL.file_bytes + 1)}
    for path in (
        tar_of(tmp_path / "a.tar", large),
        zip_of(tmp_path / "a.zip", large),
        folder_of(tmp_path / "large", large),
    ):
        assert "too large" in refusal(path)


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_tar_bomb_is_refused_even_when_the_large_member_is_not_wanted(tmp_path, mode):
    bomb = tar_of(tmp_path / "a.tar", FILES | {"zeros.bin": bytes(1 << 24)}, mode)
    assert "too large" in refusal(bomb, Limits(total_bytes=1 << 20))
    assert "times its size" in refusal(bomb, Limits(ratio_from_bytes=1 << 20))


def test_a_zip_bomb_is_refused(tmp_path):
    bomb = zip_of(tmp_path / "a.zip", FILES | {"zeros.bin": bytes(1 << 24)})
    assert "too large" in refusal(bomb, Limits(total_bytes=1 << 20))
    assert "times its size" in refusal(bomb, Limits(ratio_from_bytes=1 << 20))


def test_a_zip_member_that_lies_about_its_size_is_not_inflated(tmp_path):
    true_size, claimed = (1 << 24) + 77, 16
    path = zip_of(tmp_path / "a.zip", {"one.json": bytes(true_size)})
    honest, size = path.read_bytes(), true_size.to_bytes(4, "little")
    assert honest.count(size) == 2
    path.write_bytes(honest.replace(size, claimed.to_bytes(4, "little")))
    tracemalloc.start()
    try:
        assert "unreadable archive" in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < true_size // 8
    finally:
        tracemalloc.stop()


def test_a_sparse_tar_member_is_refused_however_large_it_claims_to_be(tmp_path):
    sparse = member("one.json", tarfile.GNUTYPE_SPARSE)
    header = bytearray(sparse.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"77777777777\0"  # the size it would expand to
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    (tmp_path / "a.tar").write_bytes(bytes(header) + bytes(1024))
    assert "sparse" in refusal(tmp_path / "a.tar")


def test_an_encrypted_zip_member_is_refused(tmp_path):
    path = zip_of(tmp_path / "a.zip", {"one.json": b"[1]"})
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert "neither stored nor deflated" in refusal(path)


@given(st.data())
def test_an_archive_cut_off_or_with_a_changed_byte_is_refused_or_gives_the_same_files(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("cut")
    mode = data.draw(st.sampled_from(["w", "w:gz", "w:bz2", "w:xz", "zip"]))
    path = zip_of(folder / "a.zip", FILES) if mode == "zip" else tar_of(folder / "a.tar", FILES, mode)
    content = path.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        path.write_bytes(content[:place])
    else:
        path.write_bytes(
            content[:place] + bytes([content[place] ^ data.draw(st.integers(1, 255))]) + content[place + 1 :]
        )
    try:
        read = archives.read(path, LAYOUT, SMALL)
    except RequestError:
        return
    if mode not in ("w", "zip"):  # neither a plain tar's contents nor a zip's names have a checksum
        assert read.files == FILES


@pytest.mark.parametrize("cut", [1, 300, 512, 700, 1100, 1536, 2500])
def test_a_plain_tar_that_is_cut_off_is_refused(tmp_path, cut):
    path = tar_of(tmp_path / "a.tar", FILES, "w")
    with tarfile.open(path) as tar:
        end = tar.getmembers()[-1].offset_data + 512
    path.write_bytes(path.read_bytes()[: end - cut])
    assert "unreadable archive" in refusal(path)


def test_a_damaged_gzip_is_refused(tmp_path):
    tar_of(tmp_path / "a.tar", FILES, "w")
    packed = bytearray(gzip.compress((tmp_path / "a.tar").read_bytes()))
    packed[-8] ^= 0xFF  # the checksum
    (tmp_path / "a.tar.gz").write_bytes(packed)
    assert "unreadable archive" in refusal(tmp_path / "a.tar.gz")


@pytest.mark.parametrize("packed", [folder_of, tar_of, zip_of], ids=["folder", "tar", "zip"])
def test_files_below_the_root_that_are_not_of_the_layout_are_named(tmp_path, packed):
    others = {"sub/data/x/notes.txt": b"?", "sub/data/用户_1/two.json": b"[4]"}
    files = {**{f"sub/{name}": content for name, content in FILES.items()}, **others, "above.md": b"!"}
    found = archives.read(packed(tmp_path / "given", files), LAYOUT, SMALL)
    assert found.files == FILES
    assert found.not_read == ("data/x/notes.txt", "data/用户_1/two.json")
