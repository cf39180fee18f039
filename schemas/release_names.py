"""What a release is called and where it lies: ``heart@2.0.0`` is ``releases/frozen/heart/2.0.0``.

A folder counts as a release once it has its manifest; a freeze that was killed leaves a folder whose
name begins with a dot, which nothing here sees.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

from schemas.benchmarks import Benchmark, benchmark
from schemas.errors import RequestError, unknown

FROZEN = Path("releases/frozen")
MANIFEST = "manifest.json"

CANARY = "canary"
"""The column that freezing adds to questions and keys, for training corpora to be searched for; no part of a row."""

_NUMBER = r"(0|[1-9][0-9]{0,8})"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")


@dataclass(frozen=True, order=True)
class Version:
    """A version of three numbers, compared number by number."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True)
class Name:
    """A benchmark at a version."""

    benchmark: str
    version: Version

    def __str__(self) -> str:
        return f"{self.benchmark}@{self.version}"

    def folder(self, frozen: Path) -> Path:
        """Where this release lies, or would lie, under the root of frozen releases."""
        return frozen / self.benchmark / str(self.version)


def parse_version(text: str) -> Version:
    """``0.1.0`` -> Version. Raises RequestError for anything but three plain numbers."""
    found = _VERSION.fullmatch(text)
    if found is None:
        raise RequestError(
            f"bad version {text!r}", expected="three numbers without leading zeros", fix="For example 0.1.0"
        )
    return Version(*(int(number) for number in found.groups()))


def parse_name(text: str) -> Name:
    """``heart@2.0.0`` -> Name. Raises RequestError when either half is missing or malformed."""
    benchmark, at, version = text.partition("@")
    if not at or not _NAME.fullmatch(benchmark):
        raise RequestError(f"bad release name {text!r}", expected="NAME@X.Y.Z", fix="For example heart@2.0.0")
    return Name(benchmark, parse_version(version))


def benchmarks(frozen: Path) -> list[str]:
    """The benchmarks that have at least one release, in order of name."""
    if not frozen.is_dir():
        return []
    return sorted(folder.name for folder in frozen.iterdir() if folder.is_dir() and versions(frozen, folder.name))


def versions(frozen: Path, benchmark: str) -> list[Version]:
    """The released versions of a benchmark, oldest first."""
    folder = frozen / benchmark
    if not folder.is_dir():
        return []
    found = (_VERSION.fullmatch(child.name) for child in folder.iterdir() if (child / MANIFEST).exists())
    return sorted(parse_version(match[0]) for match in found if match)


def newest_below(frozen: Path, name: Name) -> Name | None:
    """The newest release of the same benchmark with a lower version: the parent of a new one."""
    lower = [version for version in versions(frozen, name.benchmark) if version < name.version]
    return Name(name.benchmark, lower[-1]) if lower else None


def locate(spec: str, frozen: Path = FROZEN) -> Path:
    """The folder of a release given as ``NAME@X.Y.Z`` or as a path.

    Raises RequestError, with the nearest names, when there is none.
    """
    if "@" not in spec:
        if (Path(spec) / MANIFEST).is_file():
            return Path(spec)
        if "/" in spec or Path(spec).exists():
            raise RequestError("no release", spec, expected=f"a folder with {MANIFEST}")
    name = parse_name(spec)
    folder = name.folder(frozen)
    if not (folder / MANIFEST).exists():
        known = [str(Name(b, v)) for b in benchmarks(frozen) for v in versions(frozen, b)]
        if not known:
            raise RequestError(
                f"no release {spec}", frozen, expected="a folder of frozen releases",
                fix="Run from the root of the repository, or name the folder with --frozen",
            )  # fmt: skip
        raise unknown("release", spec, known, frozen)
    return folder


def add_release(made: argparse.ArgumentParser) -> None:
    """The argument of every verb that reads one release, and where releases lie."""
    made.add_argument("release", metavar="NAME@X.Y.Z", help="a release by name, or the path of its folder")
    add_frozen(made)


def add_frozen(made: argparse.ArgumentParser) -> None:
    """The root of frozen releases."""
    made.add_argument(
        "--frozen", type=Path, default=FROZEN, metavar="DIR", help="frozen releases (default: releases/frozen)"
    )


def add_own_benchmark(made: argparse.ArgumentParser) -> None:
    """``--benchmark`` of verbs that need the folder of a benchmark, whose name the release says."""
    made.add_argument("--benchmark", metavar="DIR", help="folder of your own benchmark (default: the shipped one)")


def benchmark_of(name: Name, spec: str | None) -> Benchmark:
    """The benchmark of a release: the shipped one of its name, or what ``--benchmark`` gives.

    Raises RequestError where that one has another name.
    """
    found = benchmark(spec or name.benchmark)
    if found.name != name.benchmark:
        raise RequestError(
            f"{found.name} is no {name.benchmark}", spec, expected=f"the benchmark of {name}", fix="Name its folder"
        )
    return found
