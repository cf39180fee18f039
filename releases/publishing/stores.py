"""Publishing to a folder and to an object store.

A folder gets the release under ``<folder>/<benchmark>/<version>``, written aside and renamed. An
object store knows no rename: there the manifest is the last object, and a version without one is not
published. Either way what arrived is compared by its bytes before it is taken for sent.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from releases.checking.files import read_manifest
from releases.manifest import Manifest, decode
from releases.opening import Release
from releases.placing import aside, clear, place, writing
from releases.verify import verify
from schemas.errors import MachineError, RequestError
from schemas.release_names import MANIFEST

if TYPE_CHECKING:
    import fsspec

_BLOCK = 1 << 20


def published_folder(release: Release, root: Path) -> Manifest | None:
    """The manifest of what lies under this name in a folder of releases.

    Raises RequestError when something lies there that is no release.
    """
    folder = release.name.folder(root)
    if not folder.exists() and not folder.is_symlink():
        return None
    manifest, problems = read_manifest(folder)
    if manifest is None or problems:
        raise RequestError("something else is there", folder, expected="nothing, or this release", fix="Move it away")
    return manifest


def send_folder(release: Release, root: Path, files: Sequence[str]) -> None:
    """Copy the files aside, those that are not there yet, check all, rename."""
    folder = release.name.folder(root)
    with writing(folder.parent):
        if published_folder(release, root) is not None:
            return
        staging = aside(folder)
        _drop_strangers(staging, files)
        for name in files:
            source, copy = release.folder / name, staging / name
            if not copy.is_file() or _sha256(copy.open("rb")) != _sha256(source.open("rb")):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
        problems = verify(staging).problems
        if problems:
            raise MachineError("the copy does not read back", problems[0], fix="Check the disk, then publish again")
        place(staging, folder)


def published_objects(release: Release, url: str) -> Manifest | None:
    """The manifest that stands under this name in an object store."""
    with _store(url) as (store, root):
        path = f"{_prefix(root, release)}/{MANIFEST}"
        if not store.exists(path):
            return None
        manifest, problems = decode(store.cat_file(path))
    if manifest is None or problems:
        raise RequestError("something else is there", f"{url}, {path}", expected="nothing, or this release")
    return manifest


def send_objects(release: Release, url: str, files: Sequence[str]) -> None:
    """Put the objects that are not there yet, read each back, the manifest last."""
    with _store(url) as (store, root):
        prefix = _prefix(root, release)
        for name in files:
            source, path = release.folder / name, f"{prefix}/{name}"
            wanted = _sha256(source.open("rb"))
            if store.exists(path) and _sha256(store.open(path, "rb")) == wanted:
                continue
            store.makedirs(path.rpartition("/")[0], exist_ok=True)
            store.put_file(str(source), path)
            if _sha256(store.open(path, "rb")) != wanted:
                raise MachineError("the object does not read back", path, fix="Publish again")


def _drop_strangers(staging: Path, files: Sequence[str]) -> None:
    """Clear what an interrupted publication of something else left; keep what can be gone on with."""
    if staging.is_symlink() or (staging.exists() and not staging.is_dir()):
        clear(staging)
    found = {path.relative_to(staging).as_posix() for path in staging.rglob("*") if not path.is_dir()}
    sealed = staging.is_dir() and not staging.stat().st_mode & 0o200
    if sealed or found - set(files) or any(path.is_symlink() for path in staging.rglob("*")):
        clear(staging)
    staging.mkdir(parents=True, exist_ok=True)


def _prefix(root: str, release: Release) -> str:
    return f"{root.rstrip('/')}/{release.name.benchmark}/{release.name.version}"


@contextmanager
def _store(url: str) -> Iterator[tuple[fsspec.AbstractFileSystem, str]]:
    """A file system and the path in it, for any scheme that fsspec knows; its failures in one line."""
    from fsspec.core import url_to_fs

    try:
        store, root = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise RequestError(f"bad target {url!r}", expected=str(error)) from None
    try:
        yield store, root
    except _failures() as error:
        raise MachineError(
            "the object store failed", url, expected=str(error).splitlines()[0][:200], fix="Publish again to go on"
        ) from None


def _failures() -> tuple[type[Exception], ...]:
    """What a store raises: errors of the system, and those of botocore where it is there."""
    if importlib.util.find_spec("botocore") is None:
        return (OSError,)
    from botocore.exceptions import BotoCoreError, ClientError

    return (OSError, BotoCoreError, ClientError)


def _sha256(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    with file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
