"""What an archive or folder may hold and how its members may be named, as nobody vouches for it.

Used by ``builders.importers.archives``; each refusal is one line.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from schemas.errors import RequestError

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """How much an archive or folder may hold; the largest dataset read here has 4,523 files and 215 MB."""

    entries: int = 50_000
    file_bytes: int = 64 * MIB
    total_bytes: int = 512 * MIB
    ratio: int = 200
    ratio_from_bytes: int = 16 * MIB  # small archives of repetitive text may well pack better


class Metered(io.RawIOBase):
    """A stream that refuses to grow beyond the limits, whatever its members claim to be."""

    def __init__(self, path: Path, stream: IO[bytes], limits: Limits) -> None:
        self.path, self.stream, self.limits = path, stream, limits
        self.packed, self.seen = path.stat().st_size, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes. Raises RequestError once there are too many."""
        data = self.stream.read(size)
        self.seen += len(data)
        check_growth(self.path, self.seen, self.packed, self.limits)
        return data


def safe_name(name: str, path: Path) -> str:
    """The member's path without ``./``; raises for one that could leave the archive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\\" in name or "\x00" in name or re.match(r"[A-Za-z]:", name):
        raise unsafe(path, name, "a path that leaves the archive")
    return "/".join(parts)


def check_size(path: Path, name: str, size: int, limits: Limits) -> None:
    """Raise RequestError for a member that is too large."""
    if size > limits.file_bytes:
        raise too_large(path, f"{name} has more than {limits.file_bytes // MIB} MiB")


def check_growth(path: Path, unpacked: int, packed: int, limits: Limits) -> None:
    """Raise RequestError for an archive of ``packed`` bytes that unpacks to too many."""
    if unpacked > limits.total_bytes:
        raise too_large(path, f"more than {limits.total_bytes // MIB} MiB unpacked")
    if unpacked > limits.ratio_from_bytes and unpacked > limits.ratio * packed:
        raise too_large(path, f"unpacks to more than {limits.ratio} times its size")


def too_large(where: object, what: str) -> RequestError:
    """The error for more than the limits allow."""
    return RequestError("too large", where, expected=what, fix="Give the dataset as its authors publish it")


def unsafe(path: Path, name: str, what: str) -> RequestError:
    """The error for a member that nobody should unpack."""
    return RequestError(
        "unsafe archive", path, expected=f"{name[:120]!r} is {what}", fix="Unpack it yourself and give the folder"
    )
