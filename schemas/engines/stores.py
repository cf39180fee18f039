"""Local folders, ``s3://`` and ``gs://``, by the file systems that Arrow brings along: no further library.

Credentials and endpoints are the libraries' usual ones (``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL``,
``GOOGLE_APPLICATION_CREDENTIALS``); none is read, printed or stored here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.errors import MachineError, RequestError

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

_URL = re.compile(r"^(s3|gs|gcs):/+(?=[^/])")
_PATIENCE, _ATTEMPTS = 10, 3  # seconds for a store to answer, and how often it is asked
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:/")
_OF_A_STORE = re.compile(r"AWS Error|google::cloud::")
"""How Arrow's file systems mark what the store itself said; a file that is cut is an OSError too, without it."""


def location(path: Path | str) -> str:
    """A path or URL as it is given to the functions here; ``Path`` takes a slash out of a URL, which is put back."""
    return _URL.sub(lambda found: f"{'gs' if found[1] == 'gcs' else found[1]}://", str(path))


def is_url(path: Path | str) -> bool:
    """Whether a path leads to an object store. Raises RequestError for a scheme that is none of ours."""
    text = location(path)
    if _SCHEME.match(text) and not _URL.match(text):
        raise RequestError("unknown store", text, expected="a folder, s3:// or gs://", fix="Copy it to one of these")
    return bool(_URL.match(text))


def opened(path: Path | str) -> tuple[FileSystem, str]:
    """The file system of a path or URL, and the path within it."""
    text = location(path)
    if not is_url(text):
        return _system("file"), str(Path(text).absolute())
    scheme, _, inside = text.partition("://")
    return _system(scheme), inside.rstrip("/")


@functools.cache
def _system(scheme: str) -> FileSystem:
    from pyarrow import fs

    if scheme == "file":
        return fs.LocalFileSystem()
    return _s3() if scheme == "s3" else fs.GcsFileSystem()


def _s3() -> FileSystem:
    """S3, at another endpoint where the variable that all of AWS' tools read names one."""
    from pyarrow import fs

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, _, host = endpoint.rpartition("://")
    return fs.S3FileSystem(
        endpoint_override=host.rstrip("/") or None,
        scheme=scheme or "https",
        connect_timeout=_PATIENCE,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
    )


def files(path: Path | str, suffixes: tuple[str, ...]) -> list[str]:
    """The files of these suffixes in a folder, by name; the path itself where it is a file.

    Raises RequestError where there is nothing, MachineError where the store does not let us look.
    """
    from pyarrow import fs

    system, inside = opened(path)
    prefix = location(path)[: -len(inside)] if is_url(path) and inside else ""
    with errors_reported(path):
        found = system.get_file_info(inside)
        if found.type == fs.FileType.File:
            return [prefix + inside]
        if found.type == fs.FileType.NotFound:
            raise RequestError("missing file or folder", location(path), fix="Check the path")
        listed = system.get_file_info(fs.FileSelector(inside))
    names = [each.path for each in listed if each.type == fs.FileType.File]
    return sorted(prefix + name for name in names if name.endswith(suffixes) and not _hidden(name))


def write(path: str, data: Any) -> None:
    """Write bytes; a file under that name is replaced."""
    system, inside = opened(path)
    with errors_reported(path):
        if not is_url(path):
            system.create_dir(str(Path(inside).parent), recursive=True)
        with system.open_output_stream(inside) as out:
            out.write(data)


def fetch_folder(source: Path | str, folder: Path) -> int:
    """Make a local folder hold what another holds, but hidden names, file by file; the number of files.

    A file that is there, as large and no older, is not copied again, so that an interrupted copy is resumed. Files that
    the other folder does not have are removed.
    Raises RequestError where there is nothing, MachineError where the store does not let us read.
    """
    from pyarrow import fs

    system, inside = opened(source)
    with errors_reported(source):
        try:
            listed = system.get_file_info(fs.FileSelector(inside, recursive=True))
        except FileNotFoundError:
            listed = []
        names = {each.path[len(inside) :].lstrip("/"): each for each in listed if each.type == fs.FileType.File}
        shown = {name: each for name, each in names.items() if not any(map(_hidden, name.split("/")))}
        if not shown:
            raise RequestError("missing file or folder", location(source), fix="Check the path")
        for name, each in sorted(shown.items()):
            target = folder / name
            if _is_as_new(target, each):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{target.name}.part")
            fs.copy_files(each.path, str(part), source_filesystem=system, destination_filesystem=fs.LocalFileSystem())
            part.replace(target)
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in shown and not any(map(_hidden, name.split("/"))):
            path.unlink()
    return len(shown)


def _is_as_new(target: Path, of: FileInfo) -> bool:
    with contextlib.suppress(FileNotFoundError):
        there = target.stat()
        return there.st_size == of.size and of.mtime is not None and there.st_mtime >= of.mtime.timestamp()
    return False


def join(folder: str, name: str) -> str:
    """The path or URL of a name in a folder."""
    return f"{folder.rstrip('/')}/{name}"


def fresh_folder(parent: Path | str) -> str:
    """The name of a folder of its own below a parent, for what is removed again."""
    return join(location(parent), f".scratch-{uuid.uuid4().hex[:12]}")


def remove_folder(folder: str) -> None:
    """Remove a folder and what is in it; one that is not there is none to remove."""
    system, inside = opened(folder)
    with contextlib.suppress(FileNotFoundError), errors_reported(folder):
        system.delete_dir(inside)


@contextlib.contextmanager
def errors_reported(path: Path | str) -> Iterator[None]:
    """What a store says, as one line: MachineError where it is denied or out of reach."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if not is_url(path):
            raise
        raise _unusable(path, error) from None


def raise_if_store_failed(path: Path | str, error: OSError) -> None:
    """Raises MachineError where the store is what failed while a file of it was read, not the file."""
    if is_url(path) and _OF_A_STORE.search(str(error)):
        raise _unusable(path, error) from None


def _unusable(path: Path | str, error: OSError) -> MachineError:
    fix = "Check credentials, region and endpoint, and run the same command again"
    return MachineError("store cannot be used", location(path), expected=_first_line(error), fix=fix)


def _hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
