"""The files of a published dataset, from a folder, a ``.tar.*`` or a ``.zip`` that nobody vouches for.

Nothing is ever unpacked to disk: wanted members are read into memory, so no path can leave a target.
Names that try to, links, devices, encrypted members, two members of one name and archives that grow
beyond ``Limits`` are refused, each in one line; a damaged or truncated archive is refused whole.

The dataset may lie in the folder itself or anywhere below: its root is the folder that holds most
files of the layout.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from builders.importers.limits import MIB, Limits, Metered, check_growth, check_size, safe_name, too_large, unsafe
from schemas.errors import RequestError

_ARCHIVE = re.compile(r"\.(?:tar(?:\.\w+)?|tgz|txz|tbz2?|zip)$")

# What the readers raise for a damaged archive.
_UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError)


@dataclass(frozen=True)
class Layout:
    """How a dataset's files are named.

    ``wanted`` matches a path from the dataset's root with ``/``; ``examples`` are shown to a user whose
    folder is something else.
    """

    title: str
    wanted: re.Pattern[str]
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Published:
    """The files of a dataset by path from its root; ``where`` is how messages name the root.

    ``not_read`` are the files below the root whose names are not of the layout, in order of name.
    """

    where: str
    files: dict[str, bytes]
    not_read: tuple[str, ...] = ()


def read(path: Path, layout: Layout, limits: Limits | None = None) -> Published:
    """The wanted files of the dataset at ``path``.

    Raises RequestError when there is no such path, when it is neither folder nor archive, damaged,
    hostile, too large, or holds nothing of the layout.
    """
    limits = limits or Limits()
    suffix = re.compile(rf"(?:(?P<root>.*)/)?(?P<name>{layout.wanted.pattern})", re.DOTALL)
    if path.is_dir():
        return _of_folder(path, layout, suffix, limits)
    if not path.exists():
        raise RequestError("nothing there", path, fix=f"Give the folder or archive of {layout.title}")
    if not path.is_file():
        raise RequestError("neither a folder nor a file", path, fix=f"Give the folder or archive of {layout.title}")
    try:
        members = list(_members(path, suffix, limits))
    except _UNREADABLE as error:
        reason = str(error) or "it ends too early"
        raise RequestError(
            "unreadable archive", path, expected=reason, fix="Give the folder, or a complete .tar.* or .zip"
        ) from None
    root = _root([name for name, _ in members], path, layout, suffix)
    where = f"{path}:{root}" if root else str(path)
    files = {
        _below(name, root): content for name, content in members if content is not None and _in_root(name, root, suffix)
    }
    return Published(where, files, _others([name for name, _ in members], root, files))


# The folder that is meant


def _root(names: Sequence[str], path: Path, layout: Layout, suffix: re.Pattern[str]) -> str:
    """The folder within ``path`` that holds most files of the layout."""
    found = Counter((match["root"] or "") for name in names if (match := suffix.fullmatch(name)))
    if not found:
        archives = sorted(file.name for file in path.glob("*") if _ARCHIVE.search(file.name)) if path.is_dir() else []
        give = f"the archive itself: {archives[0]}" if archives else "the folder or archive that its authors publish"
        raise RequestError(
            f"nothing of {layout.title}",
            path,
            expected=f"files like {', '.join(layout.examples)}",
            fix=f"Give {give}",
        )
    best = max(found.values())
    roots = sorted(root for root, count in found.items() if count == best)
    if len(roots) > 1:
        raise RequestError(
            f"{len(roots)} copies of {layout.title}",
            path,
            expected="one",
            fix=f"Name one of them: {', '.join(repr(root or '.') for root in roots[:4])}",
        )
    return roots[0]


def _in_root(name: str, root: str, suffix: re.Pattern[str]) -> bool:
    match = suffix.fullmatch(name)
    return match is not None and (match["root"] or "") == root


def _below(name: str, root: str) -> str:
    return name[len(root) + 1 :] if root else name


def _others(names: Sequence[str], root: str, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The files below the root that are not among those read."""
    below = {_below(name, root) for name in names if not root or name.startswith(f"{root}/")}
    return tuple(sorted(below - files.keys()))


# Folders


