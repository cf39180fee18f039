"""How a folder appears under its name: written aside, forced to disk, made read-only, renamed.

Whatever is killed, at whatever instant, the name leads to a complete folder or to nothing. What a
killed writer left is a folder whose name begins with a dot; the next writer of that name, who holds
the lock, clears it away or goes on with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from schemas.locks import held
from schemas.rows import sync_folder


def writing(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Hold the releases of one benchmark against other writers. Raises MachineError when another holds them."""
    return held(folder / ".lock", "folder of releases", folder, "Wait for it, then run this again")


def aside(final: Path) -> Path:
    """Where a folder is written before it gets its name."""
    return final.with_name(f".{final.name}.part")


def place(staging: Path, final: Path) -> None:
    """Make a complete folder read-only, force it to disk and give it its name."""
    for path in sorted(staging.rglob("*")):
        if path.is_file():
            _sync_file(path)
            path.chmod(0o444)
    for folder in [*(path for path in staging.rglob("*") if path.is_dir()), staging]:
        sync_folder(folder)
        folder.chmod(0o555)
    staging.rename(final)
    sync_folder(final.parent)


def clear(staging: Path) -> None:
    """Remove what a writer left, read-only or not."""
    if staging.is_dir() and not staging.is_symlink():
        for folder in [staging, *(path for path in staging.rglob("*") if path.is_dir() and not path.is_symlink())]:
            folder.chmod(0o755)
        shutil.rmtree(staging)
    else:
        staging.unlink(missing_ok=True)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[None]:
    """Let the owner add a file to a read-only folder."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(mode | stat.S_IWUSR)
    try:
        yield
    finally:
        folder.chmod(mode)


def _sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
