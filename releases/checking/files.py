"""The files of a release beside its manifest: every byte, and nothing besides."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from releases.manifest import MAX_BYTES, Manifest, Problem, decode
from releases.publishing.sign import SIGNATURE
from schemas.release_names import MANIFEST, parse_name


def read_manifest(folder: Path) -> tuple[Manifest | None, list[Problem]]:
    """The manifest of a release, and what is wrong with it; None when it cannot be used."""
    if folder.is_symlink():
        return None, [Problem(".", "file.symlink", "the release is a symbolic link")]
    path = folder / MANIFEST
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None, [Problem(MANIFEST, "file.missing", "no manifest")]
    except OSError as error:
        return None, [
            Problem(MANIFEST, "file.symlink" if path.is_symlink() else "file.unreadable", str(error.strerror))
        ]
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None, [Problem(MANIFEST, "file.kind", "not a regular file")]
        return decode(file.read(MAX_BYTES + 1))


def file_problems(folder: Path, manifest: Manifest, only: Iterable[str] | None = None) -> list[Problem]:
    """What is wrong with the files' bytes; with ``only``, of these files and without looking for others."""
    declared = manifest["files"]
    present = dict(_walk(folder))
    problems = []
    for name in declared if only is None else only:
        problem = _file_problem(folder / name, name, declared[name], present.pop(name, None))
        problems += [problem] if problem else []
    if only is None:
        needed = {str(parent) for name in declared for parent in Path(name).parents}
        for name, kind in sorted(present.items()):
            if name not in (MANIFEST, SIGNATURE) and not (kind == "folder" and name in needed):
                problems.append(Problem(name, *_UNWANTED.get(kind, ("file.extra", f"a {kind} that is not declared"))))
            elif name == SIGNATURE and kind != "file":
                problems.append(Problem(name, "file.kind", f"a {kind}"))
    return problems


_UNWANTED = {"symbolic link": ("file.symlink", "a symbolic link, which may lead out of the release")}


def _walk(folder: Path, below: str = "") -> Iterator[tuple[str, str]]:
    """Path and kind of everything in a folder, following no link."""
    with os.scandir(folder / below) as entries:
        for entry in entries:
            name = f"{below}{entry.name}"
            if entry.is_symlink():
                yield name, "symbolic link"
            elif entry.is_dir(follow_symlinks=False):
                yield name, "folder"
                yield from _walk(folder, f"{name}/")
            else:
                yield name, "file" if entry.is_file(follow_symlinks=False) else "special file"


def _file_problem(path: Path, name: str, declared: Manifest, kind: str | None) -> Problem | None:
    if kind is None:
        return Problem(name, "file.missing", "declared, not there")
    if kind != "file":
        return Problem(name, *_UNWANTED.get(kind, ("file.kind", f"a {kind} in place of a file")))
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != declared["bytes"]:
            return Problem(name, "file.size", f"{size:,} bytes, declared {declared['bytes']:,}")
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != declared["sha256"]:
        return Problem(name, "file.bytes", f"SHA-256 is {sha256}, declared {declared['sha256']}")
    return None


def misnamed(release: str, manifest: Manifest | None) -> list[Problem]:
    """A release asked for by name must bear that name."""
    if manifest is None or "@" not in release:
        return []
    asked, found = str(parse_name(release)), f"{manifest['name']}@{manifest['version']}"
    return [] if asked == found else [Problem(MANIFEST, "manifest.name", f"is {found}, expected {asked}")]