def _of_folder(path: Path, layout: Layout, suffix: re.Pattern[str], limits: Limits) -> Published:
    names = list(_walk(path, limits))
    root = _root(names, path, layout, suffix)
    files, total = {}, 0
    for name in sorted(names):
        if not _in_root(name, root, suffix):
            continue
        content = _content(path, name, limits)
        total += len(content)
        if total > limits.total_bytes:
            raise too_large(path, f"more than {limits.total_bytes // MIB} MiB")
        files[_below(name, root)] = content
    return Published(str(path / root), files, _others(names, root, files))


def _walk(path: Path, limits: Limits) -> Iterator[str]:
    """The paths of all files below a folder, hidden folders and linked ones left out."""
    seen = 0
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(folders) + len(files)
        if seen > limits.entries:
            raise too_large(path, f"more than {limits.entries} files and folders")
        within = Path(folder).relative_to(path).as_posix()
        yield from (name if within == "." else f"{within}/{name}" for name in files)


def _content(path: Path, name: str, limits: Limits) -> bytes:
    file = path / name
    if file.is_symlink() and not file.resolve().is_relative_to(path.resolve()):
        raise RequestError("a link that leaves the folder", file, fix="Put the file itself there")
    if not file.is_file():
        raise RequestError("not a regular file", file, fix="Put the file itself there")
    if file.stat().st_size > limits.file_bytes:
        raise too_large(file, f"more than {limits.file_bytes // MIB} MiB")
    return file.read_bytes()


# Archives


def _members(path: Path, suffix: re.Pattern[str], limits: Limits) -> Iterator[tuple[str, bytes | None]]:
    """Name of each file in the archive's order, with the content of the wanted ones."""
    with path.open("rb") as packed:
        magic = packed.read(6)
        packed.seek(0)
        if magic[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
            members = _zipped(path, packed, suffix, limits)
        else:
            members = _tarred(path, packed, magic, suffix, limits)
        names: set[str] = set()
        for name, content in members:
            if content is not None and name in names:
                raise RequestError("two members of one name", path, expected=name, fix="Unpack it and give the folder")
            names.add(name)
            yield name, content


def _tarred(
    path: Path, packed: IO[bytes], magic: bytes, suffix: re.Pattern[str], limits: Limits
) -> Iterator[tuple[str, bytes | None]]:
    unpacked = Metered(path, _unpacked(path, packed, magic), limits)
    with tarfile.open(fileobj=unpacked, mode="r|", bufsize=MIB, tarinfo=_StrictTarInfo) as tar:
        for number, member in enumerate(tar, 1):
            if number > limits.entries:
                raise too_large(path, f"more than {limits.entries} members")
            name = safe_name(member.name, path)
            if member.isdir():
                continue
            if not member.isreg() or member.issparse():
                raise unsafe(path, member.name, "a link, device or sparse file")
            if not suffix.fullmatch(name):
                yield name, None
                continue
            check_size(path, name, member.size, limits)
            content = tar.extractfile(member)
            yield name, content.read() if content else b""


def _unpacked(path: Path, packed: IO[bytes], magic: bytes) -> IO[bytes]:
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(packed)
    if magic.startswith(b"\x1f\x8b"):
        return gzip.open(packed)  # type: ignore[return-value]
    if magic.startswith(b"BZh"):
        return bz2.open(packed)
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        raise RequestError("zstd is not read here", path, fix="Repack it as .tar.xz or .tar.gz, or give the folder")
    return packed


class _StrictTarInfo(tarfile.TarInfo):
    """Tells damage from the end: ``tarfile`` takes a broken header past the first for the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> _StrictTarInfo:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"damaged or cut off: {error}") from None


def _zipped(
    path: Path, packed: IO[bytes], suffix: re.Pattern[str], limits: Limits
) -> Iterator[tuple[str, bytes | None]]:
    with zipfile.ZipFile(packed) as archive:
        members = archive.infolist()
        if len(members) > limits.entries:
            raise too_large(path, f"more than {limits.entries} members")
        check_growth(path, sum(member.file_size for member in members), path.stat().st_size, limits)
        for member in members:
            name = safe_name(member.orig_filename, path)
            mode = member.external_attr >> 16
            if member.is_dir():
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise unsafe(path, member.filename, "a link or device")
            if not suffix.fullmatch(name):
                yield name, None
                continue
            if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise RequestError("member neither stored nor deflated", path, expected=name, fix="Unpack it first")
            check_size(path, name, member.file_size, limits)
            with archive.open(member) as content:
                # A size given, or a member that lies about its own would be inflated whole.
                yield name, content.read(member.file_size + 1)
